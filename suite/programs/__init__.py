"""The timed steps: one program for each variant of each implementation."""
