"""Which lines of the code that decides verdicts the random programs reach; writes a table to `docs/trust.md`.

    make coverage

Fails where more lines of a file are not reached than the table says, and leaves it as it is then; with
`python -m tests.coverage.run --accept` it is written all the same.

The engine and the test programs in C++ are built with counters, and a part of the tests that draw programs at
random are run. Looked at are the files that have mutants (`tests/mutants/lists`):
there, a line that no random program reaches is a rule that only directed tests know.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from fencepost.memory_models import GRAPH_MODELS
from tests.mutants.listed import ROOT, mutants
from tests.native.building import linked_files

PLACE = ROOT / "build" / "coverage"
SITE = PLACE / "site"
PAGE = ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- coverage: written by make coverage -->", "<!-- end of coverage -->"
FLAGS = ("--coverage", "-fprofile-update=atomic", "-O1", "-w")
ENGINE = "tests/engine"
TESTS = [
    *(f"{ENGINE}/test_against_definitions.py::test_random_programs[0-{model}]" for model in GRAPH_MODELS),
    f"{ENGINE}/test_topics.py",
    f"{ENGINE}/test_robust_by_counting.py::test_a_robust_program_has_no_graphs_but_those_of_sc[0]",
    *(f"{ENGINE}/test_reductions.py::test_looping_programs_keep_their_findings[0-{m}]" for m in GRAPH_MODELS),
    f"{ENGINE}/test_observational.py::test_random_programs",
    f"{ENGINE}/test_tso.py::test_random_programs[0]",
    f"{ENGINE}/test_tso.py::test_programs_with_read_modify_writes_anywhere",
    f"{ENGINE}/test_tso.py::test_a_pivot_that_is_safe_alone_is_in_no_violation",
    f"{ENGINE}/test_tso_safety.py::test_random_programs[0]",
    f"{ENGINE}/test_tso_safety.py::test_programs_with_read_modify_writes_anywhere",
    f"{ENGINE}/test_coverability.py::test_random_programs[0]",
    f"{ENGINE}/test_coverability.py::test_programs_that_pass_messages",
    f"{ENGINE}/test_sra_forward.py::test_random_programs[200000]",
    f"{ENGINE}/test_sra_forward.py::test_programs_that_pass_messages",
    f"{ENGINE}/test_graph_enumeration.py::test_the_ends_are_those_of_the_definition",
    *(
        f"tests/analyses/test_any_number.py::test_claims_agree_with_the_exact_engine[{m}]"
        for m in ("rc20", "tso")
    ),
    "tests/native/test_native.py",
    "tests/sanitizer/test_rules.py",
    "tests/sanitizer/test_weak_executions.py::test_weak_executions_are_those_of_the_definition",
    "tests/sanitizer/test_check.py::test_the_exploration_runs_each_graph_once",
    "tests/sanitizer/test_check.py::test_the_exploration_runs_each_graph_once_of_starts_and_sizes",
]


def build_engine() -> None:
    options = ["FENCEPOST_RUNTIME=OFF", "FENCEPOST_EDITOR=OFF", "FENCEPOST_COVERAGE=ON"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(SITE)]
        + [f"--config-settings=cmake.define.{option}" for option in options]
        + [f"--config-settings=build-dir={PLACE / 'cmake'}", str(ROOT)],
        check=True,
    )


def native_program(test: str | Path, *_: object) -> Path:
    """Instead of `tests.native.building.build`."""
    source = ROOT / "tests" / "native" / test
    place = PLACE / "native" / source.stem
    place.mkdir(parents=True, exist_ok=True)
    command = ["g++", "-std=gnu++20", "-mcx16", "-pthread", *FLAGS, f"-I{ROOT / 'native'}", f"-I{ROOT}"]

    def compiled(number: int, file: Path) -> str:
        """Under a name of its own: the test and what it tests may be called alike."""
        unit = str(place / f"{number}.o")
        subprocess.run([*command, "-c", str(file), "-o", unit], check=True)
        return unit

    files = [source, *(ROOT / "native" / name for name in linked_files(source))]
    units = [compiled(number, file) for number, file in enumerate(files)]
    subprocess.run([*command, *units, "-o", str(place / "program")], check=True)
    return place / "program"


def run_tests() -> None:
    """In this process, so that the counters are written at its end."""
    import pytest

    from tests.native import building

    building.build = native_program
    code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", *TESTS])
    sys.exit(code)


Lines = dict[str, dict[int, int]]


def counted() -> Lines:
    """By file and line, how often it was executed."""
    lines: Lines = defaultdict(lambda: defaultdict(int))
    for data in sorted(PLACE.rglob("*.gcda")):
        told = subprocess.run(
            ["gcov", "--json-format", "--stdout", str(data)], cwd=data.parent, capture_output=True, check=True
        ).stdout
        for report in map(json.loads, filter(None, told.splitlines())):
            for file in report["files"]:
                path = Path(report["current_working_directory"], file["file"]).resolve()
                if not path.is_relative_to(ROOT):
                    continue
                of = lines[str(path.relative_to(ROOT))]
                for line in file["lines"]:
                    of[line["line_number"]] += line["count"]
    return lines


def table(lines: Lines) -> str:
    """The lines themselves that are not reached go to a file."""
    listed = sorted({mutant.file for mutant in mutants() if not mutant.is_python})
    files = [file for file in listed if lines.get(file)]
    rows = ["| file | lines | reached |", "|---|--:|--:|"]
    missed = []
    for file in files:
        of = lines.get(file, {})
        rows.append(f"| `{file}` | {len(of)} | {sum(count > 0 for count in of.values())} |")
        text = (ROOT / file).read_text(encoding="utf-8").splitlines()
        missed += [f"{file}:{n}: {text[n - 1].strip()}" for n in sorted(of) if of[n] == 0]
    all_of = [count for file in files for count in lines.get(file, {}).values()]
    rows.append(f"| all | {len(all_of)} | {sum(count > 0 for count in all_of)} |")
    (PLACE / "not-reached.txt").write_text("\n".join([*missed, ""]), encoding="utf-8")
    left_out = [f"`{file}`" for file in listed if file not in files]
    return "\n".join([*rows, *(["", f"Not in this run: {', '.join(left_out)}."] if left_out else [])])


_ROW = re.compile(r"^\| `(.+)` \| (\d+) \| (\d+) \|$", re.MULTILINE)


def missed_in(table: str) -> dict[str, int]:
    """By file, how many lines were not reached."""
    return {file: int(lines) - int(reached) for file, lines, reached in _ROW.findall(table)}


def worse(before: str, now: str) -> list[str]:
    """Files of which more lines are not reached than before."""
    known = missed_in(before)
    return [
        f"{file}: {missed} lines are not reached, {known[file]} were not before"
        for file, missed in missed_in(now).items()
        if file in known and missed > known[file]
    ]


def main() -> None:
    if sys.argv[1:] == ["--tests"]:
        run_tests()
    if "--table" not in sys.argv[1:]:
        for old in PLACE.rglob("*.gcda"):
            old.unlink()
        build_engine()
        environment = {**os.environ, "PYTHONPATH": f"{SITE}:{ROOT}"}
        subprocess.run(
            [sys.executable, "-m", "tests.coverage.run", "--tests"], check=True, env=environment, cwd=ROOT
        )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    new = table(counted())
    if (lost := worse(old, new)) and "--accept" not in sys.argv[1:]:
        sys.exit("\n".join([*lost, f"The lines are in {PLACE / 'not-reached.txt'}."]))
    PAGE.write_text(f"{before}{BEGIN}\n\n{new}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
