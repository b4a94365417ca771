"""A campaign from plan to publication."""
