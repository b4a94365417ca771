"""JAX against an independent implementation, by numbers that are stored beside the script that makes them."""
