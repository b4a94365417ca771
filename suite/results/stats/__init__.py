"""Estimates, intervals and tests: numbers alone."""
