"""The code of a thread as nodes with arrows, for rewriting it, and back to flat code."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from fencepost.program import (
    Branch,
    Choose,
    Expression,
    Fence,
    Goto,
    Instruction,
    Skip,
    Thread,
    registers_in,
)
from fencepost.program.instructions import Assign, CellAccess
from fencepost.static.liveness import assigned_register
from fencepost.static.register_uses import may_divide_by_zero

END = -1
_MOST_NODES = 1000

Node = int


class Flow:
    """Instructions and what follows each: for a branch its target and the next one, for a choice its targets.

    Jumps and instructions that do nothing are no nodes; a loop of them alone is one that jumps to itself.
    """

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self.instruction: dict[Node, Instruction] = {}
        self.after: dict[Node, tuple[Node, ...]] = {}
        for pc, instruction in enumerate(thread.code):
            if self._real(pc) != pc:
                continue
            self.instruction[pc] = instruction
            self.after[pc] = tuple(map(self._real, self._following(pc)))
        self.entry = self._real(0)

    def _following(self, pc: int) -> tuple[int, ...]:
        match self._thread.code[pc]:
            case Goto(target):
                return (target,)
            case Branch(_, target):
                return (target, pc + 1)
            case Choose(targets):
                return targets
            case _:
                return (pc + 1,)

    def _real(self, pc: int, passed: frozenset[int] = frozenset()) -> Node:
        """The first node from there on."""
        while pc < len(self._thread.code):
            instruction = self._thread.code[pc]
            if pc in passed:
                return pc
            passed |= {pc}
            if isinstance(instruction, Goto | Skip):
                (pc,) = self._following(pc)
            elif isinstance(instruction, Branch) and not may_divide_by_zero(instruction):
                ways = {self._real(way, passed) for way in self._following(pc)}
                if len(ways) > 1 or ways & passed:
                    return pc
                (pc,) = ways
            else:
                return pc
        return END

    def add(self, instruction: Instruction, after: tuple[Node, ...]) -> Node:
        node = max(self.instruction, default=0) + 1
        self.instruction[node] = instruction
        self.after[node] = after
        return node

    def put_before(self, node: Node, instructions: Iterable[Instruction]) -> None:
        """Straight code in front of a node, on every way to it."""
        for instruction in instructions:
            moved = self.add(self.instruction[node], self.after[node])
            self.instruction[node] = instruction
            self.after[node] = (moved,)
            node = moved

    def lead(self, old: Node, new: Node) -> None:
        """Ways to one node lead to another from now on."""
        for node, after in self.after.items():
            self.after[node] = tuple(new if one == old else one for one in after)
        if self.entry == old:
            self.entry = new

    def thread(self) -> Thread:
        """What can be reached, as flat code."""
        code: list[Instruction] = []
        ways: list[tuple[Node, ...]] = []
        place: dict[Node, int] = {}
        todo = [self.entry]
        while todo:
            node = todo.pop()
            if node == END or node in place:
                continue
            while True:
                if node == END or node in place:
                    code.append(Goto(0))
                    ways.append((node,))
                    break
                place[node] = len(code)
                instruction, after = self.instruction[node], self.after[node]
                code.append(instruction)
                match instruction:
                    case Branch():
                        ways.append(after[:1])
                        todo.append(after[0])
                        node = after[1]
                    case Choose() | Goto():
                        ways.append(after)
                        todo += reversed(after)
                        break
                    case _:
                        ways.append(())
                        (node,) = after
        if self.entry == END:
            return replace(self._thread, code=(), labels={})
        place[END] = len(code)
        jumps = [_leading(i, [place[n] for n in to]) for i, to in zip(code, ways, strict=True)]
        return replace(self._thread, code=tuple(jumps), labels={})


def _leading(instruction: Instruction, places: list[int]) -> Instruction:
    match instruction:
        case Branch() | Goto():
            return replace(instruction, target=places[0])
        case Choose():
            return replace(instruction, targets=tuple(places))
        case _:
            return instruction


def with_early_branches(thread: Thread) -> Thread:
    """Branches are decided as soon as their registers have their values, before accesses in between: these
    are there twice then. A register of which only the branch makes use is dead at them."""
    flow = Flow(thread)
    origin = {node: node for node in flow.instruction}
    met: set[tuple[Node, Node]] = set()
    todo = [node for node, i in flow.instruction.items() if isinstance(i, Branch)]
    while todo and len(flow.instruction) < _MOST_NODES:
        branch = todo.pop()
        instruction = flow.instruction[branch]
        if may_divide_by_zero(instruction):
            continue
        assert isinstance(instruction, Branch)
        read = set(registers_in(instruction.condition))
        if not read:
            continue
        for before in [n for n, after in flow.after.items() if after == (branch,)]:
            earlier = flow.instruction[before]
            key = (origin[branch], origin[before])
            if key in met or not isinstance(earlier, CellAccess | Fence | Assign):
                continue
            if assigned_register(earlier) in read or before == branch:
                continue
            met.add(key)
            ways = tuple(flow.add(earlier, (after,)) for after in flow.after[branch])
            hoisted = flow.add(instruction, ways)
            origin |= {ways[0]: origin[before], ways[1]: origin[before], hoisted: origin[branch]}
            flow.lead(before, hoisted)
            todo.append(hoisted)
    return flow.thread()


def reads_any(expression: Expression, names: set[str]) -> bool:
    return not names.isdisjoint(registers_in(expression))
