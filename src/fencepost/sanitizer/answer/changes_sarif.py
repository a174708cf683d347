"""An answer to `fix` about a compiled program as SARIF 2.1.0.

The repair is one result, with its patch of the sources as a fix that code hosts and editors can offer. If
some of the changes are to be made by hand there is no fix, since the others alone repair nothing.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from fencepost.report.export import sarif_log
from fencepost.report.export.sarif_log import Json, Rule
from fencepost.sanitizer.answer import explain
from fencepost.sanitizer.answer.changes_text import words
from fencepost.verdicts.patches import Replacement, SourcePatch
from fencepost.verdicts.program_changes import AnyProgramFix, AnyProgramRelax, PricedChange

_RULES = {
    "repair": Rule(
        "NotRobust",
        "An atomic access can leave sequential consistency",
        "The memory orders of the program let weak memory or a data race show; other orders do not.",
        "docs/fix.md",
    )
}


def encode(answer: AnyProgramFix | AnyProgramRelax, patch: SourcePatch | str) -> bytes:
    results = [_repair(answer, answer.changes, patch)] if answer.changes else []
    return sarif_log.encode(_RULES, results, arguments=answer.command[1:])


def _repair(
    answer: AnyProgramFix | AnyProgramRelax, changes: tuple[PricedChange, ...], patch: SourcePatch | str
) -> Json:
    steps = [f"{words(one.change)} ({explain.site_place(one.change.site)})" for one in changes]
    how = "at the least cost" if answer.holds and answer.sampled is None else "not proven to be enough"
    said = [f"Weak memory shows in this program. To repair it, {how}: {'; '.join(steps)}."]
    if isinstance(patch, SourcePatch):
        said += [one.advice for one in patch.by_hand]
    identity = sha256("\0".join(sorted(steps)).encode("utf-8", "backslashreplace")).hexdigest()[:16]
    result = sarif_log.result(_RULES, "repair", identity, " ".join(said))
    first, *others = (_location(one) for one in changes)
    result["locations"] = [first]
    if others:
        result["relatedLocations"] = sarif_log.related(others)
    if isinstance(patch, SourcePatch) and patch.replacements and not patch.by_hand:
        files: dict[str, list[Json]] = {}
        for one in patch.replacements:
            files.setdefault(explain.short_path(one.file), []).append(_replacement(one))
        result["fixes"] = [sarif_log.fix(f"Repair the program: {'; '.join(steps)}", files)]
    return result


def _location(one: PricedChange) -> Json:
    site = one.change.site
    return sarif_log.location(
        explain.short_path(site.file), site.line, says=words(one.change), function=site.function
    )


def _replacement(one: Replacement) -> dict[str, Any]:
    start, end = (one.start_line, one.start_column), (one.end_line, one.end_column)
    return sarif_log.replacement(start, end, one.text)
