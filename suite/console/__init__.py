"""Output in the terminal."""
