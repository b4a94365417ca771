"""One step over several hosts."""
