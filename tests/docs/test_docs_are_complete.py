"""Nothing that a user can type or read is left out: options, keywords of TPL, fields of answers."""

from __future__ import annotations

import re

import click
import msgspec
import pytest

from fencepost import verdicts
from fencepost.cli.main import main
from fencepost.formats.tpl.parser import KEYWORDS
from tests.docs.pages import ROOT, code_words

DOCS = ROOT / "docs"
ASKED = click.Context(main)
ANSWER_PARTS = [
    kind
    for kind in vars(verdicts).values()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind is not msgspec.Struct
]


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", main.list_commands(ASKED))
def test_every_option_has_a_word_on_the_page_of_its_command(name: str) -> None:
    text = text_of(f"{name}.md")
    command = main.get_command(ASKED, name)
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    spellings = {spelling for option in options for spelling in (*option.opts, *option.secondary_opts)}
    assert {spelling for spelling in spellings if f"`{spelling}" not in text} == set()


@pytest.mark.parametrize("name", main.list_commands(ASKED))
def test_every_command_is_in_the_overview(name: str) -> None:
    assert f"({name}.md)" in text_of("commands.md")


def test_every_keyword_of_tpl_is_explained() -> None:
    words = {word for code in code_words(DOCS / "tpl.md") for word in re.findall(r"\w+", code)}
    assert set(KEYWORDS) <= words


@pytest.mark.parametrize("kind", ANSWER_PARTS, ids=lambda kind: kind.__name__)
def test_every_field_of_an_answer_is_explained(kind: type[msgspec.Struct]) -> None:
    text = text_of("json.md")
    names = {field.encode_name for field in msgspec.structs.fields(kind)}
    assert {name for name in names if f"`{name}`" not in text} == set()
