"""serve_resnet152 in Keras."""

from keras.applications import ResNet152

from suite.controls_keras._serving import control

CONTROL = control(ResNet152)
