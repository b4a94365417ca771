"""The experiments' questions and their data."""

from suite import experiments


def needs_data(name: str) -> str:
    """Return the data that an experiment needs; '' if the stand-ins suffice."""
    return getattr(experiments.load(name), "NEEDS_DATA", "")


def questions() -> list[tuple[str, str]]:
    """Return name and question of each experiment; those that need other data come last."""
    return [(name, experiments.load(name).TITLE) for name in sorted(experiments.names(), key=needs_data)]
