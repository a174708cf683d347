"""Whatever is given to the engine's Python module is refused with an exception or searched within its limits.

Programs are drawn as pieces of bytecode with numbers from a small range, a few of them far too large, so that
most are malformed in one way and some in none. The engine must not crash; `make test-sanitized` runs this
with AddressSanitizer watching.
"""

import random

import pytest

from fencepost.engine import _native
from fencepost.engine._native import (
    Criterion,
    ExpressionOp,
    GraphModel,
    Model,
    Op,
    Order,
    ProgramBuilder,
    StoreKind,
    Variation,
)

OPS, OPERATORS = list(Op), list(ExpressionOp)
BINARY = OPERATORS[OPERATORS.index(ExpressionOp.MULTIPLY) : OPERATORS.index(ExpressionOp.TO_BOOL)]
PROGRAMS = 1000
REFUSED = (ValueError, IndexError, TypeError, OverflowError, MemoryError)
LARGE = [2**16, 2**31, 2**32 - 2, 2**32 - 1]


class Pieces:
    """Random parts of a program; numbers are nearly always such as fit."""

    def __init__(self, seed):
        self.source = random.Random(seed)
        # How often, in percent, a number is too large by one, or by far.
        self.wrong = self.source.choice([0, 0, 1, 5, 25])

    def number(self, below):
        """One of 0..below-1, or a wrong one."""
        if self.source.random() * 100 < self.wrong or below == 0:
            return self.source.choice([below, below + 1, *LARGE])
        return self.source.randrange(below)

    def maybe(self, number):
        return None if self.source.random() < 0.2 else number

    def some(self, most, draw):
        return [draw() for _ in range(self.source.randrange(most + 1))]

    def value(self, max_value):
        return self.number(max_value + 1)

    def steps(self, registers):
        constant, register = ExpressionOp.PUSH_CONSTANT, ExpressionOp.PUSH_REGISTER
        first = (
            self.source.choice([constant, register]) if registers else constant,
            self.number(registers or 2),
        )
        if self.source.random() < 0.7:
            return [first]
        if self.source.random() * 100 < 5 + self.wrong:
            return [first, *((op, self.number(4)) for op in self.source.choices(OPERATORS, k=3))]
        return [first, (constant, self.number(3)), (self.source.choice(BINARY), 0)]

    def program(self):
        source = self.source
        max_value = source.choice([1, 2, 255, 2**64 - 1])
        registers, cells = source.randrange(3), source.randrange(1, 4)
        builder = ProgramBuilder(max_value, source.random() < 0.8)
        atomic = [source.random() < 0.8 for _ in range(cells)]
        for is_atomic in atomic:
            tracked = sorted(set(self.some(2, lambda: self.value(min(max_value, 2)))))
            free = tracked if source.random() * 100 >= self.wrong else [2, 1]
            builder.add_cell(
                self.value(max_value), is_atomic, tracked, source.random() < 0.5, free, source.random() < 0.5
            )
        builder.add_cell(0, True, [], False, [], source.random() < 0.9)
        expressions = source.randrange(1, 5)
        for _ in range(expressions):
            builder.add_expression(self.steps(registers), source.random() < 0.5)
        threads = source.choice([0, 1, 2, 2, 2, 3, 70])
        equal = source.random() < 0.3
        begun = source.getstate()
        for _ in range(threads):
            if equal:
                source.setstate(begun)
            builder.add_thread(registers, self.some(2, lambda: self.number(registers)))
            self._code(builder, registers, cells, atomic, expressions)
            if source.random() < 0.2:
                builder.track_taints(*(self.some(2, lambda: self.number(registers)) for _ in range(2)))
        for n in range(source.randrange(3) if equal else 0):
            builder.add_exchange(
                self.number(threads) if n else 0,
                self.number(threads) if n else self.number(2),
                self.some(2, lambda: (self.number(cells), self.number(cells))),
                self.some(
                    1,
                    lambda: (
                        self.value(max_value),
                        self.value(max_value),
                        self.some(2, lambda: self.number(cells)),
                        self.some(2, lambda: (self.number(threads), self.number(3), self.number(registers))),
                    ),
                ),
            )
        return builder.finish()

    def _code(self, builder, registers, cells, atomic, expressions):
        source = self.source
        size = source.randrange(5)
        for _ in range(size):
            first = self.number(cells)
            builder.add_instruction(
                source.choice(OPS),
                reg=self.number(registers) if registers else None,
                first_cell=first,
                cells=1 if source.random() < 0.9 else self.number(3),
                index=self.number(expressions) if source.random() < 0.15 else None,
                first=self.number(expressions) if source.random() < 0.98 else None,
                second=self.number(expressions) if source.random() < 0.98 else None,
                many=self.some(2, lambda: self.number(min(expressions, size + 1))),
                target=self.number(size + 1),
                acquire=source.random() < 0.5,
                acquire_alone=source.random() < 0.5,
                release=source.random() < 0.5,
                sc=source.random() < 0.2,
                sc_alone=source.random() < 0.2,
                non_atomic=first < cells and not atomic[first] and source.random() < 0.98,
                local=source.random() < 0.05,
                taints=source.random() * 200 < self.wrong,
            )
            if source.random() < 0.2:
                builder.forget(self.some(2, lambda: self.number(registers)))
            if source.random() < 0.1:
                builder.observe(self.some(2, lambda: self.number(registers)))


LIMITS = (300, 5.0, 1 << 26, None)


def searches(program, pieces):
    """Every search that there is, of which one is made."""
    source = pieces.source
    number = pieces.number
    pair = (number(3), number(3))
    return source.choice(
        [
            lambda: _native.explore(
                program,
                source.choice(list(Model)),
                source.choice(list(Order)),
                source.choice(list(StoreKind)),
                source.random() < 0.5,
                source.random() < 0.5,
                source.random() < 0.5,
                source.choice([1, 2]),
                Variation(seed=1, bits_per_state=3, deepest=100, bits_bytes=4096),
                *LIMITS,
            ),
            lambda: _native.explore_tso(
                program, source.choice(list(Criterion)), False, pieces.maybe(number(3)), *LIMITS
            ),
            lambda: _native.explore_any_number(
                program,
                source.choice(list(Model)),
                [pair],
                number(3),
                None,
                [pair],
                *LIMITS,
            ),
            lambda: _native.explore_attacks(program, [pair], number(3), pieces.maybe(number(3)), *LIMITS),
            lambda: _native.is_safe_pivot(program, number(3), [([0], [0, 1])] * min(number(4), 100), 300),
            lambda: _native.reachable(program, 300),
            lambda: _native.enumerate_graphs(
                program,
                source.choice(list(GraphModel)),
                [(number(2), number(2))],
                [number(2)],
                1,
                True,
                False,
                False,
                None,
                *LIMITS,
            ),
            lambda: _native.thread_graphs(program, 100, False),
        ]
    )


def try_seed(seed):
    """What the engine made of the program: "refused", "not searched", or "searched"."""
    pieces = Pieces(seed)
    try:
        program = pieces.program()
    except REFUSED:
        return "refused"
    try:
        searches(program, pieces)()
    except (*REFUSED, RuntimeError):  # of the latter kind are limits that two of them have no answer for
        return "not searched"
    return "searched"


CRASHED = [
    40626804117211665,  # views of 2,147,483,648 threads
    47624107830461537,  # exchanged cells of which only one is accessed
    9755565773989756,
    45667842234515259,
    13325945700703761,  # an index from a register that has been forgotten
]


def test_bytecode_is_refused_or_searched():
    made = [try_seed(seed) for seed in [*range(PROGRAMS), *CRASHED]]
    assert made.count("refused") > PROGRAMS / 10
    assert made.count("searched") > PROGRAMS / 10


def test_all_cells_of_an_array_are_atomic_or_none_is():
    def program(second_is_atomic):
        builder = ProgramBuilder(1, True)
        for is_atomic in (False, second_is_atomic, True):
            builder.add_cell(0, is_atomic, [], False, [], False)
        builder.add_expression([(ExpressionOp.PUSH_REGISTER, 0)], False)
        builder.add_thread(1, [])
        builder.add_instruction(Op.LOAD, reg=0, cells=2, index=0, non_atomic=True)
        return builder.finish()

    program(second_is_atomic=False)
    with pytest.raises(ValueError, match="kind of access"):
        program(second_is_atomic=True)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(20))
def test_much_bytecode_is_refused_or_searched(batch):
    for seed in range(10_000 + batch * 50_000, 10_000 + (batch + 1) * 50_000):
        try_seed(seed)
