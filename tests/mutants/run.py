"""Runs the tests with one mutant at a time, and writes the table of `docs/trust.md`.

    python -m tests.mutants.run [AREA …]   all mutants, or those of `lists/AREA.txt`; goes on where it stopped
    python -m tests.mutants.run --table    only writes the table of what was run so far

A mutant is killed if a test of its suite fails, or does not end: it crashes, or uses many times the processor
time that all of them need without mutants. What is known of a mutant is kept in
`build/mutants/results` until its file, or the tests that are asked, change.

Tests of the engine are run in forks of a process that has run them without a mutant before. That finds out
whether they pass and how long they take. It also remembers what the definitions say of each program, which no
change of the engine can change, and which is what takes long.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import importlib.util
import io
import json
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache, wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any

from tests.mutants.build import SITE, build, native_program
from tests.mutants.listed import ROOT, Mutant, changed, mutants
from tests.mutants.suites import SUITES
from tests.mutants.table import RESULTS, Result, known_results, write_table

# What the definitions say, which takes long.
REMEMBERED = {
    "robustness": ["non_robustness_witness", "not_robust_graph"],
    "sc": ["races", "findings", "reachable_states", "sc_states"],
    "rc20": ["races"],
    "cpp20": ["races"],
    "outcomes": ["ends"],
    "observational": ["not_shown"],
    "enumerate": ["reachable_graph_states"],
    "op_sra": ["final_states", "findings", "reachable_program_states", "write_write_race", "op_sra_states"],
    "tso": ["tso_plain_states", "tso_states"],
    "tso_traces": ["is_persistent", "is_robust", "is_triangular_race_free"],
}

MOST_BYTES = 12 << 30


class Report:
    """A pytest plugin that keeps the first test that failed."""

    def __init__(self) -> None:
        self.failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        self.pytest_runtest_logreport(report)


def run_tests(tests: list[str]) -> str:
    """The first of the tests that fails, or nothing."""
    import pytest

    report = Report()
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=line"]
        code = pytest.main([*options, "--rootdir", str(ROOT), *tests], plugins=[report])
    if code not in (0, 1) and not report.failed:
        raise RuntimeError(f"pytest ended with {code}: {said.getvalue()[-2000:]}")
    return report.failed


def prepare_tests() -> None:
    """The same examples each time, not shrunk; and C++ test programs that are built already."""
    from hypothesis import Phase, settings

    from tests.native import building

    settings.register_profile(
        "mutants", derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
    )
    settings.load_profile("mutants")
    building.build = lambda test, directory, *options: native_program(str(test))


def remember_definitions() -> None:
    for module_name, functions in REMEMBERED.items():
        module = importlib.import_module(f"fencepost.models.{module_name}")
        for name in functions:
            if hasattr(module, name):
                setattr(module, name, _remembering(getattr(module, name)))


def _remembering(function: Callable[..., Any]) -> Callable[..., Any]:
    from fencepost.models.explore import LimitReachedError

    known: dict[bytes, tuple[bool, Any]] = {}

    @wraps(function)
    def remembering(*args: Any, **named: Any) -> Any:
        try:
            key = pickle.dumps((args, sorted(named.items())))
        except Exception:
            return function(*args, **named)
        if key not in known:
            try:
                result = function(*args, **named)
                if isinstance(result, Iterator):  # can be read only once
                    return result
                known[key] = (True, result)
            except LimitReachedError as error:
                known[key] = (False, error)
        done, result = known[key]
        if not done:
            raise result
        return result

    return remembering


class Hook(MetaPathFinder):
    """Loads one module as the mutant has it."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._name = mutant.file.removeprefix("src/").removesuffix(".py").replace("/", ".")

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self._name:
            return None
        spec = PathFinder.find_spec(name, path)
        assert spec is not None
        assert spec.origin is not None
        text = changed(Path(spec.origin).read_text(encoding="utf-8"), self._mutant)

        class Loader(SourceFileLoader):
            def get_code(self, fullname: str) -> Any:
                return compile(text, self.path, "exec")

        return importlib.util.spec_from_file_location(name, spec.origin, loader=Loader(name, spec.origin))


def put_in_force(mutant: Mutant) -> None:
    if mutant.is_python:
        sys.meta_path.insert(0, Hook(mutant))
        return
    os.environ["FENCEPOST_MUTANT"] = str(mutant.number)
    if "fencepost.engine._native" in sys.modules:
        path = sys.modules["fencepost.engine._native"].__file__
        assert path is not None
        ctypes.c_int.in_dll(ctypes.CDLL(path), "fencepost_mutant").value = mutant.number


def in_a_fork(action: Callable[[], str], seconds: float) -> str:
    """What the action returns, or why it did not."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            told = action()
        except BaseException as error:
            told = f"error: {error!r}"[:3000]
        os.write(write, told.encode())
        os._exit(0)
    os.close(write)
    deadline = time.monotonic() + 20 * seconds + 600
    said = b""
    os.set_blocking(read, False)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(read)
            return "does not end"
        time.sleep(0.02)
    while chunk := os.read(read, 65536) if os.WIFEXITED(status) else b"":
        said += chunk
    os.close(read)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # programs that it started
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return "does not end" if name in ("SIGXCPU", "SIGKILL") else f"crash: {name}"
    return said.decode()


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + children.ru_utime + children.ru_stime


def run_suite(suite: str, listed: list[Mutant], in_python: bool, first_stage: int, most_stages: int) -> None:
    """Runs the mutants of one suite, in this process and its forks."""
    prepare_tests()
    if not in_python:
        import fencepost.engine._native  # noqa: F401

        remember_definitions()
    stages = SUITES[suite][:most_stages]
    for stage, tests in list(enumerate(stages, start=1))[min(first_stage, len(stages)) - 1 :]:
        listed = run_stage(f"{suite}, {stage}", tests, listed, in_python, stage == len(stages))
        if not listed:
            return


def run_stage(
    name: str, tests: list[str], listed: list[Mutant], in_python: bool, is_last: bool
) -> list[Mutant]:
    """The mutants that these tests do not notice."""
    start = _processor_seconds()
    told = in_a_fork(lambda: run_tests(tests), 3600) if in_python else run_tests(tests)
    usual = _processor_seconds() - start
    if not told and not in_python:  # what only fails the second time, Hypothesis in a class, says nothing
        told = in_a_fork(lambda: run_tests(tests), 3600)
    if told:
        raise SystemExit(f"{name}: without a mutant: {told}")
    print(f"{name}: passes without mutants, {usual:.0f} s of processor time", flush=True)
    survivors = []
    for mutant in listed:

        def with_mutant(mutant: Mutant = mutant) -> str:
            put_in_force(mutant)
            return run_tests(tests)

        begun = time.monotonic()
        by = in_a_fork(with_mutant, 15 + 3 * usual)
        if by.startswith("error"):
            raise SystemExit(f"{mutant.listed_at}: {by}")
        if not by:
            survivors.append(mutant)
        if by or is_last:
            partial = not by and tests != SUITES[mutant.suite][-1]
            keys = key_of_tests(mutant.suite), key_of_file(mutant.file)
            result = Result(mutant.key, bool(by), by, *keys, partial)
            with (RESULTS / f"{mutant.suite}.jsonl").open("a", encoding="utf-8") as out:
                out.write(json.dumps(result.__dict__) + "\n")
        verdict = f"killed by {by}" if by else "survived"
        print(f"{name}: {mutant.listed_at} ({time.monotonic() - begun:.0f} s): {verdict}", flush=True)
    return survivors


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("areas", nargs="*", metavar="AREA", help="only those of lists/AREA.txt")
    parser.add_argument("--table", action="store_true", help="run nothing, write the table")
    parser.add_argument("--no-build", action="store_true", help="the build is there")
    parser.add_argument("--survivors", action="store_true", help="only those that survived last time, again")
    parser.add_argument("--first", type=int, default=1, help="the first step of each suite that is taken")
    parser.add_argument("--stages", type=int, default=9, help="how many steps of each suite are taken")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="suites at a time")
    options = parser.parse_args()
    listed = mutants()
    if options.table:
        write_table(listed)
        return
    if not options.no_build:
        build()
    RESULTS.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(SITE))
    os.environ["PYTHONPATH"] = f"{SITE}:{ROOT}"
    os.chdir(ROOT)
    if options.survivors:
        known = known_results()
        chosen = [m for m in listed if not m.equivalent and m.key in known and not known[m.key].killed]
    else:
        chosen = list(still_to_run(listed))
    if options.areas:
        chosen = [mutant for mutant in chosen if mutant.area in options.areas]
    groups: dict[tuple[str, bool], list[Mutant]] = {}
    for mutant in chosen:
        groups.setdefault((mutant.suite, mutant.is_python), []).append(mutant)
    print(f"{len(chosen)} of {len(listed)} mutants to run", flush=True)
    if any(mutant.suite in ("sanitizer", "weak") for mutant in chosen):
        for test in ("rules", "weak_executions"):
            native_program(f"sanitizer/{test}.cpp")

    def run_group(group: tuple[str, bool]) -> int:
        child = os.fork()
        if child == 0:
            try:
                run_suite(group[0], groups[group], group[1], options.first, options.stages)
            except SystemExit as end:
                print(end, flush=True)
                os._exit(1)
            os._exit(0)
        return os.waitpid(child, 0)[1]

    with ThreadPoolExecutor(options.j) as pool:
        failed = any(list(pool.map(run_group, groups)))
    write_table(listed)
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
