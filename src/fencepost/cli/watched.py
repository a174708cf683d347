"""What `run` and `check` share: the options about what is reported, and answers as text, JSON and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fencepost.cli.answers import known_findings, print_known
from fencepost.cli.console import (
    check_outputs,
    exit_on_input_error,
    terminal_width,
    wants_color,
    write_file,
)
from fencepost.cli.options import (
    Command,
    baseline_option,
    collected,
    junit_option,
    library_option,
)

if TYPE_CHECKING:
    from fencepost.sanitizer.answer.left_out import LeftOut
    from fencepost.verdicts.run import WatchedAnswer

A = TypeVar("A", bound="WatchedAnswer")


class Reporting(NamedTuple):
    """What the user wants to see, and where."""

    suppressions: str | None
    internals: bool
    as_json: bool
    sarif: Path | None
    junit: Path | None
    baseline: Path | None
    quiet: bool


def reporting_options(command: Command) -> Command:
    """Add the options, which reach the command as one `reporting`."""
    return collected(
        command,
        "reporting",
        Reporting,
        suppressions=click.option("--suppressions", metavar="FILE", help="Findings not to report."),
        internals=_internals_option,
        as_json=click.option("--json", "as_json", is_flag=True, help="Print each answer as a JSON object."),
        sarif=click.option(
            "--sarif", type=click.Path(path_type=Path), help="Write the findings as SARIF too."
        ),
        junit=junit_option,
        baseline=baseline_option,
        quiet=click.option("-q", "--quiet", is_flag=True, help="Print the summary only."),
    )


def _internals_option(command: Command) -> Command:
    """Whether findings inside of libstdc++ are reported, and which those are."""
    listing = click.option(
        "--list-suppressions",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_list_internals,
        help="Print what is left out by default, and exit.",
    )
    flag = click.option("--internals", is_flag=True, help="Report findings inside of libstdc++ too.")
    with_both: Command = flag(listing(command))
    return with_both


def _list_internals(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from fencepost.sanitizer.answer.suppressions import listed_internals

        click.echo(listed_internals(), nl=False)
        context.exit()


def left_out_by(suppressions: str | None, *, internals: bool = False) -> LeftOut:
    """What is not wanted, by the options or by FENCEPOST_OPTIONS."""
    from fencepost.sanitizer.answer.left_out import read_left_out

    file = suppressions or library_option("suppressions")
    left_out: LeftOut = exit_on_input_error(lambda: read_left_out(file, internals=internals))
    return left_out


class Reporter:
    """Prints answers as they come, and writes the files in the end.

    What is in the baseline is left out, but for JSON, of which baselines are made.
    """

    def __init__(self, reporting: Reporting, render: Callable[..., str]) -> None:
        self.reporting = reporting
        self.left_out = left_out_by(reporting.suppressions, internals=reporting.internals)
        self.answers: list[Any] = []
        self._render = render
        self._known = known_findings(reporting.baseline)
        check_outputs(findings=reporting.sarif, answers=reporting.junit)

    def show(self, answer: A) -> A:
        """The answer without what is known is what counts."""
        from fencepost.report.export.as_json import encode
        from fencepost.report.export.baseline import without_known

        new, hidden = without_known(answer, self._known)
        self.answers.append(new)
        if self.reporting.as_json:
            click.echo(encode(answer))
            return new
        page = self._render(new, color=wants_color(), width=terminal_width(), quiet=self.reporting.quiet)
        click.echo(page, nl=False, color=True)
        print_known(hidden)
        return new

    def write(self, junit: Callable[[Sequence[Any]], bytes]) -> None:
        if self.reporting.sarif is not None:
            from fencepost.sanitizer.answer import sarif

            write_file(self.reporting.sarif, sarif.encode(*self.answers), "findings")
        if self.reporting.junit is not None:
            write_file(self.reporting.junit, junit(self.answers), "answers")
