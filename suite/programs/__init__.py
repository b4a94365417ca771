"""The steps that are timed: one program for each way of each implementation."""
