"""Comparison of two sides, and reproducibility of published numbers."""
