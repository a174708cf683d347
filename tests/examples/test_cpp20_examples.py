"""The examples for C++20 say the truth: what their headers state is what the definition and the engine find."""

import importlib.util
from pathlib import Path

import pytest

from fencepost import load, robust
from fencepost.formats.headers import expectations
from fencepost.models import cpp20
from fencepost.models.robustness import non_robustness_witness
from fencepost.models.witnesses import replay

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted((EXAMPLES / "cpp20").glob("*.tpl"))
OTHERS = [
    file
    for file in sorted([*EXAMPLES.glob("*/*.tpl"), *EXAMPLES.glob("*/*.litmus")])
    if file.parent.name not in ("large", "sra", "cpp20")
]
# Programs without seq_cst accesses on which RC20 and C++20 give different answers, and why.
DIFFERENCES: dict[str, str] = {}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_header_states_what_definition_and_engine_say(file):
    program, stated = load(file), expectations(file.read_text())
    for model in ("ra", "rc20", "cpp20") if program.sc_access is None else ("cpp20",):
        verdict = stated["robust", model]
        assert (non_robustness_witness(program, model) is None) is verdict
        answer = robust(program, model)
        assert answer.holds is verdict
        if answer.witness is not None:
            replay(program, answer.witness, model)
    if not all(program.atomic_cells):
        assert stated["race", "cpp20"] is bool(cpp20.races(program))


def test_every_shape_and_algorithm_is_there():
    names = {file.stem for file in FILES}
    for shape in ("SB", "MP", "2+2W", "R", "S", "IRIW", "WRC", "RWC", "Z6"):
        assert {name.startswith(f"{shape}+") for name in names} == {True, False}
    assert names >= {"dekker", "peterson", "bakery", "hazard-pointer", "event-counter"}


def test_without_seq_cst_accesses_the_corpora_have_the_verdicts_of_rc20():
    different = set()
    for file in OTHERS:
        program = load(file)
        if program.sc_access is None:
            answers = [robust(program, model) for model in ("rc20", "cpp20")]
            if len({(answer.holds, answer.race is None) for answer in answers}) > 1:
                different.add(f"{file.parent.name}/{file.stem}")
    assert different == DIFFERENCES.keys()


@pytest.mark.slow
def test_the_files_are_those_that_the_generator_writes():
    spec = importlib.util.spec_from_file_location("generate", EXAMPLES / "cpp20" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, content in module.files().items():
        assert (EXAMPLES / "cpp20" / name).read_text(encoding="utf-8") == content
