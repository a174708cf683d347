"""Small line plots side by side as one SVG: seconds on a logarithmic scale, for light and dark schemes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

_WIDTH, _HEIGHT = 190.0, 130.0
_LEFT, _TOP, _GAP_X, _GAP_Y = 56.0, 74.0, 22.0, 58.0
_COLUMNS = 4

_STYLE = """\
text{font:12px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
.title{font-size:13px;font-weight:600}.small{font-size:10px;fill:#656d76}
.bg{fill:#fff}.frame{fill:none;stroke:#afb8c1}.grid{stroke:#d8dee4}.limit{stroke:#cf222e;stroke-dasharray:4 3}
.line{fill:none;stroke-width:1.8}.s0{stroke:#0969da}.f0{fill:#0969da}.s1{stroke:#bc4c00}.f1{fill:#bc4c00}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.bg{fill:#0d1117}
.frame{stroke:#656c76}.grid{stroke:#2a313c}.limit{stroke:#f85149}
.s0{stroke:#4493f8}.f0{fill:#4493f8}.s1{stroke:#f0883e}.f1{fill:#f0883e}}"""


class Point(NamedTuple):
    x: int
    seconds: float | None
    """None: the time limit was reached."""


Lines = Mapping[str, Sequence[Point]]


class _Scale(NamedTuple):
    xs: range
    low: int
    """The powers of ten at the lower and the upper edge."""
    high: int
    limit: float | None

    def x(self, value: int) -> float:
        return _WIDTH * (value - self.xs[0] + 0.5) / len(self.xs)

    def y(self, seconds: float | None) -> float:
        shown = self.limit if seconds is None else seconds
        assert shown is not None, "a search that reached the limit, without a limit"
        exponent = log10(max(shown, 10.0**self.low))
        return _HEIGHT * (self.high - exponent) / (self.high - self.low)


def svg(panels: Mapping[str, Lines], title: str, x_label: str, limit: float | None = None) -> str:
    """One plot for each of `panels`, with a line for each of its entries; all have the same scales."""
    points = [point for lines in panels.values() for line in lines.values() for point in line]
    seconds = [p.seconds for p in points if p.seconds is not None] + ([] if limit is None else [limit])
    xs = range(min(p.x for p in points), max(p.x for p in points) + 1)
    scale = _Scale(xs, floor(log10(min(seconds))), ceil(log10(max(seconds) * 1.01)), limit)
    rows = ceil(len(panels) / _COLUMNS)
    width = _LEFT + _COLUMNS * (_WIDTH + _GAP_X)
    height = _TOP + rows * (_HEIGHT + _GAP_Y)
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="bg" width="{width:g}" height="{height:g}"/>',
        f'<text class="title" x="{_LEFT:g}" y="22">{escape(title)}</text>',
        *_legend(names, limit),
    ]
    for number, (name, lines) in enumerate(panels.items()):
        x = _LEFT + number % _COLUMNS * (_WIDTH + _GAP_X)
        y = _TOP + number // _COLUMNS * (_HEIGHT + _GAP_Y)
        body += [
            f'<g transform="translate({x:g} {y:g})">',
            *_axes(name, x_label, scale, leftmost=number % _COLUMNS == 0),
            *_lines(lines, names, scale),
            "</g>",
        ]
    return "\n".join([*body, "</svg>"]) + "\n"


def _legend(names: Sequence[str], limit: float | None) -> Iterator[str]:
    x = _LEFT
    for number, name in enumerate(names):
        yield f'<path class="line s{number}" d="M{x:g} 39h18"/>'
        yield f'<text x="{x + 24:g}" y="43">{escape(name)}</text>'
        x += 48 + 7 * len(name)
    if limit is not None:
        yield f'<path class="limit" d="M{x:g} 39h18"/><text x="{x + 24:g}" y="43">limit, {limit:g} s</text>'


def _axes(name: str, x_label: str, scale: _Scale, leftmost: bool) -> Iterator[str]:
    yield f'<text x="0" y="-8">{escape(name)}</text>'
    for exponent in range(scale.low, scale.high + 1):
        y = scale.y(10.0**exponent)
        yield f'<path class="grid" d="M0 {y:.1f}h{_WIDTH:g}"/>'
        if leftmost:
            yield f'<text class="small" x="-6" y="{y + 3:.1f}" text-anchor="end">{10.0**exponent:g} s</text>'
    if scale.limit is not None:
        yield f'<path class="limit" d="M0 {scale.y(None):.1f}h{_WIDTH:g}"/>'
    yield f'<rect class="frame" width="{_WIDTH:g}" height="{_HEIGHT:g}"/>'
    for x in scale.xs:
        yield f'<text class="small" x="{scale.x(x):.1f}" y="{_HEIGHT + 13:g}" text-anchor="middle">{x}</text>'
    middle = f'x="{_WIDTH / 2:g}" y="{_HEIGHT + 27:g}" text-anchor="middle"'
    yield f'<text class="small" {middle}>{escape(x_label)}</text>'


def _lines(lines: Lines, names: Sequence[str], scale: _Scale) -> Iterator[str]:
    for name, points in lines.items():
        number = names.index(name)
        places = [(scale.x(p.x), scale.y(p.seconds)) for p in points]
        yield f'<path class="line s{number}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'
        yield from (f'<circle class="f{number}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in places)
