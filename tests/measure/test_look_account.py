"""What a burst of a look took besides its calls: probes, each of which counts once."""

from __future__ import annotations

from perbyte.measure.looks import _account
from perbyte.model import Burst, parse_address
from perbyte.runners.taken import TakenBursts

CLOCK, LOOK, CALLS, SAMPLES = 500, 10, 1000, 18


def burst(*, between: int, clocks: int = CLOCK) -> TakenBursts:
    """Samples that share their readings of the clock, `between` ticks apart."""
    start = [CLOCK + LOOK + i * (CALLS + between) for i in range(SAMPLES)]
    columns = [start, [CALLS] * SAMPLES, *([clocks] * SAMPLES,) * 2, *([LOOK] * SAMPLES,) * 2]
    cell = parse_address("alpha/aes-128-ecb/encrypt@16+contract=stream/1")
    return TakenBursts((Burst(cell, 0, 0, 1, *columns, [0] * SAMPLES, []),), "", 0.0, 0.0)


def test_a_reading_of_the_clock_that_samples_share_counts_once() -> None:
    ticks, probes, *_ = _account(burst(between=2 * LOOK))
    assert ticks == SAMPLES * CALLS
    assert probes == 2 * (CLOCK + LOOK) + (SAMPLES - 1) * 2 * LOOK


def test_readings_of_their_own_count_each() -> None:
    _, probes, *_ = _account(burst(between=2 * (CLOCK + LOOK)))
    assert probes == SAMPLES * 2 * (CLOCK + LOOK)


def test_no_more_counts_than_was_said() -> None:
    _, probes, *_ = _account(burst(between=100 * CLOCK, clocks=0))
    assert probes == SAMPLES * 2 * LOOK
