"""serve_nasnet_large in Keras."""

from keras.applications import NASNetLarge

from suite.controls_keras._serving import control

CONTROL = control(NASNetLarge, side=331)
