"""Faults of memory: a GPU's, a host's, a limit of a control group or of a process."""

import sys
from functools import partial

from trust.bench import (
    A_LINE,
    A_RECORD,
    SMALL,
    THE_RESULT,
    Bench,
    Outcome,
    fault,
    recorded,
    refused_with_nothing_left,
    whole,
)


@fault("the GPU's memory is out (RESOURCE_EXHAUSTED)", A_RECORD, "the worker's last line", sample=True)
def _(place: Bench) -> Outcome:
    return recorded(place.faked("memory compile", backends=("cpu", "gpu")).run("--backend", "gpu"), "out of memory")


@fault("the host's memory is out (RLIMIT_AS, real worker)", A_RECORD, "the worker's last line, or how it ended")
def _(place: Bench) -> Outcome:
    limited = place.folder / "limited"
    limited.write_text(f'#!/bin/sh\nulimit -v 4000000\nexec "{sys.executable}" "$@"\n')
    limited.chmod(0o755)
    place.env["SUITE_JAX_PYTHON"] = str(limited)
    ran = place.run(SMALL, "--backend", "cpu", "--batch", str(10**9))
    good, found = recorded(ran, "")
    return good and all("memory" in reason or "killed" in reason for reason in ran.reasons), found


def grouped(place: Bench, name: str) -> Outcome:
    """Measure in a control group with little memory."""
    (place.folder / name).write_text(f"{2**28}\n")
    ran = place.faked().run("alpha", planted=(("memory_limit", str(place.folder), 2**36),))
    return refused_with_nothing_left(place, ran, f"the limit of the control group ({name})", "raise it")


for _name, _version in (("memory.max", 2), ("memory.limit_in_bytes", 1)):
    fault(f"a control group has too little memory (version {_version})", f"{A_LINE}, nothing left", "the preflight")(
        partial(grouped, name=_name)
    )


@fault("a control group has little memory", f"a note that names the limit, and {THE_RESULT}", "the preflight")
def _(place: Bench) -> Outcome:
    (place.folder / "memory.max").write_text(f"{2**31}\n")
    ran = place.faked().run("alpha", planted=(("memory_limit", str(place.folder), 2**36),))
    return whole(ran, "the larger networks may not fit into", "the limit of the control group (memory.max)")


def of_processes(place: Bench, kind: str, option: str) -> Outcome:
    """Measure with a limit of each process."""
    ran = place.faked().run("alpha", planted=(("limit", kind, 900 * 2**20),))
    return refused_with_nothing_left(place, ran, f"the limit of each process ({option})", "raise it")


for _name, _option in (("RLIMIT_AS", "ulimit -v"), ("RLIMIT_DATA", "ulimit -d")):
    fault(f"a process may have too little memory ({_name})", f"{A_LINE}, nothing left", "the preflight")(
        partial(of_processes, kind=_name, option=_option)
    )


def killed(place: Bench, file: str, text: str, host: bool) -> Outcome:
    """Let the system kill the worker for want of memory and count it."""
    counter = place.folder / file
    counter.write_text(text.format(3))
    place.faked().working(f"printf '{text.format('%d')}' $((count + 3)) > '{counter}'; kill -KILL $$")
    ran = place.run("alpha", planted=(("kills_counted", str(place.folder), host),))
    return recorded(ran, "was killed by SIGKILL, as memory ran out")


for _what, _file, _text, _host in (
    ("a control group, version 2", "memory.events", "oom 9\\noom_kill {}\\n", False),
    ("a control group, version 1", "memory.oom_control", "oom_kill_disable 0\\noom_kill {}\\n", False),
    ("the host", "vmstat", "pgfault 9\\noom_kill {}\\n", True),
):
    fault(f"the system kills the worker as memory runs out: {_what}", A_RECORD, "the counter of such kills")(
        partial(killed, file=_file, text=_text.replace("\\n", "\n"), host=_host)
    )


@fault("the worker is killed, and not for want of memory", "a record that says no more", "the counter of such kills")
def _(place: Bench) -> Outcome:
    (place.folder / "memory.events").write_text("oom_kill 3\n")
    ran = place.faked("kill samples").run("alpha", planted=(("kills_counted", str(place.folder), False),))
    good, found = recorded(ran, "killed by SIGKILL")
    return good and "memory" not in found, found
