"""The pages of the site, and the tables that the terminal shares with them."""
