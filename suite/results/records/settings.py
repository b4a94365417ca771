"""Settings of runs: which of them differ where nothing else in a record says so."""

from collections.abc import Mapping

# They follow from a case's backend or from the suite, name one of equal GPUs, a folder, or a file of another program.
_ASIDE = frozenset(
    {"JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES", "JAX_COMPILATION_CACHE_DIR", "KERAS_BACKEND", "TF_CLI_CONFIG_FILE"}
)


def differing(*settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the settings that are not the same in all of these.

    One of the environment or of XLA that is not named was not set. What an implementation tells of itself is compared
    where it is told: older records lack some, and each implementation tells its own.
    """
    names = {name for each in settings for name in each} - _ASIDE
    return tuple(name for name in sorted(names) if len(_values(name, settings)) > 1)


def bearing(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that bear on speed, by name."""
    return {name: settings[name] for name in sorted(settings.keys() - _ASIDE)}


def _values(name: str, found: tuple[Mapping[str, str], ...]) -> set[str | None]:
    values = {each.get(name) for each in found}
    return values if name.isupper() or name.startswith("xla_") else values - {None}
