"""Initial values from NumPy, as Keras draws them, so that no program is compiled to make them."""
