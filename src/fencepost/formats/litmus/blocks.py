"""Flat code as the statements of a process of a C litmus test.

C litmus tests have no `goto`, so only code that has the shapes of `lowering.py` can be written, from
whatever format it came; the rest is an `InputError`. Reading a statement that was chosen here gives back the
instructions it was chosen for, except that instructions C has no function for become several:

    BCAS(x, e, d), wait(x, e)     a loop around a compare-exchange or a load, marked by a comment
    r = CAS(x, e, d)              r = e; atomic_compare_exchange_strong_explicit(x, &r, d, …)

A made-up register (`scope.py`) all of whose uses are to bring the value of one effect to the test right
after it is not written at all: the effect stands in the test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from fencepost.errors import InputError
from fencepost.formats.litmus.parser import MOST_NESTED_STATEMENTS
from fencepost.formats.litmus.scope import FRESH_REGISTER
from fencepost.formats.litmus.spelling import Effect, Effects
from fencepost.program import (
    Assert,
    Assign,
    Assume,
    Binary,
    BlockingCompareExchange,
    Branch,
    Choose,
    CompareExchange,
    Constant,
    Expression,
    Goto,
    Instruction,
    Register,
    Thread,
    ThreadId,
    Verify,
    Wait,
    expressions_of,
    jump_targets,
    registers_of,
    subexpressions,
)
from fencepost.program.assembler import guarding
from fencepost.program.spelling import Spelling

if TYPE_CHECKING:
    from fencepost.program import Program

BLOCKS = "  // blocks in the program that this is from; for robustness a loop is not the same"


class Body(NamedTuple):
    """The lines of a process, and the registers to declare in it."""

    lines: list[str]
    registers: list[str]


def body(program: Program, thread: Thread, spelling: Spelling, kept: Set[str]) -> Body:
    """The process of that thread; registers in `kept` are asked about, so they must be written."""
    writer = _Writer(program, thread, spelling, kept)
    lines = writer.region(0, len(thread.code), None, 1)
    return Body(lines, writer.registers())


class _Loop(NamedTuple):
    top: int
    end: int


class _Test(NamedTuple):
    """A branch, with the effect before it that stands in its condition, if there is one."""

    branch_at: int
    branch: Branch
    effect: Effect | None


class _Writer:
    def __init__(self, program: Program, thread: Thread, spelling: Spelling, kept: Set[str]) -> None:
        self._program = program
        self._code = thread.code
        self._thread = thread
        self._spelling = spelling
        self._effects = Effects(thread.code, spelling)
        self._jumps_back: dict[int, list[int]] = {}
        for index, instruction in enumerate(self._code):
            for target in jump_targets(instruction):
                if target <= index:
                    self._jumps_back.setdefault(target, []).append(index)
        self._inlined = self._inlined_registers(kept)
        self._own: list[str] = []  # registers that only the text has

    def registers(self) -> list[str]:
        written = [name for name in self._thread.registers if name not in self._inlined]
        return [self._spelling.registers[name] for name in written] + self._own

    def region(self, start: int, end: int, loop: _Loop | None, depth: int) -> list[str]:
        """The statements whose code is `start..end`, inside of `loop`."""
        if depth >= MOST_NESTED_STATEMENTS:
            raise self._cannot("code nested that deeply", self._code[start] if start < end else None)
        lines: list[str] = []
        while start < end:
            statement, start = self._statement(start, end, loop, depth)
            lines += statement
        return lines

    # Effects in tests.

    def _test_at(self, index: int, *, assigning: bool = False) -> _Test | None:
        """The test that starts at `index`: a branch, or an effect and a branch that uses its value.

        The register in between is not written; where that is impossible, `assigning` makes it `(r = …)`.
        """
        instruction = self._code[index]
        if isinstance(instruction, Branch):
            return _Test(index, instruction, None)
        test = self._effect_and_branch(index)
        if test is None or test.effect is None or test.effect.result in self._inlined:
            return test
        return test._replace(effect=self._assigned(test.effect)) if assigning else None

    def _effect_and_branch(self, index: int) -> _Test | None:
        """An effect and the branch right after it, if that always uses its value, and exactly once."""
        effect = self._effects.at(index)
        if effect is None or effect.result is None or index + effect.length >= len(self._code):
            return None
        after = index + effect.length
        branch = self._code[after]
        if not isinstance(branch, Branch) or self._effects.is_target(after, since=index):
            return None
        value = Register(effect.result)
        once = sum(part == value for part in subexpressions(branch.condition)) == 1
        return (
            _Test(after, branch, effect) if once and value not in _maybe_skipped(branch.condition) else None
        )

    def _assigned(self, effect: Effect) -> Effect:
        return effect._replace(text=f"({self._name(effect.result or '')} = {effect.text})")

    def _inlined_registers(self, kept: Set[str]) -> Set[str]:
        """The made-up registers that need not be written, since every test has its effect inside."""
        uses = Counter(name for instruction in self._code for name in _mentioned(instruction))
        tested: set[str] = set()
        for index in range(len(self._code)):
            test = self._effect_and_branch(index)
            name = None if test is None or test.effect is None else test.effect.result
            if test is not None and name is not None and self._is_plain(index, name):
                effect = self._code[index : test.branch_at]
                uses[name] -= 1 + sum(n == name for part in effect for n in _mentioned(part))
                tested.add(name)
        return {name for name in tested - kept if uses[name] == 0 and FRESH_REGISTER.fullmatch(name)}

    def _is_plain(self, index: int, name: str) -> bool:
        """Whether the effect at `index` does not use the register that gets its value."""
        instruction = self._code[index]
        if isinstance(instruction, Assign | CompareExchange | Choose):
            return True  # its own uses are part of how a compare-exchange is written
        return all(Register(name) not in subexpressions(e) for e in expressions_of(instruction))

    def _condition(self, test: _Test, *, guard: bool) -> str:
        """The condition of the branch, or that of the block that it jumps over."""
        condition = guarding(test.branch.condition) if guard else test.branch.condition
        return self._spelling_with(test.effect).expression(condition)

    def _spelling_with(self, effect: Effect | None) -> Spelling:
        if effect is None or effect.result is None:
            return self._spelling
        registers = {**self._spelling.registers, effect.result: effect.text}
        return replace(self._spelling, registers=registers)

    # Statements.

    def _statement(self, index: int, end: int, loop: _Loop | None, depth: int) -> tuple[list[str], int]:
        """The statement whose code starts at `index`, and where its code ends."""
        last = self._loop_end(index, end, loop)
        if last is not None:
            return self._loop(index, last, depth), last + 1
        test = self._test_at(index)
        if test is not None and test.branch_at < end:
            return self._if(test, end, loop, depth)
        instruction = self._code[index]
        if isinstance(instruction, Goto):
            return self._jump(instruction, index, loop, depth), index + 1
        effect = self._effects.at(index)
        if effect is not None and index + effect.length <= end:
            result = "" if effect.result is None else f"{self._name(effect.result)} = "
            return [_line(depth, f"{result}{effect.text};")], index + effect.length
        return [_line(depth, text) for text in self._simple(instruction)], index + 1

    def _loop_end(self, top: int, end: int, loop: _Loop | None) -> int | None:
        """The last jump back to `top` before `end`, if a loop starts there that is not `loop` itself."""
        back = [source for source in self._jumps_back.get(top, ()) if source < end]
        if loop is None or loop.top != top:
            return back[-1] if back else None
        inner = (s for s in reversed(back) if isinstance(self._code[s], Goto) and self._is_closed(top, s))
        return next(inner, None)

    def _is_closed(self, top: int, last: int) -> bool:
        """Whether no jump leads out of the loop `top..last`, except to what comes right after it."""
        inside = range(top, last + 2)
        return all(t in inside for i in range(top, last + 1) for t in jump_targets(self._code[i]))

    def _jump(self, goto: Goto, index: int, loop: _Loop | None, depth: int) -> list[str]:
        if goto.target == index + 1:
            return []
        if loop is not None and goto.target == loop.end:
            return [_line(depth, "break;")]
        if loop is not None and goto.target == loop.top:
            return [_line(depth, "continue;")]
        raise self._cannot("this jump", goto)

    def _if(self, test: _Test, end: int, loop: _Loop | None, depth: int) -> tuple[list[str], int]:
        """An `if` with all its `else if`s."""
        if loop is not None and test.branch.target in loop:
            word = "break" if test.branch.target == loop.end else "continue"
            return [_line(depth, f"if ({self._condition(test, guard=False)}) {word};")], test.branch_at + 1
        lines: list[str] = []
        intro = "if"
        while True:
            start, target = test.branch_at + 1, test.branch.target
            if not start <= target <= end:
                raise self._cannot("this jump", test.branch)
            lines.append(_line(depth, f"{intro} ({self._condition(test, guard=True)}) {{"))
            after = self._after_else(start, target, end)
            if after is None:
                # A block that is nothing but a jump would be read as a branch there.
                is_jump = target - start == 1 and isinstance(self._code[start], Goto)
                ending = "} else { }" if is_jump else "}"
                return [*lines, *self.region(start, target, loop, depth + 1), _line(depth, ending)], target
            lines += self.region(start, target - 1, loop, depth + 1)
            inner = self._inner_if(target, after, loop)
            if inner is None:
                rest = self.region(target, after, loop, depth + 1)
                return [*lines, _line(depth, "} else {"), *rest, _line(depth, "}")], after
            intro, test, end = "} else if", inner, after

    def _after_else(self, start: int, target: int, end: int) -> int | None:
        """Where the `else` that starts at `target` ends; None if there is none."""
        match self._code[target - 1]:
            case Goto(after) if start < target < after <= end:
                return after
        return None

    def _inner_if(self, start: int, end: int, loop: _Loop | None) -> _Test | None:
        """The `if` that is all there is in the `else` block `start..end`."""
        if self._loop_end(start, end, loop) is not None:
            return None
        test = self._test_at(start, assigning=True)
        if test is None or test.branch_at >= end or (loop is not None and test.branch.target in loop):
            return None
        target = test.branch.target
        if not test.branch_at < target <= end:
            return None
        after = self._after_else(test.branch_at + 1, target, end)
        return test if end == (target if after is None else after) else None

    def _loop(self, top: int, last: int, depth: int) -> list[str]:
        """The loop from `top` to the jump back there at `last`."""
        loop = _Loop(top, last + 1)
        if isinstance(self._code[last], Branch):
            return self._branching_back(loop, last, depth)
        if not isinstance(self._code[last], Goto):
            raise self._cannot("a choice", self._code[last])
        head = self._test_at(top)
        # What jumps to the jump back goes past the test before it, as no statement in a do-loop does.
        ends_with_test = self._jumps_once(top, last) and not self._effects.is_target(last)
        tail = self._test_before(top, last) if ends_with_test else None
        if (head is None or head.branch.target != loop.end) and tail is not None:
            start, test = tail
            if test.branch.target == loop.end:
                inside = self.region(top, start, loop, depth + 1)
                ending = f"}} while ({self._condition(test, guard=True)});"
                return [_line(depth, "do {"), *inside, _line(depth, ending)]
        head = self._test_at(top, assigning=True)
        if head is not None and head.branch.target == loop.end:
            start, condition = head.branch_at + 1, self._condition(head, guard=True)
        else:
            start, condition = top, "1"
        inside = self.region(start, last, loop, depth + 1)
        return [_line(depth, f"while ({condition}) {{"), *inside, _line(depth, "}")]

    def _jumps_once(self, top: int, last: int) -> bool:
        """Whether the jump at `last` is the only one in its loop that leads to `top`."""
        return all(source >= last for source in self._jumps_back[top])

    def _branching_back(self, loop: _Loop, last: int, depth: int) -> list[str]:
        """A loop that ends with a branch to its top."""
        start, test = self._test_before(loop.top, loop.end) or (last, self._test_at(last))
        assert test is not None
        inside = self.region(loop.top, start, loop, depth + 1)
        if self._jumps_once(loop.top, last):
            ending = f"}} while ({self._condition(test, guard=False)});"
            return [_line(depth, "do {"), *inside, _line(depth, ending)]
        leave = _line(depth + 1, f"if ({self._condition(test, guard=True)}) break;")
        return [_line(depth, "while (1) {"), *inside, leave, _line(depth, "}")]

    def _test_before(self, start: int, end: int) -> tuple[int, _Test] | None:
        """The test that ends right before `end`, and where it starts."""
        for index in range(max(start, end - 8), end):
            test = self._test_at(index)
            if test is not None and test.branch_at == end - 1 and test.branch_at >= start:
                return index, test
        return None

    def _simple(self, instruction: Instruction) -> Iterator[str]:
        match instruction:
            case Assign(register, value):
                yield f"{self._name(register)} = {self._spelling.expression(value)};"
            case Verify():
                pass
            case CompareExchange():
                yield from self._compare_exchange(instruction)
            case BlockingCompareExchange():
                yield from self._blocking(instruction)
            case Wait():
                yield from self._wait(instruction)
            case Choose():
                raise self._cannot("a choice", instruction)
            case Assert():
                raise self._cannot("an assertion", instruction)
            case Assume():
                raise self._cannot("an assumption", instruction)
            case _:
                raise AssertionError(instruction)

    def _compare_exchange(self, cas: CompareExchange) -> Iterator[str]:
        """`register` gets the old value: that is what the expected register holds afterwards."""
        register = cas.register
        if register is None or (
            cas.expected != Register(register) and Register(register) in subexpressions(cas.desired)
        ):
            own = self._own_register()
            yield f"{own} = {self._spelling.expression(cas.expected)};"
            yield f"{self._effects.compare_exchange(cas, own)};"
            if register is not None:
                yield f"{self._name(register)} = {own};"
            return
        if cas.expected != Register(register):
            yield f"{self._name(register)} = {self._spelling.expression(cas.expected)};"
        yield f"{self._effects.compare_exchange(cas, register)};"

    def _blocking(self, cas: BlockingCompareExchange) -> Iterator[str]:
        own = self._own_register()
        attempt = CompareExchange(None, cas.cell, cas.expected, cas.desired, cas.load_mode, cas.store_mode)
        yield f"do {{{BLOCKS}"
        yield f"    {own} = {self._spelling.expression(cas.expected)};"
        yield f"}} while (!{self._effects.compare_exchange(attempt, own)});"

    def _wait(self, wait: Wait) -> Iterator[str]:
        values: list[Expression] = []
        for value in wait.values:
            if isinstance(value, Constant | Register | ThreadId) and value != Register(wait.register or ""):
                values.append(value)
            else:
                own = self._own_register()
                yield f"{own} = {self._spelling.expression(value)};"
                values.append(Register(own))
        load = self._effects.load(wait.cell, wait.mode)
        if wait.register is None and len(values) == 1:
            loaded = Effect(load, "", 1)
            condition = self._spelling_with(loaded).expression(Binary("!=", Register(""), values[0]))
            yield f"while ({condition}) {{{BLOCKS}"
            yield "}"
            return
        register = wait.register or self._own_register()
        condition = " && ".join(
            self._spelling.expression(Binary("!=", Register(register), value)) for value in values
        )
        yield f"do {{{BLOCKS}"
        yield f"    {self._name(register)} = {load};"
        yield f"}} while ({condition});"

    def _name(self, register: str) -> str:
        return self._spelling.registers.get(register, register)

    def _own_register(self) -> str:
        taken = {
            *self._thread.registers,
            *self._spelling.registers.values(),
            *self._spelling.locations.values(),
        }
        number = 1
        while f"_{number}" in taken or f"_{number}" in self._own:
            number += 1
        self._own.append(f"_{number}")
        return self._own[-1]

    def _cannot(self, what: str, instruction: Instruction | None) -> InputError:
        at = self._thread.at if instruction is None else instruction.at
        return self._program.mistake(f"{what} cannot be written in a C litmus test", at)


def _line(depth: int, text: str) -> str:
    return "    " * depth + text


def _mentioned(instruction: Instruction) -> Iterator[str]:
    """Every mention of a register in `instruction`."""
    yield from registers_of(instruction)
    for expression in expressions_of(instruction):
        for part in subexpressions(expression):
            if isinstance(part, Register):
                yield part.name


def _maybe_skipped(expression: Expression) -> list[Expression]:
    """The parts of `expression` that are not always evaluated."""
    skipped: list[Expression] = []
    for part in subexpressions(expression):
        if isinstance(part, Binary) and part.operator in ("&&", "||"):
            skipped += subexpressions(part.right)
    return skipped
