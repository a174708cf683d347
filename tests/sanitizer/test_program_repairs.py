"""Repairs of compiled programs, and orders that they can do without: against the static engine, and on
examples."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.analyses.repair.fix import fix as static_fix
from fencepost.analyses.repair.relax import relax as static_relax
from fencepost.sanitizer.answer.sites import settings_of
from fencepost.sanitizer.frameworks import Test as ProgramTest
from fencepost.sanitizer.repair.changes import strengthenings, weakenings
from fencepost.sanitizer.repair.executions import Asking
from fencepost.sanitizer.repair.search import Wanted, fix, relax
from fencepost.verdicts.program_changes import (
    ProgramNotRelaxable,
    ProgramNotRepairable,
    ProgramRelaxed,
    ProgramRepaired,
    ProgramRepairedAsSeen,
)
from fencepost.verdicts.sites import Site, SiteChange, SiteOperation, SiteOrder
from fencepost.verdicts.union import decode
from tests.sanitizer.building import INSTALLED, Shell
from tests.sanitizer.test_differential import Case, cases, in_one_executable
from tests.sanitizer.test_examples import FOLDER

_RANKS: dict[str, int] = {"relaxed": 0, "acquire": 1, "release": 1, "acq_rel": 2, "seq_cst": 3}

STORE_BUFFERING = """\
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void* left(void* _) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_load_explicit(&y, memory_order_relaxed);
    return _;
}
static void* right(void* _) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_load_explicit(&x, memory_order_relaxed);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, left, 0);
    pthread_create(&b, 0, right, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
"""
PUBLICATION = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static int data;
static atomic_int ready;
static void* writer(void* _) {
    data = 1;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return _;
}
static void* reader(void* _) {
    if (atomic_load_explicit(&ready, memory_order_relaxed)) return (void*)(intptr_t)data;
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
"""


def compiled(shell: Shell, text: str, *options: str) -> Path:
    source = shell.write("program.c", text)
    shell.ok("fencepost-cc", *options, "-std=gnu11", "-O1", source, "-o", "program")
    return shell.directory / "program"


def wanted(
    program: Path, *arguments: str, without: tuple[str, ...] = (), seconds: float | None = None
) -> Wanted:
    asking = Asking(command=(str(program), *arguments), tests=(ProgramTest("", ()),))
    return Wanted(asking=asking, costs={}, without=without, seconds=seconds)


# -- Against the static engine --


def _repairable(seeds: Iterator[int]) -> Iterator[Case]:
    return (case for case in _by_lines(seeds) if not case.robust)


def _by_lines(seeds: Iterator[int]) -> Iterator[Case]:
    """Programs without loops, in which each operation has a line of its own."""
    for case in cases(seeds):
        if not re.search(r"while|\bat_\d+:[^}]*goto at", case.text):
            yield case._replace(text=re.sub(r"#line .*\n", "", case.text))


def _costs_agree(shell: Shell, first: int, count: int) -> None:
    stream = _repairable(iter(range(first, first + 1000 * count)))
    chosen = [next(stream) for _ in range(count)]
    program = in_one_executable(shell, [case.text for case in chosen], "--mode", "atomics")
    for number, case in enumerate(chosen):
        static = static_fix(case.program, "cpp20", without=("exchange",), ignore_races=True)
        dynamic = fix(wanted(program, str(number)))
        found = type(dynamic).__name__, dynamic.cost
        why = f"seed {case.seed}: {getattr(dynamic, 'why', '')}\n{case.text}"
        assert found == (ProgramRepaired.__name__, static.cost), why


def test_repairs_of_random_programs_cost_what_the_static_engine_says(tmp_path: Path) -> None:
    _costs_agree(Shell(tmp_path), 0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, 11))
def test_repairs_of_many_random_programs_cost_what_the_static_engine_says(tmp_path: Path, part: int) -> None:
    _costs_agree(Shell(tmp_path), part * 50_000, 10)


def _relaxed_alike(shell: Shell, first: int, count: int) -> None:
    """Not with compare-exchanges, for which the two offer their orders in other parts."""
    stream = _by_lines(iter(range(first, first + 1000 * count)))
    robust = (case for case in stream if case.robust and not re.search("_b?cas|compare_exchange", case.text))
    chosen = [next(robust) for _ in range(count)]
    program = in_one_executable(shell, [case.text for case in chosen], "--mode", "atomics")
    for number, case in enumerate(chosen):
        static = static_relax(case.program)
        dynamic = relax(wanted(program, str(number)))
        assert isinstance(dynamic, ProgramRelaxed), f"seed {case.seed}"
        assert dynamic.cost == static.cost, f"seed {case.seed}\n{case.text}"


def test_orders_of_random_programs_cost_what_the_static_engine_says(tmp_path: Path) -> None:
    _relaxed_alike(Shell(tmp_path), 0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, 11))
def test_orders_of_many_random_programs_cost_what_the_static_engine_says(tmp_path: Path, part: int) -> None:
    _relaxed_alike(Shell(tmp_path), part * 50_000, 10)


# -- Commands --


def test_a_repair_is_said_and_its_changes_pass_the_check(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    compiled(shell, STORE_BUFFERING)
    told = shell.ok("fencepost", "fix", "./program")
    assert re.match(r"\./program: robust with changes at \d places \(cost 20\); \d+ executions, ", told)
    assert "All executions of the program were run with these changes" in told
    answer = decode(shell.ok("fencepost", "fix", "--json", "./program"))
    assert isinstance(answer, ProgramRepaired)
    assert (answer.cost, answer.lower_bound, answer.sampled) == (20, 20, None)
    _check_with(shell, [one.change for one in answer.changes or ()])


def _check_with(shell: Shell, changes: list[SiteChange]) -> None:
    """The program with these changes is robust, as people would write them down."""
    rows = (f"{one.site.file}:{one.site.line} {settings_of(one)}\n" for one in changes)
    sites = shell.write("changes", "".join(rows))
    assert ": robust: all" in shell.ok(
        "fencepost", "check", "-q", "./program", FENCEPOST_OPTIONS=f"sites={sites}"
    )


def test_a_repair_is_written_once_the_patched_program_has_passed_the_check(tmp_path: Path) -> None:
    pytest.importorskip("clang.cindex")
    shell = Shell(tmp_path)
    compiled(shell, STORE_BUFFERING, "--mode", "atomics")
    done = shell.run("fencepost", "fix", "--write", "./program", input="n\n")
    assert (shell.directory / "program.c").read_text(encoding="utf-8") == STORE_BUFFERING, done.stderr
    done = shell.run("fencepost", "fix", "--write", "--yes", "./program")
    assert (
        "All executions of the patched program were run: nothing is left in any of them. Written: "
        in done.stderr
    )
    patched = (shell.directory / "program.c").read_text(encoding="utf-8")
    assert patched.count("memory_order_seq_cst") >= 2
    compiled(shell, patched, "--mode", "atomics")
    assert ": robust as it is;" in shell.ok("fencepost", "fix", "-q", "./program")


def test_nothing_is_written_if_the_source_has_changed(tmp_path: Path) -> None:
    pytest.importorskip("clang.cindex")
    shell = Shell(tmp_path)
    compiled(shell, STORE_BUFFERING, "--mode", "atomics")
    other = shell.write("program.c", STORE_BUFFERING + "/* more */\n").read_text(encoding="utf-8")
    done = shell.run("fencepost", "fix", "--write", "--yes", "./program")
    assert done.returncode == 2
    assert "has changed since the program was built" in done.stderr
    assert (shell.directory / "program.c").read_text(encoding="utf-8") == other


TEMPLATE = """\
#include <atomic>
#include <thread>
template <typename T> struct mailbox {
    T content{};
    std::atomic<bool> full{false};
    void put(T value) {
        content = value;
        full.store(true, std::memory_order_relaxed);
    }
    T take() { return full.load(std::memory_order_relaxed) ? content : T{}; }
};
mailbox<int> number;
mailbox<double> fraction;
double seen;
int main() {
    std::thread writer([] { number.put(1); fraction.put(0.5); });
    seen = number.take() + fraction.take();
    writer.join();
}
"""


def test_instances_of_a_template_are_one_site(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.write("program.cpp", TEMPLATE)
    shell.ok("fencepost-c++", "-std=c++20", "-O1", "program.cpp", "-o", "program")
    answer = decode(shell.ok("fencepost", "fix", "--json", "./program"))
    assert isinstance(answer, ProgramRepaired)
    assert answer.cost == 2
    assert [one.change.site.function for one in answer.changes or ()] == ["mailbox::put", "mailbox::take"]


def test_costs_decide_which_repair_it_is(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    compiled(shell, STORE_BUFFERING)
    by_fences = shell.ok("fencepost", "fix", "--cost", "sc-fence=1", "./program")
    assert "cost 2);" in by_fences
    assert by_fences.count("insert a seq_cst fence") == 2
    by_orders = shell.ok("fencepost", "fix", "--without", "sc-fence", "./program")
    assert by_orders.count("seq_cst, not relaxed") == 4
    assert "(cost 42);" in shell.ok(
        "fencepost", "fix", "-q", "--target", "x86-64", "--without", "sc-fence", "./program"
    )


def test_a_data_race_is_repaired_unless_it_may_stay(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    compiled(shell, PUBLICATION, "--mode", "full")
    told = shell.ok("fencepost", "fix", "./program")
    assert "(cost 2);" in told
    assert "make the store release, not relaxed" in told
    assert "make the load acquire, not relaxed" in told
    assert ": robust as it is;" in shell.ok("fencepost", "fix", "-q", "--ignore-races", "./program")


def test_what_no_order_repairs_is_shown(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    compiled(shell, PUBLICATION.replace("if (atomic", "if (1 || atomic"), "--mode", "full")
    done = shell.run("fencepost", "fix", "./program")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("./program: not repairable; ")
    assert "With all changes that were offered, this is left:" in done.stdout
    assert "data race (program.c:" in done.stdout
    answer = decode(shell.run("fencepost", "fix", "--json", "./program").stdout)
    assert isinstance(answer, ProgramNotRepairable)
    assert [one.kind for one in answer.findings] == ["race"]


def test_runs_take_the_place_of_all_executions(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    compiled(shell, STORE_BUFFERING, "--mode", "atomics")
    told = shell.ok("fencepost", "fix", "--runs", "10", "./program")
    assert told.startswith("./program: nothing seen with changes at ")
    assert "Not proven: not all executions were run. Each set was tried in 10 runs of each of" in " ".join(
        told.split()
    )
    answer = decode(shell.ok("fencepost", "fix", "--runs", "10", "--json", "./program"))
    assert isinstance(answer, ProgramRepairedAsSeen)
    assert (answer.sampled, answer.cost) == (10, 20)


def test_a_limit_on_time_leaves_the_question_open(tmp_path: Path) -> None:
    """Nothing was seen so far, which is not what a hundred runs say."""
    shell = Shell(tmp_path)
    endless = "for (;;) atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);"
    text = STORE_BUFFERING.replace("relaxed", "seq_cst").replace("pthread_join(b, 0);", endless)
    compiled(shell, text, "--mode", "atomics")
    done = shell.run("fencepost", "fix", "--runs", "10", "--timeout", "2", "./program")
    assert done.returncode == 3
    assert done.stdout.startswith("./program: undecided")
    assert "Not decided: the time limit was reached" in done.stdout


def test_a_failure_of_the_program_is_not_repaired(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    text = STORE_BUFFERING.replace("pthread_join(b, 0);", "pthread_join(b, 0);\n    return 3;")
    compiled(shell, text, "--mode", "atomics")
    done = shell.run("fencepost", "fix", "./program")
    assert done.returncode == 1
    assert "(cost 20)" in done.stdout
    assert "warning: an execution exited with code 3. No memory order changes that." in done.stdout


def test_orders_are_relaxed_and_what_stays_has_a_reason(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("fencepost-cc", "-O1", FOLDER / "seq-cst" / "spin-lock.c", "-o", "program")
    told = shell.ok("fencepost", "relax", "./program")
    assert ": robust with changes at 2 places (cost 2 instead of 10); " in told
    assert "make the exchange acquire, not seq_cst" in told
    assert "make the store release, not seq_cst" in told
    assert " ".join(told.split()).count("as relaxed, data race") == 2


def test_nothing_is_relaxed_in_a_program_with_findings(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    compiled(shell, STORE_BUFFERING, "--mode", "atomics")
    done = shell.run("fencepost", "relax", "./program")
    assert done.returncode == 1
    assert done.stdout.startswith("./program: not robust; ")
    assert "Nothing is relaxed. Repair the program first" in done.stdout
    assert isinstance(
        decode(shell.run("fencepost", "relax", "--json", "./program").stdout), ProgramNotRelaxable
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "ra", "./program"], "--model is for programs in text"),
        (["--all", "./program"], "--all is for programs in text"),
        (["--cost", "exchange=1", "./program"], "there is no change `exchange` of compiled programs"),
        (["--test", "some", "./program"], "no test was found in it"),
        (["--runs", "3", "some.tpl"], "--runs is for a compiled program"),
        (["some.tpl", "argument"], "unexpected argument `argument`: only a compiled program has some"),
    ],
)
def test_options_of_the_other_kind_of_program_are_refused(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    shell = Shell(tmp_path)
    shell.write("some.tpl", "global x; fn t { x.store(1); }")
    shell.write("program.c", "int main(void) {}")
    shell.ok("cc", "program.c", "-o", "program")
    done = shell.run("fencepost", "fix", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_program_that_is_not_watched_is_refused(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.write("program.c", "int main(void) {}")
    shell.ok("cc", "program.c", "-o", "program")
    done = shell.run("fencepost", "fix", "./program")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "./program: it was not built with fencepost-cc or fencepost-c++, so nothing was watched\n"
    )


def test_sites_are_listed(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    compiled(shell, STORE_BUFFERING, "--mode", "atomics")
    told = shell.run(
        "fencepost", "run", "-q", "--list-sites", "--schedule", "random", "--runs", "1", "./program"
    )
    rows = [re.sub(r"(\d+):\d+", r"\1", line) for line in told.stdout.splitlines()[:-1]]
    assert rows == [
        "program.c:5 store relaxed left",
        "program.c:6 load relaxed left",
        "program.c:10 store relaxed right",
        "program.c:11 load relaxed right",
    ]


def test_a_mistake_in_a_file_of_changes_is_shown_with_its_line(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    compiled(shell, STORE_BUFFERING, "--mode", "atomics")
    for line, message in [
        ("program.c:5 store", "expected a change, as in order=acquire"),
        ("program.c:5 store order=acquire", "this operation cannot have the order `acquire`"),
        ("program.c:5 write order=release", "expected an operation (load, store, exchange, fetch, "),
        ("program.c:4 store order=release", "the program has no atomic operation at `program.c:4`"),
        ("nowhere+0x10 store order=release", "the program has no module `nowhere`"),
        ("program.c:5 store remove", "only a fence can be removed"),
    ]:
        shell.write("changes", f"# changes\n{line}\n")
        done = shell.run("./program", FENCEPOST_OPTIONS="sites=changes")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"fencepost: changes:2: {message}")
    for command in ("check", "run", "run --schedule random --runs 3"):
        done = shell.run("fencepost", *command.split(), "./program", FENCEPOST_OPTIONS="sites=changes")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith(f"changes:2:1: {message}\n")


# -- What is offered --


def _sites() -> list[Site]:
    orders: dict[SiteOperation, tuple[SiteOrder, ...]] = {
        "load": ("relaxed", "acquire", "seq_cst"),
        "store": ("relaxed", "release", "seq_cst"),
        "fence": ("acquire", "release", "acq_rel", "seq_cst"),
        "fetch": ("relaxed", "acquire", "release", "acq_rel", "seq_cst"),
    }
    common = {"file": "a.c", "column": 1, "function": "f"}
    found = [
        Site(**common, line=line, operation=operation, order=order)  # type: ignore[arg-type]
        for operation, some in orders.items()
        for line, order in enumerate(some)
    ]
    found += [
        Site(**common, line=9, operation="compare_exchange", order=order, failure_order=failure)  # type: ignore[arg-type]
        for order in orders["fetch"]
        for failure in orders["load"]
    ]
    return found


@pytest.mark.parametrize("site", _sites(), ids=lambda site: f"{site.operation}-{site.order}")
def test_changes_only_strengthen_and_the_orders_of_a_program_are_among_those_offered(site: Site) -> None:
    strong = strengthenings([site])
    assert strong.changes([]) == ()
    for number in range(len(strong.candidates)):
        (change,) = strong.changes([number])
        assert change.order is None or _RANKS[change.order] >= _RANKS[site.order]
    weak, had = weakenings([site])
    assert weak.changes(had) == ()
    assert weak.changes(range(len(weak.candidates))) == ()
    (weakest,) = weak.changes([]) or (SiteChange(site=site),)
    nothing = site.order == "relaxed" and site.failure_order in (None, "relaxed")
    assert nothing or weakest.remove or "relaxed" in (weakest.order, weakest.failure_order)


# -- Examples --

# At most these orders, of the published algorithms; docs/relax.md has them all.
_MOST = {
    "spin-lock": 2,
    "ticket-lock": 2,
    "mcs-lock": 6,
    "treiber-stack": 2,
    "ms-queue": 4,
    "spsc-ring": 4,
    "mpmc-ring": 7,
    "chase-lev": 17,
    "seqlock": 6,
    "rcu": 2,
    "peterson": 19,
    "once": 3,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _MOST)
def test_orders_of_known_algorithms(tmp_path: Path, name: str) -> None:
    shell = Shell(tmp_path)
    source = shutil.copytree(FOLDER / "seq-cst", shell.directory / "c") / f"{name}.c"
    strict = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")
    shell.ok("fencepost-cc", *strict, source, "-o", "program")
    patch = ("--write", "--yes") if importlib.util.find_spec("clang") else ()
    answer = decode(shell.ok("fencepost", "relax", *patch, "--json", "./program"))
    assert isinstance(answer, ProgramRelaxed)
    assert answer.cost == _MOST[name]
    assert all(one.finding is not None for one in answer.needed)
    for toolchain in INSTALLED:
        shell.ok(toolchain.cc, *strict, source, "-o", "native")
    shell.ok("fencepost-cc", *strict, source, "-o", "program")
    assert ": robust: " in shell.ok("fencepost", "check", "-q", "./program")


def test_every_client_of_an_algorithm_is_listed() -> None:
    assert {path.stem for path in (FOLDER / "seq-cst").glob("*.c")} == set(_MOST)
