"""Flat code as the statements of a TPL function: which blocks, which labels, which gotos.

Code that has one of the shapes of `lowering.py` becomes an `if`, a `while` or a `oneof`, whatever it was
before; the rest becomes labels and gotos. Lowering a statement that is chosen here gives back exactly the
instructions it was chosen for, so a choice can be ugly but not wrong. Among the shapes that fit, those are
taken whose blocks are closed: no jump crosses their border, except to places that have a label anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec

from fencepost.formats.tpl.parser import MOST_NESTED_BLOCKS
from fencepost.program import Branch, Choose, Expression, Goto, Thread, Unary, jump_targets
from fencepost.program.assembler import guarding
from fencepost.program.spelling import Spelling


def statements(thread: Thread, labels: dict[str, str], spelling: Spelling) -> Iterator[str]:
    """The lines of the function's body; `labels` spells the thread's labels."""
    return _Body(thread, labels, spelling).lines()


class _Line(msgspec.Struct):
    """A line of a function. The labels of instruction `index`, if there is one, stand in front of it."""

    depth: int
    text: str
    index: int | None = None


class _Shape(NamedTuple):
    """What a branch is written as. Its block ends before `end`; an `else` reaches from there to `after`."""

    kind: Literal["while", "if", "if else"]
    end: int
    after: int


class _Body:
    def __init__(self, thread: Thread, labels: dict[str, str], spelling: Spelling) -> None:
        self._code = thread.code
        self._spelling = spelling
        self._labels: dict[int, list[str]] = {}
        for label, index in thread.labels.items():
            self._labels.setdefault(index, []).append(labels[label])
        self._labelled = frozenset(self._labels)
        # The jumps to each place that has no label.
        self._sources: dict[int, list[int]] = {}
        for index, instruction in enumerate(self._code):
            for target in jump_targets(instruction):
                if target not in self._labelled:
                    self._sources.setdefault(target, []).append(index)

    def lines(self) -> Iterator[str]:
        for line in [*self._region(0, len(self._code), 1), _Line(1, "", len(self._code))]:
            labels = [] if line.index is None else self._labels.get(line.index, [])
            text = " ".join([*(f"{label}:" for label in labels), *filter(None, [line.text])])
            if text:
                yield "    " * line.depth + text

    def _region(self, start: int, end: int, depth: int) -> list[_Line]:
        """The statements whose code is `start..end`."""
        lines: list[_Line] = []
        while start < end:
            statement, start = self._statement(start, end, depth)
            lines += statement
        return lines

    def _statement(self, index: int, end: int, depth: int) -> tuple[list[_Line], int]:
        """The statement whose code starts at `index`, and where its code ends."""
        match self._code[index]:
            case Branch(condition, target) as branch:
                shape = self._shape(index, branch, end, depth)
                if shape is None:
                    jump = f"if ({self._spelling.expression(condition)}) goto {self._label(target)};"
                    return [_Line(depth, jump, index)], index + 1
                if shape.kind == "while":
                    head = _Line(depth, f"while ({self._guard(condition)}) {{", index)
                    return [head, *self._block(index + 1, shape.end, depth), _Line(depth, "}")], shape.after
                return self._if(index, shape, depth), shape.after
            case Goto(target):
                return [_Line(depth, f"goto {self._label(target)};", index)], index + 1
            case Choose(targets):
                return self._oneof(index, targets, end, depth)
            case instruction:
                return [_Line(depth, f"{self._spelling.statement(instruction)};", index)], index + 1

    def _label(self, target: int) -> str:
        """A label at `target`, one of the writer's own if there is none."""
        return self._labels.setdefault(target, [f"__{target}"])[0]

    def _guard(self, condition: Expression) -> str:
        return self._spelling.expression(guarding(condition))

    def _block(self, start: int, end: int, depth: int) -> list[_Line]:
        """A block that `end`, a jump implied by its statement, comes after: labels there end the block."""
        return [*self._region(start, end, depth + 1), _Line(depth + 1, "", end)]

    def _shape(self, index: int, branch: Branch, end: int, depth: int) -> _Shape | None:
        """What to write the branch as; None for `if (e) goto l;`."""
        target = branch.target
        if not index < target <= end or _too_deep(depth):
            return None
        loop = self._code[target - 1] == Goto(index)
        if loop and self._closed(index + 1, target - 1):
            return _Shape("while", target - 1, target)
        was_goto = target in self._labelled and guarding(branch.condition) == Unary("!", branch.condition)
        after = self._after_else(index, target, end, was_goto=was_goto)
        if after is not None:
            return _Shape("if else", target - 1, after)
        if not was_goto and self._closed(index + 1, target):
            return _Shape("if", target, target)
        return _Shape("while", target - 1, target) if loop else None

    def _after_else(self, index: int, target: int, end: int, *, was_goto: bool) -> int | None:
        """Where an `if` with an `else` at `target` ends; None if it is not to be written as one."""
        match self._code[target - 1]:
            case Goto(after) if index + 1 < target <= after <= end:
                # A jump to a label may as well be a goto of its own, where that is the simpler reading.
                if after in self._labelled and (was_goto or after == target):
                    return None
                closed = self._closed(index + 1, target - 1) and self._closed(target, after)
                return after if closed else None
        return None

    def _if(self, index: int, shape: _Shape, depth: int) -> list[_Line]:
        """An `if` with all its `else if`s: an `else` that holds an `if` and nothing more becomes one."""
        lines: list[_Line] = []
        intro = "if"
        while True:
            branch = self._code[index]
            assert isinstance(branch, Branch)
            lines.append(
                _Line(depth, f"{intro} ({self._guard(branch.condition)}) {{", None if lines else index)
            )
            if shape.kind == "if":
                return [*lines, *self._region(index + 1, shape.end, depth + 1), _Line(depth, "}")]
            lines += self._block(index + 1, shape.end, depth)
            index = shape.end + 1
            inner = self._inner_if(index, shape.after, depth)
            if inner is None:
                break
            intro, shape = "} else if", inner
        rest = self._region(index, shape.after, depth + 1)
        return [*lines, _Line(depth, "} else {"), *rest, _Line(depth, "}")]

    def _inner_if(self, start: int, end: int, depth: int) -> _Shape | None:
        """The shape of the `if` that is all there is in the `else` block `start..end`."""
        if start >= end or start in self._labels:
            return None
        instruction = self._code[start]
        shape = self._shape(start, instruction, end, depth) if isinstance(instruction, Branch) else None
        return shape if shape is not None and shape.kind != "while" and shape.after == end else None

    def _oneof(self, index: int, targets: tuple[int, ...], end: int, depth: int) -> tuple[list[_Line], int]:
        bodies, after = self._alternatives(index, targets, end, depth)
        starts = sorted(bodies.values())
        lines = [_Line(depth, "oneof(", index)]
        for number, target in enumerate(targets):
            if number not in bodies:
                lines.append(_Line(depth, f"{{ goto {self._label(target)}; }}"))
                continue
            lines.append(_Line(depth, "{"))
            if target == starts[-1]:
                lines += self._region(target, after, depth + 1)
            else:
                lines += self._block(target, starts[starts.index(target) + 1] - 1, depth)
            lines.append(_Line(depth, "}"))
        return _joined(lines, depth), after

    def _alternatives(
        self, index: int, targets: tuple[int, ...], end: int, depth: int
    ) -> tuple[dict[int, int], int]:
        """Which alternatives to write as blocks, by number, and where the choice ends.

        The blocks follow the choice in order, and each but the last ends with a jump to the common end.
        """
        ends = {goto.target for t in targets if isinstance(goto := self._code[t - 1], Goto) and t > index + 1}
        best: dict[int, int] = {}
        best_end = index + 1
        if index + 1 in targets:
            best = {targets.index(index + 1): index + 1}
        for after in sorted(ends):
            bodies = self._bodies(index, targets, after) if after <= end and not _too_deep(depth) else {}
            starts = [*bodies.values(), after + 1]
            parts = [(a, b - 1) for a, b in pairwise(starts)]
            if len(bodies) > max(len(best), 1) and all(self._closed(a, b) for a, b in parts):
                best, best_end = bodies, after
        return best, best_end

    def _bodies(self, index: int, targets: tuple[int, ...], after: int) -> dict[int, int]:
        bodies: dict[int, int] = {}
        last = index
        for number, target in enumerate(targets):
            first = not bodies and target == index + 1
            if first or (bodies and last < target <= after and self._code[target - 1] == Goto(after)):
                bodies[number] = last = target
        return bodies

    def _closed(self, start: int, end: int) -> bool:
        """Whether no jump to a place without a label crosses the border of the block `start..end`."""
        for index in range(start, end):
            for target in jump_targets(self._code[index]):
                if target not in self._labelled and not start <= target <= end:
                    return False
        return all(
            start <= source < end
            for target in range(start + 1, end)
            for source in self._sources.get(target, ())
        )


def _too_deep(depth: int) -> bool:
    return depth + 2 > MOST_NESTED_BLOCKS


def _joined(lines: list[_Line], depth: int) -> list[_Line]:
    """The lines of a `oneof` with the brackets that meet on one line: `oneof({`, `}{`, `});`."""
    joined: list[_Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        level = last is not None and line.depth == last.depth == depth
        if last is not None and level and (last.text.endswith(("(", "}")) or line.text == "}"):
            last.text += line.text
        else:
            joined.append(line)
    joined[-1].text += ");"
    return joined
