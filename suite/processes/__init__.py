"""Child processes: how they are started, how they end, and one measurement at a time."""
