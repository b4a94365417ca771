"""How long the site takes for more records than there are."""
