"""`fencepost run`: run a program that was built with the wrappers, and say what was seen."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fencepost.cli.console import exit_on_input_error, progress_line
from fencepost.cli.options import Amount, exit_codes
from fencepost.cli.watched import Reporter, Reporting, reporting_options

if TYPE_CHECKING:
    from fencepost.sanitizer.answer.left_out import LeftOut
    from fencepost.sanitizer.run.replay import Replay
    from fencepost.sanitizer.run.runs import Job
    from fencepost.verdicts.run import AnyRunAnswer, Schedule

_RUNS_OF_A_SCHEDULE = 100
_DEPTHS = (3, 100_000, 12, 1_000)  # of one run after the other in pct

_EPILOG = exit_codes(
    "nothing was seen",
    "something was found (or a deadlock)",
    "nothing was found, but some run did not end",
)


@click.command(epilog=_EPILOG, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, metavar="[--] PROGRAM [ARGUMENT]…", type=click.UNPROCESSED)
@click.option(
    "--schedule",
    type=click.Choice(["os", "random", "pct"]),
    help="Who chooses the next thread: the system (default), chance, or priorities that change at random.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    help="Changes of priority in pct, plus one. [default: 3 to 100,000, in turn]",
)
@click.option(
    "--length",
    type=click.IntRange(min=1),
    metavar="STEPS",
    help="Steps over which pct spreads its changes. [default: those of the first run]",
)
@click.option(
    "--runs",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Number of runs. [default: 1 for os, else 100]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed of the first run; each later run takes the next. [default: 1]",
)
@click.option("--weak", is_flag=True, help="Let loads read older writes, as far as C++20 allows it.")
@click.option(
    "--replay", metavar="REPORT", help="Repeat the runs that showed the findings of a report (--json)."
)
@click.option(
    "--max-steps", type=click.IntRange(min=1), metavar="N", help="Limit on scheduled steps per run."
)
@click.option(
    "--timeout",
    type=Amount(min=0, min_open=True),
    metavar="SECONDS",
    default=600.0,
    help="Time limit per run. [default: 600]",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Runs at the same time.")
@click.option("--list-sites", is_flag=True, help="List the atomic operations that the program makes.")
@reporting_options
def run(
    *,
    command: tuple[str, ...],
    schedule: str | None,
    depth: int | None,
    length: int | None,
    runs: int | None,
    seed: int | None,
    weak: bool,
    replay: str | None,
    max_steps: int | None,
    timeout: float,
    jobs: int | None,
    list_sites: bool,
    reporting: Reporting,
) -> NoReturn:
    """Run a program built with fencepost-cc or fencepost-c++: does weak memory show?

    Reports every access that can leave sequential consistency in these runs, with both source lines. Seeing
    nothing is no proof: other runs may show more.
    """
    from msgspec import structs

    from fencepost.sanitizer.answer import report_text, run_junit
    from fencepost.sanitizer.run.runs import Job

    reporter = Reporter(reporting, report_text.render)
    again = None
    if replay is not None:
        if (schedule, seed, depth, length, max_steps, weak) != (None, None, None, None, None, False):
            raise click.UsageError("--replay takes the schedules from the report")
        again = _replay(replay)
        schedules = [one for one in again.schedules for _ in range(runs or 1)]
    else:
        if weak and schedule in (None, "os"):
            raise click.UsageError("--weak needs --schedule random or --schedule pct")
        schedules = _schedules(schedule or "os", depth, runs, 1 if seed is None else seed, max_steps)
        if length is not None and schedule != "pct":
            raise click.UsageError("--length needs --schedule pct")
        schedules = [structs.replace(one, weak=weak, length=length or 0) for one in schedules]
    job = Job(
        command=command or (again.command if again else ()),
        timeout=timeout,
        processes=jobs,
        keep_decisions=reporting.as_json,
        learn_length=again is None and length is None and schedules[0].kind == "pct",
        stdout_to_stderr=reporting.as_json,
        settings=("list_sites=1",) if list_sites else (),
    )
    if not job.command:
        raise click.UsageError("expected a program to run, as in `fencepost run -- ./a.out`")
    answer = exit_on_input_error(lambda: _answer(job, schedules, again, reporter.left_out))
    new = reporter.show(answer)
    reporter.write(lambda answers: run_junit.encode(answers[0]))
    sys.exit(new.exit_code)


def _replay(path: str) -> Replay:
    from fencepost.sanitizer.run.replay import read_report

    replay: Replay = exit_on_input_error(lambda: read_report(path))
    return replay


def _schedules(
    kind: Any, depth: int | None, runs: int | None, seed: int, max_steps: int | None
) -> list[Schedule]:
    """One for each run. Without a depth pct tries several: few changes of priority find what is unlikely at
    random, and many find what is not.
    """
    from fencepost.verdicts.run import Schedule

    count = runs or (1 if kind == "os" else _RUNS_OF_A_SCHEDULE)
    depths = _DEPTHS if depth is None and kind == "pct" else (depth or 3,)
    return [
        Schedule(kind=kind, seed=seed + number, depth=depths[number % len(depths)], max_steps=max_steps)
        for number in range(count)
    ]


def _common(schedules: list[Schedule]) -> Schedule:
    """The first one, with depth 0 if they have several."""
    from msgspec import structs

    several = len({one.depth for one in schedules}) > 1
    return structs.replace(schedules[0], depth=0) if several else schedules[0]


def _answer(job: Job, schedules: list[Schedule], replay: Replay | None, left_out: LeftOut) -> AnyRunAnswer:
    import msgspec

    from fencepost.sanitizer.answer.recalling import recall
    from fencepost.sanitizer.answer.sites import SiteTable
    from fencepost.sanitizer.answer.summing import Asked, answer_of
    from fencepost.sanitizer.answer.tally import Tally
    from fencepost.sanitizer.run.runs import InterruptedRunsError, Outcome, run_all

    tally = Tally(job.command[0])
    sites = SiteTable()
    interrupted = False
    started = time.monotonic()
    # The terminal of a single run is the program's own.
    display = progress_line(len(schedules), "runs") if len(schedules) > 1 else None

    def watch(outcome: Outcome) -> None:
        tally.add(outcome)
        sites.learn(outcome.events)
        if display is not None:
            display.finished(tally.runs, f"{len(tally.findings) + len(tally.deadlocks)} seen")

    try:
        run_all(job, schedules, watch)
        recall(job, tally)
    except InterruptedRunsError:
        interrupted = True
    finally:
        if display is not None:
            display.close()
    asked = Asked(
        command=job.command,
        schedule=_common(schedules),
        left_out=left_out,
        seconds=time.monotonic() - started,
        interrupted=interrupted,
        again=replay.ids if replay is not None else frozenset(),
    )
    return msgspec.structs.replace(answer_of(tally, asked), sites=sites.sites)
