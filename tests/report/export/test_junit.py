"""Answers as JUnit XML."""

from xml.etree import ElementTree

import pytest

from fencepost.errors import InputError
from fencepost.report.export import junit
from tests.report.snapshot import assert_matches
from tests.report.witnesses import ANSWERS

ERROR = InputError("expected `)`, found <b>", "examples/broken.tpl", 3, 7)


def suite_of(*answers):
    root = ElementTree.fromstring(junit.encode("robust ra", [(answer.file, answer) for answer in answers]))
    (suite,) = root
    return suite


def test_snapshot():
    some = [ANSWERS[name] for name in ("sb", "robust", "race", "unknown", "hostile")]
    answers = [(answer.file, answer) for answer in (*some, ERROR)]
    assert_matches("export/junit.xml", junit.encode("fencepost robust ra", answers).decode())


@pytest.mark.parametrize("name", ANSWERS)
def test_a_case_fails_if_anything_was_found(name):
    answer = ANSWERS[name]
    (case,) = suite_of(answer)
    assert (case.find("failure") is not None) == (answer.exit_code == 1)
    assert (case.find("error") is not None) == (answer.exit_code == 3)


def test_the_suite_counts():
    suite = suite_of(*(ANSWERS[name] for name in ("sb", "robust", "race", "unknown")), ERROR)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "2", "2")


def test_a_failure_has_the_kind_the_sentence_and_the_report():
    (case,) = suite_of(ANSWERS["sb"])
    failure = case.find("failure")
    assert failure.get("type") == "not-robust"
    assert failure.get("message").startswith("Thread `t2` can read the initial value 0 of `x`")
    assert "▶" in failure.text
    assert case.find("properties/property").get("name") == "finding"


def test_text_of_the_file_is_escaped():
    document = junit.encode("s", [("examples/\x1b[31m<b>\udcff.tpl", ANSWERS["hostile"])]).decode()
    ElementTree.fromstring(document)
    assert "<script" not in document
    assert "\x1b" not in document
