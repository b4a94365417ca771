"""How machines are asked, and how what they recorded is read together: what experiments and observations share."""
