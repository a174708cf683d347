"""Changing a few transitions of a text and leaving everything else as it is.

    fence before or after     the transition is split in two by a new state, each part on a line of its own
    fence before a check      if others leave the state too, all of them leave a new state to which the fence
                              leads
    exchange for a write      `lock`, the write, `unlock`

A fence after a section that begins with `lock` comes after each `unlock` it can end with. This serves any
language in which a thread is a list of arrows from one name to another; the language says how it spells them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count, pairwise
from typing import Literal, NamedTuple

from fencepost.formats.text.edits import Edit, Splice, line_around, spliced
from fencepost.formats.text.tree import Token, Tree, position
from fencepost.program import Exchange, Fence, Mode, Position

Kind = Literal["check", "noop", "lock", "unlock", "write", "other"]


class Name(NamedTuple):
    """A name in a text and where it begins."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Arrow(NamedTuple):
    """A transition in a text, from `start` to `end`; `thread` tells apart states of the same name."""

    thread: int
    source: Name
    target: Name
    kind: Kind
    at: Position
    start: int
    end: int

    @property
    def state(self) -> tuple[int, str]:
        """The state it leaves."""
        return self.thread, self.source.text


class Language(NamedTuple):
    """How an arrow with an instruction is spelled, and the instructions that edits need."""

    arrow: Callable[[str, str, str], str]
    fence: str
    exchange: tuple[str, str] = ("", "")  # around an arrow of the kind `write`


def arrow_of(thread: int, source: Token, target: Token, kind: Kind, node: Tree) -> Arrow:
    names = (Name(str(source), source.start_pos or 0), Name(str(target), target.start_pos or 0))
    return Arrow(thread, names[0], names[1], kind, position(node), node.start_pos, node.end_pos)


def with_edits(
    text: str, arrows: Sequence[Arrow], edits: Mapping[Position, Edit], language: Language
) -> Iterator[str]:
    """Texts of which one should have the edits made.

    A choice among transitions has the position of the first of them, so a fence before that transition may be
    meant for the choice. The first text assumes so at checks and at transitions that do nothing, the second
    at any transition.
    """
    for at_choices in (_PASSING, _ANYTHING):
        yield _Editing(text, arrows, language).made(edits, at_choices)


_PASSING: tuple[Kind, ...] = ("check", "noop")
_ANYTHING: tuple[Kind, ...] = (*_PASSING, "write", "lock", "unlock", "other")


class _Editing:
    def __init__(self, text: str, arrows: Sequence[Arrow], language: Language) -> None:
        self._text = text
        self._arrows = arrows
        self._language = language
        self._states = {(a.thread, name.text) for a in arrows for name in (a.source, a.target)}
        self._leaving: dict[tuple[int, str], list[Arrow]] = {}
        for arrow in arrows:
            self._leaving.setdefault(arrow.state, []).append(arrow)
        self._before: dict[Arrow, list[str]] = {arrow: [] for arrow in arrows}
        self._after: dict[Arrow, list[str]] = {arrow: [] for arrow in arrows}
        self._fenced: dict[tuple[int, str], tuple[Arrow, str]] = {}  # the arrow with the fence, the new state

    def made(self, edits: Mapping[Position, Edit], at_choices: Sequence[Kind]) -> str:
        """The text with the edits made. A fence before an arrow of these kinds is put before all arrows that
        leave the same state."""
        for arrow in self._arrows:
            self._note(arrow, edits.get(arrow.at, Edit()), at_choices)
        return spliced(self._text, [splice for arrow in self._arrows for splice in self._splices(arrow)])

    def _note(self, arrow: Arrow, edit: Edit, at_choices: Sequence[Kind]) -> None:
        if edit.before == Fence(Mode.SC):
            if len(self._leaving[arrow.state]) > 1 and arrow.kind in at_choices:
                self._fenced.setdefault(arrow.state, (arrow, self._fresh(arrow)))
            else:
                self._before[arrow].append(self._language.fence)
        if isinstance(edit.instead, Exchange) and arrow.kind == "write":
            first, last = self._language.exchange
            self._before[arrow].append(first)
            self._after[arrow].append(last)
        if edit.after == Fence(Mode.SC):
            for end in self._ends(arrow):
                self._after[end].append(self._language.fence)

    def _ends(self, arrow: Arrow) -> Iterator[Arrow]:
        """The arrow itself, or the arrows that end the section it begins."""
        reached, todo = {arrow}, [arrow]
        while todo:
            last = todo.pop()
            if last.kind == "unlock" or arrow.kind != "lock":
                yield last
                continue
            following = self._leaving.get((last.thread, last.target.text), ())
            todo += [arrow for arrow in following if arrow not in reached]
            reached.update(following)

    def _splices(self, arrow: Arrow) -> Iterator[Splice]:
        """What to change for the arrow and the new ones around it."""
        fenced, source = self._fenced.get(arrow.state, (None, arrow.source.text))
        before, after = self._before[arrow], self._after[arrow]
        states = [source, *(self._fresh(arrow) for _ in (*before, *after)), arrow.target.text]
        arrows = [
            self._language.arrow(*ends, instruction)
            for ends, instruction in zip(pairwise(states), [*before, "", *after], strict=True)
        ]
        first, last = arrows[: len(before)], arrows[len(before) + 1 :]
        if fenced == arrow:
            first.insert(0, self._language.arrow(arrow.source.text, source, self._language.fence))
        line = line_around(self._text, arrow.start, arrow.end)
        own_line = f"\n{line.indentation}"
        before_break, after_break = own_line if line.is_first else " ", own_line if line.is_last else " "
        place_after = line.end if line.is_last else arrow.end
        yield Splice(arrow.start, arrow.start, "".join(new + before_break for new in first))
        yield Splice(arrow.source.start, arrow.source.end, states[len(before)])
        yield Splice(arrow.target.start, arrow.target.end, states[len(before) + 1])
        yield Splice(place_after, place_after, "".join(after_break + new for new in last))

    def _fresh(self, arrow: Arrow) -> str:
        """The name of a new state of the arrow's thread."""
        base = f"{arrow.source.text}_f"
        names = chain([base], (f"{base}{number}" for number in count(2)))
        name = next(name for name in names if (arrow.thread, name) not in self._states)
        self._states.add((arrow.thread, name))
        return name
