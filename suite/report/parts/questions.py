"""The experiments' questions, and which data they need."""

from suite import experiments


def needs_data(name: str) -> str:
    """Return which data an experiment needs; '' where the stand-ins do."""
    return getattr(experiments.load(name), "NEEDS_DATA", "")


def questions() -> list[tuple[str, str]]:
    """Return name and question of each experiment; those that the stand-ins cannot answer come last."""
    return [(name, experiments.load(name).TITLE) for name in sorted(experiments.names(), key=needs_data)]
