"""Does a program with some orders given back go wrong, and what is learnt if it does? For `relax`."""

from __future__ import annotations

from fencepost.analyses.repair.changes import Offered, apply
from fencepost.analyses.repair.checks import Checks, FixWatcher
from fencepost.analyses.repair.costs import Prices
from fencepost.analyses.safety.portfolio import NothingAskedError, verify
from fencepost.cheapest.hitting_set import Conflict
from fencepost.cheapest.search import Fails, Holds, Undecided
from fencepost.engine.search import Limits, Watcher
from fencepost.errors import InputError
from fencepost.program import Program
from fencepost.program.properties import Property
from fencepost.verdicts import SafetyAnswer, Unknown

_NOTHING_TO_KEEP = (
    "there is nothing to keep: the program has no assertion, no final condition, and no non-atomic location "
    "on which threads could race. Put `assert(…)` or a comment such as `// assert: x == 1` into the program, "
    "or keep it robust"
)


class SafetyChecks(Checks):
    """Does no run of the program go wrong with the changes, whether or not weak memory shows?

    The changes are orders, and a stronger one never adds a run. So what fails fails with fewer changes too,
    and what holds holds with more; and a set that fails is made as large as it can be, since the fewer
    changes are missing from it, the more its conflict says.
    """

    def __init__(
        self,
        offered: Offered,
        wanted: Property,
        limits: Limits,
        prices: Prices,
        watcher: FixWatcher | None,
    ) -> None:
        super().__init__(limits, prices, watcher)
        self._offered = offered
        self._wanted = wanted
        self._all = frozenset(range(len(offered.changes)))
        self._failing: list[frozenset[int]] = []
        self._holding: list[frozenset[int]] = []

    def __call__(self, chosen: frozenset[int]) -> Holds | Fails | Undecided:
        known = [failing for failing in self._failing if chosen <= failing]
        found = None if known else self._decided(chosen)
        if found is not None and not isinstance(found, Fails):
            return found
        largest = known[0] if known else chosen
        if not known:
            for number in sorted(self._all - chosen):
                if isinstance(self._decided(largest | {number}), Fails):
                    largest |= {number}
            self._failing.append(largest)
        return Fails((Conflict(self._all - largest),))

    def ask(self, program: Program, limits: Limits, watcher: Watcher) -> SafetyAnswer:
        model = self._offered.model
        try:
            return verify(program, model, wanted=self._wanted, limits=limits, watcher=watcher)
        except NothingAskedError:
            raise InputError(_NOTHING_TO_KEEP, program.file) from None

    def _decided(self, chosen: frozenset[int]) -> Holds | Fails | Undecided:
        if any(holding <= chosen for holding in self._holding):
            return Holds()
        if any(chosen <= failing for failing in self._failing):
            return Fails(())
        if self._stopped:
            return Undecided("the search was interrupted", interrupted=True)
        changed = apply(self._offered.program, (self._offered.changes[number] for number in chosen))
        answer = self.answer(changed.program)
        if isinstance(answer, Unknown):
            return Undecided(answer.why, interrupted=answer.interrupted)
        if answer.holds:
            self._holding.append(chosen)
            return Holds()
        return Fails(())
