"""The models' names for people."""

from collections import Counter
from collections.abc import Mapping


def named(titles: Mapping[str, str]) -> Mapping[str, str]:
    """Return the models' names for people by workload; of two with one name, each has its code name too."""
    several = {title for title, number in Counter(titles.values()).items() if number > 1}
    return {workload: f"{title} ({workload})" if title in several else title for workload, title in titles.items()}
