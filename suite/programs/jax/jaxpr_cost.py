"""What a traced step needs for its results: products counted one by one, parameters and examples."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters.partial_eval import dce_jaxpr

from suite.nn.conv import weight_gradient
from suite.nn.depthwise import moved_sums
from suite.results.records.run import JaxprCost

_LOOPS = ("scan", "while")
_PICTURES = 4  # axes of a batch of pictures
_LSTM_PASSES = ("lstm_forward", "lstm_backward")  # of suite.nn.lstm_kernels, which jax 0.10 cannot import
_WEIGHT_GRADIENT, _MOVED_SUMS = (getattr(layer, "__name__", "") for layer in (weight_gradient, moved_sums))


def jaxpr_cost(program: Any, batch: Any, examples_axis: int, steps: int) -> JaxprCost:
    """Return what the results of a program of `steps` steps need; the batch is the program's last argument.

    `batch` is a tree of arrays whose examples lie along `examples_axis`. What no result depends on does not count. A
    program's constants, such as the weights of an inference, can be parameters but not examples.
    """
    jaxpr, used = dce_jaxpr(opened(program), [True] * len(opened(program).outvars))
    state = [var.aval for var, needed in zip(opened(program).invars, used, strict=True) if needed]
    read = {var for equation in jaxpr.eqns for var in equation.invars if not hasattr(var, "val")}
    constants = [var.aval for var in opened(program).constvars if var in read]
    wanted = [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(batch)]
    for shape, dtype in wanted:
        match = next((aval for aval in reversed(state) if (aval.shape, aval.dtype) == (shape, dtype)), None)
        if match is None:
            wanted = []
            break
        state.remove(match)
    products = list(_products(jaxpr))
    return JaxprCost(
        flop_per_step=product_flop(jaxpr) / steps,
        parameters=sum(math.prod(aval.shape) for aval in state + constants if jnp.issubdtype(aval.dtype, jnp.floating)),
        examples=min((shape[examples_axis] for shape, _ in wanted), default=0),
        product_dtypes=_words(var.aval.dtype for equation in products for var in equation.invars[:2]),
        product_precisions=_words(word for equation in products for word in _precisions(equation)),
    )


def opened(program: Any) -> Any:
    """Return the jaxpr itself if JAX holds it together with its constants."""
    return getattr(program, "jaxpr", program)


def needed(jaxpr: Any) -> Any:
    """Return a jaxpr without what its results do not need, such as the gradient of the pictures."""
    return dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))[0]


def within(parameters: Any) -> Iterator[Any]:
    """Yield the jaxprs that an operation calls."""
    for value in parameters:
        if hasattr(value, "eqns"):
            yield value
        elif hasattr(value, "jaxpr"):
            yield value.jaxpr
        elif isinstance(value, tuple | list):
            yield from within(value)


def product_flop(jaxpr: Any) -> int:
    """Return the FLOP of all matrix products and convolutions; a loop-invariant one counts once.

    A convolution's kernel counts once at each place of the smaller of its two pictures. So neither the padding of an
    input's gradient nor the zeros of a stride count.
    """
    return sum(_flop(jaxpr, set()))


def _flop(jaxpr: Any, changing: set) -> tuple[int, int]:
    """Return the FLOP that do not depend on the changing variables, and the FLOP that do."""
    same, moving = 0, 0
    changing = set(changing)
    for equation in jaxpr.eqns:
        operands = [not hasattr(var, "val") and var in changing for var in equation.invars]
        own, inner = _own_flop(equation), list(within(equation.params.values()))
        if own is None and equation.primitive.name not in _LOOPS and len(inner) == 1:
            names = inner[0].invars
            moves = {var for var, moved in zip(names, operands[len(operands) - len(names) :], strict=True) if moved}
            devices = getattr(equation.params.get("mesh"), "size", 1)  # each runs it
            once, each = (devices * flop for flop in _flop(inner[0], moves))
            same, moving = same + once, moving + each
        else:
            flop = own if own is not None else _loop_flop(equation, inner)
            same, moving = (same, moving + flop) if any(operands) else (same + flop, moving)
        if any(operands):
            changing.update(equation.outvars)
    return same, moving


def _loop_flop(equation: Any, inner: Sequence[Any]) -> int:
    if equation.primitive.name != "scan":
        return sum(sum(_flop(each, set())) for each in inner)
    (body,) = inner
    carries = sum(_shape(out) == _shape(var) for out, var in zip(body.outvars, equation.outvars, strict=True))
    rows = sum(_shape(each) != _shape(var) for each, var in zip(body.invars, equation.invars, strict=True))
    names = body.invars[len(body.invars) - carries - rows :]
    kept = {var for var, out in zip(names, body.outvars[:carries], strict=False) if var is out}
    once, each = _flop(body, set(names) - kept)
    return once + equation.params["length"] * each


def _own_flop(equation: Any) -> int | None:
    """Return the FLOP of a product, or of a layer of this suite that stands for one; None for any other operation."""
    shapes = [_shape(var) for var in equation.invars]
    if equation.primitive.name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        return 2 * math.prod(equation.outvars[0].aval.shape) * math.prod(shapes[0][axis] for axis in contracted)
    if equation.primitive.name == "conv_general_dilated":
        axes, out = equation.params["dimension_numbers"], equation.outvars[0].aval.shape
        each = math.prod(shapes[1]) // shapes[1][axes.rhs_spec[0]] // equation.params["batch_group_count"]
        sides = zip(axes.lhs_spec[2:], axes.out_spec[2:], strict=True)
        places = math.prod(min(shapes[0][before], out[after]) for before, after in sides)
        return 2 * out[axes.out_spec[0]] * out[axes.out_spec[1]] * places * each
    # It may multiply zeros beyond a picture's edge. With stacked networks its products are counted one by one.
    if equation.params.get("name") == _WEIGHT_GRADIENT and len(shapes[1]) == _PICTURES:
        return 2 * math.prod(shapes[1][:3]) * math.prod(equation.outvars[0].aval.shape)
    if equation.params.get("name") == _MOVED_SUMS:  # the same convolution, by multiplications
        (inner,) = within(equation.params.values())
        return 2 * sum(math.prod(e.outvars[0].aval.shape) for e in inner.eqns if e.primitive.name == "mul")
    if equation.params.get("name") in _LSTM_PASSES:  # takes [N,T,K,4D] first; a product with [D,4D] at each position
        return 2 * math.prod(shapes[0]) * (shapes[0][-1] // 4)
    return None


def _shape(var: Any) -> tuple[int, ...]:
    return getattr(var.aval, "shape", ())


def _products(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        if equation.primitive.name in ("dot_general", "conv_general_dilated"):
            yield equation
        for inner in within(equation.params.values()):
            yield from _products(inner)


def _precisions(equation: Any) -> tuple[Any, ...]:
    found = equation.params["precision"]
    return found if isinstance(found, tuple) else (found,)


def _words(found: Iterable[Any]) -> tuple[str, ...]:
    return tuple(sorted({"default" if one is None else getattr(one, "name", str(one)).lower() for one in found}))
