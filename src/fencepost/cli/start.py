"""Where the command `fencepost` starts: a plain question is answered at once.

Most programs are small: to decide them takes less time than to import click and to declare all options. So
`fencepost robust FILE…` does without click; everything else is for the commands of `cli/main.py`.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence

from fencepost.cli.lean_msgspec import import_lean_msgspec

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

# The options that a plain question may have, and what they are called in `Printing`.
_FLAGS = {
    "--json": "as_json",
    "--quiet": "quiet",
    "-q": "quiet",
    "--verbose": "verbose",
    "-v": "verbose",
}


def main() -> None:
    gc.set_threshold(100_000)  # a small question is answered before there is anything to collect
    _open_missing_streams()
    try:
        code = try_fast_path(sys.argv[1:])
        if code is not None:
            os._exit(code)  # everything is written; tearing down the interpreter would only take time
        from fencepost.cli.main import main as commands

        commands()
    except OSError as error:
        if error.filename is not None or error.errno not in _NO_ROOM:
            raise
        from fencepost.memory_models import EXIT_WRONG_INPUT

        print(f"fencepost: cannot write to the standard output: {error.strerror}", file=sys.stderr)
        os._exit(EXIT_WRONG_INPUT)  # at its end the interpreter would try once more
    except MemoryError:
        sys.exit(_out_of_memory())


def _out_of_memory() -> int:
    from fencepost.memory_models import EXIT_UNDECIDED

    print("fencepost: there is not enough memory", file=sys.stderr)
    return EXIT_UNDECIDED


def _open_missing_streams() -> None:
    """Who has closed a standard stream wants nothing from it; Python has None there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (stays open)


def try_fast_path(words: Sequence[str]) -> int | None:
    """Answer a plain question and return the exit code; None if the words are anything else."""
    if words[:1] != ["robust"]:
        return None
    files = tuple(word for word in words[1:] if not word.startswith("-"))
    flags = [word for word in words[1:] if word.startswith("-")]
    if not files or not _FLAGS.keys() >= set(flags):
        return None
    import_lean_msgspec()
    from fencepost.batch.jobs import Job, Question, Where
    from fencepost.cli.answers import Printing, answer_files

    wanted = {_FLAGS[flag] for flag in flags}
    printing = Printing(as_json="as_json" in wanted, quiet="quiet" in wanted, verbose="verbose" in wanted)
    try:
        answer_files(files, lambda file: Job(file, Question("robust")), Where(), printing)
    except SystemExit as end:
        return int(end.code or 0)
    except KeyboardInterrupt:
        print("\nAborted!", file=sys.stderr)
    except BrokenPipeError:  # nobody reads on
        pass
    return 1
