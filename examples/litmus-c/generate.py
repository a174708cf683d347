"""Writes the C litmus tests of this directory: `python examples/litmus-c/generate.py`.

A shape is the classic pattern of a test: the accesses of each thread, and the outcome to ask for. A test is
a shape and, for each thread of it, how strong that thread is (`STRENGTHS`): `MP+rel+acq` is message passing
with release stores in the first thread and acquire loads in the second. `OTHERS` has what does not fit.

A thread is a list of accesses, separated by `;`:

    W x 1      store, and `W.rel x 1` with an order of its own
    R x        load into the next register of the thread: r0, r1, …
    X x 1      exchange; its result is not kept
    A x 1      fetch_add; the old value goes into the next register
    C x 0 1    strong compare_exchange; 1 for success, 0 for failure goes there
    F.sc       fence
    N d 1      plain store to `d`, which is not atomic
    P d        plain load
    when 1     the rest happens only if the register filled last is 1

The verdicts in the headers come from the definitions in `fencepost.models`, by enumeration of all graphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fencepost.formats.litmus import read
from fencepost.models import rc20, sc
from fencepost.models.definition import definition, program_lts
from fencepost.models.enumerate import BOTTOM, reachable_graph_states
from fencepost.models.robustness import non_robustness_witness, not_robust_graph
from fencepost.program import Program
from fencepost.program.conditions import holds

HERE = Path(__file__).parent

ORDERS = {
    "rlx": "memory_order_relaxed",
    "acq": "memory_order_acquire",
    "rel": "memory_order_release",
    "ar": "memory_order_acq_rel",
    "sc": "memory_order_seq_cst",
}


class Strength(NamedTuple):
    """The orders of a thread's accesses, the fence between them, and what stands for loads and stores."""

    store: str = "rlx"
    load: str = "rlx"
    fence: str | None = None
    update: str = "rlx"
    writes: str = "W"
    reads: str = "R"


STRENGTHS = {
    "rlx": Strength(),
    "rel": Strength(store="rel"),
    "acq": Strength(load="acq"),
    "ra": Strength(store="rel", load="acq"),
    "facq": Strength(fence="acq"),
    "frel": Strength(fence="rel"),
    "far": Strength(fence="ar"),
    "fsc": Strength(fence="sc"),
    "xrlx": Strength(writes="X"),  # stores are relaxed exchanges
    "xar": Strength(writes="X", update="ar", load="acq"),  # stores are acq_rel exchanges
    "urel": Strength(store="rel", reads="A", update="rel"),  # loads are fetch_add(x, 0, release)
    "uar": Strength(store="rel", reads="A", update="ar"),  # loads are fetch_add(x, 0, acq_rel)
}


class Shape(NamedTuple):
    threads: str
    outcome: str
    strengths: str
    """Of each test its threads' strengths, with `+` between them; a single one is for all threads."""


SHAPES = {
    "SB": Shape(
        "W x 1; R y | W y 1; R x",
        "0:r0 = 0 /\\ 1:r0 = 0",
        "rlx ra frel facq far fsc ra+fsc xrlx xar uar urel fsc+xar",
    ),
    "MP": Shape(
        "W x 1; W y 1 | R y; R x",
        "1:r0 = 1 /\\ 1:r1 = 0",
        "rlx rel+rlx rlx+acq rel+acq frel+acq rel+facq frel+facq frel+rlx rlx+facq facq+frel fsc fsc+acq "
        "fsc+rlx xrlx+acq xar+acq",
    ),
    "LB": Shape("R x; W y 1 | R y; W x 1", "0:r0 = 1 /\\ 1:r0 = 1", "rlx acq+rel ra fsc"),
    "S": Shape(
        "W x 2; W y 1 | R y; W x 1",
        "1:r0 = 1 /\\ x = 2",
        "rlx rel+rlx rel+acq frel+acq rel+facq frel+facq fsc xrlx",
    ),
    "R": Shape("W x 1; W y 1 | W y 2; R x", "y = 2 /\\ 1:r0 = 0", "rlx ra far fsc ra+fsc fsc+ra xar"),
    "2+2W": Shape("W x 1; W y 2 | W y 1; W x 2", "x = 1 /\\ y = 1", "rlx rel frel fsc rel+fsc xrlx xar"),
    "WRC": Shape(
        "W x 1 | R x; W y 1 | R y; R x",
        "1:r0 = 1 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
        "rlx rlx+rel+acq rel+ra+acq rel+rel+acq rel+far+acq rel+fsc+facq rlx+far+far rlx+fsc+fsc",
    ),
    "RWC": Shape(
        "W x 1 | R x; R y | W y 1; R x",
        "1:r0 = 1 /\\ 1:r1 = 0 /\\ 2:r0 = 0",
        "rlx ra rel+acq+fsc rel+fsc+ra rlx+fsc+fsc",
    ),
    "WWC": Shape(
        "W x 2 | R x; W y 1 | R y; W x 1", "1:r0 = 2 /\\ 2:r0 = 1 /\\ x = 2", "rlx ra rel+far+acq rlx+fsc+fsc"
    ),
    "IRIW": Shape(
        "W x 1 | R x; R y | R y; R x | W y 1",
        "1:r0 = 1 /\\ 1:r1 = 0 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
        "rlx ra rlx+far+far+rlx rlx+fsc+fsc+rlx rel+acq+fsc+rel",
    ),
    "ISA2": Shape(
        "W x 1; W y 1 | R y; W z 1 | R z; R x",
        "1:r0 = 1 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
        "rlx ra rel+rlx+acq rel+rel+acq frel+far+facq rel+far+acq",
    ),
    "W+RWC": Shape(
        "W x 1; W y 1 | R y; R z | W z 1; R x",
        "1:r0 = 1 /\\ 1:r1 = 0 /\\ 2:r0 = 0",
        "ra rel+acq+fsc rel+fsc+fsc fsc",
    ),
    "Z6.0": Shape(
        "W x 1; W y 1 | R y; W z 1 | W z 2; R x", "1:r0 = 1 /\\ z = 2 /\\ 2:r0 = 0", "ra ra+ra+fsc fsc"
    ),
    "Z6.1": Shape(
        "W x 2; W y 1 | W y 2; W z 1 | R z; W x 1", "y = 2 /\\ 2:r0 = 1 /\\ x = 2", "ra rel+fsc+acq fsc"
    ),
    "Z6.2": Shape(
        "W x 2; W y 1 | R y; W z 1 | R z; W x 1", "1:r0 = 1 /\\ 2:r0 = 1 /\\ x = 2", "rlx ra frel+far+facq"
    ),
    "Z6.3": Shape(
        "W x 1; W y 1 | W y 2; W z 1 | R z; R x",
        "y = 2 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
        "rlx ra rel+fsc+acq fsc+fsc+acq fsc",
    ),
    "Z6.4": Shape(
        "W x 1; W y 1 | W y 2; R z | W z 1; R x", "y = 2 /\\ 1:r0 = 0 /\\ 2:r0 = 0", "ra ra+fsc+fsc fsc"
    ),
    "Z6.5": Shape("W x 1; W y 1 | W y 2; W z 1 | W z 2; R x", "y = 2 /\\ z = 2 /\\ 2:r0 = 0", "ra fsc"),
    "3SB": Shape(
        "W x 1; R y | W y 1; R z | W z 1; R x", "0:r0 = 0 /\\ 1:r0 = 0 /\\ 2:r0 = 0", "ra fsc+fsc+ra fsc"
    ),
    "3.2W": Shape("W x 1; W y 2 | W y 1; W z 2 | W z 1; W x 2", "x = 1 /\\ y = 1 /\\ z = 1", "rel fsc"),
    "3LB": Shape("R x; W y 1 | R y; W z 1 | R z; W x 1", "0:r0 = 1 /\\ 1:r0 = 1 /\\ 2:r0 = 1", "rlx ra"),
    "CoRR": Shape("W x 1 | R x; R x", "1:r0 = 1 /\\ 1:r1 = 0", "rlx"),
    "CoRR2": Shape(
        "W x 1 | W x 2 | R x; R x | R x; R x",
        "2:r0 = 1 /\\ 2:r1 = 2 /\\ 3:r0 = 2 /\\ 3:r1 = 1",
        "rlx ra",
    ),
    "CoWW": Shape("W x 1; W x 2", "x = 1", "rlx"),
    "CoRW1": Shape("R x; W x 1", "0:r0 = 1", "rlx"),
    "CoRW2": Shape("R x; W x 1 | W x 2", "0:r0 = 2 /\\ x = 2", "rlx"),
    "CoWR": Shape("W x 1; R x | W x 2", "0:r0 = 2 /\\ x = 1", "rlx"),
}


class Test(NamedTuple):
    name: str
    what: str
    threads: str
    outcome: str


OTHERS = [
    Test(
        "MP+rel-rlx+acq",
        "only the flag is stored with release and loaded with acquire: all that is needed",
        "W x 1; W.rel y 1 | R.acq y; R x",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+rel-late+acq",
        "the release is on the data, not on the flag",
        "W.rel x 1; W y 1 | R.acq y; R x",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+relseq-rmw",
        "a relaxed RMW of another thread continues the release sequence",
        "W x 1; W.rel y 1 | A.rlx y 1 | R.acq y; R x",
        "2:r0 = 2 /\\ 2:r1 = 0",
    ),
    Test(
        "MP+relseq-two-rmws",
        "two relaxed RMWs of two threads continue the release sequence",
        "W x 1; W.rel y 1 | A.rlx y 1 | A.rlx y 2 | R.acq y; when 4; R x",
        "3:r0 = 4 /\\ 3:r1 = 0",
    ),
    Test(
        "MP+relseq-store",
        "a relaxed store of another thread that has seen the release breaks the release sequence",
        "W x 1; W.rel y 1 | R y; when 1; W y 2 | R.acq y; R x",
        "2:r0 = 2 /\\ 2:r1 = 0",
    ),
    Test(
        "MP+relseq-own-store",
        "a later relaxed store of the same thread breaks it since C++20; before, it did not",
        "W x 1; W.rel y 1; W y 2 | R.acq y; R x",
        "1:r0 = 2 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+frel-own-stores",
        "a release fence counts for all later stores",
        "W x 1; F.rel; W y 1; W y 2 | R.acq y; R x",
        "1:r0 = 2 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+frel-early",
        "a release fence before the data says nothing about it",
        "F.rel; W x 1; W y 1 | R.acq y; R x",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+facq-late",
        "an acquire fence after both loads comes too late",
        "W x 1; W.rel y 1 | R y; R x; F.acq",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+facq-when",
        "the acquire fence is needed only where the flag was seen",
        "W x 1; F.rel; W y 1 | R y; when 1; F.acq; R x",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+na+rel+acq",
        "message passing with a payload that is not atomic",
        "N d 1; W.rel y 1 | R.acq y; when 1; P d",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+na+rlx+acq",
        "the store of the flag is relaxed: the payload races",
        "N d 1; W y 1 | R.acq y; when 1; P d",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+na+rel+rlx",
        "the load of the flag is relaxed: the payload races",
        "N d 1; W.rel y 1 | R y; when 1; P d",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+na+frel+facq",
        "fences around a relaxed flag protect a payload that is not atomic",
        "N d 1; F.rel; W y 1 | R y; when 1; F.acq; P d",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+na+relseq-rmw",
        "a relaxed RMW passes the payload on to its reader without having it itself",
        "N d 1; W.rel y 1 | A.rlx y 1 | R.acq y; when 2; P d",
        "2:r0 = 2 /\\ 2:r1 = 0",
    ),
    Test(
        "MP+na+relseq-store",
        "a relaxed store does not pass the payload on",
        "N d 1; W.rel y 1 | R y; when 1; W y 2 | R.acq y; when 2; P d",
        "2:r0 = 2 /\\ 2:r1 = 0",
    ),
    Test(
        "MP+cas-acq",
        "the flag is taken by an acquire CAS",
        "W x 1; W.rel y 1 | C.acq y 1 2; when 1; R x",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+cas-rlx",
        "the flag is taken by a relaxed CAS",
        "W x 1; W.rel y 1 | C.rlx y 1 2; when 1; R x",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "MP+rdmw",
        "a seqlock's reader: the second load is a fetch_add(y, 0, release) (Boehm 2012)",
        "W y 1; F.rel; W x 1 | R.acq x; A.rel y 0",
        "1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "2RMW",
        "two increments never see the same value, however relaxed",
        "A.rlx x 1 | A.rlx x 1",
        "0:r0 = 0 /\\ 1:r0 = 0",
    ),
    Test(
        "2CAS",
        "of two CAS from the same value only one succeeds",
        "C.rlx x 0 1 | C.rlx x 0 2",
        "0:r0 = 1 /\\ 1:r0 = 1",
    ),
    Test(
        "SB+fence-location",
        "acq_rel RMWs of one common location do what an SC fence does",
        "W x 1; A.ar f 0; R y | W y 1; A.ar f 0; R x",
        "0:r1 = 0 /\\ 1:r1 = 0",
    ),
    Test(
        "SB+fence-location-rlx",
        "relaxed RMWs of one common location do not",
        "W x 1; A.rlx f 0; R y | W y 1; A.rlx f 0; R x",
        "0:r1 = 0 /\\ 1:r1 = 0",
    ),
    Test(
        "SB+fence-locations",
        "acq_rel RMWs of two locations do not either",
        "W x 1; A.ar f 0; R y | W y 1; A.ar g 0; R x",
        "0:r1 = 0 /\\ 1:r1 = 0",
    ),
    Test(
        "SB+fsc-early",
        "an SC fence before the store does not keep the load behind it",
        "F.sc; W x 1; R y | W y 1; F.sc; R x",
        "0:r0 = 0 /\\ 1:r0 = 0",
    ),
    Test(
        "SB+own-reads",
        "store buffering in which each thread reads its own store first",
        "W.rel x 1; R.acq x; R.acq y | W.rel y 1; R.acq y; R.acq x",
        "0:r0 = 1 /\\ 0:r1 = 0 /\\ 1:r0 = 1 /\\ 1:r1 = 0",
    ),
    Test(
        "WRC+rmw",
        "the middle thread passes the message on in one relaxed RMW",
        "W z 1; W.rel x 1 | A.rlx x 1 | R.acq x; when 2; R z",
        "2:r0 = 2 /\\ 2:r1 = 0",
    ),
    Test(
        "IRIW+rmw-reads",
        "independent reads by acq_rel RMWs that change nothing",
        "W x 1 | A.ar x 0; A.ar y 0 | A.ar y 0; A.ar x 0 | W y 1",
        "1:r0 = 1 /\\ 1:r1 = 0 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
    ),
]


# From descriptions to tests.


def tests() -> Iterator[Test]:
    """Every test, those made from shapes with an order at each access."""
    for shape, (threads, outcome, choices) in SHAPES.items():
        parts = threads.split(" | ")
        for choice in choices.split():
            strengths = choice.split("+")
            if len(strengths) == 1:
                strengths *= len(parts)
            strengthened = (_strengthened(*pair) for pair in zip(parts, strengths, strict=True))
            yield Test("+".join((shape, *strengths)), "", " | ".join(strengthened), outcome)
    yield from OTHERS


def _strengthened(thread: str, name: str) -> str:
    strength = STRENGTHS[name]
    accesses = []
    for access in thread.split("; "):
        kind, *arguments = access.split()
        word = strength.writes if kind == "W" else strength.reads
        order = strength.store if word == "W" else strength.load if word == "R" else strength.update
        added = ["0"] if word == "A" else []
        accesses.append(" ".join([f"{word}.{order}", *arguments, *added]))
    between = f"; F.{strength.fence}; " if strength.fence else "; "
    return between.join(accesses)


# From tests to C.


def text_of(test: Test) -> str:
    """The file of the test, with its verdicts."""
    code = "\n".join(_code(test))
    header = [f"C {test.name}", *([f"// {test.what[0].upper()}{test.what[1:]}."] if test.what else [])]
    program = read("\n".join([*header, "", code]), f"{test.name}.litmus")
    return "\n".join([*header, *_verdicts(program), "", code]) + "\n"


def _code(test: Test) -> Iterator[str]:
    threads = test.threads.split(" | ")
    plain = {place for _, place in re.findall(r"\b([NP]) (\w+)", test.threads)}
    cells = sorted(set(re.findall(r"\b[A-Z](?:\.\w+)? ([a-z])", test.threads)))
    expected = {f"e{number}": "0" for number, thread in enumerate(threads) if "C." in thread}
    for number, thread in enumerate(threads):
        if swap := re.search(r"C\.\w+ \w (\d+)", thread):
            expected[f"e{number}"] = swap[1]
    initial = [f"{cell} = {expected.get(cell, '0')};" for cell in [*cells, *expected]]
    yield f"{{ {' '.join(initial)} }}"
    for number, thread in enumerate(threads):
        used = [cell for cell in cells if re.search(rf" {cell}\b", thread)]
        parameters = [f"{'int' if cell in plain else 'atomic_int'}* {cell}" for cell in used]
        parameters += [f"int* e{number}"] if f"e{number}" in expected else []
        yield ""
        yield f"P{number}({', '.join(parameters)}) {{"
        yield from _body(thread, number)
        yield "}"
    yield ""
    yield f"exists ({test.outcome})"


def _body(thread: str, number: int) -> Iterator[str]:
    registers = depth = 0
    for access in thread.split("; "):
        indent = "  " * (depth + 1)
        word, *arguments = access.split()
        kind, _, order = word.partition(".")
        order = ORDERS[order or "rlx"]
        if kind == "when":
            yield f"{indent}if (r{registers - 1} == {arguments[0]}) {{"
            depth += 1
            continue
        into = f"int r{registers} = "
        registers += kind in "RACP"
        place = arguments[0] if arguments else ""
        match kind:
            case "W":
                yield f"{indent}atomic_store_explicit({place}, {arguments[1]}, {order});"
            case "R":
                yield f"{indent}{into}atomic_load_explicit({place}, {order});"
            case "X":
                yield f"{indent}atomic_exchange_explicit({place}, {arguments[1]}, {order});"
            case "A":
                yield f"{indent}{into}atomic_fetch_add_explicit({place}, {arguments[1]}, {order});"
            case "C":
                swap = "atomic_compare_exchange_strong_explicit"
                yield f"{indent}{into}{swap}({place}, e{number}, {arguments[2]}, {order}, {order});"
            case "F":
                yield f"{indent}atomic_thread_fence({order});"
            case "N":
                yield f"{indent}*{place} = {arguments[1]};"
            case "P":
                yield f"{indent}{into}*{place};"
    for level in range(depth, 0, -1):
        yield "  " * level + "}"


# Verdicts, by definition.


def is_robust(program: Program, model: str) -> bool:
    """With non-atomic locations, robustness is about the atomic ones: races are a question of their own."""
    if all(program.atomic_cells):
        return not_robust_graph(program, model) is None
    return non_robustness_witness(program, model) is None


def has_race(program: Program, model: str) -> bool:
    return bool(rc20.races(program) if model == "rc20" else sc.races(program))


def outcome(program: Program, model: str) -> str:
    """Whether a run of the model ends in a state with the test's outcome."""
    assert program.condition is not None
    lts = program_lts(program, model)
    for threads, graph in reachable_graph_states(lts, definition(model).memory):
        if graph is BOTTOM:
            return "undefined (a race)"
        if any(at.pc != part.end for at, part in zip(threads, lts.threads, strict=True)):
            continue
        registers = {
            thread.name: dict(zip(thread.registers, at.registers, strict=True))
            for thread, at in zip(program.threads, threads, strict=True)
        }
        memory = {cell: graph.written(graph.latest(n)) for n, cell in enumerate(program.cells)}
        if holds(program.condition, registers, memory):
            return "allowed"
    return "forbidden"


def _verdicts(program: Program) -> Iterator[str]:
    def line(question: str, answers: dict[str, bool]) -> str:
        words = (f"{model}={'yes' if answer else 'no'}" for model, answer in answers.items())
        return f"// expect: {question} {' '.join(words)}"

    models = ("ra", "rc20")
    yield line("robust", {model: is_robust(program, model) for model in models})
    if not all(program.atomic_cells):
        yield line("race", {model: has_race(program, model) for model in models})
    assert outcome(program, "sc") == "forbidden", f"{program.file} asks for what SC allows"
    yield f"// The outcome below: {', '.join(f'{outcome(program, m)} under {m}' for m in models)}."


def files() -> dict[str, str]:
    """The text of each file, by name."""
    texts = {f"{test.name}.litmus": text_of(test) for test in tests()}
    assert len(texts) == len(list(tests())), "two tests have one name"
    return texts


def main() -> None:
    texts = files()
    for name, text in texts.items():
        (HERE / name).write_text(text, encoding="utf-8")
    others = sorted(path.name for path in HERE.glob("*.litmus") if path.name not in texts)
    print(f"{len(texts)} files written" + (f"; not of this script: {', '.join(others)}" if others else ""))


if __name__ == "__main__":
    main()
