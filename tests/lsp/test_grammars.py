"""The grammars of editors know every word of TPL, and of the atomics of C litmus tests."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from fencepost.formats.tpl.parser import KEYWORDS
from fencepost.lsp.calls import LITMUS_CALLS, TPL_METHODS
from fencepost.program import Mode

EDITOR = Path(__file__).parents[2] / "editor"


def scope(language: str, text: str) -> str:
    """What the grammar for Visual Studio Code calls the last word of the text."""
    grammar = json.loads((EDITOR / "vscode" / "syntaxes" / f"{language}.tmLanguage.json").read_text())
    for rule in grammar["patterns"]:
        for found in re.finditer(rule.get("match", r"(?!)"), text):
            if found.end() >= len(text.rstrip("(")):
                number = str(found.lastindex or 0)
                return rule.get("name") or rule["captures"][number]["name"]
    return ""


@pytest.mark.parametrize("word", KEYWORDS)
def test_keywords_of_tpl_have_a_colour(word):
    called = {"CALL": "support.function.tpl", "MODE": "constant.language.memory-order.tpl"}
    found = scope("tpl", f"{word}(" if KEYWORDS[word] == "CALL" else word)
    assert found == called.get(KEYWORDS[word], found)
    assert found or word == "fn"  # only with the name behind it


def test_methods_and_long_orders_have_a_colour():
    assert {scope("tpl", f"x.{method}") for method in TPL_METHODS} == {"support.function.tpl"}
    assert scope("tpl", "memory_order_acquire") == "constant.language.memory-order.tpl"
    assert scope("tpl", "fn worker") == "entity.name.function.tpl"


def test_atomics_of_litmus_tests_have_a_colour():
    found = {scope("litmus", name) for name in LITMUS_CALLS}
    assert found == {"support.function.litmus", "keyword.other.fence.litmus"}


def test_kate_knows_the_keywords():
    syntax = ET.parse(EDITOR / "kate" / "tpl.xml").getroot()
    words = {each.get("name"): {item.text for item in each} for each in syntax.iter("list")}
    assert words["calls"] == {word for word, kind in KEYWORDS.items() if kind == "CALL"}
    assert words["orders"] == {mode.value for mode in Mode if mode is not Mode.NA}
    others = {word for word in KEYWORDS if word not in words["calls"] | words["orders"]}
    assert words["keywords"] == others | {"for", "do", "break", "continue"}
