"""Sites: the atomic operations and fences of a compiled program, and changes to them.

A site is one source expression, however often it was inlined. `fix` and `relax` choose changes, the run-time
library tries them on runs (`FENCEPOST_OPTIONS=sites=FILE`), and the patcher writes them into the sources.
"""

from __future__ import annotations

from typing import Literal

import msgspec

SiteOrder = Literal["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"]
SiteOperation = Literal["load", "store", "exchange", "fetch", "compare_exchange", "fence"]


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """One atomic operation or fence in the source, with its order as it was compiled.

    `file`, `line` and `column` are those of the outermost expression that is not in a system header, so that
    `x.store(1)` is a site and not the line of <atomic> that it was inlined from. `column` is 0 where the
    compiler did not write it. `failure_order` is that of a compare-exchange.
    """

    file: str
    line: int
    column: int
    function: str
    operation: SiteOperation
    order: SiteOrder
    failure_order: SiteOrder | None = None


class SiteChange(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a site: another order, a fence before or after it, or, for a fence, nothing at all."""

    site: Site
    order: SiteOrder | None = None
    failure_order: SiteOrder | None = None
    fence_before: SiteOrder | None = None
    fence_after: SiteOrder | None = None
    remove: bool = False
