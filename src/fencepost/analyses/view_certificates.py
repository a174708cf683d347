"""The proof that a program is robust for every number of threads, in the form that `certificates` checks.

The native search keeps its views packed, with topics and bits that only it understands. So once it has found
that the program is robust, the views are collected again here, by the rules of the definitions: the least set
that has the starts and is closed under steps. If the two disagreed, this would find a violation.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import get_args

import msgspec

from fencepost.analyses.model_choice import chosen_model
from fencepost.analyses.robustness import robust
from fencepost.analyses.view_search import StoppedError, ViewWatch, least_views
from fencepost.certificates.any_number.attacks import AfterReadSteps, attack_starts, attacker_topics
from fencepost.certificates.any_number.certificate import (
    FreeOf,
    Part,
    ViewCertificate,
    ViewModel,
    part_of,
)
from fencepost.certificates.any_number.view_sets import ViewSet
from fencepost.certificates.any_number.views import Overwritten, Topic, ViewSteps, asked_of, race_topics
from fencepost.engine.search import Limits, Watcher
from fencepost.errors import InputError
from fencepost.memory_models import MODELS
from fencepost.models.tso import on_x86
from fencepost.program import Program
from fencepost.static.critical_values import ValueClasses, stale_classes
from fencepost.verdicts import Robust, RobustnessAnswer, Unknown

VIEW_MODELS: tuple[ViewModel, ...] = get_args(ViewModel)


def certified(
    program: Program, model: str | None = None, *, limits: Limits, watcher: Watcher | None
) -> tuple[RobustnessAnswer, ViewCertificate | None]:
    """The answer of `robust`, with its certificate if the program is robust."""
    if not program.templates:
        raise InputError("a certificate is for programs with any number of threads, `fn f[*]`", program.file)
    started = time.monotonic()
    model = chosen_model(program, "robust", model)
    row = next((name for name in VIEW_MODELS if name == model), None)
    if row is None:
        program.require_fixed_threads(f"--model {model}")
    assert row is not None
    answer = robust(program, row, limits=limits, watcher=watcher)
    if not isinstance(answer, Robust):
        return answer, None
    try:
        assert answer.any_number is not msgspec.UNSET
        search = _Search(program, row, answer.any_number.k, ViewWatch(limits, watcher, started))
        return answer, search.certificate(answer)
    except StoppedError as stopped:
        fields = {name: getattr(answer, name) for name in answer.__struct_fields__}
        why = f"the program is robust, but {stopped.why} before the certificate was complete"
        return Unknown(**fields, why=why, interrupted=stopped.interrupted), None


class _Search:
    """What is looked at for a certificate."""

    def __init__(self, program: Program, model: ViewModel, k: int, watch: ViewWatch) -> None:
        self._asked, self._model, self._k, self._watch = program, model, k, watch
        self._program = on_x86(program) if model == "tso" else program

    def certificate(self, answer: Robust) -> ViewCertificate:
        states = self.views_about(Topic())
        parts = [part_of(states)]
        if self._model == "tso":
            parts += self.attacks()
        else:
            topics = stale_topics(self._program, states.overwritten)
            parts += [part_of(self.views_about(topic)) for topic in topics]
        free_of: list[FreeOf] = []
        if answer.assertion is None:
            assert not states.fails, "the engine found no failure, but there is one"
            free_of.append("failures")
        if answer.race is None:
            free_of.append("data races")
            if self._model != "tso" and not MODELS[self._model].synchronises:
                parts += [part_of(self.views_about(topic)) for topic in race_topics(self._program)]
        return ViewCertificate.of(self._asked, self._model, self._k, free_of, parts)

    def attacks(self) -> Iterator[Part]:
        """Both halves of what each attacker can do."""
        for attacker in attacker_topics(self._program):
            first_half = self.views_about(attacker)
            yield part_of(first_half)
            for topic, starts in attack_starts(first_half).items():
                steps = AfterReadSteps(self._program, topic)
                yield part_of(self._free(least_views(steps, self._k, self._watch, starts)))

    def views_about(self, topic: Topic) -> ViewSet:
        return self._free(least_views(ViewSteps(self._program, self._model, topic), self._k, self._watch))

    def _free(self, views: ViewSet) -> ViewSet:
        topic = views.steps.topic
        assert not views.violates(), f"the engine found no violation, but there is one: {topic}"
        return views


def stale_topics(program: Program, overwritten: set[Overwritten]) -> Iterator[Topic]:
    """Stale values of one location that no instruction tells apart share a topic."""
    instances = program.with_instances(2)
    for location, classes in stale_classes(instances).items():
        first = program.first_cell[location]
        for cell in range(first, first + len(program.location_named[location].initial)):
            if not program.atomic_cells[cell]:
                continue
            mine = [o for o in overwritten if o.cell == cell]
            plain = {o.value for o in mine}
            free = {o.value for o in mine if not o.exchanged}
            for_reads, for_writes = asked_of(program, cell)
            of_reads = _grouped(plain, classes.plain) if for_reads else []
            of_writes = _grouped(free, classes.free) if for_writes else []
            exchanged = any(o.exchanged for o in mine)
            for values in of_reads:
                both = not exchanged and values in of_writes
                yield Topic("stale", cell, plain=True, free=both, values=values)
            for values in of_writes:
                if exchanged or values not in of_reads:
                    yield Topic("stale", cell, free=True, values=values)


def _grouped(values: set[int], classes: ValueClasses) -> list[frozenset[int]]:
    alone = sorted(values & set(classes.tracked))
    others = frozenset(values - set(classes.tracked))
    return [*(frozenset({value}) for value in alone), *([others] if others else [])]
