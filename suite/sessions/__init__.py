"""A campaign from its start to its publication."""
