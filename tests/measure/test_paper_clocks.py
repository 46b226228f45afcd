"""Clocks and company of cores on paper, on the virtual clock of the fake runner: figures hold, honest rows stay."""

from __future__ import annotations

import sys

import pytest

from perbyte import places
from perbyte.model import Policy

sys.path.insert(0, str(places.data_dir("runners").parent / "bench"))

from policies import script, truth
from virtual import measure_virtually

ASK = "*/{aes-128-cbc,aes-128-ctr,aes-256-cbc}/*@256,1KiB,4KiB+contract=*"
# steps of the core's clock by up to 10 %, a millisecond apart: multiples of the golden section scatter evenly
STEPS = [[k * 1e-3, 3.65e9 * (1 - 0.1 * (k * 0.6180339887 % 1))] for k in range(400)]
CLOCKS = {
    "steps of 26 ticks": {},
    "steps of 36 ticks": {"tick_quantum": 36},
    "steps of 40 ns": {"tick_hz": 1e9, "tick_quantum": 40, "probe_cycles": 36000},
    "a clock that changes every ms": {"frequency": STEPS},
}
COMPANY = {
    "alone": [["q", 1e6, 1.0]],
    "shared at times": [["q", 250, 1.0], ["b", 107, 1.3]],
    "rarely alone": [["q", 107, 1.0], ["b", 900, 1.3]],
}
NEVER = {"never alone": [["b", 1e6, 1.3]]}


def run(clock, company, probe="reorder-buffer"):
    made = script([], probe, seed=5)
    made["clock"] = {**made["clock"], **CLOCKS[clock]}
    made["neighbour"] = {**made.get("neighbour", {}), "cores": [(COMPANY | NEVER)[company]] * 2}
    policy = Policy(budget_s=1e6, max_epochs=5, looks=(4,))
    return measure_virtually(made, policy, ask=ASK, cores=(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("company", COMPANY)
@pytest.mark.parametrize("clock", CLOCKS)
def test_figures_hold_what_is_true_and_nothing_is_refused(clock, company):
    made = run(clock, company)
    figures = made.outcome.cells
    assert len(figures) == 9
    assert made.history.failures == []
    assert "doubted" not in {str(figure.quality) for figure in figures}
    errors = sorted(abs(figure.per_call / truth(figure.cell) - 1) for figure in figures)
    held = [figure.interval.low <= truth(figure.cell) <= figure.interval.high for figure in figures]
    assert sum(held) >= 8, errors
    assert errors[4] < 0.0025


def test_a_core_that_is_never_alone_ends_the_run_with_figures_and_no_refusal():
    made = run("steps of 26 ticks", "never alone")
    assert len(made.outcome.cells) == 9
    assert made.history.failures == []
