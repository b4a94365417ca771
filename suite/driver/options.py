"""A row of the table of options, and what follows from it: what was given, where it applies, who decides it instead."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from suite.case import Backend, Implementation
from suite.scopes import Scope

Decider = Literal["experiment", "reference"]


@dataclass(frozen=True)
class Option:
    """What an option is called and for, and what it is of; an empty tuple means: of all."""

    flag: str
    help: str
    _: KW_ONLY
    metavar: str | None = None
    shows_default: bool = False
    scopes: tuple[Scope, ...] = ()
    backends: tuple[Backend, ...] = ()
    implementations: tuple[Implementation, ...] = ()
    decided_by: tuple[Decider, ...] = ()  # who takes no value for it from the user
    with_resume: bool = False  # whether it still applies with --resume, not the stored plan's value

    @property
    def name(self) -> str:
        """What messages call it: of a flag with its opposite the first."""
        return self.flag.partition("/")[0]


def axis(flag: str, help: str, **of: Any) -> Option:
    """Return an option that says how a case is timed: an experiment decides on it, and so does a reference round."""
    return Option(flag, help, decided_by=get_args(Decider), **of)


@cache
def table(request: type) -> Mapping[str, Option]:
    """Return the options of a class of requests, by the names of their fields: rows in the annotations of these."""
    hints = get_type_hints(request, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}


def given(request: Any) -> Iterator[tuple[str, Option]]:
    """Yield the names and options whose values differ from the default."""
    usual = type(request)()
    for name, row in table(type(request)).items():
        if getattr(request, name) != getattr(usual, name):
            yield name, row


def check_decided(request: Any, decider: Decider, words: str, leave: str) -> None:
    """Raise ValueError for an option that was given although an experiment or a reference round decides it."""
    for _, row in given(request):
        if decider in row.decided_by:
            raise ValueError(f"{row.name} asked for with {words}, which decides that itself; leave {leave} out")


def check_applies(request: Any, **there: Collection[str]) -> None:
    """Raise ValueError for an option that was given although no scope, backend or implementation has it."""
    for _, row in given(request):
        for kind, names in there.items():
            of: tuple[str, ...] = getattr(row, kind)
            if of and not set(of) & set(names):
                one, all_but_last = kind.removesuffix("s"), ", ".join(of[:-1])
                words = f"{all_but_last} or {of[-1]}, which alone have" if all_but_last else f"{of[0]}, which alone has"
                raise ValueError(f"{row.name} asked for without {one} {words} it; add --{one} {of[0]} or leave it out")


def applied(request: Any, **side: str) -> Any:
    """Return the request as one side has it, such as `backends="cpu"`: options of others alone have their default."""
    usual, foreign = type(request)(), dict[str, Any]()
    for name, row in given(request):
        if any((of := getattr(row, kind)) and value not in of for kind, value in side.items()):
            foreign[name] = getattr(usual, name)
    return replace(request, **foreign)
