"""What is watched of the machine beside a campaign and between its processes."""
