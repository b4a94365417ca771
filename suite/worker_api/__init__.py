"""What the parent and its workers share: messages, clocks, batches, and what a program has to offer."""
