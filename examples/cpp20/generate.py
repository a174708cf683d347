"""Writes the litmus tests of this directory: `python examples/cpp20/generate.py`.

A shape is the classic pattern of a test. A test is a shape with a mode for each access: `SB+sc-sc+rel-sc` is
store buffering with a release store in the second thread. Each thread may also have relaxed accesses and an
SC fence between them (`fsc`).

Of all mixtures of a shape, those at the border are kept: robust ones of which no weaker one is robust, and
others of which every stronger one is, a few of each. The engine finds them. The verdicts in the headers
come from the definitions in `fencepost.models`, by enumeration of all graphs.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

from fencepost.analyses.robustness import robust
from fencepost.formats.tpl import read
from fencepost.models.robustness import not_robust_graph
from fencepost.program import Program

HERE = Path(__file__).parent
MOST_ROBUST, MOST_OTHERS = 2, 3  # to keep of a shape

SHAPES = {
    "SB": "Wx1 Ry | Wy1 Rx",
    "MP": "Wx1 Wy1 | Ry Rx",
    "2+2W": "Wx1 Wy2 | Wy1 Wx2",
    "R": "Wx1 Wy1 | Wy2 Rx",
    "S": "Wx2 Wy1 | Ry Wx1",
    "IRIW": "Wx1 | Rx Ry | Ry Rx | Wy1",
    "WRC": "Wx1 | Rx Wy1 | Ry Rx",
    "RWC": "Wx1 | Rx Ry | Wy1 Rx",
    "Z6": "Wx1 Wy1 | Wy2 Wz1 | Rz Rx",
}
# By strength; an access that is neither relaxed nor seq_cst is a release store or an acquire load.
MODES = {"W": ("rlx", "rel", "sc"), "R": ("rlx", "acq", "sc")}
FENCE = "fsc"

Strength = tuple[int, ...]  # of a thread: of each access the place of its mode; with a fence, one more number
Mixture = tuple[Strength, ...]


def strengths(accesses: list[str]) -> list[Strength]:
    """What a thread can be like."""
    without = list(product(range(3), repeat=len(accesses)))
    return [*without, (0, 0, 1)] if len(accesses) == 2 else without


def is_weaker(one: Mixture, other: Mixture) -> bool:
    """Whether it is another one and nowhere stronger."""

    def at_most(a: Strength, b: Strength) -> bool:
        return len(a) <= len(b) and all(x <= y for x, y in zip(a, b, strict=False))

    return one != other and all(map(at_most, one, other))


def words(accesses: list[str], strength: Strength) -> str:
    if len(strength) > len(accesses):
        return FENCE
    return "-".join(MODES[access[0]][mode] for access, mode in zip(accesses, strength, strict=True))


def text(shape: str, mixture: Mixture) -> str:
    """The test, in TPL."""
    threads = [part.split() for part in SHAPES[shape].split("|")]
    locations = sorted({access[1] for accesses in threads for access in accesses})
    lines = ["max_value 2;", f"global {', '.join(locations)};"]
    for number, (accesses, strength) in enumerate(zip(threads, mixture, strict=True)):
        statements = list(statements_of(accesses, strength))
        registers = [s[0] for s in statements if " = " in s]
        local = f"local {', '.join(registers)}; " if registers else ""
        lines.append(f"fn t{number} {{ {local}{' '.join(statements)} }}")
    return "\n".join(lines) + "\n"


def statements_of(accesses: list[str], strength: Strength):
    registers = iter("rs")
    for place, access in enumerate(accesses):
        if place == 1 and len(strength) > len(accesses):
            yield "fence;"
        mode = MODES[access[0]][strength[place]]
        if access[0] == "W":
            yield f"{access[1]}.store({access[2]}, {mode});"
        else:
            yield f"{next(registers)} = {access[1]}.load({mode});"


def border(shape: str) -> tuple[list[Mixture], list[Mixture]]:
    """The weakest mixtures that are robust, and the strongest that are not."""
    threads = [part.split() for part in SHAPES[shape].split("|")]
    verdicts = {
        mixture: robust(read(text(shape, mixture)), "cpp20").holds
        for mixture in product(*map(strengths, threads))
    }
    good = [m for m, holds in verdicts.items() if holds]
    bad = [m for m, holds in verdicts.items() if not holds]
    weakest = [m for m in good if not any(is_weaker(other, m) for other in good)]
    strongest = [m for m in bad if not any(is_weaker(m, other) for other in bad)]
    return spread(weakest, MOST_ROBUST), spread(strongest, MOST_OTHERS)


def spread(mixtures: list[Mixture], most: int) -> list[Mixture]:
    """A few of them, from all over the list."""
    if len(mixtures) <= most:
        return mixtures
    return [mixtures[i * (len(mixtures) - 1) // (most - 1)] for i in range(most)]


def header(program: Program, what: str) -> str:
    models = ("cpp20",) if program.sc_access is not None else ("ra", "rc20", "cpp20")
    verdicts = {model: "yes" if not_robust_graph(program, model) is None else "no" for model in models}
    stated = " ".join(f"{model}={verdict}" for model, verdict in verdicts.items())
    return f"// expect: robust {stated}\n// {what}\n"


def files() -> dict[str, str]:
    """The content of each file."""
    result = {}
    for shape, pattern in SHAPES.items():
        threads = [part.split() for part in pattern.split("|")]
        weakest, strongest = border(shape)
        for mixtures, what in (
            (weakest, "Computed. Of the mixtures in generate.py, no weaker one is robust."),
            (strongest, "Computed. Of the mixtures in generate.py, every stronger one is robust."),
        ):
            for mixture in mixtures:
                name = "+".join([shape, *map(words, threads, mixture)])
                content = text(shape, mixture)
                result[f"{name}.tpl"] = header(read(content), what) + content
    return result


if __name__ == "__main__":
    for name, content in files().items():
        (HERE / name).write_text(content, encoding="utf-8")
