"""The machine and its software, as far as they affect speed."""
