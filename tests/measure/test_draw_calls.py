"""Cells whose calls vary at random, on the scripted runner: single calls in turns, as many as are wanted."""

from __future__ import annotations

import pytest
from fake_scripts import fault, row

from perbyte.errors import UsageError
from perbyte.measure import draws
from perbyte.measure.forecast import foresee
from perbyte.model import Doubt
from perbyte.stats.draws import ENOUGH_CALLS

KEYGEN = "alpha/rsa-2048/keygen@32+contract=draw/1"


def script(name="alpha", **more):
    made = row("rsa-2048", "keygen", "draw/1", kind="hash", per_call=2e8, draws=0.8)
    return {"name": name, "operations": [row(), made], **more}


def test_keygen_is_measured_under_its_own_contract_and_rides_with_no_twin(lab):
    surveyed = lab.survey(script())
    plan = lab.plan(surveyed, "alpha/rsa-2048", "alpha/aes-128-ecb@16+contract=message/1", twins=True)
    assert plan.cells[0].address == KEYGEN
    assert {cell.algorithm for cell in plan.twins} == {"aes-128-ecb"}


def test_calls_are_single_ones_until_there_are_enough(lab):
    done = lab.run(script(), ask=KEYGEN, epochs=4, max_epochs=40, budget_s=20.0)
    assert done.failures() == {}
    figure = done.figure(KEYGEN)
    assert figure.samples == ENOUGH_CALLS
    assert figure.epochs == 4, "and no more epochs, however wide the interval is"
    assert {burst.calls for burst in done.notes.bursts} == {1}
    assert len(figure.quantiles) == len({quantile.share for quantile in figure.quantiles}) == 6
    low, middle = figure.quantiles[0].estimate, figure.quantiles[2].estimate
    assert low.low <= 2e8 * (0.2 + 0.8 * 0.105) <= low.high  # -ln 0.9
    assert middle.low <= 2e8 * (0.2 + 0.8 * 0.693) <= middle.high  # -ln 0.5
    assert not any("less precise" in note for note in done.watch.notes)
    assert {warning.kind for warning in figure.warnings} == {Doubt.DRAWN}


def test_a_loop_beside_them_is_measured_as_ever(lab):
    both = (KEYGEN, "alpha/aes-128-ecb/encrypt@16+contract=message/1")
    done = lab.run(script(), ask=both, epochs=2, max_epochs=2, budget_s=20.0)
    assert [cell.cell.algorithm for cell in done.outcome.cells] == ["rsa-2048", "aes-128-ecb"]
    assert done.outcome.cells[1].cycles_per_call == pytest.approx(116, rel=0.01)
    assert not done.outcome.cells[1].quantiles


def test_when_the_time_is_over_each_cell_has_a_call_an_epoch(lab, monkeypatch):
    monkeypatch.setattr(draws, "BURST_CALLS", 1)
    done = lab.run(script(), ask=KEYGEN, epochs=3, max_epochs=3, budget_s=0.001)
    figure = done.figure(KEYGEN)
    assert figure.epochs == 3
    assert 3 <= figure.samples < ENOUGH_CALLS
    assert Doubt.IMPRECISE in {warning.kind for warning in figure.warnings}


@pytest.mark.parametrize(("burn", "kinds"), [(1.6, ["audit"]), (1.0, [])])
def test_a_runner_that_works_longer_than_it_says_is_refused(lab, burn, kinds):
    done = lab.run(script(burn=burn), ask=KEYGEN, epochs=1, max_epochs=1, budget_s=2.0, audit=True)
    assert [failure.kind for failure in done.outcome.failures] == kinds
    assert all("which are said to have taken" in failure.message for failure in done.outcome.failures)
    assert all(
        Doubt.UNCHAINED in {warning.kind for warning in figure.warnings} for figure in done.outcome.cells
    )


def test_a_fault_costs_its_own_cell(lab):
    broken = script("beta", faults=[fault("measure", "refuse", nth=0, code="library", message="no entropy")])
    asks = (KEYGEN, KEYGEN.replace("alpha", "beta"))
    done = lab.run(script(), broken, ask=asks, epochs=1, max_epochs=1, budget_s=5.0)
    assert [cell.cell.runner for cell in done.outcome.cells] == ["alpha"]
    assert "no entropy" in done.failure(KEYGEN.replace("alpha", "beta")).message


def test_a_burst_of_them_an_epoch_is_told_beforehand(lab):
    surveyed = lab.survey(script())
    policy = lab.policy(epochs=5)
    told = foresee(lab.plan(surveyed, KEYGEN), policy, surveyed.specs)
    assert 5 * draws.BURST_MS * 1e-3 <= told.least_s < 10


def test_they_have_no_states(lab):
    with pytest.raises(UsageError, match="no state cold"):
        lab.plan(lab.survey(script()), KEYGEN + "+state=cold")


def test_key_pairs_that_come_again_cost_the_cell_its_figure(lab):
    """The scripted runner gives the same output in each call."""
    made = row("rsa-2048", "keygen", "draw/1", kind="hash", per_call=2e5, draws=0.8)
    done = lab.run(
        {"name": "alpha", "operations": [made]}, ask=KEYGEN, epochs=1, max_epochs=1, budget_s=2.0, audit=True
    )
    assert "public keys that it drew are the same" in done.failure(KEYGEN).message
