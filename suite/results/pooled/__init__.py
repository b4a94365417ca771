"""What all campaigns on a kind of machine say together, host by host."""
