"""One question about one program, in a process of its own: `python -m fencepost.playground.search`.

The request comes on the standard input, as JSON. Each line of the output is a JSON object with one key:
`progress`, words for the user; at the end `answer`, `mistake` if the program cannot be read, `unasked` if it
asks nothing of this kind, or `failure`, why there is no answer. Before it reads the program, the process
gives up the right to use more memory and time than it was told, and to write to files; whoever started it
ends it when it is cancelled.
"""

from __future__ import annotations

import importlib
import resource
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from fencepost.errors import FixedThreadsError, InputError
from fencepost.formats import FORMATS
from fencepost.program import Program

if TYPE_CHECKING:
    from fencepost.analyses.repair.checks import FixProgress
    from fencepost.engine.search import Progress

_MEGABYTE = 1 << 20
_INTERPRETER_MB = 1024  # of address space, beside what the search takes
_UNASKED, _OPTIONS = "nothing was asked", ", or use --"  # options are for the command line


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a visitor may set: limits, which only make those of the server tighter, the criterion (empty for
    that of the question), how often loops are unrolled, and what changes cost in repairs."""

    seconds: Annotated[float, Meta(gt=0)] | None = None
    memory_mb: Annotated[float, Meta(ge=16)] | None = None
    states: Annotated[int, Meta(ge=1, le=10**12)] | None = None
    criterion: Annotated[str, Meta(max_length=40)] = ""
    unroll: Annotated[int, Meta(ge=1, le=100)] = 2
    costs: Annotated[dict[str, float], Meta(max_length=40)] = {}
    loop_weight: Annotated[int, Meta(ge=1, le=100)] = 1


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the page asks: to read the program only, to answer the question, or to repair the program. `name`
    is what the program is called in the answer."""

    task: Literal["read", "ask", "repair"]
    text: str
    format: str = "tpl"
    question: str = "robust-ra"
    name: Annotated[str, Meta(pattern=r"^[\w+.@-]{1,80}\Z")] = "program"
    settings: Settings = Settings()


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
    except FixedThreadsError as error:
        _say(failure=f"{error.message.partition('; ')[0]}; write, for example, `[3]` for three of them")
    except InputError as error:
        if error.line:
            _say(mistake={"message": error.message, "line": error.line, "column": error.column})
        elif error.message.startswith(_UNASKED):
            _say(unasked=error.message.partition(_OPTIONS)[0] + ".")
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
    from fencepost.playground.questions import QUESTION_NAMED, ask_options, repair_options
    from fencepost.playground.told import told

    question, wanted = QUESTION_NAMED[request.question], request.settings
    limits = Limits(
        states=wanted.states,
        seconds=min(order.seconds, wanted.seconds or order.seconds),
        memory_mb=min(order.memory_mb, wanted.memory_mb or order.memory_mb),
    )
    try:
        if request.task == "repair" and question.repair is not None:
            options = repair_options(question, wanted.criterion, wanted.costs, wanted.loop_weight)
            repaired = question.repair(program, limits=limits, watcher=_watch_repair, **options)
            return {"answer": told(repaired, program)}
        options = ask_options(question, wanted.criterion, wanted.unroll)
    except ValueError as error:  # about the settings
        raise InputError(str(error), program.file) from None
    return {"answer": told(question.ask(program, limits=limits, watcher=_watch, **options), program)}


def _program(request: Request) -> Program:
    ending, module = next((f.endings[0], f.module) for f in FORMATS if f.name == request.format)
    name = f"{request.name}{ending}"
    if not request.text.strip():
        raise InputError("the program is empty", name, 1, 1)
    program: Program = importlib.import_module(module).read(request.text, name)
    return program


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
