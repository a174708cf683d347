"""Options that several commands share."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fencepost.cli.answers import Printing
from fencepost.cli.console import exit_on_input_error
from fencepost.formats import FORMATS
from fencepost.memory_models import (
    DEFAULT_MODELS,
    EXIT_HOLDS,
    EXIT_MEANINGS,
    EXIT_UNDECIDED,
    EXIT_VIOLATED,
    MODELS,
    models_for,
)

if TYPE_CHECKING:
    from fencepost.batch.jobs import Where

Command = Callable[..., Any]


class Amount(click.FloatRange):
    """A number of seconds or megabytes: not NaN, and not so large that a machine cannot count it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return min(number, _LARGEST_AMOUNT)


_LARGEST_AMOUNT = 1e12


def collected(command: Command, name: str, make: Callable[..., Any], **options: Command) -> Command:
    """Add options whose values reach the command as one argument `name`, which `make` builds of them."""

    @functools.wraps(command)
    def with_one(*arguments: Any, **given: Any) -> Any:
        value = make(**{option: given.pop(option) for option in options})
        return command(*arguments, **given, **{name: value})

    with_options: Command = with_one
    for option in reversed(options.values()):
        with_options = option(with_options)
    return with_options


def exit_codes(
    holds: str = EXIT_MEANINGS[EXIT_HOLDS],
    violated: str = EXIT_MEANINGS[EXIT_VIOLATED],
    undecided: str = EXIT_MEANINGS[EXIT_UNDECIDED],
) -> str:
    """The end of a command's help: what its exit codes mean; one without a meaning does not occur."""
    own = {EXIT_HOLDS: holds, EXIT_VIOLATED: violated, EXIT_UNDECIDED: undecided}
    meanings = sorted((EXIT_MEANINGS | own).items())
    return f"Exit code: {', '.join(f'{code} {words}' for code, words in meanings if words)}."


def model_option(question: str, models: Sequence[str] | None = None) -> Command:
    """The memory models that can be asked about; None if none is named, for the default of the program."""
    choices = models or models_for(question)
    option: Command = click.option(
        "--model",
        type=click.Choice(choices),
        show_default=default_words(question, choices),
        help=f"{models_in_words(choices)}.",
    )
    return option


def models_in_words(models: Sequence[str]) -> str:
    return ", ".join(f"{name}: {MODELS[name].called}" for name in models)


def default_words(question: str, models: Sequence[str]) -> str:
    """Which model is asked if none is named."""
    for_c = ", but cpp20 for C litmus tests and programs with seq_cst accesses" if "cpp20" in models else ""
    return DEFAULT_MODELS[question] + for_c


def input_options(command: Command) -> Command:
    """Add the options about reading files, which reach the command as one `reading`."""

    def reading(**options: Any) -> Any:
        from fencepost.formats import Reading

        return Reading(**options)

    return collected(
        command,
        "reading",
        reading,
        format=click.option(
            "--format",
            type=click.Choice([known.name for known in FORMATS]),
            help="Input format; else by the file's ending. Needed for the standard input (-).",
        ),
        strict_tpl=click.option("--strict-tpl", is_flag=True, help="Refuse fencepost's extensions of TPL."),
        treat_sc_as=click.option(
            "--treat-sc-as",
            type=click.Choice(["fence", "acq-rel"]),
            help="For models without seq_cst accesses, make something weaker of those in litmus tests: a "
            "fence and an acquire or release access, or that access alone.",
        ),
        instances=click.option(
            "--instances",
            type=click.IntRange(1, 64),
            metavar="N",
            help="Take N copies of each function with [*], which stands for any number of threads.",
        ),
    )


# `-` is the standard input. The type lets shells complete the names of files.
files_argument = click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path())
html_option = click.option(
    "--html", type=click.Path(path_type=Path), help="Write the answer as a web page (one file only)."
)
junit_option = click.option(
    "--junit", type=click.Path(path_type=Path), help="Write the answers as JUnit XML too."
)
baseline_option = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="JSON",
    help="Report only what is not in these earlier answers (--json).",
)


def printing_options(command: Command) -> Command:
    """Add the options about what is printed, which reach the command as one `printing`."""
    return collected(
        command,
        "printing",
        Printing,
        as_json=click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file."),
        svg=click.option(
            "--svg", type=click.Path(path_type=Path), help="Write the witness as a picture (one file only)."
        ),
        html=html_option,
        quiet=click.option("-q", "--quiet", is_flag=True, help="Print the verdicts only."),
        verbose=click.option("-v", "--verbose", is_flag=True, help="Print long runs and cycles whole."),
        sarif=click.option(
            "--sarif", type=click.Path(path_type=Path), help="Write the findings as SARIF 2.1.0 too."
        ),
        junit=junit_option,
        baseline=baseline_option,
    )


def check_certificate_options(files: Sequence[str], where: Where) -> None:
    """Exit now if `--certificate` cannot be done for these files and there."""
    from fencepost.batch.jobs import files_in

    if len(exit_on_input_error(lambda: files_in(files))) != 1:
        raise click.UsageError("--certificate takes exactly one program")
    if where.cluster is not None:
        raise click.UsageError("--certificate is written by this machine; leave out --cluster")


class GivenProperty(NamedTuple):
    """What must not happen, as the options say it."""

    mutex: tuple[str, ...]
    error_labels: tuple[str, ...]
    bad: tuple[str, ...]
    asserted: tuple[str, ...]
    ignore_races: bool


def property_options(command: Command) -> Command:
    """Add the options about what must not happen, which reach the command as one `given`."""
    return collected(
        command,
        "given",
        GivenProperty,
        mutex=click.option(
            "--mutex",
            multiple=True,
            metavar="LABELS",
            help="No two threads at once at labels of this list (a,b,…).",
        ),
        error_labels=click.option(
            "--error-label",
            "error_labels",
            multiple=True,
            metavar="LABEL",
            help="No thread at this label.",
        ),
        bad=click.option(
            "--bad",
            multiple=True,
            metavar="FORMULA",
            help="No state with this formula: 'p0@cs && p1.r == 2'.",
        ),
        asserted=click.option(
            "--assert",
            "asserted",
            multiple=True,
            metavar="FORMULA",
            help="Where all threads have ended, this formula holds: 'x == 1 && p1.r == 2'.",
        ),
        ignore_races=click.option(
            "--ignore-races", is_flag=True, help="Do not count data races on non-atomic locations as bad."
        ),
    )


def search_tactics(command: Command) -> Command:
    """Add the options about how to search, which reach the command as one `tactics`."""

    def tactics(**options: Any) -> Any:
        from fencepost.engine.search import Tactics

        return Tactics(
            subsumption=not options["no_subsumption"],
            partial_order=not options["no_por"],
            symmetry=not options["no_symmetry"],
            rotation=not options["no_rotation"],
            translation=not options["no_translation"],
            local=not options["no_local"],
            merging=not options["no_merging"],
            lookahead=not options["no_lookahead"],
            threads=options["threads"],
            compress=options["compress"],
            bitstate=options["bitstate"],
            bitstate_mb=options["bitstate_memory"],
            directory=options["store"],
        )

    return collected(
        command,
        "tactics",
        tactics,
        no_subsumption=click.option(
            "--no-subsumption", is_flag=True, help="Keep every monitor, not only the largest ones."
        ),
        no_por=click.option(
            "--no-por", is_flag=True, help="Step all threads in every state: no partial-order reduction."
        ),
        no_symmetry=click.option(
            "--no-symmetry",
            is_flag=True,
            help="Tell states apart that differ only in the order of equal threads.",
        ),
        no_rotation=click.option(
            "--no-rotation",
            is_flag=True,
            help="Tell states apart that differ only in how far values that wrap around have come.",
        ),
        no_translation=click.option(
            "--no-translation",
            is_flag=True,
            help="Do not try to prove anything by moving values back of which only differences matter.",
        ),
        no_local=click.option(
            "--no-local",
            is_flag=True,
            help="Let other threads run before every access, also to locations that they do not use.",
        ),
        no_merging=click.option(
            "--no-merging",
            is_flag=True,
            help="Follow monitors through every state, also through those with the same future.",
        ),
        no_lookahead=click.option(
            "--no-lookahead",
            is_flag=True,
            help="Follow monitors also where no later step asks about them.",
        ),
        threads=click.option(
            "--threads",
            type=click.IntRange(1, 64),
            default=1,
            show_default=True,
            metavar="N",
            help="Cores for one search.",
        ),
        compress=click.option(
            "--compress/--no-compress",
            default=None,
            help="Keep states in less memory, and every monitor: slower. Without either option, a search "
            "compresses what it can when half of its memory is used.",
        ),
        bitstate=click.option(
            "--bitstate",
            is_flag=True,
            help="Forget states, to hunt for violations in large programs: never answers robust.",
        ),
        bitstate_memory=bitstate_memory(128),
        store=click.option(
            "--store",
            type=click.Path(exists=True, file_okay=False, writable=True),
            metavar="DIR",
            help="Keep states in files in this directory, which are read and written in order, and every "
            "monitor: for programs with more states than memory.",
        ),
    )


def bitstate_memory(default: int) -> Command:
    """How much memory a search that forgets states has for its bits."""
    option: Command = click.option(
        "--bitstate-memory",
        type=Amount(min=0.01),
        default=default,
        show_default=True,
        metavar="MB",
        help="Memory for the bits of a search that forgets states.",
    )
    return option


def search_limits(command: Command) -> Command:
    """Add the limits, which reach the command as one `limits`, and who does the work, as one `where`."""

    def limits(**options: Any) -> Any:
        from fencepost.engine.search import Limits

        return Limits(options["max_states"], options["timeout"], options["max_memory"])

    def where(jobs: int | None, cluster: str | None) -> Any:
        from fencepost.batch.jobs import Where

        if cluster is not None and jobs is not None:
            raise click.UsageError("--jobs is about this machine; leave it out with --cluster")
        return Where(jobs, cluster)

    with_limits = collected(
        command,
        "limits",
        limits,
        max_states=click.option(
            "--max-states", type=click.IntRange(min=1), metavar="N", help="Limit on stored states."
        ),
        timeout=click.option("--timeout", type=Amount(min=0), metavar="SECONDS", help="Time limit per file."),
        max_memory=click.option("--max-memory", type=Amount(min=1), metavar="MB", help="Memory limit."),
    )
    return collected(
        with_limits,
        "where",
        where,
        jobs=click.option(
            "-j",
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="Processes for several files or runs; as many as there are cores by default.",
        ),
        cluster=click.option(
            "--cluster",
            metavar="ADDRESS",
            help="Let the workers of this Dask cluster do it: tcp://host:8786.",
        ),
    )


def library_option(name: str) -> str | None:
    """The setting of this name in FENCEPOST_OPTIONS, which the sanitizer's run-time library reads too."""
    settings = dict(part.partition("=")[::2] for part in os.environ.get("FENCEPOST_OPTIONS", "").split(":"))
    return settings.get(name)
