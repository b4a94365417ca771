"""JAX against an independent implementation, by numbers that are stored in the reference of each model."""
