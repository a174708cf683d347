"""Searches by eight workers, for ThreadSanitizer to watch: `make test-threads`.

Each program is searched in all orders, with all kinds of stores, and one location at a time; the answers must
be those of one worker. Exits with 1 if one is not, and with 66 if ThreadSanitizer has found anything.
"""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec.structs import replace

from fencepost.analyses.robustness import robust
from fencepost.engine.search import EVERY_STATE, REDUCED, Limits
from fencepost.formats import load

ROCKER = Path(__file__).parents[2] / "examples" / "rocker"
PROGRAMS = (
    "peterson-ra",
    "peterson-sc",
    "chase-lev-ra",
    "ticketlock4",
    "rcu-offline",
    "lamport2-ra",
    "seqlock",
)
ORDERS = ("breadth-first", "depth-first", "largest-first", "by-location")
LIMITS = Limits(states=20_000, memory_mb=4000)
WORKERS = 8


def main() -> None:
    searches = differ = 0
    tactics = [REDUCED, EVERY_STATE, replace(REDUCED, compress=True), replace(REDUCED, bitstate=True)]
    for name in PROGRAMS:
        program = load(ROCKER / f"{name}.tpl")
        for order in ORDERS:
            for one in tactics:
                for model in ("ra", "rc20"):
                    options = {"limits": LIMITS, "order": order}
                    alone = robust(program, model, tactics=one, **options)  # type: ignore[arg-type]
                    all_of_them = replace(one, threads=WORKERS)
                    together = robust(program, model, tactics=all_of_them, **options)  # type: ignore[arg-type]
                    searches += 1
                    if {alone.verdict, together.verdict} == {"robust", "not-robust"}:
                        differ += 1
                        print(f"{name} {order} {one}: {alone.verdict}, {together.verdict}", flush=True)
        print(name, flush=True)
    print(f"{searches} searches by {WORKERS} workers, {differ} with another answer than by one")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
