"""The gallery of litmus tests: each program with the table of its outcomes, as fencepost computes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fencepost import load, outcomes
from fencepost.verdicts.outcomes import OutcomesAnswer

_FOLDERS = {
    "examples/outcomes": "The classic litmus tests, with accesses of each strength and with fences.",
    "examples/cpp20": "Tests and algorithms with seq_cst accesses: the weakest ones that are robust.",
}
_FAMILIES = {
    "SB": "Store buffering: each thread writes one location and reads the other",
    "SB-rmw": "Store buffering with read-modify-writes",
    "MP": "Message passing: data is written before a flag, the reader sees the flag",
    "MP-rmw": "Message passing where the flag is set by a read-modify-write",
    "LB": "Load buffering: each thread reads one location and then writes the other",
    "LB-rmw": "Load buffering with read-modify-writes",
    "2+2W": "Two threads write two locations in opposite orders",
    "2RMW": "Two read-modify-writes of one location",
    "CoRR": "Coherence: two reads of one location",
    "IRIW": "Independent reads of independent writes: do two readers agree on an order?",
    "ISA2": "Message passing over three threads",
    "WRC": "Write to read causality: a thread passes on what it has seen",
    "RWC": "Read to write causality",
    "R": "A write that another thread overtakes, and a read",
    "S": "A flag that orders two writes of one location",
    "Z6": "Three threads whose accesses form a cycle with a write and a read",
}
_SIGNS = {"allowed": "✓", "forbidden": "–", "unknown": "?"}
_MOST_ROWS = 24


def gallery(root: Path) -> str:
    """The page."""
    lines = [
        "# Gallery of litmus tests",
        "",
        "How the programs in `examples/outcomes` and `examples/cpp20` can end, and which memory models allow "
        "it. The tables were computed by [`fencepost outcomes`](outcomes.md) for this page. ✓ means "
        "that the model allows the outcome, – that it does not; ▶ marks what the condition looks for.",
        "",
    ]
    for folder, what in _FOLDERS.items():
        lines += [f"## {folder}", "", what, ""]
        family = ""
        for path in sorted((root / folder).glob("*.*"), key=_order):
            if path.suffix not in (".litmus", ".tpl"):
                continue
            if family_of(path) != family:
                family = family_of(path)
                lines += [
                    f"### {family} ({Path(folder).name})",
                    "",
                    f"{_FAMILIES.get(family, 'An algorithm')}.",
                    "",
                ]
            lines += entry(path, path.relative_to(root).as_posix())
    return "\n".join(lines)


def family_of(path: Path) -> str:
    """The name before the first plus; those of algorithms have none."""
    head, plus, rest = path.stem.partition("+")
    return f"2+{rest.partition('+')[0]}" if head == "2" and plus else head if plus else "Algorithms"


def _order(path: Path) -> tuple[bool, str, str]:
    family = family_of(path)
    return family == "Algorithms", family, path.stem


def entry(path: Path, name: str) -> Iterator[str]:
    """A program and its table."""
    program = load(path)
    answer = outcomes(program)
    assert isinstance(answer, OutcomesAnswer)
    text = path.read_text(encoding="utf-8").rstrip("\n")
    yield from [f"#### {path.stem}", "", f'```c title="{name}"', text, "```", ""]
    models = [one.model for one in answer.models if not one.refused]
    yield "| | " + " | ".join([*(f"`{each}`" for each in answer.names), *models]) + " |"
    yield "|---|" + "---:|" * len(answer.names) + ":---:|" * len(models)
    for row in answer.outcomes[:_MOST_ROWS]:
        values = [*map(str, row.values), *(_SIGNS[row.under[model]] for model in models)]
        yield f"| {'▶' if row.sought else ''} | " + " | ".join(values) + " |"
    yield ""
    more = len(answer.outcomes) - _MOST_ROWS
    if more > 0:
        yield f"… and {more} more."
    for one in answer.models:
        if one.refused:
            yield f"`{one.model}` was not asked: {one.refused}."
        elif one.race is not None:
            yield f"Under `{one.model}` there is a data race, so the program has no meaning."
    yield ""
