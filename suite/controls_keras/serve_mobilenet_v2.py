"""serve_mobilenet_v2 in Keras."""

from keras.applications import MobileNetV2

from suite.controls_keras._serving import control

CONTROL = control(MobileNetV2)
