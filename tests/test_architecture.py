"""The map for newcomers names what there is: every path, every room, in the order that the imports keep."""

import re
from pathlib import Path

import pytest
from test_layers import JAX, ROOMS

ROOT = Path(__file__).parent.parent
MAPS = ("ARCHITECTURE.md", "CONTRIBUTING.md")
PATH = re.compile(r"`((?:suite|tests|site)/[\w./-]*)`")


def named(page):
    """Return the paths that a page names."""
    return [path for path in PATH.findall((ROOT / page).read_text()) if "NAME" not in path]


@pytest.mark.parametrize("page", MAPS)
def test_every_path_that_a_map_names_is_there(page):
    names = named(page)
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_stair_has_every_room():
    stair = {name.removeprefix("suite/").removesuffix(".py").replace("/", ".") for name in named("ARCHITECTURE.md")}
    rooms = {room for room in ROOMS if room not in ("child_imports", "worker.checks")} | {"cli"}
    assert rooms - stair == set()


def test_a_room_imports_nothing_of_a_later_line_of_the_stair():
    lines = [line for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines() if line.startswith("| `")]
    place = {
        name.removeprefix("suite/").removesuffix(".py").replace("/", "."): number
        for number, line in enumerate(lines)
        for name in PATH.findall(line.split("|")[1])
    }
    late = [
        (room, other)
        for room, below in ROOMS.items()
        for allowed in below
        for other in place
        if room in place and (other == allowed or other.startswith(f"{allowed}.")) and place[other] > place[room]
    ]
    assert late == []


def test_the_map_says_which_rooms_import_jax():
    (sentence,) = re.findall(r"Only (.*?) import jax\.", (ROOT / "ARCHITECTURE.md").read_text(), re.DOTALL)
    assert {name.removeprefix("suite/").replace("/", ".") for name in PATH.findall(sentence)} == set(JAX)


@pytest.mark.parametrize("page", MAPS)
def test_a_map_is_short(page):
    assert len((ROOT / page).read_text().splitlines()) <= 160
