"""Where the labels of points go in a small panel: none over another label, and over no point where that can be had."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

CHARACTER, LINE = 6.4, 12.0
"""Pixels of a digit's width and of a line's height at 10 px, in the widest of the fonts that the theme names."""
_RADIUS = 6.0  # of a drawn point, with its stroke
_SIDES = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
_RINGS = 6


class Spot(NamedTuple):
    """A place in a panel, in pixels from its left and upper edges."""

    x: float
    y: float


class Box(NamedTuple):
    """A rectangle in a panel, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def box_of(text: str, middle: Spot) -> Box:
    """The rectangle that `text` takes around its `middle`."""
    wide, high = CHARACTER * len(text) / 2, LINE / 2
    return Box(middle.x - wide, middle.y - high, middle.x + wide, middle.y + high)


def place_labels(
    labels: Sequence[tuple[str, Spot]],
    points: Sequence[Spot],
    lines: Sequence[tuple[Spot, Spot]],
    panel: tuple[float, float],
    *,
    below: bool,
) -> list[Spot | None]:
    """The middle of each label (text and the point that it is of), in the order of `labels`.

    `panel` is width and height in pixels; a label stays inside. It lies as near to its point as it can while it
    covers few points and lines; `below` prefers the place under the point to the one above it. None for a label
    that has no free place: it would lie on another one.
    """
    marks = [Box(at.x - _RADIUS, at.y - _RADIUS, at.x + _RADIUS, at.y + _RADIUS) for at in points]
    taken: list[Box] = []
    placed: list[Spot | None] = []
    for text, point in labels:
        near = ((spot, box_of(text, spot)) for spot in _candidates(text, point, panel, below=below))
        free = [(spot, box) for spot, box in near if not any(map(box.meets, taken))]
        # `min` takes the first of equals, and candidates come nearest first.
        best = min(free, key=lambda pair: _covered(pair[1], marks, lines), default=None)
        placed.append(best[0] if best else None)
        if best:
            taken.append(best[1])
    return placed


def _candidates(text: str, point: Spot, panel: tuple[float, float], *, below: bool) -> Iterator[Spot]:
    width, height = panel
    half, down = CHARACTER * len(text) / 2, 1 if below else -1
    if half * 2 > width or height < LINE:
        return
    for ring, (right, under) in itertools.product(range(_RINGS), _SIDES):
        away = 2 + ring * LINE / 2
        x = point.x + right * (_RADIUS + half + away)
        y = point.y + under * down * (_RADIUS + LINE / 2 + away)
        yield Spot(min(max(x, half), width - half), min(max(y, LINE / 2), height - LINE / 2))


def _covered(box: Box, marks: Sequence[Box], lines: Sequence[tuple[Spot, Spot]]) -> int:
    """What a label at `box` lies over: a point counts as much as four lines."""
    return 4 * sum(map(box.meets, marks)) + sum(_crosses(box, *ends) for ends in lines)


def _crosses(box: Box, start: Spot, end: Spot) -> bool:
    """Whether the line from `start` to `end` has a part in `box` (Liang and Barsky 1984)."""
    first, last = 0.0, 1.0
    for low, high, origin, step in (
        (box.left, box.right, start.x, end.x - start.x),
        (box.top, box.bottom, start.y, end.y - start.y),
    ):
        if not step:
            if not low < origin < high:
                return False
            continue
        near, far = sorted(((low - origin) / step, (high - origin) / step))
        first, last = max(first, near), min(last, far)
    return first < last
