"""All executions of small clients: what `fencepost check --harm` says of the programs in `examples/c` and of
the libraries in `examples/case-studies`, and how many executions that takes. Writes the tables of
`docs/check.md`.

    python benchmarks/check_examples.py [--timeout SECONDS] [PROGRAM...]

With names of programs it prints their rows and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import page_block

from fencepost.formats.headers import expectations

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "check.md"
PROGRAMS = ROOT / "examples" / "c"
LIBRARIES = ROOT / "examples" / "case-studies" / "check.cpp"

# Clients, threads and rounds of each: the first one counts that is decided as the head of the program says,
# best with all executions.
CLIENTS = ((2, 2), (2, 1), (3, 1))

# What makes a client of a program whose loops have no bound.
BOUNDS = {"rcu": "-DREADS=2", "rcu-relaxed": "-DREADS=2"}

OWN_HEAD = """| program | robust | client | executions | seconds | answer | findings | harm shown |
|---|---|---|--:|--:|---|--:|--:|
"""
LIBRARY_HEAD = """| test | executions | seconds | answer | findings | harm shown |
|---|--:|--:|---|--:|--:|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=int, default=20)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    sources = sorted([*PROGRAMS.glob("*.c"), *PROGRAMS.glob("*.cpp")])
    wanted = [one for one in sources if not options.programs or one.stem in options.programs]
    with tempfile.TemporaryDirectory() as directory:
        own = list(_shown(_row_of_program(source, Path(directory), options.timeout) for source in wanted))
        if options.programs:
            return
        libraries = list(_shown(_rows_of_libraries(Path(directory), options.timeout)))
    page_block.write(PAGE, "check_examples", OWN_HEAD + "\n".join(own))
    page_block.write(PAGE, "check_libraries", LIBRARY_HEAD + "\n".join(libraries))


def _shown(rows: Iterator[str]) -> Iterator[str]:
    for row in rows:
        print(row, flush=True)
        yield row


def _row_of_program(source: Path, directory: Path, timeout: int) -> str:
    expected = expectations(source.read_text(encoding="utf-8"), source.name)
    robust = expected.get(("robust", "cpp20"), expected.get(("robust", "rc20"), False))
    best, worth = None, -1
    for threads, rounds in CLIENTS:
        program = directory / source.stem
        bounds = [BOUNDS[source.stem]] if source.stem in BOUNDS else []
        if not _built(source, program, f"-DTHREADS={threads}", f"-DROUNDS={rounds}", *bounds):
            continue
        (answer,) = _answers(program, timeout)
        as_stated = answer["verdict"] == ("robust" if robust else "not-robust")
        if 2 * as_stated + answer["exhaustive"] > worth:
            best, worth = (f"{threads} × {rounds}", answer), 2 * as_stated + answer["exhaustive"]
        if worth == 3:
            break
    assert best is not None, source
    client, answer = best
    return f"| `{source.stem}` | {'yes' if robust else 'no'} | {client} | {_cells(answer)} |"


def _rows_of_libraries(directory: Path, timeout: int) -> Iterator[str]:
    program = directory / LIBRARIES.stem
    if not _built(LIBRARIES, program):
        raise SystemExit(f"cannot build {LIBRARIES}")
    for answer in _answers(program, timeout):
        yield f"| `{answer['test']}` | {_cells(answer)} |"


def _cells(answer: dict[str, Any]) -> str:
    harms = [one["harm"] for one in answer["findings"] if one["harm"]]
    executions = f"{answer['runs']:,}" if answer["exhaustive"] else f"over {answer['runs']:,}"
    verdict = {"unknown": f"undecided: {answer.get('why')}", "not-robust": "not robust"}.get(
        answer["verdict"], answer["verdict"]
    )
    cells = (
        executions,
        f"{answer['stats']['seconds']:.1f}",
        verdict,
        len(answer["findings"]) or "",
        f"{sum(harm['shown'] for harm in harms)} of {len(harms)}" if harms else "",
    )
    return " | ".join(map(str, cells))


def _built(source: Path, program: Path, *defined: str) -> bool:
    in_c = source.suffix == ".c"
    wrapper = ["fencepost-cc", "-std=gnu11"] if in_c else ["fencepost-c++", "-std=c++20"]
    command = [*wrapper, "-O1", *defined, source, "-o", program]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _answers(program: Path, timeout: int) -> list[dict[str, Any]]:
    command = ["fencepost", "check", "--harm", "--json", "--timeout", str(timeout), program]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
