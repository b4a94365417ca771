"""Charts and small pictures of results."""
