"""Tables and passages, from which pages and the terminal are made."""
