"""Runs tests in this process, with a mutant in force or with none."""

from __future__ import annotations

import ctypes
import importlib.util
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any

from tests.mutants.build import native_program
from tests.mutants.listed import ROOT, Mutant, changed

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
