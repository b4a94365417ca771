"""Numbers under keys, for quotation in documentation."""
