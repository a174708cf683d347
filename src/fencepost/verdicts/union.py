"""All answers as one union: `question` and `verdict` together say of which class an answer in JSON is."""

from __future__ import annotations

from typing import get_args

import msgspec

from fencepost.verdicts.answers import SCHEMA, Answer, StaticAnswer
from fencepost.verdicts.check import AnyCheckAnswer
from fencepost.verdicts.outcomes import AnyOutcomesAnswer
from fencepost.verdicts.program_changes import AnyProgramFix, AnyProgramRelax
from fencepost.verdicts.relax import AnyRelaxAnswer
from fencepost.verdicts.repair import FixAnswer
from fencepost.verdicts.run import AnyRunAnswer

AnyAnswer = (
    StaticAnswer
    | FixAnswer
    | AnyRelaxAnswer
    | AnyRunAnswer
    | AnyCheckAnswer
    | AnyOutcomesAnswer
    | AnyProgramFix
    | AnyProgramRelax
)
CLASSES: tuple[type[Answer], ...] = get_args(AnyAnswer)


def decode(text: bytes | str) -> Answer:
    """The answer with this JSON form; raises `msgspec.MsgspecError`."""
    head = msgspec.json.decode(text, type=_Head)
    if head.schema != SCHEMA:
        message = f"its schema is {head.schema}, and this version knows {SCHEMA}; make it anew"
        raise msgspec.ValidationError(message)
    if (head.question, head.verdict) not in _CLASS_OF:
        raise msgspec.ValidationError(f"`{head.verdict}` is no answer to `{head.question}`")
    return msgspec.json.decode(text, type=_CLASS_OF[head.question, head.verdict])


class _Head(msgspec.Struct):
    question: str
    verdict: str
    schema: int


def _questions(kind: type[Answer]) -> tuple[str, ...]:
    return next(get_args(field.type) for field in msgspec.structs.fields(kind) if field.name == "question")


_CLASS_OF = {
    (question, str(kind.__struct_config__.tag)): kind for kind in CLASSES for question in _questions(kind)
}
