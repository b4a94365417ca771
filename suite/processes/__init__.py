"""Child processes: start, end, and the locks for one measurement at a time."""
