"""The verdicts that a file expects of itself."""

from __future__ import annotations

import pytest

from fencepost.errors import InputError
from fencepost.formats.headers import expectations


def test_rockers_form() -> None:
    text = "// Peterson\n// ROBUSTNESS egr: robust: ra,rlx.\nglobal x;\n"
    assert expectations(text) == {("egr", "ra"): True, ("egr", "rc20"): True}


def test_several_lines_in_rockers_form() -> None:
    text = "// ROBUSTNESS egr: robust: ra.\n//ROBUSTNESS egr: not: rlx.\n"
    assert expectations(text) == {("egr", "ra"): True, ("egr", "rc20"): False}


def test_several_verdicts_in_one_line() -> None:
    assert expectations("// ROBUSTNESS egr: robust: ra. not: rlx.") == {
        ("egr", "ra"): True,
        ("egr", "rc20"): False,
    }
    assert expectations("//ROBUSTNESS egr: not: ra, rlx. wegr: robust: ra. not: rlx") == {
        ("egr", "ra"): False,
        ("egr", "rc20"): False,
        ("observational", "ra"): True,
        ("observational", "rc20"): False,
    }


def test_observational_robustness_is_kept_apart() -> None:
    text = "// ROBUSTNESS egr: not: ra.\n// ROBUSTNESS wegr: robust: ra.\n"
    assert expectations(text) == {("egr", "ra"): False, ("observational", "ra"): True}


def test_other_notions_of_robustness_are_not_ours() -> None:
    assert expectations("// ROBUSTNESS state: not: ra.\n// robustness matters\n") == {}


def test_our_form() -> None:
    text = "// expect: robust ra=yes rc20=no tso=yes\n// expect: race ra=yes\n  // expect: assertion sc=no\n"
    assert expectations(text) == {
        ("robust", "ra"): True,
        ("robust", "rc20"): False,
        ("robust", "tso"): True,
        ("race", "ra"): True,
        ("assertion", "sc"): False,
    }


def test_comments_that_start_with_a_hash() -> None:
    assert expectations("# expect: robust tso=no\nthread t1\n") == {("robust", "tso"): False}


def test_text_that_expects_nothing() -> None:
    assert expectations("global x; // expectations vary\nfn w {} // expect: robust ra=maybe\n") == {}


def test_saying_the_same_twice_is_fine() -> None:
    text = "// expect: robust ra=yes\n// expect: robust ra=yes rc20=no\n// ROBUSTNESS egr: not: ra.\n"
    text += "// ROBUSTNESS egr: not: ra. wegr: not: ra.\n"
    assert expectations(text) == {
        ("robust", "ra"): True,
        ("robust", "rc20"): False,
        ("egr", "ra"): False,  # a race
        ("observational", "ra"): False,
    }


@pytest.mark.parametrize(
    "line",
    [
        "// expect:",
        "// expect: robust",
        "// expect: robust ra",
        "// expect: robust ra=maybe",
        "// expect: ra=yes",
        "// expect: robust ra = yes",
        "// expect: robust ra=yes, tso=no",
        "// ROBUSTNESS egr: robust",
        "// ROBUSTNESS egr: perhaps: ra.",
        "// ROBUSTNESS egr: not: .",
        "// ROBUSTNESS egr:",
        "// ROBUSTNESS wegr: robust",
        "// ROBUSTNESS egr: robust: ra. wegr:",
        "// ROBUSTNESS egr: robust: ra. perhaps: rlx.",
    ],
)
def test_malformed_lines_are_told_with_their_number(line: str) -> None:
    with pytest.raises(InputError, match=r"a\.tpl:2:1: malformed"):
        expectations(f"// a test\n{line}\n", "a.tpl")


@pytest.mark.parametrize(
    "text",
    [
        "// expect: robust ra=yes\n// expect: robust ra=no\n",
        "// ROBUSTNESS egr: robust: ra.\n// ROBUSTNESS egr: not: ra.\n",
        "// nothing\n// ROBUSTNESS egr: robust: ra. not: ra.\n",
        "// nothing\n// expect: robust ra=yes ra=no\n",
    ],
)
def test_contradictions_are_told_with_the_line_of_the_second(text: str) -> None:
    with pytest.raises(InputError, match=r"a\.tpl:2:1: "):
        expectations(text, "a.tpl")
