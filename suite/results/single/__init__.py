"""Results of one campaign on one host."""
