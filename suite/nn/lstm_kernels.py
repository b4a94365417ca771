"""The loops of an LSTM as one GPU kernel per pass: a thread block for each example and direction.

A block keeps its direction's recurrent kernel in registers and passes the state through shared memory, so a position
costs one barrier instead of several launches. Products are float32 in every precision. XLA does what needs no loop: the
products with the inputs and the kernel gradients.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.pallas import mosaic_gpu
from jax.sharding import NamedSharding, PartitionSpec

plgpu: Any = mosaic_gpu  # jax 0.10, which does not use these kernels, has other types here
FEATURES = 64  # the recurrent kernel just fits the registers of 128 threads
_ACTIVATIONS = (jax.nn.sigmoid, jax.nn.sigmoid, jnp.tanh, jax.nn.sigmoid)
_GATES = len(_ACTIVATIONS)
WIDTH = _GATES * FEATURES  # of one direction's drive at one position
_MATRIX = plgpu.Layout.WGMMA  # [D,D] over a block's threads
_ROW, _COLUMN = _MATRIX.reduce(1), _MATRIX.reduce(0)  # [D] as its products return and take it
# Two buffers in turn: one barrier between write and read is then enough.
_ROOMS = 2
_LAUNCH: dict[str, Any] = {
    "compiler_params": plgpu.CompilerParams(
        lowering_semantics=plgpu.LoweringSemantics.Lane, unsafe_no_auto_barriers=True
    ),
    "grid_names": ("example", "direction"),
}


@jax.custom_vjp
def last_states(drive: jax.Array, recurrent: jax.Array, bias: jax.Array) -> jax.Array:
    """Return the states [N,K,D] of K LSTMs after the last position; odd ones read backwards.

    drive [N,T,K,4D] is the inputs' part of the gates, recurrent [K,D,4D] the previous state's, and bias [K,4D]; gates
    in the order input, forget, cell, output; D is 64.
    """
    return forward(drive, recurrent, bias)[0]


def forward(drive: jax.Array, recurrent: jax.Array, bias: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    """Return the last states and their gradient's residuals."""
    last, gates, hs, cs = lstm_forward(drive.astype(moved(drive.dtype)), recurrent, bias)
    return last.astype(drive.dtype), (gates, hs.astype(drive.dtype), cs, recurrent)


def backward(saved: tuple[jax.Array, ...], gradient: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the gradients of drive, recurrent and bias."""
    gates, hs, cs, recurrent = saved
    drive = lstm_backward(gates, cs, recurrent, gradient.astype(gates.dtype)).astype(hs.dtype)
    return drive, jnp.einsum("ntkd,ntke->kde", hs, drive), drive.sum((0, 1))


last_states.defvjp(forward, backward)


def moved(dtype: Any) -> Any:
    """Return the type that a kernel loads and stores: from jax 0.12 on a thread moves at least 4 bytes."""
    return dtype if jax.__version_info__ < (0, 12) else jnp.float32


def by_example(rule: str) -> Callable[[Callable], Callable]:
    """Return a decorator: with examples split over devices, each device calls the function for its own.

    The rule names the axes of arguments and results like an einsum; n are the examples.
    """
    taken, given = (tuple(each.split() for each in side.split(",")) for side in rule.split("->"))

    def decorated(of: Callable) -> Callable:
        def partition(mesh: Any, arguments: Any, results: Any) -> tuple:
            del results
            spread = next(iter(arguments[0].sharding.spec), None)  # the examples' mesh axes

            def placed(axes: list[str]) -> NamedSharding:
                names = [spread if axis == "n" else None for axis in axes]
                return NamedSharding(mesh, PartitionSpec(*names))

            first, *others = map(placed, given)
            return mesh, of, (first, *others) if others else first, tuple(map(placed, taken))

        met = dict.fromkeys(axis for axes in (*taken, *given) for axis in axes)  # XLA requires this order
        replicated = tuple(axis for axis in met if axis != "n")
        split = custom_partitioning(of)
        split.def_partition(partition, sharding_rule=rule, need_replication_factors=replicated)
        return split

    return decorated


@by_example("n t k g, k d g, k g -> n k d, n t k g, n t k d, n t k d")
@jax.jit
def lstm_forward(drive: jax.Array, recurrent: jax.Array, bias: jax.Array) -> tuple[jax.Array, ...]:
    """Return the last states [N,K,D]; and for each position the gates [N,T,K,4D], and h and c [N,T,K,D] before it.

    The arguments are those of `last_states`.
    """
    examples, positions, directions, _ = drive.shape
    last = jax.ShapeDtypeStruct((examples, directions, FEATURES), drive.dtype)
    states = jax.ShapeDtypeStruct((examples, positions, directions, FEATURES), drive.dtype)
    run = plgpu.kernel(
        partial(_forward, positions=positions),
        out_type=(last, jax.ShapeDtypeStruct(drive.shape, drive.dtype), states, states),
        scratch_types=(plgpu.SMEM((_ROOMS, FEATURES), jnp.float32),),
        grid=(examples, directions),
        **_LAUNCH,
    )
    matrices = _by_gate(recurrent).swapaxes(2, 3)  # K gates features inputs
    return run(drive, matrices, bias.astype(jnp.float32).reshape(directions, _GATES, FEATURES))


@by_example("n t k g, n t k d, k d g, n k d -> n t k g")
@jax.jit
def lstm_backward(gates: jax.Array, cells: jax.Array, recurrent: jax.Array, gradient: jax.Array) -> jax.Array:
    """Return the gradient of the drive [N,T,K,4D].

    Takes the gates and c from `lstm_forward`, recurrent [K,D,4D] and the gradient of the last states [N,K,D].
    """
    examples, positions, directions, _ = gates.shape
    run = plgpu.kernel(
        partial(_backward, positions=positions),
        out_type=jax.ShapeDtypeStruct(gates.shape, gates.dtype),
        scratch_types=(plgpu.SMEM((_ROOMS, _GATES, FEATURES), jnp.float32),),
        grid=(examples, directions),
        **_LAUNCH,
    )
    return run(gates, cells, _by_gate(recurrent), gradient)


def _by_gate(recurrent: jax.Array) -> jax.Array:
    """Return [K,D,4D] as one matrix per gate, inputs by features, [K,4,D,D]."""
    directions, inputs, _ = recurrent.shape
    return recurrent.astype(jnp.float32).reshape(directions, inputs, _GATES, FEATURES).swapaxes(1, 2)


def _forward(
    drive: Any, kernels: Any, bias: Any, last: Any, gates: Any, hs: Any, cs: Any, shared: Any, *, positions: int
) -> None:
    example, direction, place = _block(positions)
    matrices = [_loaded(kernels.at[direction, gate], _MATRIX) for gate in range(_GATES)]
    biases = [_loaded(bias.at[direction, gate], _ROW) for gate in range(_GATES)]

    def drives(turn: Any) -> list[jax.Array]:
        return [_loaded(drive.at[example, place(turn), direction, _units(gate)], _ROW) for gate in range(_GATES)]

    def step(turn: Any, carry: tuple) -> tuple:
        h, c, driven = carry
        at, room = place(turn), turn % _ROOMS
        shared[room] = h
        plgpu.commit_smem()
        hs[example, at, direction], cs[example, at, direction] = h.astype(hs.dtype), c.astype(cs.dtype)
        before = _spread(shared.at[room])
        ahead = drives(jnp.minimum(turn + 1, positions - 1))  # prefetched while this position is computed
        i, f, g, o = (
            activate((matrix * before).sum(1) + here + rise)
            for activate, matrix, here, rise in zip(_ACTIVATIONS, matrices, driven, biases, strict=True)
        )
        for gate, value in enumerate((i, f, g, o)):
            gates[example, at, direction, _units(gate)] = value.astype(gates.dtype)
        c = f * c + i * g
        return o * jnp.tanh(c), c, ahead

    h, *_ = jax.lax.fori_loop(0, positions, step, (_zeros(), _zeros(), drives(0)))
    last[example, direction] = h.astype(last.dtype)


def _backward(gates: Any, cells: Any, kernels: Any, gradient: Any, drive: Any, shared: Any, *, positions: int) -> None:
    example, direction, place = _block(positions)
    matrices = [_loaded(kernels.at[direction, gate], _MATRIX) for gate in range(_GATES)]

    def seen(turn: Any) -> list[jax.Array]:
        at = place(turn)
        refs = [gates.at[example, at, direction, _units(gate)] for gate in range(_GATES)]
        return [_loaded(ref, _ROW) for ref in (*refs, cells.at[example, at, direction])]

    def step(steps: Any, carry: tuple) -> tuple:
        dh, dc, (i, f, g, o, c) = carry
        turn, room = positions - 1 - steps, steps % _ROOMS
        t = jnp.tanh(f * c + i * g)
        dc = dc + dh * o * (1 - t * t)
        sums = (dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o))
        for gate, value in enumerate(sums):
            shared[room, gate] = value
        plgpu.commit_smem()
        for gate, value in enumerate(sums):
            drive[example, place(turn), direction, _units(gate)] = value.astype(drive.dtype)
        ahead = seen(jnp.maximum(turn - 1, 0))
        first, *others = (matrix * _spread(shared.at[room, gate]) for gate, matrix in enumerate(matrices))
        return sum(others, first).sum(1), dc * f, ahead

    start = _loaded(gradient.at[example, direction], _ROW)
    jax.lax.fori_loop(0, positions, step, (start, _zeros(), seen(positions - 1)))


def _block(positions: int) -> tuple[Any, Any, Callable[[Any], Any]]:
    """Return this block's example and direction, and the function from a turn to its position."""
    example, direction = jax.lax.axis_index("example"), jax.lax.axis_index("direction")
    return example, direction, lambda turn: jnp.where(direction % 2 == 0, turn, positions - 1 - turn)


def _units(gate: int) -> slice:
    return slice(gate * FEATURES, (gate + 1) * FEATURES)


def _loaded(ref: Any, layout: Any) -> jax.Array:
    return plgpu.load(ref, layout=layout, optimized=False).astype(jnp.float32)


def _spread(ref: Any) -> jax.Array:
    """Return [D] broadcast to every row of [D,D]."""
    return plgpu.layout_cast(jax.lax.broadcast_in_dim(_loaded(ref, _COLUMN), (FEATURES, FEATURES), (1,)), _MATRIX)


def _zeros() -> jax.Array:
    return plgpu.layout_cast(jnp.zeros(FEATURES, jnp.float32), _ROW)
