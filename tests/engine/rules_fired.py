"""How often random programs reach each rule: `python -m tests.engine.rules_fired` prints the table.

Of programs as `test_against_definitions.py` and `test_topics.py` draw them, it counts those in which an
instruction is executed in some run under sequential consistency, by what the rules see of it: its kind, its
modes, and whether a CAS fails. And it counts those in which such an access is the one that leaves sequential
consistency, and those with a data race.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator

from fencepost.engine.search import Limits, explore
from fencepost.memory_models import GRAPH_MODELS as MODELS
from fencepost.memory_models import MODELS as ROWS
from fencepost.models import sc
from fencepost.models.explore import LimitReachedError
from fencepost.models.threads import ProgramLts
from fencepost.program import (
    CellAccess,
    CompareExchange,
    Fence,
    Instruction,
    Mode,
    Program,
    access_modes,
    read_mode,
)
from tests.strategies import random_program, wide_program

LIMITS = Limits(states=20_000)


def label_of(instruction: Instruction, *, writes: bool) -> str:
    """What the rules see of an access that writes, or does not; or of a fence."""
    kind = type(instruction).__name__
    if isinstance(instruction, Fence):
        return f"Fence {instruction.mode.value}"
    assert isinstance(instruction, CellAccess)
    read, write = read_mode(instruction, writes=writes), access_modes(instruction)[1] if writes else None
    if isinstance(instruction, CompareExchange):
        kind += " succeeds" if writes else " fails"
    return " ".join([kind, *(mode.value for mode in (read, write) if mode is not None)])


def executed(program: Program) -> Iterator[str]:
    """The labels of all steps of all runs under SC; of weak fences, all that stand in the code."""
    lts = ProgramLts(program)
    for thread in program.threads:
        weak = (i for i in thread.code if isinstance(i, Fence) and i.mode is not Mode.SC)
        yield from (label_of(fence, writes=False) for fence in weak)
    for state in sc.sc_states(lts, 2000):
        for thread, step, _ in sc.sc_transitions(lts, state):
            instruction = program.threads[thread].code[state.threads[thread].pc]
            yield label_of(instruction, writes=step.label.written is not None)


def drawn_for(model: str, seed: int) -> Program:
    """Every second is a wide one."""
    if seed % 2 == 0:
        return wide_program(random.Random(seed), sc_accesses=model == "cpp20" and seed % 3 != 0)
    return random_program(
        random.Random(seed),
        loop_free=seed % 5 != 0,
        modes=model != "ra" and seed % 4 != 1,
        sc_accesses=model == "cpp20" and seed % 4 != 2,
    )


def counts(model: str, seeds: range) -> tuple[Counter[str], Counter[str]]:
    """In how many programs each label is executed; and in how many such an access leaves SC, or races."""
    steps: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for seed in seeds:
        program = drawn_for(model, seed)
        try:
            steps.update(set(executed(program)))
        except LimitReachedError:
            continue
        result = explore(program, model, LIMITS)
        if result.violation is not None:
            at = program.threads[result.violation.thread].code[result.violation.pc]
            found[type(at).__name__] += 1
            found[" ".join([type(at).__name__, *(mode.value for mode in access_modes(at) if mode)])] += 1
        if result.race is not None and result.race.earlier is not None:
            found["race with a write" if result.race.earlier.write else "race with a read"] += 1
    return steps, found


def possible_labels(model: str) -> list[str]:
    """Those that the rules of the model treat differently, and the reader of TPL allows."""
    row = ROWS[model]
    sc_mode = ["seq_cst"] if row.sc_accesses else []
    reads, writes = ["rlx", "acq", *sc_mode], ["rlx", "rel", *sc_mode]
    labels = [f"Load {mode}" for mode in [*reads, "na"]] + [f"Wait {mode}" for mode in reads]
    labels += [f"Store {mode}" for mode in [*writes, "na"]]
    both = [f"{r} {w}" for r in ("rlx", "acq") for w in ("rlx", "rel")] + ["seq_cst seq_cst"] * bool(sc_mode)
    kinds = ("FetchAdd", "Exchange", "CompareExchange succeeds", "BlockingCompareExchange")
    labels += [f"{kind} {modes}" for kind in kinds for modes in both]
    labels += [f"CompareExchange fails {mode}" for mode in reads]
    return labels + [f"Fence {mode}" for mode in ("seq_cst", "acq", "rel", "acq_rel")]


def leaving(model: str) -> list[str]:
    """Accesses that can be those at which a program leaves SC: reads and writes in each mode."""
    sc_mode = ["seq_cst"] if ROWS[model].sc_accesses else []
    plain = [f"{kind} {mode}" for kind in ("Load", "Wait") for mode in ["rlx", "acq", *sc_mode]]
    plain += [f"Store {mode}" for mode in ["rlx", "rel", *sc_mode]]
    return [*plain, "FetchAdd", "Exchange", "CompareExchange", "BlockingCompareExchange"]


def report(model: str, seeds: range) -> str:
    steps, found = counts(model, seeds)
    lines = [f"{model}: {len(seeds)} programs", "", "| executed | in programs |", "|---|--:|"]
    lines += [f"| {label} | {steps[label]} |" for label in possible_labels(model)]
    lines += ["", "| found | in programs |", "|---|--:|"]
    lines += [
        f"| {what} | {found[what]} |" for what in [*leaving(model), "race with a write", "race with a read"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print("\n\n".join(report(model, range(size)) for model in MODELS))
