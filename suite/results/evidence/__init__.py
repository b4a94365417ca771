"""What the sessions of tests found, as the pages show it."""
