"""What the tests of repair share: programs that need one, and the minimum found by trying all sets."""

from collections.abc import Iterator, Sequence
from random import Random

from fencepost.analyses.repair.changes import DEFAULT_COSTS, Change, apply
from fencepost.analyses.robustness import robust
from fencepost.program import Program
from fencepost.verdicts import NotRobust, Robust
from tests.strategies import random_program


def is_robust(program: Program, model: str, changes: Sequence[Change] = ()) -> bool:
    answer = robust(apply(program, changes).program, model)
    assert isinstance(answer, Robust | NotRobust)
    return isinstance(answer, Robust)


def programs_to_repair(seeds: range, models: Sequence[str] = ("ra", "rc20")) -> Iterator[tuple[Program, str]]:
    """Random programs that are not robust, with the model that they are not robust against."""
    for seed in seeds:
        source = Random(seed)
        program = random_program(source, loop_free=source.random() < 0.7, threads=(2, 3))
        model = source.choice(models)
        if not is_robust(program, model):
            yield program, model


def cost_of(changes: Sequence[Change]) -> int:
    return int(sum(DEFAULT_COSTS[change.kind] for change in changes))


def minima_by_trying_all(program: Program, model: str, changes: Sequence[Change]) -> set[frozenset[Change]]:
    """Every set of least cost that makes the program robust."""
    subsets = [
        [change for number, change in enumerate(changes) if chosen >> number & 1]
        for chosen in range(1 << len(changes))
    ]
    found: set[frozenset[Change]] = set()
    least: int | None = None
    for subset in sorted(subsets, key=cost_of):
        if least is not None and cost_of(subset) > least:
            break
        if is_robust(program, model, subset):
            found.add(frozenset(subset))
            least = cost_of(subset)
    return found
