"""msgspec, imported without what no plain question needs.

With msgspec come modules for values that no answer has, for JSON schemas, and for other forms than JSON. To
import them takes longer than to decide a small program. While msgspec is imported something else stands in
their places; afterwards they can be imported by whoever needs them, but not used through msgspec any more. So
this is for a process that answers one question and ends.
"""

from __future__ import annotations

import sys
import typing
from importlib import import_module
from types import ModuleType
from typing import Any

_LEFT_OUT = ("uuid", "decimal")
_LEFT_OUT_OF_MSGSPEC = ("_json_schema", "inspect", "msgpack", "structs", "toml", "yaml")


class _StandIn(ModuleType):
    """Has everything that one may ask for, and nothing is like it."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn(name)


class _NoForwardRef:
    def __init__(self, text: str, *, is_class: bool) -> None:
        pass


def import_lean_msgspec() -> None:
    if "msgspec" in sys.modules:
        return
    before = dict(sys.modules)
    try:
        _import_with(_stand_ins())
    except Exception:  # a version of msgspec that wants more of them
        for name in sys.modules.keys() - before.keys():
            del sys.modules[name]
        import_module("msgspec")


def _stand_ins() -> dict[str, Any]:
    names = (*_LEFT_OUT, *(f"msgspec.{name}" for name in _LEFT_OUT_OF_MSGSPEC))
    stand_ins: dict[str, Any] = {name: _StandIn(name) for name in names}
    # What is None cannot be imported: `typing` has all that msgspec needs of it.
    stand_ins["typing_extensions"] = None
    # `datetime` itself defines everything in Python first, up to Python 3.11.
    stand_ins["datetime"] = import_module("_datetime")
    return stand_ins


def _import_with(stand_ins: dict[str, Any]) -> None:
    absent = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(absent)
    # msgspec tries how this can be called. A real one compiles its text, and the first time Python compiles
    # for a program it makes hundreds of types for syntax trees.
    of_typing = vars(typing)
    forward_ref = of_typing["ForwardRef"]
    of_typing["ForwardRef"] = _NoForwardRef
    try:
        msgspec = import_module("msgspec")
    finally:
        of_typing["ForwardRef"] = forward_ref
        for name in absent:
            del sys.modules[name]
    for name in _LEFT_OUT_OF_MSGSPEC:
        vars(msgspec).pop(name, None)
