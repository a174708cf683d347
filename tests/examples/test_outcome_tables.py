"""The tables in the heads of `examples/outcomes`: what the definitions compute, and what the engine finds."""

import importlib.util
import re

import pytest

import fencepost
from tests.docs.pages import ROOT

FOLDER = ROOT / "examples" / "outcomes"
FILES = sorted(FOLDER.glob("*.litmus"))
LITMUS_C = sorted((ROOT / "examples" / "litmus-c").glob("*.litmus"))
MARKS = {"✓": "allowed", "–": "forbidden"}


def generated():
    spec = importlib.util.spec_from_file_location("outcomes_generator", FOLDER / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.tests())


def stated(path):
    """The names of what is looked at, and for each final state what each model says of it."""
    comments = [line[3:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("// ")]
    head = next(number for number, line in enumerate(comments) if line.startswith("outcomes:"))
    names, models = (part.split() for part in comments[head].removeprefix("outcomes:").split("|"))
    rows = {}
    for line in comments[head + 1 :]:
        values, marks = (part.split() for part in line.split("|"))
        under = dict(zip(models, marks, strict=True))
        rows[tuple(map(int, values))] = {m: MARKS[mark] for m, mark in under.items() if mark != "n/a"}
    return tuple(names), rows


def test_there_are_all_classic_shapes():
    shapes = {path.stem.split("+")[0] for path in FILES if not path.stem.startswith("2+2W")}
    assert shapes >= {"SB", "MP", "LB", "IRIW", "R", "S", "WRC", "ISA2", "CoRR", "2RMW", "SB-rmw"}
    assert any(path.stem.startswith("2+2W") for path in FILES)


def test_the_tables_are_those_of_the_definitions():
    assert generated() == {path.name: path.read_text(encoding="utf-8") for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_engine_finds_the_table_in_the_head(path):
    names, rows = stated(path)
    answer = fencepost.outcomes(fencepost.load(path))
    assert answer.names == names
    assert {row.values: row.under for row in answer.outcomes} == rows


@pytest.mark.parametrize("path", LITMUS_C, ids=lambda path: path.stem)
def test_litmus_tests_have_the_outcome_that_their_head_states(path):
    said = re.findall(r"(allowed|forbidden) under (ra|rc20)", path.read_text(encoding="utf-8"))
    answer = fencepost.outcomes(fencepost.load(path))
    found = {column.model: column for column in answer.models}
    for verdict, model in said:
        if found[model].race is None:
            assert found[model].possible == (verdict == "allowed"), model
