"""Published data sets that package registries hold, through the suite's own reader: `nox -s real`."""
