"""A set of changes as the user sees it: place by place, as the text of the repaired program, as a diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from fencepost.analyses.repair.changes import Change, Kind, Origin, apply, new_fence, strengthened
from fencepost.analyses.repair.costs import Prices
from fencepost.errors import InputError
from fencepost.formats import edits as text_edits
from fencepost.formats.registry import editor_of, format_of
from fencepost.program import CellAccess, Fence, Instruction, Position, Program
from fencepost.program.spelling import format_instruction, statement_text
from fencepost.verdicts.repair import Action, Edit

_ACTIONS: dict[str | None, Action] = {"before": "insert-before", None: "replace", "after": "insert-after"}


class RepairedText(NamedTuple):
    """The text of a repaired program; `in_place` if the diff is one of the user's own text."""

    text: str
    diff: str
    in_place: bool


def edits_of(program: Program, changes: Iterable[Change], prices: Prices) -> tuple[Edit, ...]:
    """The places that are changed, in the order of the program's text."""
    return tuple(
        Edit(
            kinds=place.kinds,
            action=_ACTIONS[place.origin.side],
            function=program.threads[place.thread].family,
            line=place.old.at.line,
            column=place.old.at.column,
            statement=statement_text(program, place.old),
            text=_in_users_words(program, place),
            cost=prices.cost(sum(prices.price_at(kind, place.loops) for kind in place.kinds)),
        )
        for place in _places(program, changes)
    )


def _in_users_words(program: Program, place: _Place) -> str:
    """The fence, or the new statement spelled as the user spelled the old one."""
    if isinstance(place.new, Fence):
        return format_instruction(place.new)
    return changed_statement(program, place.old, place.new)


def changed_statement(program: Program, old: Instruction, new: Instruction) -> str:
    """The new statement spelled as the user spelled the old one."""
    language = format_of(program)
    if isinstance(new, CellAccess) and language is not None and language.name == "tpl" and program.source:
        edit = {old.at: text_edits.Edit(instead=new)}
        with suppress(InputError):
            changed = next(iter(editor_of(language)(program.source, program.file, edit)))
            return statement_text(replace(program, source=changed), new)
    return format_instruction(new)


def repaired_text(program: Program, changes: Iterable[Change]) -> RepairedText:
    """The text of the program with the changes made, and what that changes in the text it had."""
    changes = list(changes)
    edits: dict[Position, text_edits.Edit] = {}
    for place in _places(program, changes):
        edit = edits.get(place.old.at, text_edits.Edit())
        if isinstance(place.new, Fence) and place.origin.side == "before":
            edit = edit._replace(before=place.new)
        elif isinstance(place.new, Fence):
            edit = edit._replace(after=place.new)
        else:
            edit = edit._replace(instead=place.new)
        edits[place.old.at] = edit
    return _text(program, apply(program, changes).program, edits)


def text_of_relaxed(
    program: Program, relaxed: Program, replaced: Iterable[tuple[Instruction, Instruction]]
) -> RepairedText:
    """The text of the program with weaker statements; fences that became a `Skip` are gone."""
    edits = {
        old.at: text_edits.Edit(instead=new)
        if isinstance(new, CellAccess | Fence)
        else text_edits.Edit(gone=True)
        for old, new in replaced
    }
    return _text(program, relaxed, edits)


def _text(program: Program, changed: Program, edits: dict[Position, text_edits.Edit]) -> RepairedText:
    text = text_edits.changed_text(program, changed, edits)
    diff = "".join(_diff(program.file, text.before, text.after))
    return RepairedText(text.after, diff, text.in_place)


class _Place(NamedTuple):
    thread: int
    origin: Origin
    kinds: tuple[Kind, ...]
    loops: int
    old: Instruction
    new: CellAccess | Fence

    def order(self) -> tuple[int, ...]:
        side = list(_ACTIONS).index(self.origin.side)
        return self.old.at.line, self.old.at.column, self.thread, self.origin.pc, side


def _places(program: Program, changes: Iterable[Change]) -> list[_Place]:
    kinds: dict[tuple[int, Origin, int], list[Kind]] = {}
    changes = list(changes)
    orders = any(change.orders for change in changes)
    for change in changes:
        place = (change.threads[0], Origin(change.pc, change.side), change.loops)
        kinds.setdefault(place, []).append(change.kind)
    places = []
    for (thread, origin, loops), made in kinds.items():
        old = program.threads[thread].code[origin.pc]
        new = strengthened(old, made, orders=orders) if origin.side is None else new_fence(made, old)
        assert isinstance(new, CellAccess | Fence)
        places.append(_Place(thread, origin, tuple(made), loops, old, new))
    return sorted(places, key=_Place.order)


def _diff(file: str, before: str, after: str) -> Iterator[str]:
    for line in difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), file, file
    ):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
