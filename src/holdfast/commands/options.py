"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def input_options(command: Command) -> Command:
    """Adds the options about reading files, which reach the command as one `reading`."""

    @functools.wraps(command)
    def with_reading(
        *arguments: Any, format_: str | None, strict_tpl: bool, treat_sc_as: str | None, **options: Any
    ) -> Any:
        from holdfast.formats import Reading

        return command(*arguments, reading=Reading(format_, strict_tpl, treat_sc_as), **options)

    with_options: Command = with_reading
    for option in (
        click.option(
            "--treat-sc-as",
            type=click.Choice(["fence", "acq-rel"]),
            help="What to make of SC accesses in litmus tests: a fence and the access, or the access alone.",
        ),
        click.option("--strict-tpl", is_flag=True, help="Refuse holdfast's extensions of TPL."),
        click.option("--format", "format_", metavar="NAME", help="Input format; else by the file's ending."),
    ):
        with_options = option(with_options)
    return with_options


def search_limits(command: Command) -> Command:
    for option in (
        click.option("--max-memory", type=click.FloatRange(min=1), metavar="MB", help="Memory limit."),
        click.option(
            "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Time limit per file."
        ),
        click.option("--max-states", type=click.IntRange(min=1), metavar="N", help="Limit on stored states."),
        click.option(
            "-j",
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="Processes for several files; as many as there are cores by default.",
        ),
    ):
        command = option(command)
    return command
