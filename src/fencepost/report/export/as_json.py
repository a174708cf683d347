"""An answer as JSON: one object on one line, and the schema of all such objects.

The form is that of the values in `fencepost.verdicts`; only the order of the keys is decided here, so that
what identifies an answer comes before its long parts.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from fencepost.verdicts import Answer

_FIRST = ("file", "question", "model", "criterion", "verdict", "why", "stats")

# Legal in JSON as they are, but not on a terminal: control characters above ASCII, direction overrides, line
# separators. `str.isprintable` takes none of them.
_UNPRINTABLE = "[\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"


def encode(answer: Answer) -> bytes:
    """`answer` as one JSON object without a line break."""
    fields = msgspec.to_builtins(answer)
    ordered = {key: fields.pop(key) for key in _FIRST if key in fields} | fields
    try:
        text = msgspec.json.encode(ordered).decode()
    except UnicodeEncodeError:
        text = msgspec.json.encode(_with_spelled_surrogates(ordered)).decode()
    if not text.isprintable():
        text = re.sub(_UNPRINTABLE, lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode()


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of all answers; `question` and `verdict` together say which one applies."""
    from fencepost.verdicts.union import CLASSES  # only here: printing an answer needs none but its own class

    of_answers, components = msgspec.json.schema_components(CLASSES, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An answer of fencepost",
        "oneOf": list(of_answers),
        "$defs": components,
    }


def _with_spelled_surrogates(value: Any) -> Any:
    """`value` with each byte of a text that is not UTF-8 written out, as in `\\udcff`."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_with_spelled_surrogates(key): _with_spelled_surrogates(v) for key, v in value.items()}
        case list() | tuple():
            return [_with_spelled_surrogates(item) for item in value]
        case _:
            return value
