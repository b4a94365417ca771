"""What was measured, and what it comes to."""
