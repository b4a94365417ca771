"""Telemetry: the machine's state during a campaign and between its processes."""
