"""A chart as it stands on a page: its files, and what is said of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from suite.report.charts import vega


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart of a name, its Vega-Lite specification without colours, its caption, and what it shows in words."""

    name: str
    spec: dict[str, Any]
    caption: str
    alternative: str

    @cached_property
    def specification(self) -> dict[str, Any]:
        """The specification with the colours of both palettes."""
        return vega.themed(self.spec)

    @property
    def files(self) -> dict[str, str]:
        """The file of the specification, by its path below the site's sources."""
        return vega.files(self.name, self.specification)
