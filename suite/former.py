"""Former names of axis values, which stay valid in records, keys, options and addresses."""

from collections.abc import Mapping

AXES: Mapping[str, Mapping[str, str]] = {
    "variant": {"several-steps": "scan"},
    "allocator": {"retaining": "tuned-malloc", "system": "default-malloc"},
}
_BACK = {axis: {new: old for old, new in values.items()} for axis, values in AXES.items()}
_WORDS = {"several-steps": "scan", "system allocator": "default-malloc"}  # in names of ways


def renamed(axis: str, value: str) -> str:
    """Return the current name of an axis value."""
    return AXES.get(axis, {}).get(value, value)


def is_former(axes: Mapping[str, object]) -> bool:
    """Return whether a stored case has a former value."""
    return any(axes.get(axis) in values for axis, values in AXES.items())


def key(text: str) -> str:
    """Return a case's text form, or a key with it, with current values."""
    return _spelled(text, AXES, "/", "=")


def former_key(text: str) -> str:
    """Return a key with the former values under which it was published."""
    return _spelled(text, _BACK, "/", "=")


def former_file_name(name: str) -> str:
    """Return the file name of a record with the former values."""
    return _spelled(name, _BACK, ".", "-")


def ways(words: str) -> str:
    """Return the names of ways, such as 'jax scan on the CPU', with current words."""
    for old, new in _WORDS.items():
        words = words.replace(old, new)
    return words


def _spelled(text: str, names: Mapping[str, Mapping[str, str]], between: str, sign: str) -> str:
    def part(words: str) -> str:
        axis, equals, value = words.partition(sign)
        return f"{axis}{equals}{names.get(axis, {}).get(value, value)}"

    return between.join(map(part, text.split(between)))
