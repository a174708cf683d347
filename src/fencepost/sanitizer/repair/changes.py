"""Which changes are offered at sites, what they cost, and what a site is with some of them made.

    kind            what the site gets
    acquire-load    acquire, for a load
    release-store   release, for a store
    acquire-rmw     acquire, for a read-modify-write; for a compare-exchange also where it fails
    acquire-success acquire, for a compare-exchange only where it succeeds (offered by `relax`)
    acquire-failure acquire, for a compare-exchange only where it fails
    release-rmw     release, for a read-modify-write
    sc-load, sc-store, sc-rmw    seq_cst; for a compare-exchange also where it fails
    sc-success      seq_cst, for a compare-exchange only where it succeeds (offered by `relax`)
    sc-failure      seq_cst, for a compare-exchange only where it fails (as the one before)
    acquire-fence   a fence behind an operation that reads; of a fence, that it acquires
    release-fence   a fence before an operation that writes; of a fence, that it releases
    sc-fence        a fence before or behind an operation; of a fence, that it is one

`fix` starts from the orders that a program was compiled with, `relax` from none at all: relaxed operations,
and no fences. Each change only adds order, so more of them never hurt: under C++20 every behaviour that
stronger orders allow is allowed by weaker ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import Literal, NamedTuple, get_args

from fencepost.verdicts.sites import Site, SiteChange, SiteOrder

Kind = Literal[
    "sc-fence",
    "acquire-fence",
    "release-fence",
    "acquire-load",
    "release-store",
    "acquire-rmw",
    "acquire-success",
    "acquire-failure",
    "release-rmw",
    "sc-load",
    "sc-store",
    "sc-rmw",
    "sc-success",
    "sc-failure",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
Side = Literal["here", "before", "after"]
Target = Literal["generic", "x86-64", "aarch64"]
TARGETS: tuple[Target, ...] = get_args(Target)

# What executing a change once costs more than the operation without it, roughly, an acquire load being 1.
# `generic` has the costs that `fix` takes for programs in text. On x86-64 a seq_cst store is an exchange, a
# read-modify-write is locked in any case, and acquire and release only hold back the compiler. On AArch64
# (8.1 and later) orders are other instructions (ldar, stlr, ldadda), and fences are barriers (dmb).
_COSTS: dict[Target, dict[Kind, float]] = {
    "generic": {
        "sc-fence": 10,
        "acquire-fence": 2,
        "release-fence": 2,
        "acquire-load": 1,
        "release-store": 1,
        "acquire-rmw": 1,
        "acquire-success": 1,
        "acquire-failure": 1,
        "release-rmw": 1,
        "sc-load": 2,
        "sc-store": 8,
        "sc-rmw": 2,
        "sc-success": 2,
        "sc-failure": 1,
    },
    "x86-64": {
        "sc-fence": 20,
        "acquire-fence": 1,
        "release-fence": 1,
        "acquire-load": 1,
        "release-store": 1,
        "acquire-rmw": 1,
        "acquire-success": 1,
        "acquire-failure": 1,
        "release-rmw": 1,
        "sc-load": 1,
        "sc-store": 20,
        "sc-rmw": 1,
        "sc-success": 1,
        "sc-failure": 1,
    },
    "aarch64": {
        "sc-fence": 12,
        "acquire-fence": 6,
        "release-fence": 10,
        "acquire-load": 2,
        "release-store": 3,
        "acquire-rmw": 2,
        "acquire-success": 2,
        "acquire-failure": 1,
        "release-rmw": 3,
        "sc-load": 3,
        "sc-store": 4,
        "sc-rmw": 5,
        "sc-success": 5,
        "sc-failure": 2,
    },
}

LARGEST_COST = 1000
_STEPS = 100  # costs are multiples of 1/100


class Candidate(NamedTuple):
    """A change of this kind at the site, or of a fence on one side of it."""

    site: Site
    kind: Kind
    side: Side = "here"


class Prices:
    """Costs as integers without a common divisor; raises `ValueError`."""

    def __init__(self, target: Target, costs: Mapping[str, float]) -> None:
        for kind, cost in costs.items():
            if kind not in KINDS:
                raise ValueError(f"there is no change `{kind}`; expected one of: {', '.join(KINDS)}")
            if not 0 <= cost <= LARGEST_COST or _hundredths(cost).denominator != 1:
                raise ValueError(
                    f"the cost of {kind} is {cost}; expected a number between 0 and {LARGEST_COST} with at "
                    "most two decimals"
                )
        all_costs = {kind: int(_hundredths(costs.get(kind, cost))) for kind, cost in _COSTS[target].items()}
        self._unit = gcd(*all_costs.values()) or 1
        self._prices = {kind: cost // self._unit for kind, cost in all_costs.items()}

    def price(self, candidate: Candidate) -> int:
        return self._prices[candidate.kind]

    def cost(self, price: int) -> float:
        """What the user calls this price."""
        return price * self._unit / _STEPS


def _hundredths(cost: float) -> Fraction:
    return Fraction(str(cost)) * _STEPS


class Offered(NamedTuple):
    """`candidates` are numbered by their place; without any, the program is as compiled, or `stripped`."""

    candidates: tuple[Candidate, ...]
    sites: tuple[Site, ...]
    stripped: bool

    def changes(self, chosen: Iterable[int]) -> tuple[SiteChange, ...]:
        """What differs from the program as it was compiled, with this choice."""
        kinds: dict[Site, dict[Side, set[Kind]]] = {}
        for number in chosen:
            one = self.candidates[number]
            kinds.setdefault(one.site, {}).setdefault(one.side, set()).add(one.kind)
        made = (_made(site, kinds.get(site, {}), stripped=self.stripped) for site in self.sites)
        return tuple(change for change in made if change is not None)


def strengthenings(sites: Sequence[Site], without: Collection[str] = ()) -> Offered:
    """All that `fix` may do, but for the kinds in `without`."""
    offered = (
        Candidate(site, kind, side) for site in sites for kind, side in _stronger(site) if kind not in without
    )
    return Offered(tuple(offered), tuple(sites), stripped=False)


def weakenings(sites: Sequence[Site]) -> tuple[Offered, frozenset[int]]:
    """What `relax` may leave away, and which of these the program has as it was compiled."""
    candidates: list[Candidate] = []
    had: set[int] = set()
    for site in sites:
        kinds = tuple(_up_to(site))
        owned = _owned(site)
        had.update(len(candidates) + i for i, kind in enumerate(kinds) if kind in owned)
        candidates += [Candidate(site, kind) for kind in kinds]
    return Offered(tuple(candidates), tuple(sites), stripped=True), frozenset(had)


# What a kind stands for: (acquires, releases, is seq_cst).
class _Strength(NamedTuple):
    acquires: bool = False
    releases: bool = False
    sc: bool = False

    def join(self, other: _Strength) -> _Strength:
        return _Strength(*(a or b for a, b in zip(self, other, strict=True)))

    def spelled(self, *, reads: bool, writes: bool) -> SiteOrder:
        if self.sc:
            return "seq_cst"
        if self.acquires and self.releases and reads and writes:
            return "acq_rel"
        if self.acquires and reads:
            return "acquire"
        return "release" if self.releases and writes else "relaxed"


_ACQUIRES, _RELEASES, _SC = _Strength(True), _Strength(False, True), _Strength(True, True, True)


def _strength(order: SiteOrder | None) -> _Strength:
    if order == "seq_cst":
        return _SC
    return _Strength(order in ("consume", "acquire", "acq_rel"), order in ("release", "acq_rel"))


def _reads(site: Site) -> bool:
    return site.operation != "store"


def _writes(site: Site) -> bool:
    return site.operation != "load"


def _stronger(site: Site) -> Iterator[tuple[Kind, Side]]:
    own = _strength(site.order)
    fails = _strength(site.failure_order)
    is_cas = site.operation == "compare_exchange"
    reads_relaxed = _reads(site) and not (own.acquires and (fails.acquires or not is_cas))
    writes_relaxed = _writes(site) and not own.releases
    sc = own.sc and (fails.sc or not is_cas)
    acquire, release, strongest = _kinds_of(site)
    if is_cas and own.acquires:
        acquire = "acquire-failure"
    if acquire is not None and reads_relaxed:
        yield acquire, "here"
    if release is not None and writes_relaxed:
        yield release, "here"
    if not sc:
        yield strongest, "here"
    if site.operation == "fence":
        return
    if reads_relaxed:
        yield "acquire-fence", "after"
    if writes_relaxed:
        yield "release-fence", "before"
    yield "sc-fence", "after"
    yield "sc-fence", "before"


def _kinds_of(site: Site) -> tuple[Kind | None, Kind | None, Kind]:
    """By which it acquires, releases, and is seq_cst."""
    match site.operation:
        case "load":
            return "acquire-load", None, "sc-load"
        case "store":
            return None, "release-store", "sc-store"
        case "fence":
            return "acquire-fence", "release-fence", "sc-fence"
        case _:
            return "acquire-rmw", "release-rmw", "sc-rmw"


def _up_to(site: Site) -> Iterator[Kind]:
    """The kinds whose orders are not stronger than those of the site."""
    own, fails = _strength(site.order), _strength(site.failure_order)
    is_cas = site.operation == "compare_exchange"
    acquire, release, strongest = _kinds_of(site)
    if is_cas and own.acquires:
        yield "acquire-success"
    if is_cas and own.sc:
        yield "sc-success"
    if fails.acquires and not own.acquires:
        yield "acquire-failure"
    if fails.sc and not own.sc:
        yield "sc-failure"
    if acquire is not None and own.acquires and (fails.acquires or not is_cas):
        yield acquire
    if release is not None and own.releases:
        yield release
    if own.sc and (fails.sc or not is_cas):
        yield strongest


def _owned(site: Site) -> set[Kind]:
    """The fewest of these kinds that give the site its orders."""
    kinds = tuple(_up_to(site))
    for count in range(len(kinds) + 1):
        for some in combinations(kinds, count):
            if _made(site, {"here": set(some)}, stripped=True) is None:
                return set(some)
    raise AssertionError(f"the orders of {site} are not among those offered")


def _made(site: Site, kinds: Mapping[Side, set[Kind]], *, stripped: bool) -> SiteChange | None:
    """What the site becomes, in comparison with what it was compiled to; None if it stays as it was."""
    here = kinds.get("here", set())
    success = failure = _Strength()
    if not stripped:
        success, failure = _strength(site.order), _strength(site.failure_order)
    for kind in here:
        by = _SC if kind.startswith("sc-") else _ACQUIRES if kind.startswith("acquire-") else _RELEASES
        if kind not in ("acquire-failure", "sc-failure"):
            success = success.join(by)
        if kind in ("acquire-rmw", "acquire-failure", "sc-rmw", "sc-failure"):
            failure = failure.join(by)
    order = success.spelled(reads=_reads(site), writes=_writes(site))
    removed = site.operation == "fence" and order == "relaxed"
    failure_order = failure.spelled(reads=True, writes=False) if site.failure_order is not None else None
    # `consume` counts as acquire, and stays as it is if that is enough.
    same = _strength(site.order) == _strength(order)
    same_failure = _strength(site.failure_order) == _strength(failure_order)
    change = SiteChange(
        site=site,
        order=None if same or removed else order,
        failure_order=None if same_failure else failure_order,
        fence_before=_fence(kinds.get("before", set())),
        fence_after=_fence(kinds.get("after", set())),
        remove=removed,
    )
    return None if change == SiteChange(site=site) else change


def _fence(kinds: set[Kind]) -> SiteOrder | None:
    if not kinds:
        return None
    if "sc-fence" in kinds:
        return "seq_cst"
    if len(kinds) == 2:
        return "acq_rel"
    return "acquire" if "acquire-fence" in kinds else "release"
