"""What the tests of repair share: programs that need one, and the minimum found by trying all sets."""

from collections.abc import Iterator, Sequence
from random import Random

from fencepost.analyses.repair.changes import DEFAULT_COSTS, Change, apply
from fencepost.analyses.repair.fix import fix
from fencepost.analyses.robustness import robust
from fencepost.program import Program
from fencepost.verdicts import NotRobust, Robust
from fencepost.verdicts.repair import NotRepairable, Repaired
from tests.strategies import random_program


def is_robust(program: Program, model: str, changes: Sequence[Change] = ()) -> bool:
    answer = robust(apply(program, changes).program, model)
    assert isinstance(answer, Robust | NotRobust)
    return isinstance(answer, Robust)


def is_right(program: Program, model: str, changes: Sequence[Change] = ()) -> bool:
    """Robust and free of data races."""
    answer = robust(apply(program, changes).program, model)
    assert isinstance(answer, Robust | NotRobust)
    return isinstance(answer, Robust) and answer.race is None


def programs_to_repair(seeds: range, models: Sequence[str] = ("ra", "rc20")) -> Iterator[tuple[Program, str]]:
    """Random programs that are not robust or have a data race, with the model."""
    for seed in seeds:
        source = Random(seed)
        loop_free, modes = source.random() < 0.7, source.random() < 0.6
        sc_accesses = models == ("cpp20",) and source.random() < 0.7
        program = random_program(
            source, loop_free=loop_free, threads=(2, 3), modes=modes, sc_accesses=sc_accesses
        )
        model = source.choice(models)
        if not is_right(program, model):
            yield program, model


def repaired_programs(seeds: range) -> Iterator[tuple[Program, str, Repaired]]:
    """Such programs with their repairs, without those that have a race which no change removes."""
    for program, model in programs_to_repair(seeds):
        answer = fix(program, model)
        if isinstance(answer, Repaired):
            yield program, model, answer
        else:
            assert isinstance(answer, NotRepairable)
            assert answer.race is not None


def cost_of(changes: Sequence[Change]) -> int:
    return int(sum(DEFAULT_COSTS[change.kind] for change in changes))


def minima_by_trying_all(program: Program, model: str, changes: Sequence[Change]) -> set[frozenset[Change]]:
    """Every set of least cost that makes the program robust and free of data races."""
    subsets = [
        [change for number, change in enumerate(changes) if chosen >> number & 1]
        for chosen in range(1 << len(changes))
    ]
    found: set[frozenset[Change]] = set()
    least: int | None = None
    for subset in sorted(subsets, key=cost_of):
        if least is not None and cost_of(subset) > least:
            break
        if is_right(program, model, subset):
            found.add(frozenset(subset))
            least = cost_of(subset)
    return found
