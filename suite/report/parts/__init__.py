"""Tables and passages for pages and the terminal."""
