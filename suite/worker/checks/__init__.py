"""What is checked of a process after its samples."""
