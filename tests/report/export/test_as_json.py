import json

import msgspec
import pytest

from fencepost.report.export import as_json
from fencepost.verdicts import (
    Fragile,
    NotRobust,
    Persistent,
    RaceFree,
    Racy,
    Robust,
    Safe,
    Unknown,
    Unsafe,
)
from tests.report.witnesses import ANSWERS, SB, not_robust

KINDS = Robust | NotRobust | Persistent | Fragile | Safe | Unsafe | RaceFree | Racy | Unknown


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_survives_the_way_there_and_back(name):
    assert msgspec.json.decode(as_json.encode(ANSWERS[name]), type=KINDS) == ANSWERS[name]


@pytest.mark.parametrize("name", ANSWERS)
def test_it_is_one_printable_line(name):
    assert as_json.encode(ANSWERS[name]).decode().isprintable()


def test_what_identifies_the_answer_comes_first():
    keys = list(json.loads(as_json.encode(ANSWERS["sb"])))
    assert keys[:7] == ["file", "question", "model", "criterion", "verdict", "stats", "witness"]
    keys = list(json.loads(as_json.encode(ANSWERS["unknown"])))
    assert keys[:6] == ["file", "question", "model", "criterion", "verdict", "why"]


@pytest.mark.parametrize(
    ("name", "kind"), [("sb", "graph"), ("tso-sb", "store-buffers"), ("racy", "run-to-bad")]
)
def test_a_witness_says_of_which_kind_it_is(name, kind):
    assert json.loads(as_json.encode(ANSWERS[name]))["witness"]["kind"] == kind


def test_a_path_that_is_not_utf8_is_spelled():
    answer = not_robust(SB, "a\udcff.tpl")
    assert json.loads(as_json.encode(answer))["file"] == "a\\udcff.tpl"


def test_the_schema_knows_every_answer():
    schema = as_json.schema()
    names = {one["$ref"].removeprefix("#/$defs/") for one in schema["anyOf"]}
    assert names == {kind.__name__ for kind in KINDS.__args__}
    assert names < set(schema["$defs"])
    encoded = json.loads(as_json.encode(ANSWERS["unknown"]))
    assert set(schema["$defs"]["Unknown"]["properties"]) == {*encoded, "swarm"}  # which only swarms have
