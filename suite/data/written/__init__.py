"""Text that the project generates."""
