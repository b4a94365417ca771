"""The pages of the site, and the tables that they share with the terminal."""
