"""A digest of a baseline's step: the source of its network, loss and optimizer, and of their driver.

A baseline has no lowered program before it runs. Only definitions that the step reaches by name count, so a second
optimizer in a shared file changes nothing. Comments, docstrings, annotations and file names do not count. Neither does
the code that makes and compares the two sides' batches.
"""

import ast
import hashlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from suite import families
from suite.case import Case

PACKAGE = "suite"
_ASIDE = frozenset({"preparation", "draw", "input_sets", "weights"})  # of a control: its batches and the comparison
_TELLING = frozenset(  # methods of a driver that report and do nothing in its step
    {"bytes_per_step", "cache_hits", "compilations", "device_memory_bytes", "loss", "packages", "platform"}
    | {"program_digest", "settings", "state_digest", "jaxpr_cost"}
)
_DRIVING = frozenset({"chain", "block"})  # methods that every driver has

Name = tuple[str, str]  # of a module, and of a definition in it
SourceOf = Callable[[str], str | None]  # of a module by its name; None if there is none


@dataclass(frozen=True, kw_only=True)
class _Module:
    """A module's top-level definitions, and the origins of its imported names."""

    defined: dict[str, tuple[ast.AST, ...]] = field(default_factory=dict)
    imported: dict[str, Name] = field(default_factory=dict)  # of the package; '' for a whole module
    foreign: dict[str, str] = field(default_factory=dict)  # of other packages, such as 'torch.nn.functional'


def digest(start: Iterable[Name], source_of: SourceOf) -> str:
    """Return the digest of definitions and of all that they reach; `source_of` gives a module's source by its name.

    Raises LookupError if a starting definition is missing.
    """
    return hashlib.sha256("\n".join(reached(start, source_of)).encode()).hexdigest()


def reached(start: Iterable[Name], source_of: SourceOf) -> tuple[str, ...]:
    """Return each reached definition as text, in an order independent of module names."""
    modules: dict[str, _Module | None] = {}

    def module(name: str) -> _Module | None:
        if name not in modules:
            text = source_of(name)
            modules[name] = None if text is None else _module(text)
        return modules[name]

    seen: set[Name] = set()
    texts: list[str] = []
    waiting = list(start)
    for where, name in waiting:
        at = module(where)
        if at is None or name not in at.defined:
            raise LookupError(f"no '{name}' in module '{where}'; its source is not what was imported")
    while waiting:
        where, name = waiting.pop()
        at = module(where)
        if (where, name) in seen or at is None:
            continue
        seen.add((where, name))
        if name in at.imported:
            waiting.append(at.imported[name])
        for node in at.defined.get(name, ()):
            texts.append(_text(node, at.foreign))
            waiting += _names(node, where, at)
    return tuple(sorted(texts))


def _names(node: ast.AST, where: str, at: _Module) -> Iterator[Name]:
    """Yield the names that a definition refers to, in its own module or in one that this imports."""
    for each in _walk(node):
        if isinstance(each, ast.Name):
            yield where, each.id
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in at.imported:
            module, name = at.imported[each.value.id]
            if not name:
                yield module, each.attr
            else:
                yield f"{module}.{name}", each.attr  # `from suite.controls import _optimizers`


def _module(source: str) -> _Module:
    module_names = _Module()
    for node in ast.parse(source).body:
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                for each in names:
                    if module.split(".")[0] == PACKAGE:
                        module_names.imported[each.asname or each.name] = module, each.name
                    else:
                        module_names.foreign[each.asname or each.name] = f"{module}.{each.name}"
            case ast.Import(names=names):
                for each in names:
                    if each.name.split(".")[0] == PACKAGE:
                        module_names.imported[each.asname or each.name] = each.name, ""
                    else:
                        module_names.foreign[each.asname or each.name.split(".")[0]] = each.name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                module_names.defined[name] = *module_names.defined.get(name, ()), node
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                for each in ast.walk(node):
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        module_names.defined[each.id] = *module_names.defined.get(each.id, ()), node
            case _:
                pass
    return module_names


def _text(node: object, foreign: Mapping[str, str]) -> str:
    """Return a tree as text, the same in every Python version that parses the source."""
    if isinstance(node, ast.Name):
        return f"{{{foreign.get(node.id, node.id)}}}"
    if isinstance(node, ast.Constant):
        return f"{type(node.value).__name__} {node.value!r}"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = []
    for name, value in _fields(node):
        if isinstance(value, list):
            parts.append(f"{name}=[{','.join(_text(each, foreign) for each in value)}]")
        else:
            parts.append(f"{name}={_text(value, foreign)}")
    return f"{type(node).__name__}({','.join(parts)})"


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree that count."""
    yield node
    for _, value in _fields(node):
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, ast.AST):
                yield from _walk(each)


def _fields(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield the fields of a node that count: no empty ones, annotations, docstrings or imports."""
    for name, value in ast.iter_fields(node):
        if value is None or value == [] or name in ("ctx", "annotation", "returns", "type_comment", "type_params"):
            continue
        if name == "kind" and isinstance(node, ast.Constant):
            continue
        if name == "body" and isinstance(value, list):
            value = [each for each in value if not _is_aside(each, node)]
        if name == "keywords" and isinstance(node, ast.Call) and isinstance(value, list):
            value = [each for each in value if each.arg not in _ASIDE]
        if value != []:
            yield name, value


def _is_aside(node: ast.AST, of: ast.AST) -> bool:
    """Return whether a statement does nothing in a step: a string, an import, or a reporting method or field."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.FunctionDef(name=name) if name in _TELLING and isinstance(of, ast.ClassDef):
            return {each.name for each in of.body if isinstance(each, ast.FunctionDef)} >= _DRIVING
        case ast.AnnAssign(target=ast.Name(id=name)):
            return isinstance(of, ast.ClassDef) and name in _ASIDE
    return False


def of_case(kind: type, controls: str, case: Case) -> str:
    """Return the digest of a case's step: its driver, its control, a family's size, variant and precision."""
    family = families.family_of(case.workload)
    module, name, size = (f"_{family}", "made", f" {case.workload}") if family else (case.workload, "CONTROL", "")
    start = (kind.__module__, kind.__qualname__), (f"{controls}.{module}", name)
    return f"{digest(start, source)}{size} {case.variant} {case.precision}"


def source(module: str) -> str | None:
    """Return the source of the file that a module is imported from; None if there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin).read_text(encoding="utf-8") if spec is not None and spec.origin else None
