"""Two sides against each other, and whether published numbers hold."""
