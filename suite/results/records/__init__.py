"""Records: their schema, how they are stored, and what makes two of them evidence of the same."""
