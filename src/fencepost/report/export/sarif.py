"""Answers about files as SARIF 2.1.0, the form in which code hosts and editors take findings.

Each finding is one result: its place, the other accesses that matter as related locations, the run as a code
flow with one thread flow per thread, and a fix where one is known. Of an answer to `fix` the repair is the
result. Wrong input and what is undecided are notifications. What SARIF itself asks for is in `sarif_log`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fencepost.errors import InputError
from fencepost.report.export import sarif_log
from fencepost.report.export.sarif_log import DATA_RACE, Json, Rule, Step
from fencepost.report.findings import Finding, finding_id, findings, identity_of, rule_of, worth_showing
from fencepost.report.labels import in_turn, outcome, source, thread_name
from fencepost.report.printable import printable
from fencepost.report.repair import edit_words, goal
from fencepost.report.story import undecided
from fencepost.verdicts import Answer
from fencepost.verdicts.repair import RepairAnswer

LONGEST_FLOW = 1000  # accesses; code hosts refuse flows that are much longer

RULES = {
    "not-robust": Rule(
        "NotRobust",
        "An access can leave sequential consistency",
        "The program has a run under the memory model that no interleaving of its threads explains.",
        "docs/robust.md",
    ),
    "not-shown": Rule(
        "NotShown",
        "Not shown to be observationally robust",
        "A value that may be stale is used, or an access other than a load can leave sequential consistency. "
        "That may show in what the program does, or not.",
        "docs/robust.md",
    ),
    "fragile": Rule(
        "Fragile",
        "A store buffer becomes visible",
        "A write can wait in the store buffer of its thread while a later read of the same thread goes "
        "ahead, and another thread's write shows it.",
        "docs/persist.md",
    ),
    "triangular-race": Rule(
        "TriangularRace",
        "Triangular race",
        "A read that can overtake a buffered write of its own thread races with a write of another thread.",
        "docs/tso.md",
    ),
    "race": DATA_RACE,
    "assertion": Rule(
        "Assertion",
        "An assertion can fail",
        "Some run of the program fails the assertion.",
        "docs/verify.md",
        "error",
    ),
    "division-by-zero": Rule(
        "DivisionByZero",
        "Division by zero",
        "Some run of the program divides by zero.",
        "docs/verify.md",
        "error",
    ),
    "index-out-of-range": Rule(
        "IndexOutOfRange",
        "Index out of range",
        "Some run of the program uses an index outside its array.",
        "docs/verify.md",
        "error",
    ),
    "error-label": Rule(
        "ErrorLabel",
        "An error can be reached",
        "Some run reaches a label that no run may reach.",
        "docs/verify.md",
        "error",
    ),
    "mutex": Rule(
        "Mutex",
        "Two threads in one critical section",
        "Some run brings two threads there at the same time.",
        "docs/verify.md",
        "error",
    ),
    "bad": Rule(
        "BadState",
        "A forbidden state can be reached",
        "Some run reaches a state that no run may reach.",
        "docs/verify.md",
        "error",
    ),
    "final": Rule(
        "FinalState",
        "A forbidden final state",
        "Some run ends in a state that no run may end in.",
        "docs/verify.md",
        "error",
    ),
    "deadlock": Rule(
        "Deadlock",
        "Threads can wait for ever",
        "Some run comes to where a thread waits and no thread can go on.",
        "docs/robust.md",
    ),
    "write-race": Rule(
        "WriteRace",
        "Two writes race",
        "Two writes to a location are not ordered by happens-before.",
        "docs/races.md",
    ),
}

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")


def encode(answers: Sequence[tuple[str, Answer | InputError]]) -> bytes:
    """The log of the answers, each with its file."""
    results: list[Json] = []
    notifications: list[Json] = []
    for file, answer in answers:
        if isinstance(answer, InputError):
            place = sarif_log.location(file, answer.line, answer.column)
            notifications.append(_notification("error", printable(answer.message), place))
            continue
        results += [_result(answer, found) for found in findings(answer)]
        if isinstance(answer, RepairAnswer) and answer.edits:
            results.append(_repair(answer))
        if answer.holds is None:
            notifications.append(_notification("warning", undecided(answer), sarif_log.location(file)))
    successful = not any(isinstance(answer, InputError) for _, answer in answers)
    return sarif_log.encode(RULES, results, successful=successful, notifications=notifications)


def _notification(level: str, text: str, place: Json) -> Json:
    return {"level": level, "message": sarif_log.message(text), "locations": [place]}


def _result(answer: Answer, found: Finding) -> Json:
    said = " ".join([found.message, *found.advice])
    result = sarif_log.result(RULES, found.rule, finding_id(answer, found), said)
    if answer.holds is False and found.graph is answer.witness and found.rule == "deadlock":
        result["level"] = "error"  # asked for, and not a warning beside another question
    result["locations"] = [sarif_log.location(answer.file, found.line, found.column)]
    others = [
        sarif_log.location(answer.file, event.line, event.column, says=words)
        for event, words in found.related
        if (event.line, event.column) != (found.line, found.column)
    ]
    if others:
        result["relatedLocations"] = sarif_log.related(others)
    steps = list(_steps(answer.file, found))
    if steps:
        result["codeFlows"] = sarif_log.code_flows(steps)
    if fences := list(_fences(answer, found)):
        result["fixes"] = [sarif_log.fix(" ".join(found.advice), {answer.file: fences})]
    return result


def _steps(file: str, found: Finding) -> Iterator[Step]:
    shown = worth_showing(found, LONGEST_FLOW)
    for event in found.run.events:
        if event.thread is not None and event.line and (shown is None or event.id in shown):
            name = thread_name(found.run.threads, event)
            what = " ".join(
                filter(None, [source(event), outcome(event, buffered=event.id in found.buffered)])
            )
            place = sarif_log.location(file, event.line, event.column, says=f"{name}: {what}", function=name)
            yield Step(name, place)


def _fences(answer: Answer, found: Finding) -> Iterator[Json]:
    """The repairs as insertions, if fences in TPL are all that they are."""
    if answer.file.endswith(".tpl") and all(repair.after and repair.place.line for repair in found.repairs):
        for repair in found.repairs:
            place = repair.place
            yield sarif_log.replacement((place.line, place.column), (place.line, place.column), "fence; ")


def _repair(answer: RepairAnswer) -> Json:
    """The repair of the whole program as one result."""
    edits = answer.edits or ()
    steps = in_turn([f"{edit_words(edit)} (line {edit.line})" for edit in edits])
    how = "at the least cost" if answer.holds else "not proven to be the cheapest"
    aim = f"make the program {goal(answer)} under {answer.model}"
    text = f"Weak memory shows in this program. To {aim}, {how}: {steps}."
    identity = identity_of(answer, "repair", [f"{edit.function}: {edit_words(edit)}" for edit in edits])
    result = sarif_log.result(RULES, rule_of(answer), identity, text)
    first, *others = edits
    result["locations"] = [sarif_log.location(answer.file, first.line, first.column)]
    if others:
        result["relatedLocations"] = sarif_log.related(
            sarif_log.location(answer.file, edit.line, edit.column, says=edit_words(edit)) for edit in others
        )
    if answer.in_place:
        result["fixes"] = [sarif_log.fix(aim.capitalize(), {answer.file: _replacements(answer.diff)})]
    return result


def _replacements(diff: str) -> list[Json]:
    """A unified diff as replacements of whole lines of the old text."""
    replacements: list[Json] = []
    start = line = 0  # of the old text: where what is replaced starts, and where the diff is
    new: list[str] = []

    def flush() -> None:
        if new or start < line:
            replacements.append(sarif_log.replacement((start, 1), (line, 1), "".join(new)))
            new.clear()

    for text in diff.splitlines(keepends=True):
        if hunk := _HUNK.match(text):
            flush()
            start = line = int(hunk[1]) + (hunk[2] == "0")  # of an empty range the line before it is given
        elif line and text.startswith("+"):
            new.append(text[1:])
        elif line and text.startswith("-"):
            line += 1
        elif text.startswith("\\"):  # No newline at end of file
            new[-1:] = [last.removesuffix("\n") for last in new[-1:]]
        elif line:
            flush()
            start = line = line + 1
    flush()
    return replacements
