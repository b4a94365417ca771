"""The generated pages, a module each."""
