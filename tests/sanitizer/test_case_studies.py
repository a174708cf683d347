"""Libraries that we did not write: what docs/case-studies.md says of them is found, and its repairs help.

They are those of Debian 12. Elsewhere the lines may be others; what is found must be of the same functions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fencepost.verdicts.run import Frame, places
from tests.sanitizer.building import INSTALLED, Shell

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "examples" / "case-studies"
HEADERS = Path("/usr/include")
MIMALLOC = os.environ.get("FENCEPOST_MIMALLOC", "")  # the directory of its sources
LIBCDS = os.environ.get("FENCEPOST_LIBCDS", "")  # likewise
LIBURCU = os.environ.get("FENCEPOST_LIBURCU", "")
SCHEDULES = ("random", "pct", "os")
RUNS = "100"


class Study(NamedTuple):
    """A client, what it needs, and a pair of functions between which a violation is always found."""

    client: str
    needs: Path
    access: str
    missed: str


STUDIES = (
    Study("boost-spsc", HEADERS / "boost/lockfree", "consume_one", "push"),
    Study("boost-queue", HEADERS / "boost/lockfree", "pop", "do_push"),
    Study("boost-stack", HEADERS / "boost/lockfree", "allocate_impl", "deallocate_impl"),
    Study("moodycamel-queue", HEADERS / "concurrentqueue", "size_approx", "dequeue"),
    Study("moodycamel-blocking", HEADERS / "concurrentqueue", "size_approx", "dequeue"),
)
# Those whose repairs leave harmless findings, or that have none.
OTHERS = (
    Study("moodycamel-spsc", HEADERS / "readerwriterqueue", "load", "operator="),
    Study("xenium-queue", HEADERS / "xenium", "try_get_object", "set_link"),
    Study("xenium-deque", HEADERS / "xenium", "try_steal", "try_pop"),
    Study("tbb-queue", HEADERS / "oneapi", "internal_try_pop", "internal_push"),
)


class Harm(NamedTuple):
    """A client that fails in weak runs under this schedule, and not when it is repaired."""

    client: str
    needs: Path
    schedule: str


HARMS = (
    Harm("xenium-deque", HEADERS / "xenium", "random"),
    Harm("tbb-queue", HEADERS / "oneapi", "pct"),
)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, INSTALLED[0])


def needed(path: Path) -> None:
    if not path.is_dir():
        pytest.skip(f"{path} is not there")


def built(shell: Shell, client: str) -> Path:
    build = shell.directory
    sources = (f"MIMALLOC={MIMALLOC}", f"LIBCDS={LIBCDS}", f"LIBURCU={LIBURCU}")
    shell.ok("make", "--silent", "-C", FOLDER, f"BUILD={build}", *sources, build / client)
    return build / client


def findings(shell: Shell, executable: Path, schedule: str) -> list[dict[str, Any]]:
    """The program comes to its end in all runs, and passes its own check."""
    command = ("fencepost", "run", "--json", "--schedule", schedule, "--runs", RUNS, "--timeout", "60")
    answer = json.loads(shell.run(*command, executable).stdout)
    assert (answer["runs"], answer["troubles"], answer["deadlocks"]) == (int(RUNS), [], [])
    return list(answer["findings"])


def functions(found: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Of the accesses and of the writes that they miss, the innermost outside of the standard library."""
    for finding in found:
        stacks = ([Frame(**frame) for frame in finding[key]["stack"]] for key in ("access", "missed"))
        access, missed = (places(stack)[-1].function for stack in stacks)
        yield access, missed


@pytest.mark.parametrize("study", STUDIES + OTHERS, ids=lambda study: study.client)
def test_a_library_is_found_to_be_what_the_page_says(shell: Shell, study: Study) -> None:
    needed(study.needs)
    executable = built(shell, study.client)
    seen = [pair for schedule in SCHEDULES for pair in functions(findings(shell, executable, schedule))]
    assert any(study.access in access and study.missed in missed for access, missed in seen), seen


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.client)
def test_a_repaired_library_is_silent(shell: Shell, study: Study) -> None:
    needed(study.needs)
    executable = built(shell, f"repaired/{study.client}")
    assert [findings(shell, executable, schedule) for schedule in SCHEDULES] == [[], [], []]


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.client)
def test_a_library_fails_in_weak_runs_until_it_is_repaired(shell: Shell, harm: Harm) -> None:
    needed(harm.needs)
    command = ("fencepost", "run", "--json", "--schedule", harm.schedule, "--max-steps", "100000")
    for client in (harm.client, f"repaired/{harm.client}"):
        executable = built(shell, client)
        plain = json.loads(shell.run(*command, "--runs", RUNS, executable).stdout)
        weak = json.loads(shell.run(*command, "--weak", "--runs", RUNS, executable).stdout)
        assert plain["troubles"] == []
        assert bool(weak["troubles"]) == (client == harm.client)


class TestConcurrencyKit:
    """It has volatile accesses, and so many fences as the processor is said to need."""

    def found(self, shell: Shell, client: str) -> set[tuple[str, str]]:
        """What is found, and in which functions."""
        needed(HEADERS / "gcc/x86_64")
        executable = built(shell, client)
        command = ("fencepost", "run", "--json", "--schedule", "random", "--runs", RUNS)
        answer = json.loads(shell.run(*command, executable, FENCEPOST_OPTIONS="volatile=relaxed").stdout)
        assert (answer["runs"], answer["troubles"]) == (int(RUNS), [])
        return {(one["kind"], one["access"]["stack"][0]["function"]) for one in answer["findings"]}

    def test_without_fences_the_items_of_the_ring_race(self, shell: Shell) -> None:
        robustness = {("robustness", "ck_pr_md_load_uint")}
        races = {("race", "_ck_ring_dequeue_sc"), ("race", "consume")}
        assert self.found(shell, "ck-ring") == robustness | races
        assert self.found(shell, "ck-ring-portable") == robustness

    def test_pointers_to_volatile_are_not_volatile(self, shell: Shell) -> None:
        assert ("race", "ck_pr_md_load_ptr") in self.found(shell, "ck-stack-portable")
        assert self.found(shell, "repaired/ck-stack") == set()


class TestMimalloc:
    """A reader that is overlooked, what it reads then, and the heap of a page that is not seen in time."""

    HARMFUL = (
        ("mi_atomic_load_acquire(&abandoned_readers)", "mi_atomic_increment_relaxed(&abandoned_readers)"),
        ("mi_atomic_load_acquire(&abandoned)", "mi_atomic_cas_weak_acq_rel(&abandoned, &ts, next)"),
        ("mi_atomic_load_acquire(&page->xheap)", "mi_atomic_store_release(&page->xheap"),
    )

    def harmful(self, shell: Shell, client: str) -> set[tuple[str, str]]:
        """Those that a run shows, by their lines."""
        needed(Path(MIMALLOC or "FENCEPOST_MIMALLOC"))
        found = findings(shell, built(shell, client), "random")
        lines = [(line(finding["access"]), line(finding["missed"])) for finding in found]
        return {
            (a, m) for a, m in self.HARMFUL if any(a in access and m in missed for access, missed in lines)
        }

    def test_they_are_found(self, shell: Shell) -> None:
        assert self.harmful(shell, "mimalloc") == set(self.HARMFUL)

    def test_they_are_gone_when_it_is_repaired(self, shell: Shell) -> None:
        assert self.harmful(shell, "repaired/mimalloc") == set()


class TestLibcds:
    """A thread takes over the record of an ended one, and nothing orders the two."""

    def races(self, shell: Shell, client: str) -> int:
        needed(Path(LIBCDS or "FENCEPOST_LIBCDS"))
        found = findings(shell, built(shell, client), "pct")
        return sum("retired_ptr" in access for access, _ in functions(found))

    def test_they_race_for_what_is_to_be_freed(self, shell: Shell) -> None:
        assert self.races(shell, "cds-stack") > 0

    def test_an_acquire_in_the_exchange_orders_them(self, shell: Shell) -> None:
        assert self.races(shell, "repaired/cds-stack") == 0


class TestLiburcu:
    """Built with the builtins of the compiler, as for a processor of which it knows nothing."""

    def found(self, shell: Shell, client: str) -> set[str]:
        needed(Path(LIBURCU or "FENCEPOST_LIBURCU"))
        executable = built(shell, client)
        command = ("fencepost", "run", "--json", "--schedule", "random", "--runs", RUNS)
        answer = json.loads(shell.run(*command, executable, FENCEPOST_OPTIONS="volatile=relaxed").stdout)
        assert (answer["runs"], answer["troubles"]) == (int(RUNS), [])
        return {one["access"]["stack"][0]["function"] for one in answer["findings"]}

    def test_grace_periods_order_all_that_they_should(self, shell: Shell) -> None:
        assert self.found(shell, "urcu-grace") == set()

    def test_pointers_are_followed_without_acquire(self, shell: Shell) -> None:
        assert self.found(shell, "urcu-stack") == {"___cds_lfs_pop"}


def test_atomics_of_openmp_order_no_plain_data(shell: Shell) -> None:
    """But its loops, critical sections and locks do."""
    compiled = shell.run("gcc", "-fopenmp", "-fsyntax-only", FOLDER / "omp-lock.c")
    if compiled.returncode != 0:
        pytest.skip("gcc has no OpenMP here")
    for client, count in (("omp-lock", 0), ("omp-flag", 1)):
        executable = built(shell, client)
        command = ("fencepost", "run", "--json", "--schedule", "random", "--runs", "10", executable)
        answer = json.loads(shell.run(*command).stdout)
        assert (answer["runs"], len(answer["findings"])) == (10, count)


def line(access: dict[str, Any]) -> str:
    """The innermost line of its stack."""
    frame = access["stack"][0]
    lines = Path(frame["file"]).read_text(encoding="utf-8").splitlines()
    return lines[int(frame["line"]) - 1]
