"""A model's structure apart from its numbers, and the packing of its small vectors into one array.

A launch on a GPU costs the host several microseconds per array. A residual network has hundreds of biases, scales and
statistics, and an optimizer keeps two more for most of them: unpacked, their launches take longer than the step. A
compiled step takes lists of arrays: trees of variables would be taken apart at every call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from suite.case import Precision


@dataclass(frozen=True)
class Packing:
    """Which leaves of a tree are packed into one vector: none by default; see `vectors_of`."""

    structure: Any = None  # of the tree
    widths: tuple[int | None, ...] = ()  # of each leaf, in order: None if it is not packed

    def pack(self, tree: Any) -> Any:
        """Return (vector [W], other leaves) of a tree; the tree itself if nothing is packed."""
        if self.structure is None:
            return tree
        leaves = self.structure.flatten_up_to(tree)
        within = [leaf for leaf, width in zip(leaves, self.widths, strict=True) if width is not None]
        alone = [leaf for leaf, width in zip(leaves, self.widths, strict=True) if width is None]
        return _joined(within), alone

    def unpack(self, packed: Any) -> Any:
        """Return the tree that was packed."""
        if self.structure is None:
            return packed
        vector, alone = packed
        others, start, leaves = iter(alone), 0, []
        for width in self.widths:
            if width is None:
                leaves.append(next(others))
            else:
                leaves.append(vector[start : start + width])
                start += width
        return self.structure.unflatten(leaves)


ALONE = Packing()


def vectors_of(tree: Any) -> Packing:
    """Return the packing of all float32 vectors [C] in a tree; an empty one for fewer than two."""
    leaves, structure = jax.tree.flatten(tree)
    widths = tuple(len(leaf) if leaf.ndim == 1 and leaf.dtype == np.float32 else None for leaf in leaves)
    return Packing(structure, widths) if sum(width is not None for width in widths) > 1 else ALONE


@dataclass(frozen=True)
class PackedModel:
    """What a step knows of a model when it is traced; the numbers are arguments."""

    graph: nnx.GraphDef
    params: Packing = ALONE
    rest: Packing = ALONE

    def model(self, params: Any, rest: Any, precision: Precision) -> Any:
        """Return the model of unpacked parameters, stored in the precision's type, and packed other state."""
        return nnx.merge(self.graph, cast(params, precision), fresh(self.rest.unpack(rest)))


def unflatten_args(run: Callable[..., Any], structures: Sequence[Any]) -> Callable[..., Any]:
    """Return run(*trees, batch) as a function of one list of leaves per tree; `structures` are those of the trees."""

    def taking(*given: Any) -> Any:
        *lists, batch = given
        trees = (structure.unflatten(leaves) for structure, leaves in zip(structures, lists, strict=True))
        return run(*trees, batch)

    return taking


def flatten_state(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that returns (state, loss) with the state as a list of leaves."""

    def returning(*given: Any) -> tuple[list[jax.Array], jax.Array]:
        state, loss = step(*given)
        return jax.tree.leaves(state), loss

    return returning


def fresh(state: nnx.State) -> nnx.State:
    """Return the same values as new variables: NNX lets variables change only where they were made."""
    return jax.tree.map(lambda leaf: leaf, state)


def cast(tree: Any, precision: Precision) -> Any:
    """Return the tree with its float32 leaves in the precision's storage type."""
    if precision != "bfloat16":
        return tree
    return jax.tree.map(lambda x: x.astype(jnp.bfloat16) if x.dtype == jnp.float32 else x, tree)


def _joined(vectors: Sequence[Any]) -> Any:
    """Return one vector; of NumPy arrays without compiling a program."""
    return (np if all(isinstance(vector, np.ndarray) for vector in vectors) else jnp).concatenate(vectors)
