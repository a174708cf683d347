"""A witness as a picture: one self-contained SVG, written without any other tool.

Boxes and arrows come from `layout` and `routes`; this module draws them, with the cycle in bold, a legend,
and the sentences of `explain` for those who cannot see it. The picture brings its own background and follows
the light or dark scheme of whoever shows it. All text is escaped. The same witness gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from itertools import pairwise
from zlib import crc32

from fencepost.report import explain
from fencepost.report.cycle import STEP_WORDS, buffered, roles
from fencepost.report.labels import outcome, source, thread_name
from fencepost.report.picture import layout
from fencepost.report.picture.layout import Arrow, Box, Gap, Lane, Layout
from fencepost.report.picture.routes import HEAD, Route, Router
from fencepost.report.printable import clip, paragraph, printable
from fencepost.verdicts import AnyWitness, Event

_TEXT_CHAR = 6.7  # a generous mean width of a character of the sentences
_SMALL_CHAR = 6.0
_LINE = 19.0
_LABEL_HEIGHT = 15.0
LONGEST_IN_PAGE = 40  # accesses; a page can hide the arrows that are not on the cycle

_LEGEND = STEP_WORDS | {"po": "earlier in thread"}
_PARTS = {
    "access": "the access that leaves SC",
    "stale": "the old write it uses",
    "latest": "the newest write",
    "delayed": "the write in the store buffer",
    "behind": "writes behind it",
    "overtaking": "the read that overtakes it",
    "showing": "the access that shows it",
    "misled": "a read of an old value",
    "racing": "the two writes",
}
_DRAWN_AS = {"misled": "access", "racing": "latest"}  # others as themselves
_CAPTION = "The bold arrows form a cycle: no single order of the accesses fits them."
_NAME = "A run that sequential consistency forbids"
_LATE = "Dashed writes wait in a store buffer, and reach memory later than they stand here."

# Each colour in the light scheme and in the dark one. Every class has the prefix of the picture, so that
# several pictures can share a page.
_STYLE = """\
.P text{font:13px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:<#1f2328|#e6edf3>}
.P .m{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
.P .g{font-size:12px}
.P .k{font-size:12px;font-weight:600}
.P .h{font-size:16px;font-weight:600}
.P .l{font-weight:600;font-size:13px}
.P .d,.P .q{fill:<#59636e|#9198a1>;font-size:11px}
.P .n{fill:<#59636e|#9198a1>;font-weight:600}
.P .e{font-size:11px;font-weight:600}
.P .bg{fill:<#fff|#0d1117>}
.P .lane{fill:<#f6f8fa|#161b22>}
.P .tag{fill:<#fff|#0d1117>;fill-opacity:.88}
.P .box{fill:<#fff|#21262d>;stroke:<#afb8c1|#656c76>;stroke-width:1.2}
.P .init{fill:<#eaeef2|#2a313c>}
.P .access,.P .overtaking{fill:<#ffebe9|#5d1a1d>;stroke:<#cf222e|#f85149>;stroke-width:2.2}
.P .stale,.P .delayed{fill:<#fff8c5|#3f3006>;stroke:<#bf8700|#d29922>;stroke-width:1.6;stroke-dasharray:5 3}
.P .behind{stroke:<#bf8700|#d29922>;stroke-dasharray:5 3}
.P .latest,.P .showing{fill:<#ddf4ff|#0c2d6b>;stroke:<#0969da|#4493f8>;stroke-width:1.8}
.P .a{fill:none;stroke-width:1.3;stroke-opacity:.5}
.P .c{stroke-width:2.8;stroke-opacity:1}
.P .po{stroke:<#818b98|#9198a1>}.P .fpo{fill:<#818b98|#9198a1>}
.P .rf{stroke:<#1a7f37|#3fb950>}.P .frf{fill:<#1a7f37|#3fb950>}
.P .mo{stroke:<#bc4c00|#f0883e>}.P .fmo{fill:<#bc4c00|#f0883e>}
.P .fr{stroke:<#cf222e|#f85149>}.P .ffr{fill:<#cf222e|#f85149>}
.P .so{stroke:<#8250df|#a371f7>}.P .fso{fill:<#8250df|#a371f7>}
.P .S{stroke:<#1b7c83|#39c5cf>;stroke-dasharray:2 3;stroke-opacity:.9}.P .fS{fill:<#1b7c83|#39c5cf>}
"""
_COLOUR = re.compile(r"<([^|>]+)\|([^>]+)>")
_RULE = re.compile(r"([^{}\n]+)\{([^{}]*)\}")


def render(witness: AnyWitness, title: str = "", *, full: bool = False) -> str:
    """The picture; of a long run only the part that the cycle is about, unless `full`."""
    prefix = f"fp{crc32(repr((witness, title, full)).encode('utf-8', 'backslashreplace')):08x}"
    most = None if full else layout.LONGEST_FULL_RUN
    # The boxes give the width, the width the height of the sentences, and the boxes stand below these.
    width = layout.arrange(witness, most=most).width
    head, top = _head(printable(title), explain.claim(witness), width)
    plan = layout.arrange(witness, most=most, top=top)
    name = printable(title) or _NAME
    return _picture(witness, plan, prefix, [f"<style>{style(prefix)}</style>"], head, name=name, notes=None)


def graph(witness: AnyWitness, prefix: str, notes: Callable[[Arrow], str]) -> str:
    """The picture as a part of a page that has `page_style(prefix)` and tells the rest of the story, with the
    legend as the page's own text.

    Each box names its event and each arrow and label its ends, for scripts. An arrow has what `notes` says
    about it as its tooltip.
    """
    plan = layout.arrange(witness, most=LONGEST_IN_PAGE, top=16, narrowest=0)
    name = _NAME if witness.cycle else "A run to a bad state"
    return _picture(witness, plan, prefix, [], [], name=name, notes=notes)


def legend(witness: AnyWitness, prefix: str) -> str:
    """What the colours and lines of `graph` mean, as a list in HTML."""
    plan = layout.arrange(witness, most=LONGEST_IN_PAGE, top=16, narrowest=0)
    relations, played, caption = _meanings(plan, _played(witness, plan))
    items = "".join(
        f'<li><svg class="{prefix}" width="30" height="16" aria-hidden="true">'
        f"{_sample(kind, 2.0, 8.0, prefix)}</svg>{escape(words)}</li>"
        for kind, words in (*relations, *played)
    )
    return f'<ul class="fp-legend">{items}</ul><p class="fp-reading">{escape(caption)}</p>'


def style(prefix: str) -> str:
    """The style sheet of a picture that stands alone: the dark scheme for whoever prefers it."""
    light = _COLOUR.sub(r"\1", _STYLE)
    dark = "".join(
        f"{rule[1]}{{{';'.join(part for part in rule[2].split(';') if '<' in part)}}}"
        for rule in _RULE.finditer(_STYLE)
        if "<" in rule[2]
    )
    dark = _COLOUR.sub(r"\2", dark)
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}\n".replace(".P", "." + prefix)


def page_style(prefix: str) -> str:
    """The same in a page, whose `color-scheme` decides."""
    return _COLOUR.sub(r"light-dark(\1,\2)", _STYLE).replace(".P", "." + prefix)


def _picture(
    witness: AnyWitness,
    plan: Layout,
    prefix: str,
    style_sheet: list[str],
    head: list[str],
    *,
    name: str,
    notes: Callable[[Arrow], str] | None,
) -> str:
    width = plan.width
    parts = {stop: part for stop, part in _parts(witness).items() if stop in plan.boxes}
    below, bottom = _legend(plan, _played(witness, plan), prefix) if notes is None else ([], plan.height + 12)
    body = [
        f'<rect class="bg" width="{width:.0f}" height="{bottom:.0f}" rx="8"/>',
        *head,
        *(part for lane in plan.lanes for part in _lane(lane)),
        *_arrows(plan, prefix, notes),
        *_boxes(witness, plan, parts, named=notes is not None),
        *below,
    ]
    role = "img" if notes is None else "group"  # which has arrows to go to with the keyboard
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{prefix}" role="{role}" '
            f'aria-labelledby="{prefix}-title {prefix}-desc" width="{width:.0f}" height="{bottom:.0f}" '
            f'viewBox="0 0 {width:.0f} {bottom:.0f}">',
            f'<title id="{prefix}-title">{escape(name)}</title>',
            f'<desc id="{prefix}-desc">{escape(explain.explain_witness(witness))}</desc>',
            *style_sheet,
            f"<defs>{''.join(_marker(relation, prefix) for relation in _LEGEND)}</defs>",
            *body,
            "</svg>\n",
        ]
    )


def _parts(witness: AnyWitness) -> dict[int, str]:
    """The part of each event that plays one."""
    return {**dict.fromkeys(buffered(witness), "behind"), **roles(witness)}


def _played(witness: AnyWitness, plan: Layout) -> set[str]:
    """The parts that are in the picture."""
    return {part for event, part in _parts(witness).items() if event in plan.boxes}


def _marker(relation: str, prefix: str) -> str:
    """An arrow head of the colour of the relation, of one size for thin and bold arrows."""
    return (
        f'<marker id="{prefix}-{relation}" viewBox="0 0 10 10" refX="6" refY="5" markerWidth="10" '
        f'markerHeight="10" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path class="f{relation}" d="M0,0.8L10,5L0,9.2L2.5,5z"/></marker>'
    )


def _text(x: float, y: float, text: str, classes: str = "", anchor: str = "") -> str:
    how = (f' class="{classes}"' if classes else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{how}>{escape(text)}</text>'


def _with_code(line: str) -> str:
    """The line, what stands between backquotes set as code."""
    return re.sub("`([^`]+)`", r'<tspan class="m k">\1</tspan>', escape(line))


def _head(title: str, sentence: str, width: float) -> tuple[list[str], float]:
    """The title and the sentence, and the y below them."""
    room = int((width - 2 * layout.MARGIN) / _TEXT_CHAR)
    y, parts = 16.0, []
    for line in paragraph(title, int(room * 0.75)):
        y += _LINE + 2
        parts.append(_text(layout.MARGIN, y, line, "h"))
    for line in paragraph(sentence, room):
        y += _LINE
        parts.append(f'<text x="{layout.MARGIN:.1f}" y="{y:.1f}">{_with_code(line)}</text>')
    return parts, y + 24


def _lane(lane: Lane) -> Iterator[str]:
    box = lane.box
    yield _rect(box, "lane", 10)
    yield _text(box.left + 12, box.top + 20, clip(lane.name, layout.LONGEST_LABEL), "m n")


def _rect(box: Box, classes: str, radius: float) -> str:
    return (
        f'<rect class="{classes}" x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{radius:g}"/>'
    )


def _boxes(witness: AnyWitness, plan: Layout, parts: dict[int, str], *, named: bool) -> Iterator[str]:
    for stop, box in plan.boxes.items():
        if isinstance(stop, Gap):
            yield _text(box.x, box.y + 4, f"⋯ {stop.count} more", "q", "middle")
            continue
        event = witness.events[stop]
        name = f' class="event" data-event="{event.id}"' if named else ""
        yield f"<g{name}><title>{escape(_tooltip(witness, event))}</title>"
        if event.thread is None:
            yield _rect(box, f"box init {_style_of(parts.get(stop, ''))}".rstrip(), 13)
            yield _text(box.x, box.y + 4.5, layout.heading(event), "m l", "middle")
        else:
            yield _rect(box, f"box {_style_of(parts.get(stop, ''))}".rstrip(), 7)
            yield from _words(box, event)
        yield "</g>"


def _style_of(part: str) -> str:
    return _DRAWN_AS.get(part, part)


def _words(box: Box, event: Event) -> Iterator[str]:
    """The label, with its mode, and below it the line of the source."""
    below = layout.detail(event)
    mode = f' <tspan class="d">{escape(printable(event.mode))}</tspan>' if event.mode else ""
    y = box.y - 3.5 if below else box.y + 4.5
    label = escape(layout.heading(event))
    yield f'<text class="m l" x="{box.x:.1f}" y="{y:.1f}" text-anchor="middle">{label}{mode}</text>'
    if below:
        yield _text(box.x, box.y + 13, below, "m d", "middle")


def _tooltip(witness: AnyWitness, event: Event) -> str:
    if event.thread is None:
        return f"initial value of {printable(event.cell)}"
    where = f", line {event.line}" if event.line else ""
    what = f"{source(event)} {outcome(event, buffered=event.id in buffered(witness))}".rstrip()
    return f"{thread_name(witness.threads, event)}{where}: {what}"


# Arrows


def _arrows(plan: Layout, prefix: str, notes: Callable[[Arrow], str] | None) -> Iterator[str]:
    """The lines, those of the cycle last and so on top, then all labels."""
    router = _router(plan)
    routes = _routed(plan, router)
    for arrow, route in sorted(routes.items(), key=lambda item: item[0].on_cycle):
        relation = arrow.relations[0]
        bold = " c" if arrow.on_cycle else ""
        line = f'<path class="a {relation}{bold}" d="{route.data}" marker-end="url(#{prefix}-{relation})"/>'
        yield line if notes is None else _noted(arrow, route, line, notes(arrow))
    for arrow, route in routes.items():
        label = "\n".join(_label(arrow, route, router))
        if notes is not None and label:
            label = f'<g class="label{" on-cycle" if arrow.on_cycle else ""}" {_ends(arrow)}>{label}</g>'
        if label:
            yield label


def _label(arrow: Arrow, route: Route, router: Router) -> Iterator[str]:
    """What an arrow is called, but for program order off the cycle."""
    if arrow.relations == ("po",):
        if arrow.on_cycle:
            (x, top), (_, bottom) = route.points[0], route.points[-1]
            yield _text(x + 7, (top + bottom) / 2 + 3, "po", "m e fpo")
        return
    label = "+".join(arrow.relations)
    size = (len(label) * layout.DETAIL_CHAR + 5, _LABEL_HEIGHT)
    x, y = router.label(route, size)
    yield _rect(Box(x, y, *size), "tag", 4)
    yield _text(x, y + 4, label, f"m e f{arrow.relations[0]}", "middle")


def _noted(arrow: Arrow, route: Route, line: str, note: str) -> str:
    """The arrow with its note, and with a broad invisible line that is easier to point at."""
    on_cycle = " on-cycle" if arrow.on_cycle else ""
    return (
        f'<g class="edge{on_cycle}" tabindex="0" role="img" {_ends(arrow)} '
        f'data-relations="{" ".join(arrow.relations)}">'
        f'<title>{escape(note)}</title><path class="hit" d="{route.data}"/>{line}</g>'
    )


def _ends(arrow: Arrow) -> str:
    """The events at its ends, for scripts."""
    return " ".join(
        f'data-{which}="{end}"'
        for which, end in (("source", arrow.source), ("target", arrow.target))
        if not isinstance(end, Gap)
    )


def _router(plan: Layout) -> Router:
    obstacles = [*plan.boxes.values(), *(_name_box(lane) for lane in plan.lanes)]
    top = min((box.top for box in plan.boxes.values()), default=plan.top) - 14
    area = Box(plan.width / 2, (top + plan.height) / 2, plan.width - 20, plan.height - top)
    return Router(obstacles, area, _channels(plan), _passages(plan))


def _routed(plan: Layout, router: Router) -> dict[Arrow, Route]:
    """po as straight lines, then the rest: the cycle first, short arrows before long ones."""
    routes: dict[Arrow, Route] = {}

    def rank(arrow: Arrow) -> tuple[bool, bool, float]:
        a, b = plan.boxes[arrow.source], plan.boxes[arrow.target]
        return arrow.relations != ("po",), not arrow.on_cycle, abs(a.x - b.x) + abs(a.y - b.y)

    for arrow in sorted(plan.arrows, key=rank):
        a, b = plan.boxes[arrow.source], plan.boxes[arrow.target]
        straight = arrow.relations == ("po",)
        routes[arrow] = (
            router.straight((a.x, a.bottom), (b.x, b.top - HEAD)) if straight else router.route(a, b)
        )
    return routes


def _name_box(lane: Lane) -> Box:
    size = min(len(lane.name), layout.LONGEST_LABEL) * layout.LABEL_CHAR
    return Box(lane.box.left + 12 + size / 2, lane.box.top + 16, size, 14)


def _channels(plan: Layout) -> list[float]:
    """The middles of the free columns between the lanes and beside them."""
    edges = [lane.box for lane in plan.lanes]
    between = [(a.right + b.left) / 2 for a, b in pairwise(edges)]
    return [edges[0].left - 2, *between, edges[-1].right + 2] if edges else []


def _passages(plan: Layout) -> list[float]:
    """The middles of the free rows between boxes."""
    rows = sorted({(box.top, box.bottom) for box in plan.boxes.values()})
    middles = [(a[1] + b[0]) / 2 for a, b in pairwise(rows) if b[0] - a[1] > 12]
    return [*middles, plan.height - layout.LANE_PADDING / 2]


# The legend


def _meanings(plan: Layout, played: set[str]) -> tuple[list[tuple[str, str]], list[tuple[str, str]], str]:
    """What the arrows and the colours of the boxes mean, and how to read the picture."""
    used = {relation for arrow in plan.arrows for relation in arrow.relations}
    relations = [(r, f"{r}: {words}") for r, words in _LEGEND.items() if r in used]
    colours = [(part, words) for part, words in _PARTS.items() if part in played]
    late = [_LATE] if "delayed" in played else []
    circle = [_CAPTION] if any(arrow.on_cycle for arrow in plan.arrows) else []
    return relations, colours, " ".join(["Read downwards.", *late, *circle])


def _legend(plan: Layout, parts_played: set[str], prefix: str) -> tuple[list[str], float]:
    """What the colours mean, and the y below it."""
    relations, played, caption = _meanings(plan, parts_played)
    parts = []
    y = plan.height + 8
    for group in filter(None, (relations, played)):
        x, y = layout.MARGIN, y + _LINE
        for kind, words in group:
            size = 31 + len(words) * _SMALL_CHAR
            if x > layout.MARGIN and x + size > plan.width - layout.MARGIN:
                x, y = layout.MARGIN, y + _LINE
            parts.append(_sample(kind, x, y, prefix))
            parts.append(_text(x + 31, y + 4, words, "g"))
            x += size + 14
    for line in paragraph(caption, int((plan.width - 2 * layout.MARGIN) / _SMALL_CHAR)):
        y += _LINE
        parts.append(_text(layout.MARGIN, y + 4, line, "g"))
    return parts, y + 24


def _sample(kind: str, x: float, y: float, prefix: str) -> str:
    if kind in _PARTS:
        return _rect(Box(x + 13, y, 22, 14), f"box {_style_of(kind)}", 4)
    return f'<path class="a c {kind}" d="M{x:.1f},{y:.1f}h22" marker-end="url(#{prefix}-{kind})"/>'
