"""How many bursts an epoch gets follows from the variances and the costs of processes and bursts."""

from __future__ import annotations

import random

import pytest

from perbyte.measure.costs import Costs
from perbyte.measure.nesting import LEAST_BURSTS, LEAST_EPOCHS, Nesting
from perbyte.measure.tally import Tally
from perbyte.model import Cell, Policy

POLICY = Policy()
CELLS = [Cell("alpha", "aes-128-ecb", "encrypt", size, "stream/1") for size in range(16, 16 * 31, 16)]


def learn(process_sd, burst_sd, *, bursts=8, epochs=30, process_s=0.004, burst_s=0.001, seed=1, cells=CELLS):
    draw, costs = random.Random(seed), Costs()
    nesting = Nesting(POLICY, costs)
    for _ in range(epochs):
        tallies = {}
        for cell in cells:
            process = 100 * (1 + draw.gauss(0, process_sd))
            medians = [process * (1 + draw.gauss(0, burst_sd)) for _ in range(bursts)]
            tallies[cell] = Tally(medians=medians, bursts=bursts, spent_s=bursts * burst_s)
        costs.note(tallies, first_look=4, epoch_s=len(cells) * (process_s + bursts * burst_s))
        nesting.note(tallies)
    return nesting


@pytest.mark.parametrize(
    ("process_sd", "burst_sd", "optimum"),
    [(0.002, 0.004, 4), (0.004, 0.004, 2), (0.001, 0.004, 8), (0.0005, 0.01, 16)],
)
def test_the_number_is_that_of_the_formula(process_sd, burst_sd, optimum):
    """F = sqrt(c_p / c_f) s_f / s_p, with c_p / c_f = 4 here; bounded by the rounds of an epoch."""
    nesting = learn(process_sd, burst_sd)
    median = sorted(nesting.rounds(cell) for cell in CELLS)[len(CELLS) // 2]
    assert optimum * 0.7 <= median <= optimum * 1.5


def test_nothing_is_said_before_a_few_epochs():
    nesting = learn(0.01, 0.001, epochs=LEAST_EPOCHS - 1)
    assert {nesting.rounds(cell) for cell in CELLS} == {None}
    assert Nesting(POLICY, Costs()).rounds(CELLS[0]) is None


def test_a_cell_whose_processes_differ_most_gets_more_processes_and_fewer_bursts():
    nesting = learn(0.05, 0.001)
    assert {nesting.rounds(cell) for cell in CELLS} == {LEAST_BURSTS}


def test_few_epochs_of_a_cell_are_drawn_towards_the_others():
    """By chance alone three epochs of a cell may agree perfectly; it gets no more bursts than the formula's many."""
    nesting = learn(0.004, 0.004, epochs=LEAST_EPOCHS)
    counts = [nesting.rounds(cell) for cell in CELLS]
    assert max(counts) <= 8


def test_bursts_without_a_clean_sample_and_costs_of_nothing_do_no_harm():
    costs, tallies = Costs(), {CELLS[0]: Tally(medians=[0.0, 0.0]), CELLS[1]: Tally(medians=[5.0])}
    nesting = Nesting(POLICY, costs)
    for _ in range(5):
        costs.note(tallies, first_look=4, epoch_s=0.0)
        nesting.note(tallies)
    assert nesting.rounds(CELLS[0]) is None is nesting.rounds(CELLS[1])
    assert learn(0.01, 0.01, burst_s=0.0).rounds(CELLS[0]) is None


def test_a_cell_far_from_its_precision_lacks_more_epochs_and_its_bursts_have_a_price():
    near, far = learn(0.001, 0.002), learn(0.02, 0.004)
    goal = 0.0025
    assert 1 <= near.missing(CELLS[0], goal) < far.missing(CELLS[0], goal)
    # 1.96^2 of (0.02 / 0.0025)^2 are 246 epochs, less the 30 that were
    assert 100 <= far.missing(CELLS[0], goal) <= 350
    assert near.cost_s(CELLS[0]) == pytest.approx(near.rounds(CELLS[0]) * 0.001, rel=0.3)
    unknown = Nesting(POLICY, Costs())
    assert unknown.missing(CELLS[0], goal) is None
    assert unknown.cost_s(CELLS[0]) == 0.0


def test_epochs_that_agree_to_the_last_digit_need_one_more():
    """A counter with wide steps may say the same of every epoch of every cell."""
    nesting = learn(0.0, 0.0)
    assert {nesting.missing(cell, 0.0025) for cell in CELLS} == {1}
