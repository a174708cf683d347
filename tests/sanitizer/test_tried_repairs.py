"""The Repair of a finding, made by changes at sites in the run that showed it: then the finding is gone.

A repair is for one chain of accesses. If another chain shows the same finding, the run with the changes says
what that one needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.sanitizer.answer.left_out import LeftOut
from fencepost.sanitizer.answer.summing import Asked, answer_of
from fencepost.sanitizer.answer.tally import Tally
from fencepost.sanitizer.run.runs import Job, run_all
from fencepost.verdicts.run import AnyRunAnswer, Finding, Repair, Schedule
from tests.sanitizer.building import Shell
from tests.sanitizer.test_examples import FOLDER, NOT_ROBUST

_ORDERS = {"load": ("acquire", "seq_cst"), "store": ("release", "seq_cst")}
_MOST_CHAINS = 5
_UPDATES = ("exchange", "fetch", "compare_exchange")


def _lines(repair: Repair) -> Iterator[str]:
    """Which operation is there is not said, so it is all that it can be."""
    place = repair.at or repair.after or repair.before
    assert place is not None
    side = "order" if repair.at else "after" if repair.after else "before"
    for operation in ("load", "store", *_UPDATES):
        if side == "order" and repair.order not in _ORDERS.get(operation, (repair.order,)):
            continue
        fails = side == "order" and operation == "compare_exchange" and repair.order in ("acquire", "seq_cst")
        failure = f" failure={repair.order}" if fails else ""
        yield f"{place.module}+{place.offset} {operation} {side}={repair.order}{failure}\n"


def _runs(program: Path, schedules: list[Schedule], *settings: str) -> AnyRunAnswer:
    command = (str(program),)
    tally = Tally(command[0])
    run_all(Job(command=command, timeout=60, at_terminal=False, settings=settings), schedules, tally.add)
    return answer_of(tally, Asked(command=command, schedule=schedules[0], left_out=LeftOut(internals=True)))


def _is_gone(shell: Shell, program: Path, finding: Finding) -> bool:
    """With its repair; or, where several chains of accesses show it, with those of the others too."""
    repairs = list(finding.repair)
    again = _runs(program, [finding.schedule])
    assert finding.id in {one.id for one in again.findings}, "the run does not repeat itself"
    for _ in range(_MOST_CHAINS):
        changes = shell.write("changes", "".join(line for repair in repairs for line in _lines(repair)))
        found = _runs(program, [finding.schedule], f"sites={changes}").findings
        left = next((one for one in found if one.id == finding.id), None)
        if left is None:
            return True
        repairs += left.repair
    return False


def _tried(shell: Shell, source: Path, runs: int, rounds: int = 2) -> int:
    """How many repairs were tried; fails if one does not remove its finding."""
    wrapper = ("fencepost-cc", "-std=gnu11") if source.suffix == ".c" else ("fencepost-c++", "-std=c++20")
    shell.ok(*wrapper, "--mode", "full", "-O1", f"-DROUNDS={rounds}", source, "-o", "program")
    program = shell.directory / "program"
    found = _runs(program, [Schedule(kind="random", seed=seed) for seed in range(1, runs + 1)]).findings
    tried = [one for one in found if one.repair]
    left = [one for one in tried if not _is_gone(shell, program, one)]
    assert not left, [(one.access, one.missed, one.repair) for one in left]
    return len(tried)


def test_a_repair_removes_its_finding(tmp_path: Path) -> None:
    assert _tried(Shell(tmp_path), FOLDER / "dekker-acq-rel.c", 5) > 1


@pytest.mark.slow
@pytest.mark.parametrize("source", NOT_ROBUST, ids=lambda path: path.stem)
def test_repairs_of_all_examples_remove_their_findings(tmp_path: Path, source: Path) -> None:
    assert _tried(Shell(tmp_path), source, 20, 20) > 0
