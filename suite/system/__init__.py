"""The machine and its software, as far as they bear on speed."""
