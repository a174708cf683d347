"""Which changes could repair a program, and what is the program with some of them made?

    kind            change                                              models
    sc-fence        insert an SC fence                                  ra, rc20
    exchange        turn a store into an exchange, its result unused    ra, rc20
    acquire-fence   insert an acquire fence                             rc20
    release-fence   insert a release fence                              rc20
    acquire-load    make a relaxed load or wait acquire                 rc20
    release-store   make a relaxed store release                        rc20
    acquire-rmw     make the read part of an RMW acquire                rc20
    release-rmw     make the write part of an RMW release               rc20

Under RA every access acquires and releases anyway, so only the first two can help. A store is also offered
`acquire-rmw`, which takes effect together with `exchange`. Left out is what cannot help: changes to
locations that one thread alone uses or that nobody writes, acquire with nothing after it, release with
nothing before it, and a fence where another place for it is at least as good:

    acquire fence   stands after a relaxed read, or where several ways come together
    release fence   stands before a relaxed write, or where several ways part

A function that makes several threads is changed for all of them at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from holdfast.analyses.fence_places import AccessFlow, FencePlace, Side, loop_depths
from holdfast.program import (
    CellAccess,
    Exchange,
    Fence,
    Instruction,
    Load,
    Mode,
    Program,
    Store,
    Thread,
    Wait,
    access_modes,
)
from holdfast.program.program import code_with_targets

Kind = Literal[
    "sc-fence",
    "exchange",
    "acquire-fence",
    "release-fence",
    "acquire-load",
    "release-store",
    "acquire-rmw",
    "release-rmw",
]

# Roughly the cost on common machines of executing it once, an acquire load being 1.
DEFAULT_COSTS: dict[Kind, float] = {
    "sc-fence": 10,
    "exchange": 8,
    "acquire-fence": 2,
    "release-fence": 2,
    "acquire-load": 1,
    "release-store": 1,
    "acquire-rmw": 1,
    "release-rmw": 1,
}
KINDS: dict[str, tuple[Kind, ...]] = {"ra": ("sc-fence", "exchange"), "rc20": tuple(DEFAULT_COSTS)}

_FENCE_MODES: dict[Kind, Mode] = {
    "sc-fence": Mode.SC,
    "acquire-fence": Mode.ACQ,
    "release-fence": Mode.REL,
}
