"""Stored records, and the pages that the report makes of them."""
