"""Which names the parts of a program can have."""

from __future__ import annotations

import re

from fencepost.formats.tpl.parser import KEYWORDS

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_name(name: str, what: str) -> None:
    """Raises `ValueError` for what is no name in TPL."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a {what}; expected letters, digits and `_`")
    if name in KEYWORDS:
        raise ValueError(f"{name!r} is a keyword of TPL and cannot be the name of a {what}")
