"""Where forks lie: places that few forks already spread evenly over a page."""

from __future__ import annotations

import random

import pytest

from perbyte.protocol.material import LAYOUT_BITS, further_layout

PARTS = 4  # stack, heap, input, output
BITS = LAYOUT_BITS // PARTS


def parts(layout):
    return [(layout >> BITS * place & (1 << BITS) - 1) / (1 << BITS) for place in range(PARTS)]


@pytest.mark.parametrize("forks", [16, 64])
def test_the_mean_over_forks_is_nearer_than_that_of_independent_places(forks):
    """Of a cost that a sixteenth of the cube has: as if half as many forks again had been drawn, independently."""
    draw, errors = random.Random(forks), []
    for _ in range(400):
        corner = [draw.random() for _ in range(PARTS)]
        start = draw.randrange(1 << LAYOUT_BITS)
        inside = sum(
            all(
                (part - least) % 1 < 0.5
                for part, least in zip(parts(further_layout(start, number)), corner, strict=True)
            )
            for number in range(forks)
        )
        errors.append(inside / forks - 1 / 16)
    variance = sum(error**2 for error in errors) / len(errors)
    assert abs(sum(errors) / len(errors)) < 4 * (variance / len(errors)) ** 0.5, "no bias"
    assert variance < (1 / 16) * (15 / 16) / forks / 1.5


def test_layouts_go_on_where_others_ended():
    start = random.Random(1).randrange(1 << LAYOUT_BITS)
    assert further_layout(further_layout(start, 7), 5) == further_layout(start, 12)
    assert further_layout(start, 0) == start
    assert 0 <= further_layout((1 << LAYOUT_BITS) - 1, 1) < 1 << LAYOUT_BITS
