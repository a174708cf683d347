"""The examples for RC20 say the truth: what their headers state is what the definition and the engine find.

`examples/rc20` has algorithms in TPL, `examples/litmus-c` litmus tests in C that `generate.py` there writes.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from fencepost.analyses.robustness import robust
from fencepost.formats import load
from fencepost.formats.headers import expectations
from fencepost.models import rc20, sc
from fencepost.models.robustness import non_robustness_witness, not_robust_graph
from fencepost.program import Program

EXAMPLES = Path(__file__).parents[2] / "examples"
ALGORITHMS = sorted((EXAMPLES / "rc20").glob("*.tpl"))
LITMUS = sorted((EXAMPLES / "litmus-c").glob("*.litmus"))

# Of a file with loops the definition decides a sibling without: its headers must state the same.
LOOPING = {
    "peterson-fences": "peterson-fences-once",
    "spinlock": "spinlock-once",
    "ticket-lock": "ticket-lock-wraps-acq-rel",
}
# The definition needs seconds for these.
LARGE = {"chase-lev-two-thieves", "chase-lev-release", "chase-lev-no-take-fence", "chase-lev-no-steal-fence"}

Verdicts = dict[tuple[str, str], bool]


def stated(path: Path) -> Verdicts:
    return expectations(path.read_text(encoding="utf-8"), str(path))


@cache
def program_in(path: Path) -> Program:
    return load(path)


def by_definition(program: Program, question: str, model: str) -> bool:
    match question:
        case "robust" if all(program.atomic_cells):
            return not_robust_graph(program, model) is None
        case "robust":  # races are a question of their own
            return non_robustness_witness(program, model) is None
        case "race":
            return bool(rc20.races(program) if model == "rc20" else sc.races(program))
        case _:
            assert (question, model) == ("assertion", "sc")
            return bool(sc.findings(program))


def by_engine(program: Program) -> dict[tuple[str, str], bool | None]:
    """None where the search ended at a violation and did not come to the question."""
    verdicts: dict[tuple[str, str], bool | None] = {}
    for model in ("ra", "rc20"):
        answer = robust(program, model)
        not_found = False if answer.exhaustive else None
        verdicts["robust", model] = answer.holds
        verdicts["race", model] = True if answer.race is not None else not_found
        if verdicts.get(("assertion", "sc")) is None:
            verdicts["assertion", "sc"] = True if answer.assertion is not None else not_found
    return verdicts


def check_definition(path: Path) -> None:
    for (question, model), verdict in stated(path).items():
        assert by_definition(program_in(path), question, model) == verdict, (question, model)


def named(path: Path) -> str:
    return path.stem


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", EXAMPLES / "litmus-c" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_many() -> None:
    assert len(ALGORITHMS) >= 20
    assert len(LITMUS) >= 60
    assert {path.stem for path in ALGORITHMS} >= {*LOOPING, *LOOPING.values(), *LARGE}


@pytest.mark.parametrize("path", ALGORITHMS + LITMUS, ids=named)
def test_the_header_states_every_verdict(path: Path) -> None:
    program = program_in(path)
    questions = {("robust", "ra"), ("robust", "rc20")}
    if not all(program.atomic_cells):
        questions |= {("race", "ra"), ("race", "rc20")}
    if "assert" in path.read_text(encoding="utf-8"):
        questions.add(("assertion", "sc"))
    assert stated(path).keys() >= questions


@pytest.mark.parametrize("path", ALGORITHMS + LITMUS, ids=named)
def test_the_engine_finds_what_the_header_states(path: Path) -> None:
    found = by_engine(program_in(path))
    for key, verdict in stated(path).items():
        assert found[key] in (verdict, None), key
        assert key[0] != "robust" or found[key] is not None


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.slow if path.stem in LARGE else ())
        for path in ALGORITHMS
        if path.stem not in LOOPING
    ],
    ids=named,
)
def test_the_definition_says_what_an_algorithm_states(path: Path) -> None:
    check_definition(path)


@pytest.mark.parametrize(("name", "bounded"), LOOPING.items())
def test_a_looping_algorithm_states_what_its_bounded_sibling_does(name: str, bounded: str) -> None:
    directory = EXAMPLES / "rc20"
    assert bounded in (directory / f"{name}.tpl").read_text(encoding="utf-8")
    assert stated(directory / f"{name}.tpl") == stated(directory / f"{bounded}.tpl")


@pytest.mark.parametrize("path", LITMUS, ids=named)
def test_the_definition_says_what_a_litmus_test_states(path: Path) -> None:
    check_definition(path)


def test_the_litmus_tests_are_those_that_the_script_writes() -> None:
    texts = generator().files()
    assert texts == {path.name: path.read_text(encoding="utf-8") for path in LITMUS}
