"""What a run reaches in the time that was told: a slow host costs epochs, and only dear calls cost cells."""

from __future__ import annotations

import pytest
from fake_scripts import fault, row

from perbyte.measure.costs import Costs
from perbyte.measure.reach import ENOUGH_EPOCHS, Reach, asked_for, within_reach
from perbyte.measure.tally import Tally
from perbyte.model import NOT_REACHED, Cell, Policy

ASK = "*/aes-128-ecb@16+contract=message"


def cell(size, twin=0):
    return Cell("alpha", "aes-128-ecb", "encrypt", size, "message/1", "full", twin=twin)


CHEAP, DEAR, TWIN = cell(16), cell(1 << 20), cell(16, twin=1)


def tally(shortest_s, spent_s, bursts=4):
    return Tally(bursts=bursts, shortest_s=shortest_s, spent_s=spent_s)


def after(tallies, epoch_s):
    """What is reached of a budget of 5 s after an epoch."""
    costs, policy = Costs(), Policy(budget_s=5.0, epochs=5)
    costs.note(tallies, first_look=policy.looks[0], epoch_s=epoch_s)
    return Reach(policy, 5.0, costs)


def test_cheap_cells_come_first_and_twins_last():
    own = {DEAR: 8.0, TWIN: 0.5, CHEAP: 1.0}
    assert within_reach(own, 9.5) == {CHEAP, DEAR, TWIN}
    assert within_reach(own, 9.2) == {CHEAP, DEAR}
    assert within_reach(own, 8.0) == {CHEAP}
    assert within_reach(own, 0.1) == {CHEAP}, "one is always kept"


def test_a_slow_moment_of_the_host_costs_no_cell():
    """The bursts took a hundred times as long as the shortest of each, and the epoch a minute: all stay."""
    reach = after({CHEAP: tally(0.01, 4.0), DEAR: tally(0.02, 8.0)}, 60.0)
    assert reach.beyond([CHEAP, DEAR]) == {}


def test_what_is_not_reached_says_what_would_reach_it():
    reach = after({CHEAP: tally(0.01, 0.04), DEAR: tally(1.0, 4.0), TWIN: tally(1.0, 4.0)}, 9.0)
    beyond = reach.beyond([CHEAP, DEAR, TWIN])
    assert set(beyond) == {DEAR, TWIN}
    assert beyond[DEAR].kind == NOT_REACHED
    assert (
        "not reached within the budget of 5 s: its calls take about 20.0 s in 5 epochs"
        in beyond[DEAR].message
    )
    assert "--budget 45s would do" in beyond[DEAR].message
    assert Reach(Policy(budget_s=5.0), None, Costs()).beyond([CHEAP, DEAR]) == {}, "nothing was told"


def test_a_run_that_takes_longer_than_told_ends_with_epochs_enough_for_an_interval():
    reach = Reach(Policy(budget_s=20.0), 20.0, Costs())
    assert not reach.overdue(18.7, ENOUGH_EPOCHS)
    assert reach.overdue(18.8, ENOUGH_EPOCHS), "another epoch like those ends after more than 25 s"
    assert not reach.overdue(25.1, ENOUGH_EPOCHS - 1)
    assert not Reach(Policy(), None, Costs()).overdue(1e9, 100)


@pytest.mark.parametrize(("seconds", "asked"), [(0.2, 1), (4.1, 5), (44.1, 45), (101, 110), (1234, 1300)])
def test_what_would_do_is_told_in_two_digits(seconds, asked):
    assert asked_for(seconds) == asked


def test_a_slow_run_makes_three_of_five_epochs_and_loses_no_cell(lab, monkeypatch):
    from perbyte.measure import reach

    monkeypatch.setattr(reach, "GRACE_S", 0.0)
    monkeypatch.setattr(Reach, "outlasting", lambda *_: {})
    slow = fault("check", "slow", seconds=0.1, nth=0)  # comparing outputs takes so long, in each epoch
    scripts = [
        {"name": name, "operations": [row(layout=0.05)], "faults": [slow]} for name in ("alpha", "beta")
    ]
    surveyed = lab.survey(*scripts)
    done = lab.run(surveyed=surveyed, ask=ASK, epochs=5, max_epochs=9, budget_s=0.3, told_s=0.3)
    assert {figure.epochs for figure in done.outcome.cells} == {ENOUGH_EPOCHS}
    assert not done.outcome.failures
    assert any(f"{ENOUGH_EPOCHS} of 5 epochs were made" in text for text in done.watch.notes)
    whole = lab.run(surveyed=surveyed, ask=ASK, epochs=5, max_epochs=5, budget_s=0.3)
    assert {figure.epochs for figure in whole.outcome.cells} == {5}, "nothing was told, so all is measured"


def test_dear_calls_are_not_reached_by_name(lab, monkeypatch):
    """A call of beta's takes a tenth of a second of real time, and a first look four bursts of it."""
    from perbyte.measure import reach

    monkeypatch.setattr(reach, "GRACE_S", 0.5)
    scripts = [
        {"name": "alpha", "operations": [row()]},
        {"name": "beta", "operations": [row(per_call=2.7e8)], "pace": 1.0},
    ]
    done = lab.run(*scripts, ask=ASK, epochs=5, max_epochs=5, budget_s=0.05, told_s=0.05)
    assert {figure.cell.runner for figure in done.outcome.cells} == {"alpha"}
    [failure] = done.outcome.failures
    assert (failure.kind, failure.runner) == (NOT_REACHED, "beta")
    assert "would do" in failure.message


def test_one_checked_call_that_outlasts_the_budget_is_not_reached(lab, monkeypatch):
    from perbyte.measure import reach

    monkeypatch.setattr(reach, "GRACE_S", 0.0)
    slow = fault("check", "slow", seconds=0.6, nth=0)
    scripts = [
        {"name": "alpha", "operations": [row()]},
        {"name": "beta", "operations": [row()], "faults": [slow]},
    ]
    done = lab.run(*scripts, ask=ASK, epochs=3, max_epochs=3, budget_s=0.4, told_s=0.4)
    assert {figure.cell.runner for figure in done.outcome.cells} == {"alpha"}
    [failure] = done.outcome.failures
    assert (failure.kind, failure.runner) == (NOT_REACHED, "beta")
    assert "one checked call took" in failure.message
