"""Libraries that threads of a finding came through and that the sanitizer cannot look into.

What such a library synchronises by itself is not seen, so a finding may be about accesses that it orders.
The C and C++ libraries are known function by function, and so is libgomp.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fencepost.sanitizer.run.events import Place

_KNOWN = (
    "libc.",
    "libc-",
    "libpthread",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "libm.",
    "ld-linux",
    "libgomp",
    "libdl",
)
_CALLED_BY_INSTRUMENTED_CODE = b"__tsan_"


def uninstrumented(places: Iterable[Place]) -> list[str]:
    """The names of the libraries, in order."""
    modules = {place.module for place in places}
    return sorted({os.path.basename(module) for module in modules if _cannot_be_seen(module)})


def _cannot_be_seen(module: str) -> bool:
    name = os.path.basename(module)
    if ".so" not in name or name.startswith(_KNOWN):
        return False
    try:
        return _CALLED_BY_INSTRUMENTED_CODE not in Path(module).read_bytes()
    except OSError:
        return False
