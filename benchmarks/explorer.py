"""How fast the explorer is, and how small its states are.

Asks about every program of the corpus, and explores a ticket lock of more than five million states with the
monitor on and no reduction, so that the rate is that of plain exploration. Rates are per second of
processor time on one core; they vary from machine to machine, the counts do not. `make bench` runs this and
leaves the numbers in `benchmarks/results/explorer.json`.
"""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path

from fencepost.analyses.robustness import robust
from fencepost.batch import corpus
from fencepost.batch.jobs import Where, files_in
from fencepost.engine.search import EVERY_STATE, Limits
from fencepost.formats.tpl import read

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "explorer.json"

LARGE_TICKETLOCK = """
max_value 23;
global next, serving;
na owner;

fn worker[4] {
    local ticket, seen, now;
    while (1) {
        ticket = FADD(next, 1);
        wait(serving, ticket);
        owner.nastore(tid);
        seen = owner.naload();
        assert(seen == tid);
        now = serving.load();
        serving.store(now + 1);
    }
}
"""


def measure_large() -> dict[str, object]:
    program = read(LARGE_TICKETLOCK, "large ticketlock")
    started = time.process_time()
    answer = robust(program, order="breadth-first", tactics=EVERY_STATE)
    seconds = time.process_time() - started
    states = answer.stats.states
    return {
        "program": program.file,
        "verdict": answer.verdict,
        "states": states,
        "transitions": answer.stats.transitions,
        "cpu_seconds": round(seconds, 3),
        "states_per_cpu_second": round(states / seconds),
        "bytes_per_state": round(answer.stats.peak_memory_mb * 2**20 / states, 1),
    }


def main() -> None:
    os.chdir(ROOT)
    files = files_in(["examples"])
    rows = corpus.measure(files, Limits(), Where(1), None)
    corpus.print_table(rows, check_expected=False)
    large = measure_large()
    print(
        f"large ticketlock: {large['verdict']}, {large['states']:,} states, {large['bytes_per_state']} bytes "
        f"per state, {large['states_per_cpu_second']:,} states per CPU second"
    )
    machine = {"machine": platform.machine(), "python": platform.python_version()}
    result = {**machine, "large": large, "corpus": json.loads(corpus.as_json(rows))}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")
    print(f"written to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
