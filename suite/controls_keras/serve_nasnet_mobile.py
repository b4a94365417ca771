"""serve_nasnet_mobile in Keras."""

from keras.applications import NASNetMobile

from suite.controls_keras._serving import control

CONTROL = control(NASNetMobile)
