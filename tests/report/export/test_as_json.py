import json

import pytest
from jsonschema import Draft202012Validator

from fencepost.report.export import as_json
from fencepost.verdicts import Answer
from fencepost.verdicts.repair import Edit, NotRepairable, Repaired, RepairUnknown
from fencepost.verdicts.run import (
    Access,
    Finding,
    Frame,
    Location,
    NotSeen,
    Repair,
    RunsUnknown,
    Schedule,
    SeenNotRobust,
    Trouble,
)
from fencepost.verdicts.union import CLASSES, decode
from tests.report.witnesses import ANSWERS, SB, STATS, not_robust

FIX = {"file": "sb.tpl", "question": "fix", "model": "ra", "stats": STATS}
FENCE = Edit(
    kinds=("sc-fence",),
    action="insert-before",
    function="t1",
    line=6,
    column=5,
    statement="a = y.load()",
    text="fence",
    cost=10,
)
SCHEDULE = Schedule(kind="pct", seed=7, decisions=b"\x00\xff")
RUN = {
    "file": "./a.out",
    "question": "run",
    "model": "rc20",
    "stats": STATS,
    "command": ("./a.out", "-v"),
    "runs": 3,
    "schedule": SCHEDULE,
}
LINE = Frame(function="left", file="sb.c", line=8)
FINDING = Finding(
    id="0123456789abcdef",
    kind="robustness",
    access=Access(thread=1, what="load", order="acquire", stack=(LINE,)),
    missed=Access(thread=2, stack=(LINE,)),
    address="0x10",
    size=4,
    value=1,
    could="0x0",
    location=Location(kind="global", name="x", size=4),
    chain=(Access(thread=2, what="store"),),
    repair=(Repair(what="fence", order="seq_cst", thread=1, after=LINE),),
    runs=2,
    schedule=SCHEDULE,
)
EVERY = ANSWERS | {
    "repaired": Repaired(**FIX, edits=(FENCE,), cost=10, lower_bound=10, minima=((FENCE,),), proof=STATS),
    "not-repairable": NotRepairable(**FIX, edits=None, cost=None, lower_bound=0, witness=SB),
    "repair-unknown": RepairUnknown(**FIX, edits=None, cost=None, lower_bound=2, why="--timeout 1"),
    "seen": SeenNotRobust(**RUN, findings=(FINDING,)),
    "not-seen": NotSeen(**RUN),
    "runs-unknown": RunsUnknown(
        **RUN,
        why="2 runs of 3 did not end",
        troubles=(Trouble(why="did not end", runs=2, schedule=SCHEDULE),),
    ),
}


@pytest.mark.parametrize("name", EVERY)
def test_an_answer_survives_the_way_there_and_back(name):
    assert decode(as_json.encode(EVERY[name])) == EVERY[name]


@pytest.mark.parametrize("name", EVERY)
def test_it_is_one_printable_line(name):
    assert as_json.encode(EVERY[name]).decode().isprintable()


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": "persist"}, "`robust` is no answer to `persist`"),
        ({"verdict": "right"}, "`right` is no answer to `robust`"),
        ({"schema": 0}, "its schema is 0, and this version knows 2; make it anew"),
        ({"stats": None}, "Expected `object`, got `null`"),
    ],
)
def test_what_is_no_answer_is_refused_with_a_reason(change, message):
    fields = json.loads(as_json.encode(ANSWERS["robust"])) | change
    with pytest.raises(ValueError, match=message):
        decode(json.dumps(fields))


def test_the_union_has_every_class_of_answers():
    def leaves(kind):
        below = kind.__subclasses__()
        return {kind} if not below else set().union(*map(leaves, below))

    assert set(CLASSES) == leaves(Answer)


def test_no_two_classes_share_a_question_and_a_verdict():
    schema = as_json.schema()
    assert {one["$ref"].removeprefix("#/$defs/") for one in schema["oneOf"]} == {k.__name__ for k in CLASSES}
    told_apart = [
        (question, verdict)
        for kind in CLASSES
        for question in schema["$defs"][kind.__name__]["properties"]["question"]["enum"]
        for verdict in schema["$defs"][kind.__name__]["properties"]["verdict"]["enum"]
    ]
    assert len(told_apart) == len(set(told_apart))
    assert all({"question", "verdict"} <= {*schema["$defs"][kind.__name__]["required"]} for kind in CLASSES)


def test_every_answer_satisfies_the_schema():
    validator = Draft202012Validator(as_json.schema())
    for answer in EVERY.values():
        validator.validate(json.loads(as_json.encode(answer)))


def test_the_schema_knows_every_field():
    encoded = json.loads(as_json.encode(ANSWERS["unknown"]))
    fields = as_json.schema()["$defs"]["Unknown"]["properties"]
    assert set(fields) == {*encoded, "swarm", "any_number", "models"}  # which only some answers have
