"""Times documented models on CPU and GPU, and publishes what was measured."""

__version__ = "0.1.0"
