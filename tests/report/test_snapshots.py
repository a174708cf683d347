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
from tests.report.snapshot import assert_matches
from tests.report.witnesses import ANSWERS

PICTURES = [
    *("sb", "iriw", "2+2w", "peterson", "peterson-40", "stale-rmw", "fences", "no-positions", "hostile"),
    *("tso-sb", "tso-detour", "tso-several", "tso-triangular", "tso-long", "tso-hostile"),
    *("unsafe-mutex", "unsafe-under-sc", "unsafe-at-once", "unsafe-hostile", "racy"),
]


JSON = [
    *("sb", "race", "assertion", "unknown", "hostile", "tso-sb"),
    *("safe", "unsafe-mutex", "unsafe-final", "unsafe-race", "race-free", "racy"),
]


@pytest.mark.parametrize("question", ["robust", "persist", "verify", "races"])
def test_text(question):
    pages = [
        f"======== {name}\n\n{text.render(answer, color=False, width=80)}"
        for name, answer in ANSWERS.items()
        if answer.question == question
    ]
    assert_matches(f"text/{question}.txt", "\n".join(pages))


def test_text_with_colours():
    assert_matches("text/sb.ansi", text.render(ANSWERS["sb"], color=True, width=80))
    assert_matches("text/tso-sb.ansi", text.render(ANSWERS["tso-sb"], color=True, width=80))


def test_verbose_text():
    assert_matches(
        "text/iriw-verbose.txt", text.render(ANSWERS["iriw"], color=False, width=100, verbose=True)
    )


@pytest.mark.parametrize("name", PICTURES)
def test_svg(name):
    answer = ANSWERS[name]
    assert answer.witness is not None
    title = f"{answer.file}: {verdict(answer)} under {answer.model}"
    assert_matches(f"picture/{name}.svg", svg.render(answer.witness, title))


@pytest.mark.parametrize("name", JSON)
def test_json(name):
    assert_matches(f"export/{name}.json", as_json.encode(ANSWERS[name]).decode() + "\n")


def test_json_schema():
    assert_matches("export/schema.json", json.dumps(as_json.schema(), indent=2) + "\n")


def test_table():
    error = InputError("expected `)`", "examples/[red]broken[/red].tpl", 3, 7)
    rows = [(answer.file, answer) for answer in ANSWERS.values()]
    assert_matches("text/table.txt", table.summary([*rows, (error.file, error)]))


@pytest.mark.parametrize("criterion", ["safe", "data-race-free", "write-write-race-free"])
def test_table_of_bad_states(criterion):
    rows = [(name, answer) for name, answer in ANSWERS.items() if answer.criterion == criterion]
    assert_matches(f"text/table-{criterion}.txt", table.summary(rows))


@pytest.mark.parametrize(
    "name", ["race", "assertion", "unknown", "tso-several", "unsafe-mutex", "unsafe-race"]
)
def test_notebook(name):
    assert_matches(f"html/{name}.html", notebook.answer_html(ANSWERS[name]))
