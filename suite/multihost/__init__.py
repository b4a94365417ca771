"""One step over several hosts: the first drives, the others follow."""
