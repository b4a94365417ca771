"""Text that the project writes itself."""
