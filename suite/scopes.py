"""The scopes: how much of the work is counted."""

from typing import Literal

Scope = Literal["cold", "step", "transfer", "epoch", "input", "run", "calls", "learning", "serve"]
USUAL_SCOPES: tuple[Scope, ...] = ("step", "transfer", "cold")  # where no scope is asked for
FROM_STORAGE: frozenset[Scope] = frozenset({"epoch", "input", "learning"})  # through an input pipeline
LONG: frozenset[Scope] = frozenset({"run", "learning"})  # measured once unless --rounds asks for more
FEWEST_REQUESTS = 200  # whose latency is kept, in each process of scope `serve`
