"""Small faults planted in a module's source, one at a time: what a slip of the pen could have made of it."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

_OPERATORS = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "median": "fmean", "fmean": "median"}
_FOR_READERS = ("annotation", "returns", "decorator_list", "keywords", "bases")  # of definitions; no behaviour


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A module's source with one fault in it."""

    line: int
    place: str  # the function or class that it is in
    what: str  # the function, the expression before and after; numbered where that comes again
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of its lines; each parses, and differs from the source."""
    statements = ast.parse(source).body
    whole, found = [ast.unparse(statement) for statement in statements], []
    for index, statement in enumerate(statements):  # one alone is written anew for each of its mutants
        for place, node in _places(ast.Module(body=[statement], type_ignores=[])):
            for change in _changes(node):
                before = ast.unparse(node)
                undo = change()
                after = ast.unparse(node)
                changed = ast.unparse(ast.fix_missing_locations(statement))
                undo()
                if changed != whole[index]:
                    what = f"{place}: {_short(before)} -> {_short(after)}"
                    line = (node.target if isinstance(node, ast.comprehension) else node).lineno
                    source = "\n".join([*whole[:index], changed, *whole[index + 1 :]])
                    found.append(Mutant(line=line, place=place, what=what, source=source))
    seen = Counter()
    for mutant in sorted(found, key=lambda mutant: mutant.line):
        seen[mutant.what] += 1
        number = f" ({seen[mutant.what]})" if seen[mutant.what] > 1 else ""
        yield replace(mutant, what=mutant.what + number)


def plain(source: str) -> str:
    """Return the source written as that of a mutant is, without a fault: the same lines up to where one has its own."""
    return "\n".join(ast.unparse(statement) for statement in ast.parse(source).body)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else f"{text[:60]} ... {text[-25:]}"


def _places(tree: ast.AST, place: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes that do something, with the name of the function or class they are in."""
    for name, value in ast.iter_fields(tree):
        if isinstance(tree, ast.FunctionDef | ast.ClassDef | ast.AnnAssign | ast.arg) and name in _FOR_READERS:
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
                continue
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
                continue  # a type, which the checker alone reads
            within = f"{place}.{node.name}".lstrip(".") if isinstance(node, ast.FunctionDef | ast.ClassDef) else place
            yield within, node
            yield from _places(node, within)


Change = Callable[[], Callable[[], None]]  # makes it, and returns what undoes it


def _set(node: ast.AST, field: str, value: object) -> Change:
    def change() -> Callable[[], None]:
        before = getattr(node, field)
        setattr(node, field, value)
        return lambda: setattr(node, field, before)

    return change


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        for other in _OPERATORS.get(type(node.op), ()):
            yield _set(node, "op", other())
    if isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.USub):
            yield _set(node, "op", ast.UAdd())
        if isinstance(node.op, ast.Not):
            yield _set(node, "operand", ast.UnaryOp(op=ast.Not(), operand=node.operand))
    if isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            for other in _OPERATORS.get(type(op), ()):
                yield _set(node, "ops", [*node.ops[:index], other(), *node.ops[index + 1 :]])
    if isinstance(node, ast.Constant):
        for value in _constants(node.value):
            yield _set(node, "value", value)
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield _set(node, "test", ast.UnaryOp(op=ast.Not(), operand=node.test))
    if isinstance(node, ast.comprehension):
        for index, test in enumerate(node.ifs):
            yield _set(node, "ifs", [*node.ifs[:index], *node.ifs[index + 1 :]])
            negated = ast.UnaryOp(op=ast.Not(), operand=test)
            yield _set(node, "ifs", [*node.ifs[:index], negated, *node.ifs[index + 1 :]])
    if isinstance(node, ast.Call):
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if len(node.args) > 1 and not starred and ast.unparse(node.func) not in ("min", "max"):
            yield _set(node, "args", [node.args[1], node.args[0], *node.args[2:]])
        if isinstance(node.func, ast.Name) and node.func.id in _NAMES:
            yield _set(node, "func", ast.Name(id=_NAMES[node.func.id], ctx=ast.Load()))
    if isinstance(node, ast.Return) and node.value is not None and not _none(node.value):
        yield _set(node, "value", ast.Constant(value=None))
    if isinstance(node, ast.If | ast.For | ast.While | ast.FunctionDef):
        for field in ("body", "orelse"):
            statements = getattr(node, field, [])
            for index, statement in enumerate(statements):
                if _removable(statement):
                    yield _set(node, field, [*statements[:index], ast.Pass(), *statements[index + 1 :]])


def _constants(value: object) -> tuple:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1)
    if isinstance(value, float):
        return (value * 1.5 or 1.0, value / 2)
    return (f"{value}x",) if isinstance(value, str) else ()


def _none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _removable(statement: ast.stmt) -> bool:
    """Return whether a statement can go without a name being missed: calls, raises, sums, early ends."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Raise | ast.AugAssign | ast.Continue | ast.Break)
