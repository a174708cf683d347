"""What the page is told of an answer: the part of the page about it, what stands in tables and in the editor,
and the files to download."""

from __future__ import annotations

from typing import Any

from fencepost.program import Program
from fencepost.report.asked import reason
from fencepost.report.export import as_json, sarif
from fencepost.report.findings import findings
from fencepost.report.html.page import fragment, page
from fencepost.report.labels import thread_name
from fencepost.report.picture import svg
from fencepost.report.story import headline, mood, stats_line
from fencepost.verdicts import Answer
from fencepost.verdicts.repair import RepairAnswer


def told(answer: Answer, program: Program) -> dict[str, Any]:
    return {
        "html": fragment(answer, program, with_source=False),
        "verdict": headline(answer),
        "mood": mood(answer),
        "reason": reason(answer),
        "holds": answer.holds,
        "findings": [what for what in answer.parts_found if what != "witness"],
        "stats": stats_line(answer.stats),
        "marks": _marks(answer),
        "repaired": answer.repaired if isinstance(answer, RepairAnswer) else None,
        "files": _files(answer, program),
    }


def _marks(answer: Answer) -> list[dict[str, Any]]:
    """The lines that play a part in what was found, the most important finding last."""
    if isinstance(answer, RepairAnswer):  # its findings are those of another program, the repaired one
        return []
    return [
        {
            "line": event.line,
            "part": found.roles.get(event.id, "access"),
            "says": f"{thread_name(found.run.threads, event)}: {said}",
        }
        for found in reversed(findings(answer))
        for event, said in found.related
    ]


def _files(answer: Answer, program: Program) -> dict[str, str]:
    """By kind, the answer as the command line would write it."""
    files = {
        "html": page(answer, program),
        "json": as_json.encode(answer).decode() + "\n",
        "sarif": sarif.encode([(answer.file, answer)]).decode(),
    }
    if answer.witness is not None:
        files["svg"] = svg.render(answer.witness, f"{answer.file}: {headline(answer)}")
    return files
