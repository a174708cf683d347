"""An answer for a terminal: the verdict, then each finding with its sentence, its run and its cycle.

Lines stay within `width` columns as far as the user's own names allow; the first line alone may be longer,
so that the path in it can be clicked. What the findings mean is said in `explain`, runs are laid out in
`run_text`; this module puts the parts together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.report import cycle, explain, run_text
from holdfast.report.advice import advice
from holdfast.report.labels import thread_name, verdict
from holdfast.report.page import INDENT, NARROWEST, Page
from holdfast.report.printable import clip, columns, pad, printable
from holdfast.report.roles import AnyWitness, buffered, roles
from holdfast.verdicts import Answer, Assertion, Edge, Event, Race, Run, Stats, TsoWitness, Unknown

LONGEST_FULL_RUN = 40  # accesses; of a longer run only what matters is shown, unless asked for all
_MARK = "▶"
_MARKS = {"access": _MARK, "overtaking": _MARK, "delayed": "▷"}

_STEP_WORDS = {
    "po": "comes before",
    "rf": "is read by",
    "mo": "is overwritten by",
    "fr": "does not see",
    "so": "reaches memory before",
}
_FENCE_WORDS = "comes before"
_FAILURES = {
    "assertion": "a failing assertion",
    "division-by-zero": "a division by zero",
    "index-out-of-range": "an index out of range",
}


def render(answer: Answer, *, color: bool, width: int, verbose: bool = False) -> str:
    """The whole answer; `verbose` shows long runs and cycles in full, and the access modes."""
    page = Page(width=max(width, NARROWEST), color=color, verbose=verbose)
    blocks = [_verdict_line(page, answer)]
    if isinstance(answer, Unknown):
        blocks.append(page.wrapped(f"Not decided: {printable(answer.why)}"))
    if answer.witness is not None:
        blocks += _witness(page, answer.witness, printable(answer.file))
    if answer.race is not None:
        blocks += _race(page, answer.race)
    if answer.assertion is not None:
        blocks += _assertion(page, answer.assertion)
    blocks += [page.wrapped(f"warning: {printable(warning)}") for warning in answer.warnings]
    blocks.append("\n".join(_footer(page, answer)))
    return "\n\n".join(blocks) + "\n"


def _verdict_line(page: Page, answer: Answer) -> str:
    style = {True: "good", False: "bad", None: "open"}[answer.holds]
    found = ["a data race"] if answer.race is not None else []
    if answer.assertion is not None:
        found.append(_FAILURES[answer.assertion.kind])
    findings = f", {page.paint('with ' + ' and '.join(found), 'bad')}" if found else ""
    words = page.paint(verdict(answer), style)
    return f"{printable(answer.file)}: {words} under {printable(answer.model)}{findings}"


def _witness(page: Page, witness: AnyWitness, file: str) -> Iterator[str]:
    yield page.wrapped(explain.claim(witness))
    shown = None
    if not page.verbose and sum(e.thread is not None for e in witness.events) > LONGEST_FULL_RUN:
        shown = cycle.worth_showing(witness)
    marks = {event: _MARKS[role] for event, role in roles(witness).items() if role in _MARKS}
    run = Run(threads=witness.threads, events=witness.events)
    yield run_text.render(page, run, marks=marks, shown=shown, delayed=buffered(witness))
    if witness.cycle:
        yield "\n".join(_cycle(page, witness, file))
    for sentence in advice(witness):
        yield page.wrapped(sentence)


def _race(page: Page, race: Race) -> Iterator[str]:
    yield page.wrapped(f"Data race. {explain.explain_race(race)}")
    yield _run_to(page, race.run, {race.first: _MARK, race.second: _MARK})


def _assertion(page: Page, assertion: Assertion) -> Iterator[str]:
    yield page.wrapped(explain.explain_assertion(assertion))
    yield _run_to(page, assertion.run, {})


def _run_to(page: Page, run: Run, marks: Mapping[int, str]) -> str:
    """A run under sequential consistency; of one that is too long only its last accesses."""
    accesses = [event.id for event in run.events if event.thread is not None]
    long = not page.verbose and len(accesses) > LONGEST_FULL_RUN
    shown = set(accesses[-LONGEST_FULL_RUN:]) if long else None
    return run_text.render(page, run, marks=marks, shown=shown)


# The cycle: one edge per line, as the end of its source; the next line is its target.


def _cycle(page: Page, witness: AnyWitness, file: str) -> Iterator[str]:
    at_once = "there every write reaches memory at once, so " if isinstance(witness, TsoWitness) else ""
    yield page.wrapped(
        f"No interleaving of the threads does this: {at_once}each line comes before the next, and the last "
        "is the first again."
    )
    edges = cycle.unrolled(witness) if page.verbose else cycle.told(witness)
    events = [witness.events[edge.source] for edge in edges]
    texts = [run_text.entry(page, event) for event in events]
    names = [thread_name(witness.threads, event) for event in events]
    words = [_step_words(witness, edge) for edge in edges]
    room = page.width - len(INDENT) - max(map(columns, words)) - len("  po  ") - len("    ")
    text_room, name_room = max(map(columns, texts)), max(map(columns, names))
    for shortened in (file, file.rpartition("/")[2], ""):
        places = [_place(shortened, event) for event in events]
        place_room = max(map(columns, places))
        if place_room + name_room + text_room <= room:
            break
    name_room = min(name_room, max((room - place_room) // 3, 6))
    text_room = min(text_room, max(room - place_room - name_room, 8))
    rows = []
    for place, name, text in zip(places, names, texts, strict=True):
        thread = page.paint(pad(clip(name, name_room), name_room), "thread")
        where = page.paint(pad(place, place_room), "dim")
        rows.append(f"{INDENT}{where}  {thread}  {pad(clip(text, text_room), text_room)}")
    for row, edge, word in zip(rows, edges, words, strict=True):
        yield f"{row}  {page.paint(edge.relation, edge.relation)}  {word}"
    yield rows[0].rstrip()


def _place(file: str, event: Event) -> str:
    if not event.line:
        return "initially" if event.thread is None else ""
    return f"{file}:{event.line}" if file else f"line {event.line}"


def _step_words(witness: AnyWitness, edge: Edge) -> str:
    between_fences = witness.events[edge.source].kind == witness.events[edge.target].kind == "F"
    return _FENCE_WORDS if between_fences else _STEP_WORDS[edge.relation]


def _footer(page: Page, answer: Answer) -> Iterator[str]:
    if answer.race is None and answer.assertion is None and not isinstance(answer, Unknown):
        searched = explain.explain_search(answer)
        if searched:
            yield page.wrapped(searched)
    yield page.paint(page.wrapped(stats_line(answer.stats)), "dim")


def stats_line(stats: Stats) -> str:
    """What the search took."""
    parts = [_count(stats.states, "state"), _count(stats.transitions, "transition"), f"{stats.seconds:.2f} s"]
    if stats.peak_memory_mb:
        parts.append(f"{stats.peak_memory_mb:.0f} MB")
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
