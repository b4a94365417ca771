"""serve_resnet50 in Keras."""

from keras.applications import ResNet50

from suite.controls_keras._serving import control

CONTROL = control(ResNet50)
