"""Checks of a process, made after its samples."""
