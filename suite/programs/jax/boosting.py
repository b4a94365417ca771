"""One boosting round in JAX: the table lies on the devices, each with its share of the rows."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from suite.case import Case
from suite.nn.growth import Growth
from suite.nn.trees import Tree, boosted, check_rows_fit
from suite.programs.jax.jaxpr_cost import jaxpr_cost
from suite.programs.jax.program import JaxProgram
from suite.results.records.run import JaxprCost
from suite.system.counters import granted_cores
from suite.worker_api.program import Batch
from suite.workload import Workload

_AXIS = "data"  # name of the mesh axis
_MOST_PARTS = 16  # of a CPU: one more would add as much work, with its own histograms, as it saves


class BoostingProgram(JaxProgram):
    """A workload's boosting rounds, driven as `suite.worker_api.program.Program` describes.

    State is (margins float32[N], forest, round); after a forest's last round a new forest begins. The table is the
    first input set: a round depends on earlier rounds, which had the same rows. A CPU's cores are devices, each with a
    share of the rows, up to _MOST_PARTS: XLA adds into a histogram on one core alone.
    """

    def __init__(self, workload: Workload, case: Case) -> None:
        if case.variant != "plain":
            raise LookupError(f"variant '{case.variant}' asked for, boosting has only 'plain'; leave it out")
        if case.precision != "float32-highest":
            raise ValueError(f"precision '{case.precision}' asked for, boosting adds integers; leave it out")
        check_rows_fit(case.batch)
        super().__init__(workload, case)
        self._growth: Growth = workload.growth
        self._step = boosting_step(self._growth, case.backend == "gpu", self._shared())

    def initialise(self, seed: int) -> None:
        """Put margins and an empty forest on the devices; nothing in them is random."""
        growth = self._growth
        splits, leaves = (growth.rounds, 2**growth.depth - 1), (growth.rounds, 2**growth.depth)
        forest = Tree(np.zeros(splits, np.int32), np.zeros(splits, np.float32), np.zeros(leaves, np.float32))  # pyright: ignore[reportArgumentType]
        margins = np.full(self._case.batch, growth.start, np.float32)
        place = self._shardings
        self._state = (
            jax.device_put(margins, place.batch),
            jax.device_put(forest, place.state),
            jax.device_put(np.zeros([], np.int32), place.state),
        )

    def put(self, batches: Sequence[Batch]) -> None:
        """Copy the first input set to the devices, column by column: bins uint8[C,N], labels float32[1,N]."""
        self._host = list(self._arranged(batches))
        self._batches = [jax.device_put(self._host[0], self._shardings.batches)]

    def _arranged(self, batches: Sequence[Batch]) -> Sequence[Batch]:
        return [_columns(batches[0])]

    def feed(self, steps: int) -> None:
        """Dispatch dependent rounds, each with the whole table copied from the host."""
        self._dispatch(jax.device_put(self._host[0], self._shardings.batches) for _ in range(steps))

    def forest(self) -> Tree:
        """Return the trees so far; later ones are empty."""
        return self._state[1]

    def _cpu_devices(self) -> int:
        return min(granted_cores(), _MOST_PARTS)

    def _shared(self) -> Callable[..., Any] | None:
        """Return a decorator that gives each device its rows; None for one device."""
        place = self._shardings
        if len(place.devices) == 1:
            return None
        assert isinstance(place.batch, NamedSharding)
        rows, columns, replicated = PartitionSpec(_AXIS), PartitionSpec(None, _AXIS), PartitionSpec()
        return partial(
            jax.shard_map,
            mesh=place.batch.mesh,
            in_specs=(rows, columns, rows),
            out_specs=(rows, replicated, replicated),
            check_vma=False,  # the devices' branches differ with their rows
        )

    def trace(self, step: Callable[..., Any], batch: Mapping[str, Any], donate: bool = True) -> jax.stages.Traced:
        """Return the step traced for the shapes of the state and the table; both stay in place."""
        place = self._shardings
        outputs = ((place.batch, place.state, place.state), place.state)
        return jax.jit(step, donate_argnums=0, out_shardings=outputs).trace(self._state, batch)

    def jaxpr_cost(self) -> JaxprCost:
        """Return what the compiled program's results need."""
        return jaxpr_cost(self._traced.jaxpr, self._batches[0], 1, 1)


def boosting_step(growth: Growth, dense: bool, shared: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return step(state, table) -> (state, loss), pure; the loss is the one before the round."""
    grow = partial(boosted, growth, axis=_AXIS if shared else None, dense=dense)
    grow = shared(grow) if shared else grow

    def step(state: tuple, table: dict[str, jax.Array]) -> tuple[tuple, jax.Array]:
        margins, forest, turn = state
        margins = jnp.where(turn == 0, jnp.float32(growth.start), margins)
        margins, tree, loss = grow(margins, table["bins"], table["labels"][0])
        forest = jax.tree.map(lambda whole, new: whole.at[turn].set(new), forest, tree)
        return (margins, forest, (turn + 1) % growth.rounds), loss

    return step


def _columns(batch: Batch) -> Batch:
    return {"bins": np.ascontiguousarray(batch["bins"].T), "labels": batch["labels"][None]}
