"""A chart on a page: its files, caption and description."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from suite.report.charts import vega


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A named chart: its Vega-Lite specification without colours, its caption, and its alternative text."""

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
        """The specification's file, by its path below the site's sources."""
        return vega.files(self.name, self.specification)
