"""Records: their schema, their storage, and what makes two of them evidence of the same thing."""
