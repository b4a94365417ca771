"""Numbers under their keys, as documentation quotes them."""
