"""Figures whose bursts forks took: the midmean of the epochs, with the spread between them for an interval."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perbyte.stats.clean import Grounds
from perbyte.stats.estimate import midmean
from perbyte.stats.figure import LEAST_FORKS, common_spread, judge, summarise
from perbyte.stats.interval import (
    _MIDMEAN_SPREAD,
    MIDMEAN_SPREAD_LIMIT,
    combined_interval,
    find_spread,
    forked_interval,
    midmean_spread,
)

LOOKS = (5, 7, 9, 11, 13, 15)


def bursts_of(simulation, epochs, forks, *, forked=True, spread=0.01):
    """Bursts of a call of 100 cycles whose cost each fork draws anew."""
    return [
        replace(
            simulation.burst(
                100 * (1 + spread * simulation.random.uniform(-1, 1)), n=8, epoch=epoch, round=turn
            ),
            forked=forked,
        )
        for epoch in range(1, epochs + 1)
        for turn in range(1, forks + 1)
    ]


def judged(simulation, bursts):
    calibrations = simulation.calibrations(max(burst.epoch for burst in bursts))
    return judge(
        summarise(simulation.cell, bursts, Grounds(calibrations, simulation.policy)), simulation.policy
    )


def test_the_midmean_of_epochs_is_given_where_forks_took_all_bursts(simulation):
    bursts = bursts_of(simulation, 6, 4)
    figure = judged(simulation, bursts)
    assert figure.forks == 24
    assert figure.cycles_per_call == pytest.approx(midmean(np.array(figure.epoch_cycles)))
    assert figure.interval.dominated_by == "epochs"
    processes = judged(simulation, [replace(burst, forked=False) for burst in bursts])
    assert processes.forks == 0
    assert processes.epoch_cycles == figure.epoch_cycles
    assert processes.cycles_per_call == pytest.approx(np.median(processes.epoch_cycles))
    assert figure.interval.half_width < 0.85 * processes.interval.half_width


@pytest.mark.parametrize(
    "spoil",
    [
        lambda burst: burst.epoch == 3 and burst.round == 2,
        lambda burst: burst.epoch == 1,
    ],
    ids=["one burst", "one epoch"],
)
def test_a_burst_of_the_process_itself_makes_the_median_speak(simulation, spoil):
    bursts = [replace(burst, forked=not spoil(burst)) for burst in bursts_of(simulation, 5, 4)]
    figure = judged(simulation, bursts)
    assert figure.forks == 0
    assert figure.cycles_per_call == pytest.approx(np.median(figure.epoch_cycles))


def test_one_fork_an_epoch_is_one_draw_and_no_mean(simulation):
    figure = judged(simulation, [replace(b, round=1) for b in bursts_of(simulation, 6, LEAST_FORKS - 1)])
    assert figure.forks == 0
    assert judged(simulation, bursts_of(simulation, 1, 9)).forks == 0, "one epoch has no spread"


def test_epochs_of_forks_and_of_processes_have_spreads_of_their_own(simulation):
    grounds = Grounds(simulation.calibrations(5), simulation.policy)

    def summaries(forked, spread):
        return [
            summarise(
                simulation.cell,
                bursts_of(simulation, 5, 4, forked=forked, spread=spread),
                grounds,
            )
            for _ in range(12)
        ]

    forks, processes = summaries(True, 0.002), summaries(False, 0.02)
    both = common_spread([*forks, *processes])
    assert both[True] == common_spread(forks)[True]
    assert both[False] == common_spread(processes)[False]
    assert both[True].variance < both[False].variance / 20
    assert common_spread(forks)[False] is None


def test_the_spread_of_a_midmean_is_what_simulation_gives():
    """Asymptotically the variance of the winsorised normal over 1/4 (Tukey and McLaughlin 1963)."""
    random = np.random.default_rng(3)
    for n in range(2, len(_MIDMEAN_SPREAD) + 2):
        values = [midmean(row) for row in random.standard_normal((20_000, n))]
        assert midmean_spread(n) == pytest.approx(math.sqrt(n) * np.std(values), rel=0.02)
    assert midmean_spread(500) == MIDMEAN_SPREAD_LIMIT
    many = [midmean(row) for row in random.standard_normal((8_000, 300))]
    assert pytest.approx(math.sqrt(300) * np.std(many), rel=0.03) == MIDMEAN_SPREAD_LIMIT


def test_the_steps_of_the_counter_are_the_least_width():
    values = [100.0, 100.0, 100.0, 100.0]
    interval = forked_interval(100.0, values, [0.4] * 4, 0.95)
    assert interval.half_width == pytest.approx(0.2)
    assert interval.dominated_by == "samples"
    with pytest.raises(ValueError, match="two"):
        forked_interval(100.0, [100.0], [0.1], 0.95)


# what a fork may draw: places in a page are flat, predictors have two or three states, a few draws are dear
DRAWS = {
    "flat": lambda random, shape: random.uniform(-1.7, 1.7, shape),
    "two states": lambda random, shape: np.where(random.random(shape) < 0.3, 1.5, -0.65),
    "rare": lambda random, shape: np.where(random.random(shape) < 0.05, 4.4, -0.23),
    "skewed": lambda random, shape: random.exponential(1.0, shape) - 1,
}


@pytest.mark.parametrize("forks", [4, 12])
@pytest.mark.parametrize("kind", DRAWS)
def test_intervals_hold_where_cells_stop_at_precision(kind, forks):
    """40 cells a run whose forks scatter by 0.3 to 1.5 %, and processes by a quarter of what forks leave.

    An epoch is the midmean of its forks, the truth of a cell the mean of many epochs. A cell stops at the look that
    finds it within 0.25 %.
    """
    random = np.random.default_rng(forks)
    truth = np.apply_along_axis(midmean, 1, DRAWS[kind](random, (20_000, forks))).mean()
    held, held_by_median, spent, spent_by_median = [], [], [], []
    for _ in range(12):
        sds = np.exp(random.uniform(math.log(0.003), math.log(0.015), 40))
        draws = np.apply_along_axis(midmean, 2, DRAWS[kind](random, (40, LOOKS[-1], forks)))
        epochs = 1 + sds[:, None] * (
            draws - truth + 0.25 / math.sqrt(forks) * random.standard_normal((40, LOOKS[-1]))
        )
        done: dict[bool, set[int]] = {True: set(), False: set()}
        for look in LOOKS:
            spread = find_spread([list(values[:look]) for values in epochs])
            for cell, values in enumerate(epochs[:, :look]):
                known = list(values)
                middles = midmean(values), float(np.median(values))
                intervals = (
                    forked_interval(middles[0], known, [0.0] * look, 0.95, spread),
                    combined_interval(middles[1], known, [0.0] * look, 0.95, spread),
                )
                for mid, interval in zip((True, False), intervals, strict=True):
                    if cell in done[mid] or (interval.half_width > 0.0025 and look < LOOKS[-1]):
                        continue
                    done[mid].add(cell)
                    (held if mid else held_by_median).append(interval.low <= 1 <= interval.high)
                    (spent if mid else spent_by_median).append(look)
    # two states and nothing else: few epochs of few forks know too little of the rarer one, by either rule
    assert np.mean(held) >= (0.73 if kind == "two states" else 0.92)
    assert np.mean(held) >= np.mean(held_by_median) - 0.07
    assert np.mean(spent) < 1.03 * np.mean(spent_by_median)
