"""A digest of lowered programs: of what XLA receives, independent of files, lines and function names.

StableHLO is printed without locations. Names of functions and arguments are dropped. So are large constants, since the
weights of an inference are constants and differ by seed. A Pallas kernel is a program inside the program, whose bytes
name its file: it is printed likewise.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from suite.programs.jax.jaxpr_cost import within

_SMALL = 64  # constants up to this size keep their values
_KERNEL = "mosaic_gpu"  # in the name of a Pallas kernel's call
_SPLIT = "CustomSPMDPartitioning"  # a call whose program is made later, for each device
_BYTECODE = b"ML\xefR"  # first bytes of an MLIR module
_CONFIG = "mhlo.backend_config"
_CALL = "stablehlo.custom_call"

_MODULE = re.compile(r"\Amodule @\S+")
_DEFINED = re.compile(r'func\.func (?:public |private )?@("[^"]*"|[\w.$-]+)')
_SYMBOL = re.compile(r'@("[^"]*"|[\w.$-]+)')
_DUMP = re.compile(r'mosaic_gpu\.dump_basename(?: = "[^"]*")?')  # output folder of a kernel's text
_INFO = re.compile(r'(?:, )?jax\.(?:result|arg)_info = "(?:[^"\\]|\\.)*"(?:, )?')
_WEIGHTS = re.compile(r"dense(?:_resource)?<[^<>]*> : (tensor<(?:\d+x)+(?:bf16|f\d\w*)>)")


def digest(texts: Iterable[str], weights: bool = False) -> str:
    """Return the digest of programs' texts, in order; with `weights`, ignore the values of constants."""
    total = hashlib.sha256()
    for text in texts:
        total.update(hashlib.sha256(normalised(text, weights).encode()).digest())
    return total.hexdigest()


def normalised(text: str, weights: bool = False) -> str:
    """Return a module's text without names that a programmer chose; with `weights`, without floating arrays."""
    numbers: dict[str, str] = {}
    for name in _DEFINED.findall(text):
        numbers.setdefault(name, f"@f{len(numbers)}")
    text = _MODULE.sub("module", text)
    text = _SYMBOL.sub(lambda found: numbers.get(found[1], found[0]), text)
    text = _INFO.sub("", text)
    return _WEIGHTS.sub(r"dense<...> : \1", text) if weights else text


def text_of(lowered: Any) -> str:
    """Return the text of a `jax.stages.Lowered`, without locations and large constants."""
    module = lowered.compiler_ir("stablehlo").operation
    text = _printed(module)
    return _printed(_with_kernels_printed(module)) if _KERNEL in text or _SPLIT in text else text


def split_texts(traced: Any, lowered_text: str, platform: str) -> tuple[str, ...]:
    """Return the texts of the per-device programs of a traced program, which its own text only names."""
    if _SPLIT not in lowered_text:
        return ()
    import jax
    from jax.extend.core import jaxpr_as_fun

    texts = []
    for call in _split_calls(traced.jaxpr.jaxpr):
        of = jax.jit(jaxpr_as_fun(call)).trace(*call.in_avals)
        texts.append(text_of(of.lower(lowering_platforms=("cuda" if platform == "gpu" else platform,))))
    return tuple(texts)


def _printed(operation: Any) -> str:
    return operation.get_asm(enable_debug_info=False, large_elements_limit=_SMALL)


def _with_kernels_printed(module: Any) -> Any:
    """Return a copy of a module whose calls carry a digest of their kernel's text, and nothing of this process."""
    from jaxlib.mlir import ir

    copy = module.clone()
    with copy.context:
        for call in _calls(copy):
            attributes, target = call.attributes, str(call.attributes["call_target_name"])
            if _SPLIT in target:  # the address of a Python object
                attributes["backend_config"] = ir.StringAttr.get("")
            elif _KERNEL in target and _CONFIG in attributes:
                config = {each.name: each.attr for each in attributes[_CONFIG]}
                config.pop("kernel_hash", None)  # it hashes the bytes, so the file's name too
                for name, value in config.items():
                    if (content := _content(value)).startswith(_BYTECODE):
                        config[name] = ir.StringAttr.get(_kernel_digest(content, copy.context))
                attributes[_CONFIG] = ir.DictAttr.get(config)
    return copy


def _content(attribute: Any) -> bytes:
    """Return the bytes of a text attribute; none for any other attribute."""
    from jaxlib.mlir import ir

    try:
        return ir.StringAttr(attribute).value_bytes
    except (TypeError, ValueError):
        return b""


def _kernel_digest(bytecode: bytes, context: Any) -> str:
    """Return the digest of a kernel's module, read in the context of the program around it.

    JAX registers its dialects there: jaxlib 0.11 reads no kernel in a context of its own.
    """
    from jaxlib.mlir import ir

    strict = context.allow_unregistered_dialects
    context.allow_unregistered_dialects = True
    try:
        text = str(ir.Module.parse(bytecode, context).operation.get_asm(enable_debug_info=False))
    finally:
        context.allow_unregistered_dialects = strict
    return hashlib.sha256(_DUMP.sub("", text).encode()).hexdigest()


def _calls(operation: Any) -> Iterator[Any]:
    """Yield a module's custom calls in order."""
    for region in operation.regions:
        for block in region.blocks:
            for each in block.operations:
                if each.operation.name == _CALL:
                    yield each.operation
                yield from _calls(each.operation)


def _split_calls(jaxpr: Any) -> Iterator[Any]:
    """Yield a jaxpr's per-device programs in order."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "custom_partitioning":
            yield equation.params["call"]
            continue
        for inner in within(equation.params.values()):
            yield from _split_calls(inner)
