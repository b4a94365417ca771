"""The five articles, by title."""

MNIST = "ML - How much faster is a GPU?"
RESNET = "What's the speed difference between running an ML job on GPU vs CPU?"
MLP = "Exploring CPU vs GPU Speed in AI Training"
TEXT = "How GPU can Powerfully Speed Up Training in Deep Learning"
PHOTOGRAPHS = "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks"
