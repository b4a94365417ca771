"""What search engines of data read: the published results as a Dataset of schema.org."""

from typing import Any

from suite import __version__
from suite.report.parts.embeds import SITE_NAME
from suite.report.parts.facts import Facts
from suite.results.cite.citation import AUTHOR, TITLE
from suite.results.cite.number import METRICS

LICENCE = "https://www.apache.org/licenses/LICENSE-2.0"  # that of CITATION.cff
_FILES = (  # of all current numbers, and of every stored one
    ("numbers/results.csv", "text/csv"),
    ("numbers/index.json", "application/json"),
    ("pools.jsonl", "application/jsonl"),
)


def dataset(facts: Facts) -> dict[str, Any] | None:
    """Return the description of the published results; None without a record."""
    days = sorted(record.created[:10] for record in facts.published)
    if not days:
        return None
    models = sorted({record.description.title for record in facts.published if record.description.documented})
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": TITLE,
        "alternateName": SITE_NAME,
        "description": "Time of training steps, requests, epochs and whole runs of documented models on CPU and GPU, "
        "and the speed-up of the GPU: every number with its 95 % interval, state and record. "
        f"Models: {'; '.join(models)}.",
        **({"url": facts.site} if facts.site else {}),
        "license": LICENCE,
        "creator": {"@type": "Organization", "name": AUTHOR},
        "version": __version__,
        "isAccessibleForFree": True,
        "temporalCoverage": f"{days[0]}/{days[-1]}",
        "dateModified": days[-1],
        "keywords": ["GPU speed-up", "CPU", "benchmark", "JAX", "training time", "inference"],
        "variableMeasured": [
            {"@type": "PropertyValue", "name": name, "description": f"{metric.words} a case", "unitText": metric.unit}
            for name, metric in METRICS.items()
        ],
        "distribution": [
            {"@type": "DataDownload", "encodingFormat": kind, "contentUrl": f"{facts.site}{path}"}
            for path, kind in _FILES
        ],
    }
