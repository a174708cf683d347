"""Every face of every fixture, as it was last looked at."""

import json

import pytest

from fencepost.errors import InputError
from fencepost.report.export import as_json
from fencepost.report.html import notebook
from fencepost.report.picture import svg
from fencepost.report.story import verdict
from fencepost.report.text import answer as text
from fencepost.report.text import table
from tests.report.snapshot import assert_matches, page_of, pages
from tests.report.witnesses import ANSWERS

PICTURES = [
    *("sb", "iriw", "2+2w", "peterson", "peterson-40", "stale-rmw", "fences", "no-positions", "hostile"),
    *("tso-sb", "tso-detour", "tso-several", "tso-triangular", "tso-long", "tso-hostile"),
    *("unsafe-mutex", "unsafe-under-sc", "unsafe-at-once", "unsafe-hostile", "unsafe-tso", "racy"),
]


JSON = [
    *("sb", "race", "assertion", "unknown", "hostile", "tso-sb"),
    *("safe", "unsafe-mutex", "unsafe-final", "unsafe-race", "unsafe-tso", "race-free", "racy"),
]


@pytest.mark.parametrize("question", ["robust", "persist", "verify", "races"])
def test_text(question):
    asked = {name: answer for name, answer in ANSWERS.items() if answer.question == question}
    texts = {name: text.render(answer, color=False, width=80) for name, answer in asked.items()}
    assert_matches(f"text/{question}.txt", pages(texts))


def test_text_with_colours():
    texts = {name: text.render(ANSWERS[name], color=True, width=80) for name in ("sb", "tso-sb")}
    assert_matches("text/colours.ansi", pages(texts))


def test_verbose_text():
    assert_matches(
        "text/iriw-verbose.txt", text.render(ANSWERS["iriw"], color=False, width=100, verbose=True)
    )


def _picture(name):
    answer = ANSWERS[name]
    assert answer.witness is not None
    return svg.render(answer.witness, f"{answer.file}: {verdict(answer)} under {answer.model}")


def test_svg():
    assert_matches("picture/pictures.html", page_of({name: _picture(name) for name in PICTURES}))


def test_json():
    lines = (f'"{name}": {as_json.encode(ANSWERS[name]).decode()}' for name in JSON)
    assert_matches("export/answers.json", "{\n" + ",\n".join(lines) + "\n}\n")


def test_json_schema():
    assert_matches("export/schema.json", json.dumps(as_json.schema(), indent=2) + "\n")


def _tables():
    error = InputError("expected `)`", "examples/[red]broken[/red].tpl", 3, 7)
    rows = [(answer.file, answer) for answer in ANSWERS.values()]
    yield "all answers", [*rows, (error.file, error)]
    for criterion in ("safe", "data-race-free", "write-write-race-free"):
        yield criterion, [(name, answer) for name, answer in ANSWERS.items() if answer.criterion == criterion]


def test_tables():
    assert_matches("text/tables.txt", pages({name: table.summary(rows) for name, rows in _tables()}))


def test_notebook():
    names = ("race", "assertion", "unknown", "tso-several", "unsafe-mutex", "unsafe-race", "unsafe-tso")
    shown = {name: notebook.answer_html(ANSWERS[name]) for name in names}
    assert_matches("html/notebook.html", page_of(shown))
