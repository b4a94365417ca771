"""What experiments and claims share: capabilities of machines, cases, and joint reading of records."""
