"""Whether a document is SARIF 2.1.0: the official schema, and what it cannot say."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator, FormatChecker

SCHEMA = Path(__file__).parent / "schemas" / "sarif-2.1.0-rtm.5.json"


@cache
def _validator() -> Draft4Validator:
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")), format_checker=FormatChecker())


def checked_run(document: bytes) -> dict[str, Any]:
    """The one run of a valid log whose results follow its rules."""
    log = json.loads(document)
    _validator().validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    return dict(run)
