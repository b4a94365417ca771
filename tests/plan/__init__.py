"""What the project measures next: what the published results are to hold, and what of it is missing."""
