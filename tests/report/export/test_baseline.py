"""A baseline somebody has changed is refused with one message, or read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fencepost.errors import InputError
from fencepost.report.export import baseline

ANSWERS = json.loads((Path(__file__).parents[1] / "snapshots" / "export" / "answers.json").read_text())
SMALL = {name: answer for name, answer in ANSWERS.items() if len(json.dumps(answer)) < 6000}


def changed(value: Any) -> Iterator[Any]:
    """The value with one number in it too large, or one list in it empty."""
    match value:
        case bool():
            return
        case int():
            yield 999
        case dict():
            for name, part in value.items():
                yield from ({**value, name: other} for other in changed(part))
        case list():
            yield from (
                [*value[:n], other, *value[n + 1 :]] for n in range(len(value)) for other in changed(value[n])
            )
            yield []


@pytest.mark.parametrize("name", SMALL)
def test_damaged_answers_are_read_or_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps(SMALL[name]))
    baseline.read(file)
    refused = []
    for answer in changed(SMALL[name]):
        file.write_text(json.dumps(answer))
        try:
            baseline.read(file)
        except InputError as error:
            refused.append(error.message)
    assert all(message and "\n" not in message for message in refused)
    assert SMALL[name].get("witness") is None or any("does not have" in message for message in refused)
