"""Several fits of one network trained side by side in one program, each with its own values, examples and dropout."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from suite.case import Case
from suite.programs.jax.program import JaxProgram
from suite.programs.jax.sharding import Shardings
from suite.programs.jax.step import training_step
from suite.variants import fits_of
from suite.workload import Workload


class StackedProgram(JaxProgram):
    """The variant `stacked` of a step: fit i is what `plain` trains from seed + i, with the i-th part of the batch.

    Several devices split the fits; no device needs another.
    """

    def __init__(self, workload: Workload, case: Case) -> None:
        self.fits = fits_of(workload.description, case.batch, case.devices)
        super().__init__(workload, case)
        self._shardings = replace(self._shardings, state=self._shardings.batch)  # axis 0 of all state: the fits

    def initialise(self, seed: int) -> None:
        """Put the states of all fits on the device, stacked along a new first axis."""
        self.begin(range(seed, seed + self.fits))

    def begin(self, seeds: Sequence[int]) -> None:
        """Put the states of fits with these seeds on the device."""
        assert self._workload.optimizer is not None
        states = []
        for seed in seeds:
            graph, params, rest = self.values(seed)
            self._form = self._packed(graph, params, rest)
            states.append((self._form.params.pack(params), self._form.rest.pack(rest)))
        params, rest = together(states)
        optimizer = self._workload.optimizer()
        state = params, rest, jax.jit(jax.vmap(optimizer.init))(params)
        step = training_step(self._workload, self._form, optimizer, self._case.precision)
        self._begin(stacked(step, len(seeds), self._shardings), state)

    def evaluation(self) -> Callable[..., jax.Array]:
        """Return evaluate(states, batch) -> losses float32[S]."""
        return stacked(super().evaluation(), self.fits, self._shardings)

    def losses(self) -> np.ndarray:
        """Return the last step's loss of each fit, float32[S]."""
        assert self._out is not None
        return np.asarray(self._out)

    def loss(self) -> float:
        """Return the mean of the fits' losses in the last step."""
        return float(self.losses().mean())


def stacked(run: Callable[..., Any], fits: int, place: Shardings) -> Callable[..., Any]:
    """Return run(states, batch) for S fits at once, such as a step: (states, batch) -> (states, losses float32[S]).

    The states have a first axis of S. The batch concatenates the fits' batches: [S*N,...].
    """

    def several(states: Any, batch: Any) -> Any:
        count = fits // len(place.devices)
        parts = {name: array.reshape(count, -1, *array.shape[1:]) for name, array in batch.items()}
        return jax.vmap(run)(states, parts)

    return place.apart(several)


def together(trees: Sequence[Any]) -> Any:
    """Return trees of one structure as one tree, leaves stacked along a new first axis."""
    return jax.tree.map(lambda *leaves: _together(leaves), *trees)


def _together(leaves: Sequence[Any]) -> Any:
    if jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(np.stack([jax.random.key_data(leaf) for leaf in leaves])))
    return np.stack(leaves)
