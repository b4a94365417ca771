"""A step whose state, and what else it takes before its batch, are lists of arrays instead of trees."""

from collections.abc import Callable, Sequence
from typing import Any

import jax


def unflatten_args(run: Callable[..., Any], structures: Sequence[Any]) -> Callable[..., Any]:
    """Return run(*trees, batch) as a function of the trees' leaves, a list for each; `structures` are the trees'."""

    def taking(*given: Any) -> Any:
        *lists, batch = given
        trees = (structure.unflatten(leaves) for structure, leaves in zip(structures, lists, strict=True))
        return run(*trees, batch)

    return taking


def flatten_state(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that returns (state, loss) with the state as the list of its leaves."""

    def returning(*given: Any) -> tuple[list[jax.Array], jax.Array]:
        state, loss = step(*given)
        return jax.tree.leaves(state), loss

    return returning
