"""Is a certificate of robustness for every number of threads true?

The first part is about the program, each other one about one topic. Of every part it is checked that

1. the views of all starts are in it;
2. what any step makes of any k + 1 threads, of which any k are together in a view, is in it (`view_sets`);
3. no view violates what the part is about.

Against TSO there are parts for each thread as the attacker, and for the second half of each of its attacks,
whose starts follow from the first (`attacks`). That no attack succeeds is robustness.

Otherwise the first part, which has the views of all states, tells which values are ever overwritten: each of
them must be in the topic of some part. Then nothing that is stale has been left out, and the program is
robust by Theorem 5.3 of rocker-2019. That it has no data race is checked in the first part under RA and TSO,
where two threads would stand at conflicting accesses, and under RC20 and C++20 by parts about last writes and
reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fencepost.certificates.any_number.attacks import AfterReadSteps, attack_starts, attacker_topics
from fencepost.certificates.any_number.certificate import Part, ViewCertificate
from fencepost.certificates.any_number.view_sets import ViewSet
from fencepost.certificates.any_number.views import Overwritten, Topic, ViewSteps, asked_of, race_topics
from fencepost.certificates.check import Refuted
from fencepost.memory_models import MODELS
from fencepost.models.tso import on_x86
from fencepost.program import Program
from fencepost.program.digest import program_digest


class ViewsChecked(NamedTuple):
    """The certificate is true; it holds so many views, and these steps were made from so many k + 1."""

    views: int
    wholes: int
    free_of: tuple[str, ...]


class _FalseError(Exception):
    """Something is wrong with the certificate."""


def check_views(program: Program, certificate: ViewCertificate) -> ViewsChecked | Refuted:
    """Whether `certificate` shows that `program` is robust for every number of threads."""
    try:
        return _checked(program, certificate)
    except _FalseError as error:
        return Refuted(str(error))


def _checked(program: Program, certificate: ViewCertificate) -> ViewsChecked:
    if certificate.program != program_digest(program):
        raise _FalseError("it is the certificate of another program")
    if certificate.model == "tso":
        program = on_x86(program)
    if not program.templates or certificate.k < 1:
        raise _FalseError("it is not about any number of threads")
    if not certificate.parts or certificate.parts[0].topic != Topic():
        raise _FalseError("its first part is not about the program")
    sets: list[ViewSet] = []
    wholes = 0
    for number, part in enumerate(certificate.parts):
        views = views_of(program, certificate, part, number)
        wholes += _check_part(views, number)
        sets.append(views)
    topics = [part.topic for part in certificate.parts]
    if certificate.model == "tso":
        _check_attacks(program, sets, topics)
    else:
        for missing in _values_left_out(program, sets[0].overwritten, topics):
            raise _FalseError(missing)
    if "failures" in certificate.free_of and sets[0].fails:
        raise _FalseError("a view of its first part leads to a failing assertion")
    if "data races" in certificate.free_of:
        _check_races(program, certificate.model, sets[0], topics)
    views_in_all = sum(len(part.views) for part in certificate.parts)
    return ViewsChecked(views_in_all, wholes, certificate.free_of)


def views_of(program: Program, certificate: ViewCertificate, part: Part, number: int) -> ViewSet:
    """The views of a part, if they make sense; the program has the instructions of the model."""
    topic = part.topic
    of_attacks = topic.about in ("attacker", "after-read")
    if topic.about != "program" and of_attacks != (certificate.model == "tso"):
        raise _FalseError(f"part {number} is about another model")
    has_cell = topic.about not in ("program", "attacker")
    if has_cell and not 0 <= topic.cell < len(program.cells):
        raise _FalseError(f"part {number} is about a location that the program does not have")
    if (
        has_cell
        and topic.about != "after-read"
        and program.atomic_cells[topic.cell] != (topic.about == "stale")
    ):
        raise _FalseError(f"part {number} is about a location of the wrong kind")
    least = 0 if of_attacks or topic.about == "last-read" else -1
    if not least <= topic.reader < len(program.threads):
        raise _FalseError(f"part {number} is about a thread that the program does not have")
    if any(not 0 <= value < program.modulus for value in topic.values):
        raise _FalseError(f"part {number} is about values that no location can hold")
    views = ViewSet(_steps_of(program, certificate.model, topic), certificate.k)
    if not all(map(views.steps.is_global, part.globals)) or not all(map(views.steps.is_local, part.locals)):
        raise _FalseError(f"part {number} has a state that the program does not have")
    globals_ = [views.globals.of(here) for here in part.globals]
    locals_ = [views.locals.of(local) for local in part.locals]
    for view in part.views:
        here, *rest = view or (-1,)
        if (
            len(rest) != certificate.k
            or not 0 <= here < len(globals_)
            or any(not 0 <= local < len(locals_) for local in rest)
        ):
            raise _FalseError(f"part {number} has a view that is not one of {certificate.k} threads")
        views.add(globals_[here], tuple(sorted(locals_[local] for local in rest)))
    return views


def _steps_of(program: Program, model: str, topic: Topic) -> ViewSteps:
    if topic.about == "after-read":
        return AfterReadSteps(program, topic)
    return ViewSteps(program, model, topic)


def _check_part(views: ViewSet, number: int) -> int:
    # Those of the second half of an attack follow from the first (`_check_attacks`).
    if views.steps.topic.about != "after-read" and any(start not in views for start in views.starts()):
        raise _FalseError(f"in part {number} a view of a start is missing")
    wholes = 0
    for here in list(views.at):
        for whole in views.wholes(here):
            wholes += 1
            for view in views.following(here, whole):
                if view not in views:
                    raise _FalseError(f"in part {number} a view is missing that a step leads to")
    if views.violates():
        raise _FalseError(f"a view of part {number} violates what the part is about")
    return wholes


def _check_attacks(program: Program, sets: Sequence[ViewSet], topics: Sequence[Topic]) -> None:
    """The first halves of all attackers are there, and what they lead to."""
    views_about = dict(zip(topics, sets, strict=True))
    for attacker in attacker_topics(program):
        if attacker not in views_about:
            name = program.threads[attacker.reader].name
            raise _FalseError(f"it has no part with `{name}` as the attacker")
        for topic, starts in attack_starts(views_about[attacker]).items():
            if topic not in views_about:
                raise _FalseError(f"it has no part about the delayed write of {program.cells[topic.cell]}")
            views = views_about[topic]
            if any(views.numbered(start) not in views for start in starts):
                raise _FalseError("after a read that overtakes a write, a view is missing")


def _values_left_out(
    program: Program, overwritten: set[Overwritten], topics: Sequence[Topic]
) -> Iterator[str]:
    for cell, value, exchanged in sorted(overwritten):
        if not program.atomic_cells[cell]:
            continue
        mine = [topic for topic in topics if topic.about == "stale" and topic.cell == cell]
        for_reads, for_writes = asked_of(program, cell)
        covered = (not for_reads or any(t.plain and value in t.values for t in mine)) and (
            not for_writes or exchanged or any(t.free and value in t.values for t in mine)
        )
        if not covered:
            name = program.cells[cell]
            yield f"no part is about the value {value} of {name}, which is overwritten"


def _check_races(program: Program, model: str, states: ViewSet, topics: Sequence[Topic]) -> None:
    if model == "tso" or MODELS[model].synchronises:
        if states.conflicts():
            raise _FalseError("in a view of its first part two accesses race")
        return
    if any(topic not in topics for topic in race_topics(program)):
        raise _FalseError("it has no part about the races of some location")
