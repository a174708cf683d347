"""How an arrow runs from one box to another without crossing the boxes between them.

For each arrow many curves are tried, from every side of one box to every side of the other, smooth ones and
ones along the free channels between lanes and rows. Each has a price: its length, and what it runs through
or along. The cheapest one is taken. Arrows routed earlier make their way dearer for the later ones, so the
important ones go first. The result depends on nothing but the boxes and the order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import hypot

from fencepost.report.picture.layout import Box

Point = tuple[float, float]

_BUCKET = 40.0
_TRACK = 9.0
_COARSE, _FINE = 15.0, 8.0  # the distance of the points of a path while trying, and of the one taken
_ON_TRACK = 3
_MANY_BOXES = 100
_AT_THE_BOX = 1  # points at each end of a path that may touch the box there
_CLEARANCE = 7.0
HEAD = 4.0  # how far before the border an arrow ends; its head reaches over the rest

_PRICE_OF_BOX = 300.0
_PRICE_NEAR_BOX = 24.0
_PRICE_OF_TRACK = 6.0
_PRICE_OF_PORT = 60.0
_PRICE_OF_BEND = 34.0


@dataclass(frozen=True)
class Route:
    """A path, as SVG data and as points close together."""

    data: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class _Port:
    """A point on the border of a box and the direction out of it."""

    at: Point
    out: Point


@dataclass(frozen=True)
class _Candidate:
    """A way to try: the path through `corners`, smooth or of straight pieces, and the price of its length."""

    price: float
    smooth: bool
    corners: tuple[Point, ...]

    def points(self, step: float) -> Iterator[Point]:
        return _cubic(self.corners, step) if self.smooth else _pieces(self.corners, step)

    def data(self) -> str:
        return _cubic_data(*self.corners) if self.smooth else _rounded_data(self.corners)


class Router:
    """Routes arrows one after the other between boxes that stand still."""

    def __init__(
        self, boxes: Sequence[Box], area: Box, channels: Sequence[float], passages: Sequence[float]
    ) -> None:
        """Arrows stay in `area`. `channels` are the x of free columns, `passages` the y of free rows."""
        self._area = area
        self._channels = channels
        self._passages = passages
        self._boxes = _Places(boxes)
        self._labels = _Places(())
        self._tracks: dict[tuple[int, int], int] = {}
        self._ends: list[Point] = []  # where arrows touch boxes
        # A very large picture is not worth a long search for its nicest curves.
        self._spread = (0.0, -0.28, 0.28) if len(boxes) <= _MANY_BOXES else (-0.2, 0.2)

    def straight(self, start: Point, end: Point) -> Route:
        """A straight line, whatever it meets."""
        points = tuple(_pieces((start, end), _FINE))
        self._occupy(points)
        return Route(f"M{_pair(start)}L{_pair(end)}", points)

    def route(self, start: Box, end: Box) -> Route:
        """The cheapest way from `start` to `end`."""
        candidates = sorted(self._candidates(start, end), key=lambda candidate: candidate.price)
        best, best_price = candidates[0], float("inf")
        for candidate in candidates:
            if candidate.price >= best_price:
                break
            price = candidate.price + self._price(candidate.points(_COARSE), best_price - candidate.price)
            if price < best_price:
                best, best_price = candidate, price
        points = tuple(best.points(_FINE))
        self._occupy(points)
        return Route(best.data(), points)

    def _candidates(self, start: Box, end: Box) -> Iterator[_Candidate]:
        spread = self._spread
        passages = sorted(self._passages, key=lambda y: abs(y - start.y) + abs(y - end.y))[:4]
        into = [(b, self._crowd(b.at)) for b in _ports(end, HEAD, spread)]
        for a in _ports(start, 0.0, spread):
            crowd_at_start = self._crowd(a.at)
            for b, crowd_at_end in into:
                crowd = (crowd_at_start + crowd_at_end) * _PRICE_OF_PORT
                yield from _smooth(a, b, crowd)
                if b.out[0]:
                    yield from self._along_channels(a, b, passages, crowd)

    def _along_channels(
        self, a: _Port, b: _Port, passages: Sequence[float], extra: float
    ) -> Iterator[_Candidate]:
        """Through free columns and one of the free rows `passages` into a side of the other box."""
        (ax, ay), (bx, by) = a.at, b.at
        near_a = self._channel(ax, a.out[0]) if a.out[0] else ax
        near_b = self._channel(bx, b.out[0])
        ahead = [y for y in passages if (y - ay) * a.out[1] > 0] if a.out[1] else passages
        for shift in (-20.0, -10.0, 0.0, 10.0, 20.0):
            xb = near_b + shift
            if near_a == near_b:
                yield _angular((a.at, (xb, ay), (xb, by), b.at), extra)
                continue
            for y in ahead:
                ys = y + shift / 3
                way = ((near_a + shift, ay), (near_a + shift, ys)) if a.out[0] else ((ax, ys),)
                yield _angular((a.at, *way, (xb, ys), (xb, by), b.at), extra)

    def _channel(self, x: float, direction: float) -> float:
        beyond = [c for c in self._channels if (c - x) * direction > 0]
        return min(beyond, key=lambda c: abs(c - x), default=x + direction * 30)

    def _price(self, points: Iterator[Point], limit: float) -> float:
        """What the path runs through between its first and its last points; not computed beyond `limit`."""
        price = 0.0
        coming = deque(islice(points, 2 * _AT_THE_BOX), maxlen=_AT_THE_BOX)
        for next_point in points:
            point = coming.popleft()
            coming.append(next_point)
            free = self._boxes.free_around(point) if _inside(self._area, point) else 0.0
            if free < _CLEARANCE:
                price += _PRICE_NEAR_BOX if free > 0 else _PRICE_OF_BOX
            price += self._tracks.get(_track(point), 0) * _PRICE_OF_TRACK
            if price >= limit:
                break
        return price

    def label(self, route: Route, size: Point) -> Point:
        """The place on the route, nearest to its middle, where a label hides least; call it after routing."""
        points = route.points
        own = {_track(point) for point in points}

        def price(at: int) -> float:
            x, y = points[at]
            spot = Box(x, y, size[0] + 4, size[1] + 2)
            beside = {_track(corner) for corner in _corners(spot)} - own
            return (
                abs(at / len(points) - 0.5) * 60
                + 500 * self._boxes.overlap(spot)
                + 300 * self._labels.overlap(spot)
                + 30 * sum(self._tracks.get(track, 0) >= _ON_TRACK for track in beside)
                + 10 * (self._tracks[_track((x, y))] - _ON_TRACK)
            )

        margin = min(3, len(points) // 3)
        at = points[min(range(margin, len(points) - margin), key=price)]
        self._labels.add(Box(*at, *size))
        return at

    def _occupy(self, points: Sequence[Point]) -> None:
        """The path weighs on the tracks it takes, and less on those beside it."""
        taken = {_track(point) for point in points}
        beside = {(i + di, j + dj) for i, j in taken for di in (-1, 0, 1) for dj in (-1, 0, 1)} - taken
        for tracks, weight in ((taken, _ON_TRACK), (beside, 1)):
            for track in tracks:
                self._tracks[track] = self._tracks.get(track, 0) + weight
        self._ends += [points[0], points[-1]]

    def _crowd(self, port: Point) -> int:
        """How many arrows touch the box there already, be it with their heads or with their tails."""
        return sum(_far(port, end) <= 2 * HEAD for end in self._ends)


class _Places:
    """Rectangles, found by a point in or near them."""

    def __init__(self, boxes: Iterable[Box]) -> None:
        self._buckets: dict[tuple[int, int], list[Box]] = {}
        for box in boxes:
            self.add(box)

    def add(self, box: Box) -> None:
        reach = _CLEARANCE
        for i in range(int((box.left - reach) // _BUCKET), int((box.right + reach) // _BUCKET) + 1):
            for j in range(int((box.top - reach) // _BUCKET), int((box.bottom + reach) // _BUCKET) + 1):
                self._buckets.setdefault((i, j), []).append(box)

    def free_around(self, point: Point) -> float:
        """How far the next box is, 0 inside of one; not exact beyond the clearance."""
        x, y = point
        free = _CLEARANCE
        for box in self._buckets.get((int(x // _BUCKET), int(y // _BUCKET)), ()):
            free = min(free, max(abs(x - box.x) - box.width / 2, abs(y - box.y) - box.height / 2))
        return max(free, 0.0)

    def overlap(self, spot: Box) -> bool:
        return any(self.free_around(corner) == 0 for corner in _corners(spot))


def _corners(box: Box) -> list[Point]:
    """The corners of the box, the middles of its sides, and its centre."""
    return [(x, y) for x in (box.left, box.x, box.right) for y in (box.top, box.y, box.bottom)]


def _track(point: Point) -> tuple[int, int]:
    return int(point[0] // _TRACK), int(point[1] // _TRACK)


def _inside(area: Box, point: Point) -> bool:
    return abs(point[0] - area.x) <= area.width / 2 and abs(point[1] - area.y) <= area.height / 2


def _ports(box: Box, off: float, spread: Sequence[float]) -> Iterator[_Port]:
    """Where an arrow may leave or reach a box, `off` its border, at the parts of its sides in `spread`."""
    for part in spread:
        yield _Port((box.left - off, box.y + part * box.height), (-1.0, 0.0))
        yield _Port((box.right + off, box.y + part * box.height), (1.0, 0.0))
    for part in spread:
        yield _Port((box.x + part * box.width, box.top - off), (0.0, -1.0))
        yield _Port((box.x + part * box.width, box.bottom + off), (0.0, 1.0))


def _smooth(a: _Port, b: _Port, extra: float) -> Iterator[_Candidate]:
    """Cubic curves that leave and arrive at right angles, more or less bent."""
    distance = hypot(b.at[0] - a.at[0], b.at[1] - a.at[1])
    for pull in sorted({max(24.0, distance * 0.3), max(24.0, distance * 0.55), 44.0, 72.0}):
        c = (a.at[0] + a.out[0] * pull, a.at[1] + a.out[1] * pull)
        d = (b.at[0] + b.out[0] * pull, b.at[1] + b.out[1] * pull)
        # The length of a cubic curve is close to the mean of its chord and its control polygon.
        length = (distance + 2 * pull + hypot(d[0] - c[0], d[1] - c[1])) / 2
        yield _Candidate(length + extra, True, (a.at, c, d, b.at))


def _angular(corners: tuple[Point, ...], extra: float) -> _Candidate:
    length = sum(_far(p, q) for p, q in pairwise(corners))
    return _Candidate(length + _PRICE_OF_BEND * (len(corners) - 2) + extra, False, corners)


def _cubic(controls: Sequence[Point], step: float) -> Iterator[Point]:
    """Points along a cubic curve."""
    a, b, c, d = controls
    steps = max(12, int((_far(a, b) + _far(b, c) + _far(c, d)) / step))
    for i in range(steps + 1):
        t = i / steps
        s = 1 - t
        u, v, w, z = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
        yield u * a[0] + v * b[0] + w * c[0] + z * d[0], u * a[1] + v * b[1] + w * c[1] + z * d[1]


def _cubic_data(a: Point, b: Point, c: Point, d: Point) -> str:
    return f"M{_pair(a)}C{_pair(b)} {_pair(c)} {_pair(d)}"


def _pieces(corners: Sequence[Point], step: float) -> Iterator[Point]:
    """Points along straight pieces."""
    for (ax, ay), (bx, by) in pairwise(corners):
        steps = max(2, int((abs(bx - ax) + abs(by - ay)) / step))
        for i in range(steps + 1):
            yield ax + (bx - ax) * i / steps, ay + (by - ay) * i / steps


def _rounded_data(corners: Sequence[Point]) -> str:
    """Straight pieces with rounded corners."""
    data = f"M{_pair(corners[0])}"
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        radius = min(14.0, _far(before, corner) / 2, _far(corner, after) / 2)
        near, past = _towards(corner, before, radius), _towards(corner, after, radius)
        data += f"L{_pair(near)}Q{_pair(corner)} {_pair(past)}"
    return data + f"L{_pair(corners[-1])}"


def _far(a: Point, b: Point) -> float:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _towards(start: Point, end: Point, distance: float) -> Point:
    """From `start` along a level or upright piece."""
    whole = _far(start, end) or 1.0
    return start[0] + (end[0] - start[0]) * distance / whole, start[1] + (
        end[1] - start[1]
    ) * distance / whole


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
