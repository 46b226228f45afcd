"""Labels of points: none over another, all inside their panel, whatever the points are."""

from __future__ import annotations

import itertools
import random

import pytest

from perbyte.report.labels import CHARACTER, LINE, Box, Spot, box_of, place_labels

WIDTH, HEIGHT = 205.0, 140.0


def spots(rng: random.Random, count: int, spread: float) -> list[Spot]:
    """So many points around one place: `spread` 0 puts all on it, 1 anywhere in the panel."""
    x, y = rng.uniform(0, WIDTH), rng.uniform(0, HEIGHT)
    return [
        Spot(x + spread * (rng.uniform(0, WIDTH) - x), y + spread * (rng.uniform(0, HEIGHT) - y))
        for _ in range(count)
    ]


@pytest.mark.parametrize("spread", [0, 0.02, 0.1, 0.4, 1])
@pytest.mark.parametrize("below", [True, False])
def test_no_label_lies_over_another_and_none_leaves_the_panel(spread: float, below: bool) -> None:
    rng = random.Random(f"{spread} {below}")
    for _ in range(100):
        points = spots(rng, rng.randint(2, 30), spread)
        texts = [str(round(rng.uniform(0.001, 999), rng.randint(0, 2))) for _ in range(rng.randint(2, 4))]
        labels = list(zip(texts, points, strict=False))
        lines = list(itertools.pairwise(points))
        placed = place_labels(labels, points, lines, (WIDTH, HEIGHT), below=below)
        assert len(placed) == len(labels)
        assert None not in placed[:2]  # of two, both find a place
        boxes = [box_of(text, spot) for (text, _), spot in zip(labels, placed, strict=True) if spot]
        assert not any(box.meets(other) for box, other in itertools.combinations(boxes, 2))
        for box in boxes:
            assert min(box.left, box.top) >= -1e-9
            assert box.right <= WIDTH + 1e-9
            assert box.bottom <= HEIGHT + 1e-9


def placed_alone(
    text: str,
    at: Spot,
    points: list[Spot],
    lines: list[tuple[Spot, Spot]] | None = None,
    *,
    below: bool = True,
) -> Spot:
    (spot,) = place_labels([(text, at)], points, lines or [], (WIDTH, HEIGHT), below=below)
    assert spot is not None
    return spot


def test_a_lone_point_has_its_label_on_the_side_asked_for() -> None:
    at = Spot(100, 70)
    for below in (True, False):
        spot = placed_alone("7.21", at, [at], below=below)
        assert spot.x == at.x
        assert (spot.y > at.y) == below


def test_a_label_avoids_a_point_and_a_line_beside_its_own() -> None:
    at, under = Spot(100, 70), Spot(104, 84)
    spot = placed_alone("25.6", at, [at, under])
    assert not box_of("25.6", spot).meets(Box(under.x - 4, under.y - 4, under.x + 4, under.y + 4))
    assert spot.y < at.y
    downward = (at, Spot(100, 140))
    spot = placed_alone("25.6", at, [at], [downward])
    assert spot.y < at.y


def test_a_panel_that_is_too_small_leaves_labels_out() -> None:
    at = Spot(10, 6)
    panel = (3 * CHARACTER, LINE)
    assert place_labels([("123", at), ("456", at)], [], [], panel, below=True) == [
        Spot(1.5 * CHARACTER, LINE / 2),
        None,
    ]
    assert place_labels([("1234", at)], [], [], panel, below=True) == [None]
