"""Writes the litmus tests of this folder: the classic shapes, each with several memory orders.

The table in the head of a test is computed by the definitions (`fencepost.models.outcomes`), never by the
engine, so that the engine can be held against it:

    python examples/outcomes/generate.py

A statement of a shape is `x=1` (a store), `r0=x` (a load), `r0=x+=1` (fetch_add) or `r0=x:=1` (exchange).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fencepost.formats import load_as
from fencepost.formats.registry import Reading
from fencepost.memory_models import MODELS, OUTCOME_MODELS
from fencepost.models.outcomes import ends
from fencepost.program import Program
from fencepost.program.conditions import CellIs, RegisterIs, atoms

FOLDER = Path(__file__).parent


class Shape(NamedTuple):
    about: str
    threads: tuple[str, ...]
    condition: str
    variants: tuple[str, ...]


SHAPES = {
    "SB": Shape(
        "Store buffering: both loads miss the other thread's store.",
        ("x=1; r0=y", "y=1; r0=x"),
        "0:r0 = 0 /\\ 1:r0 = 0",
        ("rlx", "ra", "fence", "sc"),
    ),
    "MP": Shape(
        "Message passing: the flag is seen, the message is not.",
        ("x=1; y=1", "r0=y; r1=x"),
        "1:r0 = 1 /\\ 1:r1 = 0",
        ("rlx", "ra", "fence", "sc"),
    ),
    "LB": Shape(
        "Load buffering: each thread sees the store that the other one does later.",
        ("r0=x; y=1", "r0=y; x=1"),
        "0:r0 = 1 /\\ 1:r0 = 1",
        ("rlx", "ra"),
    ),
    "IRIW": Shape(
        "Independent reads of independent writes: two readers disagree about the order of the stores.",
        ("x=1", "r0=x; r1=y", "r0=y; r1=x", "y=1"),
        "1:r0 = 1 /\\ 1:r1 = 0 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
        ("rlx", "ra", "sc"),
    ),
    "R": Shape(
        "A store that loses against another thread's, and a load that misses the store before that.",
        ("x=1; y=1", "y=2; r0=x"),
        "1:r0 = 0 /\\ y = 2",
        ("rlx", "ra", "fence", "sc"),
    ),
    "S": Shape(
        "A store that is overwritten by one which comes before what the storing thread has seen.",
        ("x=2; y=1", "r0=y; x=1"),
        "1:r0 = 1 /\\ x = 2",
        ("rlx", "ra", "sc"),
    ),
    "2+2W": Shape(
        "Two threads store to two locations, and both first stores win.",
        ("x=1; y=2", "y=1; x=2"),
        "x = 1 /\\ y = 1",
        ("rlx", "ra", "fence", "sc"),
    ),
    "WRC": Shape(
        "Write-to-read causality: a store is seen and passed on, and then missed.",
        ("x=1", "r0=x; y=1", "r0=y; r1=x"),
        "1:r0 = 1 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
        ("rlx", "ra", "sc"),
    ),
    "ISA2": Shape(
        "Message passing over three threads.",
        ("x=1; y=1", "r0=y; z=1", "r0=z; r1=x"),
        "1:r0 = 1 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
        ("rlx", "ra"),
    ),
    "CoRR": Shape(
        "Coherence: two loads of one location see its stores in the wrong order.",
        ("x=1; x=2", "r0=x; r1=x"),
        "1:r0 = 2 /\\ 1:r1 = 1",
        ("rlx",),
    ),
    "SB-rmw": Shape(
        "Store buffering with exchanges for the stores.",
        ("r1=x:=1; r0=y", "r1=y:=1; r0=x"),
        "0:r0 = 0 /\\ 1:r0 = 0",
        ("rlx", "ra", "sc"),
    ),
    "MP-rmw": Shape(
        "Message passing through an increment by a third thread, which continues the release sequence.",
        ("x=1; y=1", "r0=y+=1", "r0=y; r1=x"),
        "2:r0 = 2 /\\ 2:r1 = 0",
        ("rlx", "ra"),
    ),
    "LB-rmw": Shape(
        "Load buffering with increments for the loads.",
        ("r0=x+=1; y=1", "r0=y+=1; x=1"),
        "0:r0 = 1 /\\ 1:r0 = 1",
        ("rlx", "ra"),
    ),
    "2RMW": Shape(
        "Two increments of one location: none is lost.",
        ("r0=x+=1", "r0=x+=1"),
        "0:r0 = 0 /\\ 1:r0 = 0",
        ("rlx",),
    ),
}
ORDERS = {  # of loads, stores and RMWs
    "rlx": ("relaxed", "relaxed", "relaxed"),
    "fence": ("relaxed", "relaxed", "relaxed"),
    "ra": ("acquire", "release", "acq_rel"),
    "sc": ("seq_cst", "seq_cst", "seq_cst"),
}


def tests() -> Iterator[tuple[str, str]]:
    """The name and the text of each test."""
    for name, shape in SHAPES.items():
        for variant in shape.variants:
            plain = text_of(name, shape, variant, [])
            program = load_as(f"{name}+{variant}.litmus", Reading(format="litmus"), plain)
            yield f"{name}+{variant}.litmus", text_of(name, shape, variant, table(program))


def text_of(name: str, shape: Shape, variant: str, rows: list[str]) -> str:
    cells = sorted({cell for thread in shape.threads for cell in re.findall("[xyz]", thread)})
    head = [f"C {name}+{variant}", f"// {shape.about}", *(f"// {row}".rstrip() for row in rows), ""]
    head.append(f"{{ {' '.join(f'{cell} = 0;' for cell in cells)} }}")
    bodies = []
    for number, thread in enumerate(shape.threads):
        used = [cell for cell in cells if cell in thread]
        statements = [statement(part.strip(), ORDERS[variant]) for part in thread.split(";")]
        if variant == "fence":
            fence = "atomic_thread_fence(memory_order_seq_cst);"
            statements = [line for one in statements for line in (fence, one)][1:]
        arguments = ", ".join(f"atomic_int* {cell}" for cell in used)
        body = "\n".join(f"  {line}" for line in statements)
        bodies.append(f"\nP{number}({arguments}) {{\n{body}\n}}")
    return "\n".join([*head, *bodies, f"\nexists ({shape.condition})\n"])


def statement(text: str, orders: tuple[str, str, str]) -> str:
    load, store, rmw = (f"memory_order_{order}" for order in orders)
    target, _, what = text.partition("=")
    if not target.startswith("r"):
        return f"atomic_store_explicit({target}, {what}, {store});"
    if "+=" in what or ":=" in what:
        cell, operand = re.split(r"[+:]=", what)
        function = "atomic_fetch_add" if "+=" in what else "atomic_exchange"
        return f"int {target} = {function}_explicit({cell}, {operand}, {rmw});"
    return f"int {target} = atomic_load_explicit({what}, {load});"


def table(program: Program) -> list[str]:
    """What the condition names, and which models allow it, by the definitions."""
    assert program.condition is not None
    named = list(dict.fromkeys(atoms(program.condition.formula)))
    named.sort(key=lambda atom: isinstance(atom, CellIs))
    heads = [f"{a.thread}:{a.register}" if isinstance(a, RegisterIs) else a.cell for a in named]
    allowed = {
        model: {shown(program, named, end) for end in ends(program, model) or ()}
        for model in OUTCOME_MODELS
        if program.sc_access is None or MODELS[model].sc_accesses
    }
    columns = [f"{model:>3}" for model in OUTCOME_MODELS]
    rows = [f"outcomes: {' '.join(heads)} | {' '.join(columns)}"]
    for values in sorted(set().union(*allowed.values())):
        numbers = " ".join(f"{value:>{len(head)}}" for value, head in zip(values, heads, strict=True))
        marks = (
            f"{mark(values in allowed[model]) if model in allowed else 'n/a':>{max(len(model), 3)}}"
            for model in OUTCOME_MODELS
        )
        rows.append(f"          {numbers} | {' '.join(marks)}")
    return rows


def shown(program: Program, named: list, end: tuple) -> tuple[int, ...]:
    registers, memory = end
    values = []
    for atom in named:
        if isinstance(atom, CellIs):
            values.append(memory[program.cells.index(atom.cell)])
        else:
            thread = next(n for n, one in enumerate(program.threads) if one.name == atom.thread)
            values.append(registers[thread][program.threads[thread].registers.index(atom.register)])
    return tuple(values)


def mark(is_allowed: bool) -> str:
    return "✓" if is_allowed else "–"


if __name__ == "__main__":
    for file, text in tests():
        (FOLDER / file).write_text(text, encoding="utf-8")
