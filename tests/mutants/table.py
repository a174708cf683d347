"""What is known of the mutants, and the table of it in `docs/trust.md`."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.listed import ROOT, Mutant

RESULTS = ROOT / "build" / "mutants" / "results"
PAGE = ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- mutants: written by make mutants -->", "<!-- end of mutants -->"


@dataclass(frozen=True)
class Result:
    key: str  # of the mutant
    killed: bool
    by: str  # the test
    tests: str  # which tests were asked
    file: str  # what the changed file was
    partial: bool = False  # survived, but only the first tests of its suite were run
    commit: str = ""
    at: float = 0.0  # seconds since 1970


def known_results() -> dict[str, Result]:
    """The last one of each mutant."""
    known: dict[str, Result] = {}
    for path in sorted(RESULTS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            result = Result(**json.loads(line))
            if result.key not in known or known[result.key].at <= result.at:
                known[result.key] = result
    return known


def table(listed: list[Mutant]) -> str:
    known = known_results()
    counts: dict[str, Counter[str]] = {}
    survivors, ran = [], []
    for mutant in listed:
        result = known.get(mutant.key)
        of = counts.setdefault(mutant.file, Counter())
        of["all"] += 1
        if mutant.equivalent:
            of["equivalent"] += 1
        elif result is None:
            of["not run"] += 1
        else:
            of["killed" if result.killed else "survived"] += 1
            ran.append(result)
            if not result.killed:
                survivors.append(mutant)
    kinds = ["all", "equivalent", "killed", "survived", "not run"]
    lines = ["| file | mutants | equivalent | killed | survived | not run |", "|---|--:|--:|--:|--:|--:|"]
    for file, of in counts.items():
        lines.append(f"| `{file}` | " + " | ".join(str(of[kind]) for kind in kinds) + " |")
    total = sum(counts.values(), Counter())
    lines.append("| all | " + " | ".join(str(total[kind]) for kind in kinds) + " |")
    run = total["killed"] + total["survived"]
    share = 100 * total["killed"] / run if run else 0
    lines += [
        "",
        f"Killed: {total['killed']} of {run} that were run and are not equivalent, {share:.1f} %.",
        _when(ran),
        "",
    ]
    if survivors:
        lines += ["Survived, those in italics only the first tests of their suite:", ""]
        lines += [
            f"- `{m.file}`, {_change(m)}" if not known[m.key].partial else f"- *`{m.file}`, {_change(m)}*"
            for m in survivors
        ]
        lines.append("")
    lines += ["Equivalent:", ""]
    lines += [f"- `{m.file}`, {_change(m)}: {m.equivalent}" for m in listed if m.equivalent]
    return "\n".join(lines)


def _when(ran: list[Result]) -> str:
    commits = list(dict.fromkeys(result.commit for result in sorted(ran, key=lambda result: result.at)))
    if not commits:
        return "None was run."
    if len(commits) == 1:
        return f"All were run at commit `{commits[0]}`."
    return f"They were run at {len(commits)} commits, the last ones at `{commits[-1]}`."


def _change(mutant: Mutant) -> str:
    shown = " ".join(mutant.shown.split())
    return f"``{shown}`` → ``{mutant.new}``" if mutant.new else f"``{shown}`` left out"


def write_table(listed: list[Mutant], page: Path = PAGE) -> None:
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{table(listed)}\n\n{END}{after}", encoding="utf-8")
