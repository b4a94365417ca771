"""A row of the options table, and its rules: was it given, where does it apply, and who decides it instead?"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from suite.case import Backend, Implementation
from suite.scopes import Scope

Decider = Literal["experiment", "reference"]


@dataclass(frozen=True)
class Option:
    """An option's flag and help, and what it applies to; an empty tuple means everything."""

    flag: str
    help: str
    _: KW_ONLY
    metavar: str | None = None
    shows_default: bool = False
    scopes: tuple[Scope, ...] = ()
    backends: tuple[Backend, ...] = ()
    implementations: tuple[Implementation, ...] = ()
    decided_by: tuple[Decider, ...] = ()  # these set it themselves and refuse the user's value
    with_resume: bool = False  # whether it still applies with --resume, instead of the stored plan's value

    @property
    def name(self) -> str:
        """Its name in messages: the first of a flag and its opposite."""
        return self.flag.partition("/")[0]


def axis(flag: str, help: str, **of: Any) -> Option:
    """Return an option for how a case is timed, which experiments and reference rounds decide themselves."""
    return Option(flag, help, decided_by=get_args(Decider), **of)


@cache
def table(request: type) -> Mapping[str, Option]:
    """Return the options of a request class by field name; they are annotations of the fields."""
    hints = get_type_hints(request, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}


def given(request: Any) -> Iterator[tuple[str, Option]]:
    """Yield name and option of each field whose value is not the default."""
    usual = type(request)()
    for name, row in table(type(request)).items():
        if getattr(request, name) != getattr(usual, name):
            yield name, row


def check_decided(request: Any, decider: Decider, words: str, leave: str) -> None:
    """Raise ValueError for a given option that the experiment or reference round decides."""
    for _, row in given(request):
        if decider in row.decided_by:
            raise ValueError(f"{row.name} asked for with {words}, which decides that itself; leave {leave} out")


def check_applies(request: Any, **measured: Collection[str]) -> None:
    """Raise ValueError for a given option that applies to none of the measured scopes, backends or implementations."""
    for _, row in given(request):
        for kind, names in measured.items():
            of: tuple[str, ...] = getattr(row, kind)
            if of and not set(of) & set(names):
                one, all_but_last = kind.removesuffix("s"), ", ".join(of[:-1])
                words = f"{all_but_last} or {of[-1]}" if all_but_last else of[0]
                raise ValueError(f"{row.name} asked for without {one} {words}; add --{one} {of[0]} or leave it out")


def applied(request: Any, **side: str) -> Any:
    """Return the request for one side, such as `backends="cpu"`: options of other sides have their defaults."""
    usual, foreign = type(request)(), dict[str, Any]()
    for name, row in given(request):
        if any((of := getattr(row, kind)) and value not in of for kind, value in side.items()):
            foreign[name] = getattr(usual, name)
    return replace(request, **foreign)
