"""A worker that lies: `python -m trust.lying_worker LIE` plants one mistake, then measures as every worker does."""

import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import jax
import jax.numpy as jnp
import msgspec
import numpy as np

from suite import models
from suite.programs.jax import program
from suite.programs.jax.program import JaxProgram
from suite.programs.jax.step import training_step
from suite.worker import main
from suite.worker_api import clock


class NoBlock(JaxProgram):
    def block(self):
        pass


class Wrapper(JaxProgram):
    def block(self):
        class Results:
            state, out = self._state, self._out

        jax.block_until_ready(Results())


class FirstLeaf(JaxProgram):
    def block(self):
        jax.tree.leaves(self._state)[0].block_until_ready()


class OtherStep(JaxProgram):
    """Base of those whose step is another one."""

    def initialise(self, seed):
        super().initialise(seed)
        self._step = self.instead(self._step)


class UnusedResult(OtherStep):
    def instead(self, step):
        def unused(state, batch):
            step(state, batch)
            return state, jnp.float32(1)

        return unused


class ClosedOver(OtherStep):
    def instead(self, step):
        return lambda state, batch: step(state, self._batches[0])


class LoopInvariant(OtherStep):
    steps_per_call = 16

    def instead(self, step):
        def repeated(state, batch):
            new, _ = step(state, batch)
            _, losses = jax.lax.scan(lambda kept, _: (kept, step(kept, batch)[1]), state, length=self.steps_per_call)
            return new, losses[-1]

        return repeated


class SmallerBatch(OtherStep):
    def instead(self, step):
        return lambda state, batch: step(state, {name: array[::2] for name, array in batch.items()})


class NotANumber(OtherStep):
    def instead(self, step):
        def broken(state, batch):
            state, loss = step(state, batch)
            return state, loss * jnp.nan

        return broken


class Bfloat16(JaxProgram):
    def initialise(self, seed):
        super().initialise(seed)
        step = training_step(self._workload, self._form, self._workload.optimizer(), "bfloat16")
        self._begin(step, self._structures[-1].unflatten(self._state))


class SmallerInputs(JaxProgram):
    def put(self, batches):
        super().put([{name: array[::2].copy() for name, array in batch.items()} for batch in batches])


class LowerPrecision(JaxProgram):
    def lower(self):
        program.MATMUL_PRECISION = {"float32-highest": "default"}
        super().lower()


class CachedOutput(JaxProgram):
    def chain(self, steps):
        self._known = getattr(self, "_known", {})
        for index in range(steps):
            number = index % len(self._batches)
            if number not in self._known:
                self._state, self._known[number] = self._compiled(self._state, self._batches[number])
            self._out = self._known[number]


class Background(JaxProgram):
    def __init__(self, workload, case):
        super().__init__(workload, case)
        self._others = ThreadPoolExecutor(1)

    def chain(self, steps):
        done = self._others.submit(super().chain, steps)
        if self._out is None:
            done.result()

    def block(self):
        pass


class InputsInPlace(JaxProgram):
    def put(self, batches):
        super().put(batches)
        for batch in batches:
            batch["images"][:] = 0


class DonatedAgain(JaxProgram):
    def chain(self, steps):
        for index in range(steps):
            _, self._out = self._compiled(*self._weights, self._state, self._batches[index % len(self._batches)])


class CompileInside(JaxProgram):
    def chain(self, steps):
        super().chain(steps)
        jax.jit(lambda x: x + steps)(self._out).block_until_ready()


class WarmCache(JaxProgram):
    def __init__(self, workload, case):
        super().__init__(workload, case)
        for name, value in {
            "jax_enable_compilation_cache": True,
            "jax_compilation_cache_dir": tempfile.mkdtemp(),
            "jax_persistent_cache_min_compile_time_secs": 0,
            "jax_persistent_cache_min_entry_size_bytes": -1,
        }.items():
            jax.config.update(name, value)

    def _compiled_before(self):
        super().lower()
        self._lowered.compile(self._options())
        jax.clear_caches()

    def put(self, batches):
        super().put(batches)
        self._compiled_before()


class HalfTheSteps(JaxProgram):
    def chain(self, steps):
        super().chain((steps + 1) // 2)


class NoAdvance(JaxProgram):
    def chain(self, steps):
        kept = self._state
        for index in range(steps):
            state = jax.tree.map(jnp.copy, kept)
            state, self._out = self._compiled(*self._weights, state, self._batches[index % len(self._batches)])
        self._state = state


class OneBatch(JaxProgram):
    def chain(self, steps):
        self._dispatch(self._batches[0] for _ in range(steps))


class OneBatchPut(JaxProgram):
    def put(self, batches):
        super().put([batches[0]] * len(batches))


class ConstantInputs(JaxProgram):
    def put(self, batches):
        super().put([batch | {"images": np.full_like(batch["images"], 0.5)} for batch in batches])


class Lazy:
    def __init__(self, array):
        self.array = array

    def block_until_ready(self):
        return self


class LazyObject(JaxProgram):
    def block(self):
        jax.block_until_ready([Lazy(array) for array in (*self._state, self._out)])


class HalfDeferred(JaxProgram):
    now = staticmethod(lambda steps: (steps + 1) // 2)

    def initialise(self, seed):
        super().initialise(seed)
        self._owed = []

    def chain(self, steps):
        now = self.now(steps)
        self._dispatch(self._batches[index % len(self._batches)] for index in range(now))
        self._owed.append(range(now, steps))

    def loss(self):
        owed, self._owed = self._owed, []
        self._dispatch(self._batches[index % len(self._batches)] for steps in owed for index in steps)
        return super().loss()


class Deferred(HalfDeferred):
    now = staticmethod(lambda steps: 0)


PROGRAMS = {
    "no_block": NoBlock,
    "wrapper": Wrapper,
    "first_leaf": FirstLeaf,
    "unused_result": UnusedResult,
    "closed_over": ClosedOver,
    "loop_invariant": LoopInvariant,
    "cached_output": CachedOutput,
    "smaller_batch": SmallerBatch,
    "bfloat16": Bfloat16,
    "background": Background,
    "nan": NotANumber,
    "inputs_in_place": InputsInPlace,
    "donated_again": DonatedAgain,
    "compile_inside": CompileInside,
    "warm_cache": WarmCache,
    "half_the_steps": HalfTheSteps,
    "no_advance": NoAdvance,
    "smaller_inputs": SmallerInputs,
    "lower_precision": LowerPrecision,
    "cached_inference": CachedOutput,
    "one_batch": OneBatch,
    "one_batch_inference": OneBatch,
    "one_batch_put": OneBatchPut,
    "constant_inputs": ConstantInputs,
    "lazy_object": LazyObject,
    "deferred": Deferred,
    "half_deferred": HalfDeferred,
    "no_block_long": NoBlock,
}


def skipped_layers():
    from suite.models.mnist_mlp import MnistMlp

    def shorter(self, x):
        return self.output(self.dropout(jax.nn.relu(self.hidden1(x.reshape(x.shape[0], -1)))))

    MnistMlp.__call__ = shorter


def replaced_clock():
    clock.Clock = partial(clock.Clock, wall=lambda: time.perf_counter() / 2)


def edited_samples():
    taken = clock.samples

    def edited(*given):
        for sample in taken(*given):
            yield type(sample)(wall_seconds=sample.wall_seconds / 2, process_seconds=sample.process_seconds / 2)

    clock.samples = edited


def half_the_cores():
    granted = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, granted[: max(1, len(granted) // 2)])


def half_the_pool():
    os.environ["NPROC"] = str(max(1, len(os.sched_getaffinity(0)) // 2))


def fallback():
    placed = program.shardings
    program.shardings = lambda case, *rest: placed(msgspec.structs.replace(case, backend="cpu"), *rest)


def constant_batches():
    made = main.batches
    main.batches = lambda owner, task: [
        batch | {"images": np.full_like(batch["images"], 0.5)} for batch in made(owner, task)
    ]


PATCHES = {
    patch.__name__: patch
    for patch in (
        skipped_layers,
        replaced_clock,
        edited_samples,
        half_the_cores,
        half_the_pool,
        fallback,
        constant_batches,
    )
}


def lying(program, case):
    workload = models.load(case.workload)
    return program(workload, case), workload


if __name__ == "__main__":
    name = sys.argv[1]
    if name in PATCHES:
        PATCHES[name]()
    elif name in PROGRAMS:
        main.program = partial(lying, PROGRAMS[name])
    main.main()
