"""One question about one program, in a process of its own: `python -m fencepost.playground.search`.

The request comes on the standard input, as JSON. Each line of the output is a JSON object with one key:
`progress`, words for the user; at the end `answer`, or `mistake` if the program cannot be read. Before it
reads the program, the process gives up the right to use more memory and time than it was told, and to write
to files; whoever started it ends it when it is cancelled.
"""

from __future__ import annotations

import importlib
import resource
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from fencepost.errors import InputError
from fencepost.formats import FORMATS
from fencepost.program import Program

if TYPE_CHECKING:
    from fencepost.analyses.repair.checks import FixProgress
    from fencepost.engine.search import Progress
    from fencepost.verdicts import Answer

_MEGABYTE = 1 << 20
_INTERPRETER_MB = 1024  # of address space, beside what the search takes


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the page asks: to read the program only, to answer the question, or to repair the program."""

    task: Literal["read", "ask", "repair"]
    text: str
    format: str = "tpl"
    question: str = "robust-ra"


class Order(msgspec.Struct, frozen=True):
    """A request, and what it may take."""

    request: Request
    seconds: float
    memory_mb: float


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    _confine(order)
    try:
        _say(**_result(order))
    except InputError as error:
        if error.line:
            _say(mistake={"message": error.message, "line": error.line, "column": error.column})
        else:  # nothing is wrong with the text, but the question cannot be answered
            _say(failure=error.message)
    except (MemoryError, RecursionError):
        _say(mistake={"message": "the program is too large for the playground", "line": 1, "column": 1})


def _confine(order: Order) -> None:
    memory = int((order.memory_mb + _INTERPRETER_MB) * _MEGABYTE)
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, int(order.seconds) + 10),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # a lower limit is set already
            resource.setrlimit(what, (most, most))


def _result(order: Order) -> dict[str, Any]:
    request = order.request
    program = _program(request)
    if request.task == "read":
        return {"answer": {"warnings": program.warnings}}
    # Imported here: to read a program needs none of it, and is done whenever the user has typed.
    from fencepost.engine.search import Limits
    from fencepost.playground.questions import QUESTION_NAMED

    question = QUESTION_NAMED[request.question]
    limits = Limits(seconds=order.seconds, memory_mb=order.memory_mb)
    if request.task == "repair" and question.repair is not None:
        return {"answer": _told(question.repair(program, limits=limits, watcher=_watch_repair), program)}
    return {"answer": _told(question.ask(program, limits=limits, watcher=_watch), program)}


def _program(request: Request) -> Program:
    ending, module = next((f.endings[0], f.module) for f in FORMATS if f.name == request.format)
    name = f"program{ending}"
    if not request.text.strip():
        raise InputError("the program is empty", name, 1, 1)
    program: Program = importlib.import_module(module).read(request.text, name)
    return program


def _told(answer: Answer, program: Program) -> dict[str, Any]:
    from fencepost.report.html.page import fragment
    from fencepost.report.story import headline, mood, stats_line
    from fencepost.verdicts.repair import RepairAnswer

    return {
        "html": fragment(answer, program, with_source=False),
        "verdict": headline(answer),
        "mood": mood(answer),
        "holds": answer.holds,
        "findings": [what for what in answer.parts_found if what != "witness"],
        "stats": stats_line(answer.stats),
        "repaired": answer.repaired if isinstance(answer, RepairAnswer) else None,
    }


def _watch(progress: Progress) -> bool:
    from fencepost.report.text.progress import search_words

    _say(progress=search_words(progress))
    return False


def _watch_repair(progress: FixProgress) -> bool:
    from fencepost.report.text.progress import repair_words

    _say(progress=repair_words(progress))
    return False


def _say(**line: Any) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
