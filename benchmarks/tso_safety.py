"""The corpus of `examples/tso-mutex`: what is decided under TSO, by whom, at what cost.

Asks `fencepost verify --model tso` about every program, then the backward search alone. Seconds are of the
processor. Leaves the table in `benchmarks/results/tso_safety.md` and in `docs/tso.md`. Ends with 1 if an
answer is not the one that the file expects.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import page_block
import sra

import fencepost

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "examples" / "tso-mutex"
RESULTS = ROOT / "benchmarks" / "results" / "tso_safety.md"
PAGE = ROOT / "docs" / "tso.md"


def main() -> int:
    parser = argparse.ArgumentParser(description="what is decided under TSO")
    parser.add_argument("programs", nargs="*", help="names without .aut; by default the whole corpus")
    parser.add_argument("--seconds", type=float, default=30, help="for each search (default: 30)")
    parser.add_argument("--megabytes", type=float, default=2048, help="for each search (default: 2048)")
    arguments = parser.parse_args()
    limits = fencepost.Limits(seconds=arguments.seconds, memory_mb=arguments.megabytes)
    names = arguments.programs or sorted(file.stem for file in CORPUS.glob("*.aut"))
    rows = [sra.measure(CORPUS / f"{name}.aut", "tso", limits) for name in names]
    table = "\n".join([sra.head(limits), "", *sra.decided(rows)])
    print(table)
    if not arguments.programs:
        RESULTS.write_text(f"{table}\n", encoding="utf-8")
        page_block.write(PAGE, "tso_safety", table)
    return sra.exit_code(rows)


if __name__ == "__main__":
    sys.exit(main())
