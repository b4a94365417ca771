"""Evidence of all campaigns on a kind of machine, pooled over hosts."""
