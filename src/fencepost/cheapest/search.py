"""Which set of changes makes a program right at the least cost?

The search knows nothing of programs: changes are numbers with costs, and `check` tells whether a set of them
will do and, if not, which conflicts (`hitting_set.Conflict`) every set that does must respect. It works by
implicit hitting sets:

    repeat: take a cheapest set that respects every conflict learnt so far, and check it
            it will do: it is a minimum, since all cheaper sets break a conflict
            it will not: learn its conflicts

A check that fails must break one of the conflicts it returns, so no set is checked twice. If more changes
never hurt, a conflict is the complement of a set that will not do, the smaller the better. Where some changes
can hurt, `Conflict.drop` says so, and the minimum is as exact.

On the way, sets that are too small are filled up greedily until one will do: this gives an answer long before
the minimum is proven, and more conflicts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fencepost.cheapest.hitting_set import Conflict, HittingSets, TimeIsUpError

Chosen = frozenset[int]


@dataclass(frozen=True, slots=True)
class Holds:
    """The set of changes will do."""


@dataclass(frozen=True, slots=True)
class Fails:
    """The set of changes will not do: it breaks one of these conflicts at least."""

    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True)
class Undecided:
    why: str
    interrupted: bool = False


Check = Callable[[Chosen], Holds | Fails | Undecided]


@dataclass(frozen=True, slots=True)
class RepairProgress:
    """How far the search is. Costs are sums of the costs it was given; no `best` is known at first."""

    checks: int
    lower_bound: int
    best: int | None


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a search.

    `best` is the cheapest set known that will do. It is a minimum if it costs `lower_bound`; nothing will do
    if `impossible`. `minima` are minimum sets, all of them if `complete`. `why` says what ended the search
    before its time.
    """

    best: Chosen | None
    lower_bound: int
    impossible: bool
    minima: tuple[Chosen, ...]
    complete: bool
    checks: int
    why: str = ""
    interrupted: bool = False


def cheapest_repair(
    costs: Sequence[int],
    check: Check,
    *,
    discouraged: Sequence[int] = (),
    find_all: bool = False,
    most: int | None = None,
    deadline: float | None = None,
    time_limit: str = "time limit",
    watcher: Callable[[RepairProgress], None] | None = None,
) -> Found:
    """The search; with `find_all` for every minimum.

    It gives up once it knows that a minimum costs as much as `most`, with `find_all` that it costs more.
    Among minima, one for which the sum of `discouraged` is least is found first. `deadline` is a time of
    `time.monotonic`, which `check` is expected to keep too; `time_limit` is what the user calls it. Ctrl-C
    ends the search with what is known.
    """
    enough = None if most is None else most + find_all
    discouraged = discouraged or [0] * len(costs)
    search = _Search(costs, check, discouraged, deadline, watcher, time_limit=time_limit, enough=enough)
    try:
        search.find_minimum()
        if find_all and search.best is not None:
            search.find_others()
    except _StoppedError as stopped:
        return search.found(stopped.why, interrupted=stopped.interrupted)
    except KeyboardInterrupt:
        return search.found("the search was interrupted", interrupted=True)
    return search.found()


class _StoppedError(Exception):
    def __init__(self, why: str, interrupted: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.interrupted = interrupted


class _Search:
    def __init__(
        self,
        costs: Sequence[int],
        check: Check,
        discouraged: Sequence[int],
        deadline: float | None,
        watcher: Callable[[RepairProgress], None] | None,
        *,
        time_limit: str,
        enough: int | None,
    ) -> None:
        self._costs = costs
        self._discouraged = discouraged
        self._check = check
        self._deadline = deadline
        self._time_limit = time_limit
        self._watcher = watcher
        self._enough = enough
        self._candidates = HittingSets(costs, discouraged)
        self._conflicts: dict[Conflict, None] = {}
        self._good: set[Chosen] = set()
        self._checks = 0
        self._lower_bound = 0
        self._impossible = False
        self._minima: list[Chosen] = []
        self._complete = False
        self.best: Chosen | None = None

    def found(self, why: str = "", *, interrupted: bool = False) -> Found:
        return Found(
            best=self.best,
            lower_bound=self._lower_bound,
            impossible=self._impossible,
            minima=tuple(self._minima),
            complete=self._complete,
            checks=self._checks,
            why=why,
            interrupted=interrupted,
        )

    def find_minimum(self) -> None:
        while True:
            chosen = self._cheapest()
            if chosen is None:
                self._impossible = True
                return
            self._lower_bound = self._cost(chosen)
            if self._enough is not None and self._lower_bound >= self._enough:
                raise _StoppedError("no repair is as cheap as one that is known")
            if self.best is not None and self._weight(self.best) <= self._weight(chosen):
                break
            if not self._will_do(chosen):
                self._fill_up(chosen)
        # Only changes that cost nothing can be needless here.
        self.best = self._thinned(self.best)
        self._minima.append(self.best)

    def find_others(self) -> None:
        """Every other set that costs no more than the minimum and does not contain one found before."""
        assert self.best is not None
        self._candidates.exclude(self.best)
        while True:
            chosen = self._cheapest()
            if chosen is None or self._cost(chosen) > self._lower_bound:
                break
            if self._will_do(chosen):
                self._minima.append(self._thinned(chosen))
                self._candidates.exclude(self._minima[-1])
        self._complete = True

    def _cheapest(self) -> Chosen | None:
        left = None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)
        try:
            return self._candidates.cheapest(left)
        except TimeIsUpError:
            raise _StoppedError(f"the {self._time_limit} was reached") from None

    def _will_do(self, chosen: Chosen) -> bool:
        if chosen in self._good:
            return True
        if not all(conflict.allows(chosen) for conflict in self._conflicts):
            return False
        self._report()
        self._checks += 1
        match self._check(chosen):
            case Holds():
                self._good.add(chosen)
                if self.best is None or self._weight(chosen) < self._weight(self.best):
                    self.best = chosen
                return True
            case Fails(conflicts):
                assert not all(conflict.allows(chosen) for conflict in conflicts)
                for conflict in conflicts:
                    self._conflicts[conflict] = None
                    self._candidates.require(conflict)
                return False
            case Undecided(why, interrupted):
                raise _StoppedError(why, interrupted)

    def _fill_up(self, chosen: Chosen) -> None:
        """Add changes one by one until the set will do, or is no better than the best.

        It is not thinned out: checks that hold are the expensive ones, and the cheapest set that respects
        the conflicts learnt on the way is a better one to check next.
        """
        while not self._will_do(chosen):
            more = self._one_more(chosen)
            if more is None or (self.best is not None and self._weight(more) >= self._weight(self.best)):
                return
            chosen = more
            self._raise_lower_bound()

    def _raise_lower_bound(self) -> None:
        cheapest = self._cheapest()
        if cheapest is not None:
            self._lower_bound = self._cost(cheapest)

    def _one_more(self, chosen: Chosen) -> Chosen | None:
        """`chosen` with the change that satisfies most of the broken conflicts for its cost."""
        served: dict[int, int] = {}
        for conflict in self._conflicts:
            if not conflict.allows(chosen):
                for change in conflict.add:
                    served[change] = served.get(change, 0) + 1
        if not served:
            return None
        return chosen | {min(served, key=lambda change: (self._costs[change] / served[change], change))}

    def _thinned(self, chosen: Chosen) -> Chosen:
        """`chosen`, which will do, without changes that it does not need, the expensive ones first."""
        for change in sorted(chosen, key=lambda change: (-self._costs[change], change)):
            if self._will_do(chosen - {change}):
                chosen -= {change}
        return chosen

    def _cost(self, chosen: Chosen) -> int:
        return self._candidates.cost(chosen)

    def _weight(self, chosen: Chosen) -> tuple[int, int]:
        return self._cost(chosen), sum(self._discouraged[change] for change in chosen)

    def _report(self) -> None:
        if self._watcher is not None:
            best = None if self.best is None else self._cost(self.best)
            self._watcher(RepairProgress(self._checks, self._lower_bound, best))
