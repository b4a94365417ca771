"""What parent and workers share: messages, clock, batches and the contract of a program."""
