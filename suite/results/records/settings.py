"""Settings of runs that bear on speed, and which of them differ."""

from collections.abc import Mapping

# These follow from the case's backend or the suite, name one of equal GPUs, a folder or another program's file.
_ASIDE = frozenset(
    {"JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES", "JAX_COMPILATION_CACHE_DIR", "KERAS_BACKEND", "TF_CLI_CONFIG_FILE"}
)


def differing(*settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the settings that differ between these.

    A missing environment variable or XLA flag counts as unset. An implementation's own setting is compared only if both
    sides state it: older records lack some, and each implementation states its own.
    """
    names = {name for each in settings for name in each} - _ASIDE
    return tuple(name for name in sorted(names) if len(_values(name, settings)) > 1)


def bearing(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that bear on speed, by name."""
    return {name: settings[name] for name in sorted(settings.keys() - _ASIDE)}


def _values(name: str, settings: tuple[Mapping[str, str], ...]) -> set[str | None]:
    values = {each.get(name) for each in settings}
    return values if name.isupper() or name.startswith("xla_") else values - {None}
