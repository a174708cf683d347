import json

import msgspec
import pytest

from holdfast.report import as_json
from holdfast.verdicts import NotRobust, Robust, RobustnessAnswer, Unknown

from .witnesses import ANSWERS, SB, not_robust


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_survives_the_way_there_and_back(name):
    assert msgspec.json.decode(as_json.encode(ANSWERS[name]), type=RobustnessAnswer) == ANSWERS[name]


@pytest.mark.parametrize("name", ANSWERS)
def test_it_is_one_printable_line(name):
    assert as_json.encode(ANSWERS[name]).decode().isprintable()


def test_what_identifies_the_answer_comes_first():
    keys = list(json.loads(as_json.encode(ANSWERS["sb"])))
    assert keys[:8] == ["file", "question", "model", "verdict", "stats", "witness", "race", "assertion"]
    assert list(json.loads(as_json.encode(ANSWERS["unknown"])))[:5] == [
        *("file", "question", "model", "verdict", "why")
    ]


def test_a_path_that_is_not_utf8_is_spelled():
    answer = not_robust(SB, "a\udcff.tpl")
    assert json.loads(as_json.encode(answer))["file"] == "a\\udcff.tpl"


def test_the_schema_knows_every_answer():
    schema = as_json.schema()
    names = {one["$ref"].removeprefix("#/$defs/") for one in schema["anyOf"]}
    assert names == {kind.__name__ for kind in (Robust, NotRobust, Unknown)}
    assert names < set(schema["$defs"])
    assert set(schema["$defs"]["Unknown"]["properties"]) == set(
        json.loads(as_json.encode(ANSWERS["unknown"]))
    )
