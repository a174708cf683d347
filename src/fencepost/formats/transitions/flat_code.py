"""From an automaton without atomic sections to the flat code of a thread.

    one transition           its instruction, and on with the state it leads to
    no transition            the end of the thread
    several                  a choice; but those that begin with a `check` are only offered where it holds:
      check a | check !a       Branch(a, A); B
      check a | check b        Branch(a, A); Assume(b); B         where a and b exclude each other
      check a | write          Branch(a, c); W: write …; c: Choose(A, W)
      noop | write             Choose(A, W); W: write …

States are laid out one after the other as they follow each other, so a jump is needed only where a state has
its place already. A transition that is split in two by a new state in the middle gives the same code, which
edits in place rely on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from fencepost.formats.transitions.automaton import Automaton, Lock, State, Transition, Unlock
from fencepost.program import (
    NEGATED,
    Assume,
    Binary,
    Constant,
    Expression,
    Instruction,
    Position,
    Register,
    Skip,
    Unary,
    evaluate,
    subexpressions,
)
from fencepost.program.assembler import Assembler, Label

# More cases than these are told apart by trying: choose a transition, then check.
_MOST_OUTCOMES = 16
_MOST_GUARDS = 32
_MOST_TRIALS = 5_000

# Of several checks, whether each of them holds.
Outcome = tuple[bool, ...]


class Code(NamedTuple):
    instructions: tuple[Instruction, ...]
    labels: dict[str, int]


def flat_code(automaton: Automaton) -> Code:
    """The code of the automaton; its labels are the states that can be reached."""
    layout = _Layout(automaton)
    layout.run()
    return layout.code()


@dataclass(frozen=True, slots=True)
class _Guarded:
    """Transitions whose `check`s may hold or not, and those that can be taken in any case.

    `cases` are the possible outcomes of the checks, in order.
    """

    undecided: tuple[Transition, ...]
    open: tuple[State | Transition, ...]
    cases: frozenset[Outcome]
    at: Position = field(compare=False)

    def resolved(self) -> _Guarded:
        """The same, without checks whose outcome is certain or makes no difference."""
        columns = [{case[n] for case in self.cases} for n in range(len(self.undecided))]
        certain = [t.target for t, column in zip(self.undecided, columns, strict=True) if column == {True}]
        taken = dict.fromkeys((*self.open, *certain))
        unsure = [
            n for n, column in enumerate(columns) if len(column) > 1 and self.undecided[n].target not in taken
        ]
        return _Guarded(
            tuple(self.undecided[n] for n in unsure),
            tuple(taken),
            frozenset(tuple(case[n] for n in unsure) for case in self.cases),
            self.at,
        )

    def after(self, number: int, *, holds: bool) -> _Guarded:
        """What is left to decide when the outcome of check `number` is known."""
        cases = frozenset(case for case in self.cases if case[number] == holds)
        return _Guarded(self.undecided, self.open, cases, _at(self.undecided[number])).resolved()

    def entry(self) -> _Entry:
        """Itself, or the one entry that is left."""
        return self.open[0] if len(self.open) == 1 and not self.undecided else self


# What code can be laid out for: a state, one of several transitions that leave one, a decision among them.
_Entry = State | Transition | _Guarded


class _Layout:
    def __init__(self, automaton: Automaton) -> None:
        self._initial: State = automaton.initial
        self._leaving = automaton.leaving()
        self._code = Assembler()
        self._labels: dict[_Entry, Label] = {}
        self._laid_out: dict[_Entry, None] = {}
        self._ends: dict[_Entry, None] = {}
        self._todo: list[_Entry] = []

    def code(self) -> Code:
        self._code.here(*map(self._label, self._ends))
        states = [entry for entry in (*self._laid_out, *self._ends) if isinstance(entry, str)]
        return Code(self._code.code(), {state: self._code.place(self._label(state)) for state in states})

    def run(self) -> None:
        self._todo.append(self._initial)
        while self._todo:
            self._lay_out(self._todo.pop())

    def _lay_out(self, entry: _Entry | None) -> None:
        """Put the code of `entry` here, then that of what follows it, up to what has a place already."""
        at: Position | None = None  # of what leads here from the instruction before
        while entry is not None and not self._has_place(entry):
            self._laid_out[entry] = None
            self._code.here(self._label(entry))
            match entry:
                case _Guarded():
                    at, entry = entry.at, self._decide(entry)
                case Transition():
                    self._code.add(_instruction(entry))
                    at, entry = _at(entry), entry.target
                case _:
                    entry = _next(self._leaving[entry])
        if entry is not None and at is not None and not self._is_next(entry):
            self._code.goto(self._label(entry), at)

    def _has_place(self, entry: _Entry) -> bool:
        if _is_end(entry) or (isinstance(entry, State) and entry not in self._leaving):
            self._ends[entry] = None
        return entry in self._laid_out or entry in self._ends

    def _is_next(self, entry: _Entry) -> bool:
        """Whether `entry`, which has a place, is where the next instruction would be."""
        while self._todo and self._has_place(self._todo[-1]):
            self._todo.pop()
        return entry in self._ends and not self._todo

    def _decide(self, guarded: _Guarded) -> _Entry | None:
        """Add the next instruction of the decision; gives what comes after it, if anything."""
        if not guarded.undecided:
            self._code.choose(tuple(map(self._label, guarded.open)), guarded.at)
            self._todo += reversed(guarded.open)
            return None
        ways = [(t, guarded.after(n, holds=True).entry()) for n, t in enumerate(guarded.undecided)]
        # A jump to what has its place already, or to the end, saves one after the other code.
        with_place = [n for n, (_, entry) in enumerate(ways) if self._has_place(entry)]
        number = min(with_place, key=lambda n: ways[n][1] in self._ends, default=0)
        otherwise = guarded.after(number, holds=False).entry()
        tried, entry = ways[number]
        if _is_end(otherwise):
            self._code.add(_instruction(tried))
            return entry
        if entry != otherwise:
            self._code.branch(_condition(tried), self._label(entry), _at(tried))
            self._todo.append(entry)
        return otherwise

    def _label(self, entry: _Entry) -> Label:
        if entry not in self._labels:
            self._labels[entry] = self._code.label()
        return self._labels[entry]


def _next(leaving: Sequence[Transition]) -> _Entry:
    """How to go on from a state that these transitions leave."""
    leaving = tuple(dict.fromkeys(leaving))
    if len(leaving) == 1:
        return leaving[0]
    checks = tuple(transition for transition in leaving if isinstance(transition.step, Assume))
    cases = _cases(checks)
    if cases is None:
        checks, cases = (), frozenset({()})
    # In a choice a `noop` is no more than the state it leads to.
    others = (t.target if isinstance(t.step, Skip) else t for t in leaving if t not in checks)
    return _Guarded(checks, tuple(others), cases, _at(leaving[0])).resolved().entry()


def _cases(checks: Sequence[Transition]) -> frozenset[Outcome] | None:
    """The possible outcomes of the checks, None if they are too many."""
    cases = _outcomes([_condition(check) for check in checks])
    if cases is None and 2 ** len(checks) <= _MOST_OUTCOMES:
        cases = frozenset(product((False, True), repeat=len(checks)))
    return None if cases is None or len(cases) > _MOST_OUTCOMES else cases


def _is_end(entry: _Entry) -> bool:
    """Whether the thread ends here because no check holds."""
    return isinstance(entry, _Guarded) and not entry.undecided and not entry.open


def _instruction(transition: Transition) -> Instruction:
    assert not isinstance(transition.step, Lock | Unlock)
    return transition.step


def _condition(check: Transition) -> Expression:
    assert isinstance(check.step, Assume)
    return check.step.condition


def _at(transition: Transition) -> Position:
    return transition.step.at


# --- which checks can hold together
#
# Conditions mostly compare registers with numbers and with each other. What they then say depends only on the
# order of the registers among each other and with those numbers, so trying enough values around each number
# finds every case. Other arithmetic counts as a register of its own, with any value; that can only add cases.


def _outcomes(guards: Sequence[Expression]) -> frozenset[Outcome] | None:
    """The possible truth values of all the guards, None if there is too much to try."""
    if len(guards) > _MOST_GUARDS:
        return None
    terms: dict[Expression, Register] = {}
    formulas = [_over_terms(guard, terms) for guard in guards]
    numbers = {0}
    for formula in formulas:
        numbers |= {part.value for part in subexpressions(formula) if isinstance(part, Constant)}
    # As many values between two numbers as there are terms, so that those can be there in any order.
    reach = range(-len(terms), len(terms) + 1)
    values = {number + distance for number in numbers for distance in reach}
    if len(values) ** len(terms) > _MOST_TRIALS:
        return None
    choices = [[(name.name, v) for v in values if v >= 0 or term != name] for term, name in terms.items()]
    return frozenset(
        tuple(evaluate(formula, dict(trial)) != 0 for formula in formulas) for trial in product(*choices)
    )


def _over_terms(expression: Expression, terms: dict[Expression, Register]) -> Expression:
    """The expression with each part that is not about order replaced by the register in `terms` for it."""
    match expression:
        case Constant():
            return expression
        case Unary("!", operand):
            return Unary("!", _over_terms(operand, terms))
        case Binary(operator, left, right) if operator in (*NEGATED, "&&", "||"):
            return Binary(operator, _over_terms(left, terms), _over_terms(right, terms))
        case Register():
            return terms.setdefault(expression, expression)
        case _:
            return terms.setdefault(expression, Register(f"#{len(terms)}"))
