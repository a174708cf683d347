"""Every command that the documentation shows does what the documentation says.

`FENCEPOST_UPDATE_DOCS=1 pytest tests/docs` writes what the commands print and draw now into the
documentation, and leaves out what the page leaves out (`…`); look at the diff before committing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.docs.console import Command, Shell, cluster_for, matches, renewed, session
from tests.docs.pages import PAGES, ROOT, code_words, name_of

SESSIONS = {page: session(page) for page in PAGES}
PICTURES = sorted((ROOT / "docs" / "images").glob("*.svg"))


@pytest.fixture
def cluster(page: Path) -> Iterator[str]:
    with cluster_for(SESSIONS[page]) as address:
        yield address


@pytest.mark.parametrize("page", [page for page in PAGES if SESSIONS[page]], ids=name_of)
def test_commands_do_what_the_page_shows(page: Path, cluster: str, tmp_path: Path) -> None:
    """From top to bottom, in one directory, as a reader would."""
    shell = Shell(tmp_path, cluster)
    wrong: list[str] = []
    anew: list[tuple[slice, list[str]]] = []
    for command in session(page):
        if not command.is_run:
            continue
        exit_code, printed = shell.run(command)
        place = f"{name_of(page)}:{command.line}: {command.text}"
        if exit_code != command.exit_code:
            wrong.append(f"{place}\nexits with {exit_code}, not {command.exit_code}:\n" + "\n".join(printed))
        elif command.shown and not matches(command.shown, printed):
            diff = unified_diff(command.shown, printed, "shown", "printed", lineterm="")
            wrong.append(f"{place}\n" + "\n".join(diff))
            anew.append((command.output_lines(), renewed(command.shown, printed)))
        for part in command.parts:
            if not matches(["…", *part.lines, "…"], printed):
                place = f"{name_of(page)}:{part.first_line}: this is no part of"
                wrong.append("\n".join([place, *printed]))
                anew.append((part.lines_in_page(), renewed(["…", *part.lines, "…"], printed)[1:-1]))
    if os.environ.get("FENCEPOST_UPDATE_DOCS"):
        update(page, anew)
    assert not wrong, "\n\n".join(["", *wrong])


def update(page: Path, anew: list[tuple[slice, list[str]]]) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    for where, new in sorted(anew, key=lambda change: change[0].start, reverse=True):
        lines[where] = new
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("picture", PICTURES, ids=name_of)
def test_pictures_are_those_that_are_drawn_now(picture: Path, tmp_path: Path) -> None:
    """`docs/images/NAME.svg` shows `examples/tutorial/NAME.tpl`, and `NAME-x86.svg` shows it on x86."""
    program = f"examples/tutorial/{picture.stem.removesuffix('-x86')}.tpl"
    question = "persist" if picture.stem.endswith("-x86") else "robust"
    command = f"fencepost {question} -q {program} --svg now.svg"
    shell = Shell(tmp_path)
    shell.run(Command(command, 1, [], 0, []))
    now = (shell.directory / "now.svg").read_text(encoding="utf-8")
    if os.environ.get("FENCEPOST_UPDATE_DOCS"):
        picture.write_text(now, encoding="utf-8")
    assert picture.read_text(encoding="utf-8") == now


def test_make_targets_in_docs_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    shown = [command.text.partition("#")[0] for session in SESSIONS.values() for command in session]
    shown += [code for page in PAGES for code in code_words(page)]
    named = {words[1] for words in map(str.split, shown) if words[:1] == ["make"] and len(words) == 2}
    named = {word for word in named if "=" not in word}  # of examples/case-studies
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["robust"], ["robust"], True),
        (["robust"], ["not robust"], False),
        (["robust"], ["robust", "and more"], False),
        (["18 states, 22 transitions, 0.00 s, 1 MB"], ["18 states, 22 transitions, 12.30 s, 90 MB"], True),
        (["18 states, 22 transitions, 0.00 s"], ["19 states, 22 transitions, 0.00 s"], False),
        (["18 states, 22 transitions, 0.00 s"], ["18 states, 23 transitions, 0.00 s"], False),
        (["18 states"], ["18 steps"], False),
        (["a.tpl   robust   7   0.00"], ["a.tpl   robust       7   12.34"], True),
        (["a.tpl   robust   7   0.00"], ["a.tpl   robust   8   0.00"], False),
        (["a.tpl   robust   7   0.00"], ["b.tpl   robust   7   0.00"], False),
        (["r = x.load() → 0"], ["r = x.load() → 1"], False),
        (['"states":10,"seconds":0.1'], ['"states":10,"seconds":2e-5'], True),
        (['"states":10,"seconds":0.1'], ['"states":11,"seconds":0.1'], False),
        (["first", "…", "last"], ["first", "1", "2", "last"], True),
        (["first", "…", "last"], ["first", "last"], True),
        (["first", "…", "last"], ["first", "1"], False),
        (["from … to 3"], ["from 1.5 to 3"], True),
        (["from … to 3"], ["from 1.5 to 4"], False),
    ],
)
def test_what_counts_as_shown(shown: list[str], printed: list[str], same: bool) -> None:
    assert matches(shown, printed) is same


@pytest.mark.parametrize(
    ("shown", "printed", "new"),
    [
        (["old", "18 states, 0.01 s"], ["new", "18 states, 0.02 s"], ["new", "18 states, 0.01 s"]),
        (["a", "b", "…", "old"], ["a", "c", "1", "2", "old"], ["a", "c", "…", "old"]),
        (["…", "a", "old", "b", "…"], ["1", "a", "new", "er", "b", "2"], ["…", "a", "new", "er", "b", "…"]),
        (["old", "took … in all"], ["new", "took 3 in all"], ["new", "took … in all"]),
        (["first", "…"], ["first", "1", "2"], ["first", "…"]),
        (["all", "…", "differs"], ["nothing", "is", "the", "same"], ["all", "…", "differs"]),
    ],
)
def test_what_the_page_should_show_now(shown: list[str], printed: list[str], new: list[str]) -> None:
    assert renewed(shown, printed) == new
