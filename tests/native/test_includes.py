"""Who includes whom in `native`: the layers of both libraries, and headers that stand alone.

A room may include itself and the rooms below it. Rooms beside each other do not know one another.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.native.building import ROOT

NATIVE = ROOT / "native"

# From the bottom; rooms of one layer stand in one line.
LAYERS = {
    "engine": "program | state | machine | monitors | search"
    " | by_location graphs tso safety | any_number | python",
    "sanitizer": "system | core images | schedule races | report | hooks",
}
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_ANY_INCLUDE = re.compile(r'^#include [<"]([^">]+)[">]', re.MULTILINE)


def _levels(library: str) -> dict[str, int]:
    """How high each folder stands."""
    layers = [layer.split() for layer in LAYERS[library].split("|")]
    return {f"{library}/{room}": level for level, rooms in enumerate(layers) for room in rooms}


def _sources(library: str) -> list[Path]:
    return sorted(path for path in (NATIVE / library).rglob("*") if path.suffix in (".cpp", ".hpp"))


def _forbidden(library: str, room: str, text: str) -> Iterator[str]:
    """What a file with this text in this room must not include."""
    levels = _levels(library)
    here = f"{library}/{room}"
    for name in _INCLUDE.findall(text):
        folder = name.rpartition("/")[0]
        if folder != here and levels.get(folder, len(levels)) >= levels[here]:
            yield name


@pytest.mark.parametrize("library", LAYERS)
def test_rooms_include_only_rooms_below_them(library: str) -> None:
    for path in _sources(library):
        assert str(path.parent.relative_to(NATIVE)) in _levels(library), f"{path} is in no room"
    found = [
        f"{path.relative_to(NATIVE)} includes {name}"
        for path in _sources(library)
        for name in _forbidden(library, path.parent.name, path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("room", "name"),
    [
        ("state", "engine/search/frontier.hpp"),
        ("tso", "engine/safety/basis.hpp"),
        ("state", "sanitizer/core/clock.hpp"),
        ("state", "layout.hpp"),
        ("state", "engine/cellar/layout.hpp"),
    ],
)
def test_a_forbidden_include_is_noticed(room: str, name: str) -> None:
    allowed = '#include "engine/state/field.hpp"\n'
    assert list(_forbidden("engine", room, f'{allowed}#include "{name}"\n')) == [name]


@pytest.mark.parametrize("library", LAYERS)
def test_the_first_include_of_a_source_is_its_own_header(library: str) -> None:
    for path in _sources(library):
        header = path.with_suffix(".hpp")
        if path.suffix == ".cpp" and header.exists():
            includes = _ANY_INCLUDE.findall(path.read_text(encoding="utf-8"))
            assert includes[0] == str(header.relative_to(NATIVE)), path


def _text_with_includes(path: Path, seen: set[Path]) -> str:
    if path in seen:
        return ""
    seen.add(path)
    text = path.read_text(encoding="utf-8")
    return text + "".join(_text_with_includes(NATIVE / name, seen) for name in _INCLUDE.findall(text))


@pytest.mark.parametrize(
    "shared", ["system/*", "core/*", "report/data_owner", "report/repairs", "report/symbols"]
)
def test_what_is_compiled_once_for_all_modes_does_not_know_the_mode(shared: str) -> None:
    # native/sanitizer/CMakeLists.txt
    paths = list((NATIVE / "sanitizer").glob(f"{shared}.cpp"))
    assert paths
    for path in paths:
        assert not re.search("FENCEPOST_(RACES|FULL)", _text_with_includes(path, set())), path


def _compile_alone(header: Path) -> str:
    """What the compiler says about a file that includes nothing else."""
    options = ["-std=gnu++20", "-Wall", "-Wextra", "-mcx16", "-fsyntax-only", f"-I{NATIVE}"]
    done = subprocess.run(
        ["g++", *options, "-x", "c++", "-"],
        input=f'#include "{header.relative_to(NATIVE)}"\n',
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr


@pytest.mark.parametrize("library", LAYERS)
def test_headers_compile_alone(library: str) -> None:
    # The room `python` needs nanobind, which is there only while the package is built. Headers with a source
    # of the same name are its first include, and `make lint` reads each source by itself.
    rooms = [path for path in _sources(library) if path.parent.name != "python"]
    headers = [p for p in rooms if p.suffix == ".hpp" and p.with_suffix(".cpp") not in rooms]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [said for said in pool.map(_compile_alone, headers) if said]
    assert not complaints, "\n".join(complaints)
