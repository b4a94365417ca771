"""What one campaign on one host says."""
