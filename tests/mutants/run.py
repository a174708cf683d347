"""Runs the tests with one mutant at a time, and writes the table of `docs/trust.md`.

    python -m tests.mutants.run [AREA …]   all mutants but those of `watching`, or those of `lists/AREA.txt`;
                                           goes on where it stopped
    python -m tests.mutants.run --fresh    all of them again, so that the table is of one run
    python -m tests.mutants.run --table    only writes the table of what was run so far

A mutant is killed if a test of its suite fails, or does not end: it crashes, or uses many times the processor
time that all of them need without mutants. What is known of a mutant is kept in
`build/mutants/results` until its file, or the tests that are asked, change. To run them on another machine,
keep what that has found with `--results FILE` and give the file to `--add` here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from tests.mutants.build import SITE, WATCHING_SITE, copy_with_switches, install, native_program
from tests.mutants.forks import Jobs
from tests.mutants.listed import ROOT, Mutant, mutants
from tests.mutants.steps import Asked, Step
from tests.mutants.suites import SUITES
from tests.mutants.table import RESULTS, Result, known_results, write_table

# The programs below tests/native that mutants are built into, and what the tests that run them are called.
NATIVE_PROGRAMS = {
    "engine/monitors.cpp": ["[monitors]"],
    "engine/labels.cpp": ["[labels]"],
    "engine/known_steps.cpp": ["[known_steps]"],
    "sanitizer/rules.cpp": ["sanitizer/test_rules.py"],
    "sanitizer/weak_executions.cpp": ["sanitizer/test_weak_executions.py"],
    "sanitizer/exploration.cpp": ["test_check.py::test_the_exploration"],
}


WATCHING = "watching"  # needs a build of its own


@cache
def key_of_file(file: str) -> str:
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]


@cache
def key_of_tests(suite: str) -> str:
    return hashlib.sha256(json.dumps(SUITES[suite]).encode()).hexdigest()[:16]


def still_to_run(listed: list[Mutant]) -> Iterator[Mutant]:
    known = known_results()
    for mutant in listed:
        result = known.get(mutant.key)
        if mutant.equivalent or (result is not None and result.killed):
            continue
        asked = (key_of_tests(mutant.suite), key_of_file(mutant.file))
        if result is None or result.partial or (result.tests, result.file) != asked:
            yield mutant


def commit() -> str:
    """What is run; FENCEPOST_COMMIT says so where there is no repository."""
    told = os.environ.get("FENCEPOST_COMMIT", "")
    if not told:
        asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
        told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return told or "unknown"


def chosen(options: argparse.Namespace, listed: list[Mutant]) -> list[Mutant]:
    """Those to run."""
    if options.survivors:
        known = known_results()
        some = [m for m in listed if not m.equivalent and m.key in known and not known[m.key].killed]
    elif options.fresh:
        some = [mutant for mutant in listed if not mutant.equivalent]
    else:
        some = list(still_to_run(listed))
    areas = set(options.areas)
    if areas:
        return [mutant for mutant in some if {mutant.area, mutant.listed_at} & areas]
    return [mutant for mutant in some if mutant.area != WATCHING]


def build_native_programs(some: list[Mutant], jobs: int) -> None:
    """Before the tests need them, and several at a time."""
    asked = {test for mutant in some for tests in SUITES[mutant.suite] for test in tests}
    programs = {program for test in asked for program in NATIVE_PROGRAMS if _needs(test, program)}
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(native_program, sorted(programs)))


def _needs(test: str, program: str) -> bool:
    return any(part in test for part in NATIVE_PROGRAMS[program])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "areas", nargs="*", metavar="AREA", help="only those of lists/AREA.txt, or AREA.txt:LINE"
    )
    parser.add_argument("--table", action="store_true", help="run nothing, write the table")
    parser.add_argument("--add", type=Path, action="append", default=[], help="results of another machine")
    parser.add_argument("--results", type=Path, default=RESULTS / "run.jsonl", help="where they are kept")
    parser.add_argument("--no-build", action="store_true", help="the build is there")
    parser.add_argument("--only-build", action="store_true", help="run nothing, build what is needed")
    parser.add_argument("--survivors", action="store_true", help="only those that survived last time, again")
    parser.add_argument("--fresh", action="store_true", help="all again, whatever is known")
    parser.add_argument("--first", type=int, default=1, help="the first step of each suite that is taken")
    parser.add_argument("--steps", type=int, default=9, help="how many steps of each suite are taken")
    parser.add_argument("--minutes", type=float, default=1e6, help="what has not ended by then is not run")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    listed = mutants()
    RESULTS.mkdir(parents=True, exist_ok=True)
    for file in options.add:
        with (RESULTS / "added.jsonl").open("a", encoding="utf-8") as added:
            added.write(file.read_text(encoding="utf-8"))
    if options.table:
        write_table(listed)
        return
    some = chosen(options, listed)
    print(f"{len(some)} of {len(listed)} mutants to run", flush=True)
    site = WATCHING_SITE if any(mutant.area == WATCHING for mutant in some) else SITE
    if not options.no_build:
        copy_with_switches(listed)
        with ThreadPoolExecutor(2) as pool:
            parts = [lambda: install(site), lambda: build_native_programs(some, options.jobs)]
            list(pool.map(lambda part: part(), parts))
    if options.only_build:
        return
    sys.path.insert(0, str(site))
    os.environ["PYTHONPATH"] = f"{site}:{ROOT}"
    os.chdir(ROOT)
    went_well = run_all(some, options, end)
    write_table(listed)
    sys.exit(0 if went_well else 1)


def run_all(some: list[Mutant], options: argparse.Namespace, end: float) -> bool:
    """In as many processes as there are suites, which share the jobs."""
    at = commit()

    def record(mutant: Mutant, by: str, steps_left: bool) -> None:
        keys = key_of_tests(mutant.suite), key_of_file(mutant.file)
        result = Result(mutant.key, bool(by), by, *keys, not by and steps_left, at, time.time())
        with options.results.open("a", encoding="utf-8") as out:
            out.write(json.dumps(result.__dict__) + "\n")

    asked = Asked({m.number: m for m in some}, Jobs(options.jobs), record, options.first, options.steps)
    groups: dict[tuple[str, bool], list[Mutant]] = {}
    for mutant in some:
        groups.setdefault((mutant.suite, mutant.is_python), []).append(mutant)
    steps = []
    for (suite, in_python), group in sorted(groups.items(), key=lambda item: -len(item[1])):
        step = Step(asked, suite, min(options.first, len(SUITES[suite])), in_python)
        for mutant in group:
            step.add(mutant)
        step.end()
        steps.append(step)
    went_well = [step.went_well(end) for step in steps]
    return all(went_well)


if __name__ == "__main__":
    main()
