"""What rotation saves, on programs that count: ticket locks of 3 to 10 threads, sequence numbers, buffers.

Counts the states and monitors that are stored and the steps that are taken, with and without it. Counts do
not depend on the machine. `make bench` runs this and leaves the table in `benchmarks/results/rotation.md`.
"""

from __future__ import annotations

from pathlib import Path

import families
from msgspec.structs import replace

from fencepost.engine._native import Outcome
from fencepost.engine.search import REDUCED, Limits, explore
from fencepost.formats import load
from fencepost.formats.tpl import read
from fencepost.program import Program

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "rotation.md"
MOST_STATES = 20_000_000

SEQUENCE_NUMBERS = """
    max_value 63;
    global seq, data;
    fn writer {
        local s;
        while (1) { s = seq.load(); seq.store(s + 1); data.store(s / 2 % 2, rlx); seq.store(s + 2); }
    }
    fn reader[2] {
        local s, d, r;
        while (1) {
            s = seq.load();
            if (s % 2 == 0) {
                d = data.load();
                r = seq.load();
                if (r == s) { assert(d < 2); }
            }
        }
    }
"""
RING = """
    max_value 63;
    global head, tail;
    na slot[4];
    fn producer {
        local h, t, used;
        while (1) {
            h = head.load(rlx);
            t = tail.load();
            used = h - t;
            if (used < 4) { slot[h % 4].nastore(1); head.store(h + 1); }
        }
    }
    fn consumer {
        local h, t, r;
        while (1) {
            t = tail.load(rlx);
            h = head.load();
            if (h != t) { r = slot[t % 4].naload(); tail.store(t + 1); }
        }
    }
"""


def counting() -> dict[str, Program]:
    texts = {f"ticket lock, {n} threads": families.ticketlock(n) for n in range(3, 11)}
    texts["sequence numbers, 64"] = SEQUENCE_NUMBERS
    texts["ring buffer, positions up to 63"] = RING
    programs = {name: read(text) for name, text in texts.items()}
    for path in ("c/rcu", "rocker/rcu", "sra/spsc-ring", "c/ticket-lock", "c/mpmc-ring"):
        programs[f"examples/{path}"] = load(ROOT / "examples" / f"{path}.tpl")
    return programs


def table() -> str:
    lines = [
        "# What rotation saves",
        "",
        "States and monitors stored / steps taken, release/acquire, one location at a time, with all other",
        "reductions; written by `benchmarks/rotation.py`. *Over* is where a search was given up.",
        "",
        "| program | with rotation | without | factor (states) |",
        "|---|---:|---:|---:|",
    ]
    for name, program in counting().items():
        ways = [replace(REDUCED, rotation=on) for on in (True, False)]
        found = [explore(program, "ra", Limits(states=MOST_STATES), "by-location", tactics=t) for t in ways]
        over = ["over " if result.outcome == Outcome.STATE_LIMIT else "" for result in found]
        counts = [f"{o}{r.states:,} / {r.transitions:,}" for o, r in zip(over, found, strict=True)]
        factor = f"{over[1]}{found[1].states / found[0].states:.1f}"
        ends = "" if found[0].violation is None else " (not robust)"
        lines.append(f"| {name}{ends} | {counts[0]} | {counts[1]} | {factor} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    text = table()
    print(text)
    RESULTS.write_text(text)
    print(f"written to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
