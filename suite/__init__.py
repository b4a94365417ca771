"""Time documented models on CPU and GPU, and publish the measurements."""

__version__ = "0.1.0"
