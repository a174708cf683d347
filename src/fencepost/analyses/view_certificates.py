"""The proof that a program is robust for every number of threads, in the form that `certificates` checks.

The native search keeps its views packed, with topics and bits that only it understands. So once it has found
that the program is robust, the views are collected again here, by the rules of the definitions: the least set
that has the starts and is closed under steps. If the two disagreed, this would find a violation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import get_args

import msgspec

from fencepost.analyses.model_choice import chosen_model
from fencepost.analyses.robustness import robust
from fencepost.certificates.any_number.certificate import FreeOf, ViewCertificate, ViewModel, part_of
from fencepost.certificates.any_number.view_sets import NumberedView, ViewSet
from fencepost.certificates.any_number.views import Overwritten, Topic, ViewSteps, asked_of, race_topics
from fencepost.engine.search import Limits, Progress, Watcher
from fencepost.errors import InputError
from fencepost.memory_models import MODELS
from fencepost.program import Program
from fencepost.static.critical_values import ValueClasses, stale_classes
from fencepost.verdicts import Robust, RobustnessAnswer, Unknown

VIEW_MODELS: tuple[ViewModel, ...] = get_args(ViewModel)
_OFTEN = 256  # views after which limits are looked at


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
        search = _Search(program, row, answer.any_number.k, _Watch(limits, watcher, started))
        return answer, search.certificate(answer)
    except _StoppedError as stopped:
        fields = {name: getattr(answer, name) for name in answer.__struct_fields__}
        why = f"the program is robust, but {stopped.why} before the certificate was complete"
        return Unknown(**fields, why=why, interrupted=stopped.interrupted), None


class _Search:
    """What is looked at for a certificate."""

    def __init__(self, program: Program, model: ViewModel, k: int, watch: _Watch) -> None:
        self._program, self._model, self._k, self._watch = program, model, k, watch

    def certificate(self, answer: Robust) -> ViewCertificate:
        states = self.views_about(Topic())
        topics = stale_topics(self._program, states.overwritten)
        parts = [part_of(states), *(part_of(self.views_about(topic)) for topic in topics)]
        free_of: list[FreeOf] = []
        if answer.assertion is None:
            assert not states.fails, "the engine found no failure, but there is one"
            free_of.append("failures")
        if answer.race is None:
            free_of.append("data races")
            if not MODELS[self._model].synchronises:
                parts += [part_of(self.views_about(topic)) for topic in race_topics(self._program)]
        return ViewCertificate.of(self._program, self._model, self._k, free_of, parts)

    def views_about(self, topic: Topic) -> ViewSet:
        views = least_views(ViewSteps(self._program, self._model, topic), self._k, self._watch)
        assert not views.violates(), f"the engine found no violation, but there is one: {topic}"
        return views


class _StoppedError(Exception):
    def __init__(self, why: str, interrupted: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.interrupted = interrupted


class _Watch:
    """Called for each view; ends the search at a limit."""

    def __init__(self, limits: Limits, watcher: Watcher | None, started: float) -> None:
        self._limits, self._watcher, self._started = limits, watcher, started
        self._views = 0

    def __call__(self) -> None:
        self._views += 1
        if self._limits.states is not None and self._views > self._limits.states:
            raise _StoppedError(f"the limit of {self._limits.states:,} states was reached")
        if self._views % _OFTEN:
            return
        seconds = time.monotonic() - self._started
        if self._limits.after(seconds).seconds == 0:
            raise _StoppedError(f"the {self._limits.time_limit} was reached")
        if self._watcher is not None and self._watcher(Progress(self._views, 0, 0, 0, seconds)):
            raise _StoppedError("the search was interrupted", interrupted=True)


def least_views(steps: ViewSteps, k: int, look: Callable[[], None] = lambda: None) -> ViewSet:
    """The views of the starts, and all that follow from them; `look` is called once for each."""
    views = ViewSet(steps, k)
    waiting: list[tuple[int, NumberedView]] = []
    locals_at: dict[int, set[int]] = {}
    done: set[tuple[int, NumberedView]] = set()

    def add(here: int, view: NumberedView) -> None:
        if (here, view) not in views:
            views.add(here, view)
            locals_at.setdefault(here, set()).update(view)
            waiting.append((here, view))

    for start in views.starts():
        add(*start)
    while waiting:
        look()
        here, view = waiting.pop()
        for local in sorted(locals_at[here]):
            whole = tuple(sorted((*view, local)))
            if (here, whole) in done or not views.is_whole(here, whole):
                continue
            done.add((here, whole))
            for following in views.following(here, whole):
                add(*following)
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
