"""Findings of test sessions, as shown on the pages."""
