"""Which verdicts does a file expect of itself?

Example files state them in whole-line comments, in Rocker's form or in ours:

    // ROBUSTNESS egr: robust: ra,rlx.
    // ROBUSTNESS egr: robust: ra. not: rlx. wegr: robust: ra,rlx.
    // expect: robust ra=yes rc20=no tso=yes

Rocker's `egr` is robustness in our sense, except that a data race counts as not robust there; it is the
question "egr" here. Its `wegr` is observational robustness, the question "observational". Comments start with
`//`, or with `#` in languages where that starts one. Which questions and models exist is left to the callers.
"""

from __future__ import annotations

import re

from fencepost.errors import InputError

_ROCKER = re.compile(r"(?://|#)\s*ROBUSTNESS\s+(w?egr\b.*)", re.IGNORECASE)
_ROCKER_KIND = re.compile(r"\s*(w?egr)\s*:", re.IGNORECASE)
_ROCKER_VERDICT = re.compile(r"\s*(robust|not)\s*:\s*(\w+(?:\s*,\s*\w+)*)\s*(?:\.\s*|$)", re.IGNORECASE)
_ROCKER_QUESTIONS = {"egr": "egr", "wegr": "observational"}
_OURS = re.compile(r"(?://|#)\s*expect\b\s*:(.*)", re.IGNORECASE)
_QUESTION = re.compile(r"[A-Za-z][\w-]*")
_ANSWER = re.compile(r"([A-Za-z][\w-]*)=(yes|no)")
_ROCKER_MODELS = {"rlx": "rc20"}


def expectations(text: str, file: str = "<text>") -> dict[tuple[str, str], bool]:
    """The expected answer to each (question, model), such as ("robust", "ra"); raises `InputError`."""
    result: dict[tuple[str, str], bool] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            _merge(result, _stated(line.strip()))
        except ValueError as error:
            raise InputError(str(error), file, number, len(line) - len(line.lstrip()) + 1, line) from None
    return result


def _merge(known: dict[tuple[str, str], bool], stated: dict[tuple[str, str], bool]) -> None:
    for (question, model), answer in stated.items():
        if known.setdefault((question, model), answer) != answer:
            raise ValueError(f"contradicts an earlier expectation for {question} {model}")


def _stated(line: str) -> dict[tuple[str, str], bool]:
    if match := _ROCKER.match(line):
        return _rockers(match[1])
    if match := _OURS.match(line):
        return _ours(match[1])
    return {}


def _rockers(body: str) -> dict[tuple[str, str], bool]:
    """What follows the word ROBUSTNESS: kinds of robustness, each with one or more verdicts."""
    result: dict[tuple[str, str], bool] = {}
    place, question = 0, ""
    while place < len(body):
        kind, verdict = (pattern.match(body, place) for pattern in (_ROCKER_KIND, _ROCKER_VERDICT))
        if kind is not None and _ROCKER_VERDICT.match(body, kind.end()):
            question, place = _ROCKER_QUESTIONS[kind[1].lower()], kind.end()
        elif verdict is not None and question:
            for model in re.findall(r"\w+", verdict[2].lower()):
                key = (question, _ROCKER_MODELS.get(model, model))
                _merge(result, {key: verdict[1].lower() == "robust"})
            place = verdict.end()
        else:
            form = "`// ROBUSTNESS egr: robust: ra,rlx.` or `// ROBUSTNESS egr: robust: ra. not: rlx.`"
            raise ValueError(f"malformed expectation; it reads {form}")
    return result


def _ours(body: str) -> dict[tuple[str, str], bool]:
    question, *answers = body.split() or [""]
    matches = [_ANSWER.fullmatch(answer) for answer in answers]
    if not _QUESTION.fullmatch(question) or not matches or None in matches:
        raise ValueError("malformed expectation; it reads `// expect: robust ra=yes tso=no`")
    result: dict[tuple[str, str], bool] = {}
    for match in filter(None, matches):
        model, answer = match[1].lower(), match[2] == "yes"
        if result.setdefault((question, model), answer) != answer:
            raise ValueError(f"both yes and no for {question} {model}")
    return result
