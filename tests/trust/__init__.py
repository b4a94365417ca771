"""The proof that the harness can be believed, part by part; `nox -s trust` runs it whole, the tests a sample."""
