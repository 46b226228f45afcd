"""The budget: an epoch beyond the least is begun only where it fits into what is left of the budget."""

from __future__ import annotations

import itertools

import pytest
from fake_scripts import fault, row

from perbyte.measure import budget as budgets
from perbyte.measure.budget import Budget
from perbyte.measure.cores import noise_note
from perbyte.measure.stopping import is_look
from perbyte.model import Cell


def cell(runner, size):
    return Cell(runner, "aes-128-ecb", "encrypt", size, "message/1", "full")


A16, A32, B16 = cell("alpha", 16), cell("alpha", 32), cell("beta", 16)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(budgets, "time", made)
    return made


def test_what_was_spent_before_is_gone(clock):
    budget = Budget(60.0, before_s=50.0)
    clock.now += 4.0
    assert (budget.elapsed_s, budget.left_s) == (54.0, 6.0)
    clock.now += 40.0
    assert (budget.elapsed_s, budget.left_s) == (94.0, 0.0)


def test_what_is_outside_costs_nothing_up_to_a_quarter_of_the_budget(clock):
    budget = Budget(60.0)
    with budget.outside():
        clock.now += 10.0
        assert budget.elapsed_s == 0.0, "nor while it goes on"
    clock.now += 2.0
    assert (budget.elapsed_s, budget.left_s, budget.part_s) == (2.0, 58.0, 12.0)
    with budget.outside():
        clock.now += 30.0
        assert budget.elapsed_s == 2.0 + 40.0 - 15.0
    assert (budget.elapsed_s, budget.left_s, budget.part_s) == (27.0, 33.0, 42.0)


def test_of_the_starts_of_promised_epochs_what_is_not_free_is_reserved(clock):
    budget = Budget(60.0)
    budget.costs.start_s[A16.process] = 10.0
    assert budget.share_s([A16], 5, 5) == pytest.approx((60 - (4 * 10 - 15)) / 5)
    with budget.outside():
        clock.now += 10.0
    assert budget.share_s([A16], 5, 5) == pytest.approx((60 - (4 * 10 - 5)) / 5)
    assert budget.share_s([A16], 5, 1) == pytest.approx((60 - 4 * 10) / 5)
    assert budget.share_s([A16], 1) == 60.0, "it has started"


def test_epochs_share_what_is_left_after_what_is_sure_to_come(clock):
    budget = Budget(60.0)
    assert budget.share_s([A16, B16], 3) == 20.0, "nothing is known yet"
    for process, took in ((A16.process, 1.0), (B16.process, 2.0)):
        budget.costs.start_s[process] = took
    budget.costs.ending_s, budget.costs.closing_s = 0.5, 2.5
    # three endings, two more starts of both, one closing
    assert budget.share_s([A16, A32, B16], 3) == pytest.approx((60 - 3 * 0.5 - 2 * 3.0 - 2.5) / 3)
    assert budget.share_s([A16], 1) == pytest.approx(60 - 0.5 - 2.5)
    clock.now += 59.0
    assert budget.share_s([A16], 1) == 0.0


@pytest.mark.parametrize(
    ("left", "fit"),
    [
        (100.0, [B16, A16, A32]),
        (8.9, [B16, A16, A32]),
        (8.7, [A16, A32]),  # starting beta for its one dear cell would be too much
        (3.9, [A16, A32]),
        (3.7, [A16]),
        (2.7, []),  # starting alpha and one look of its cheapest cell do not fit
        (0.0, []),
    ],
)
def test_cheap_cells_are_begun_first_as_far_as_they_fit(clock, left, fit):
    budget = Budget(left)
    budget.costs.start_s[A16.process] = 1.0
    budget.costs.start_s[B16.process] = 2.0
    for cell, took in ((A16, 0.3), (A32, 1.0), (B16, 3.0)):
        budget.costs.first_look_s[cell] = took
    budget.costs.ending_s = 0.5
    budget.costs.closing_s = 1.0
    assert budget.affordable([B16, A16, A32]) == fit


def test_nothing_is_affordable_when_all_is_spent(clock):
    budget = Budget(10.0, before_s=10.0)
    assert budget.affordable([A16]) == []


ASK = "*/aes-128-ecb@16+contract=message"
NEVER_PRECISE = [{"name": name, "operations": [row(layout=0.05)]} for name in ("alpha", "beta")]


def test_only_what_fits_gets_further_epochs_and_the_end_says_why(lab, monkeypatch):
    monkeypatch.setattr(
        Budget, "affordable", lambda _budget, cells: [cell for cell in cells if cell.runner == "alpha"]
    )
    done = lab.run(*NEVER_PRECISE, ask=ASK, max_epochs=5)
    assert {figure.cell.runner: figure.epochs for figure in done.outcome.cells} == {"alpha": 5, "beta": 2}
    assert any("budget" in text and "is spent" in text for text in done.watch.notes)


def test_a_run_learns_what_its_epochs_cost(lab):
    """A process's start alone takes more than a millisecond, so none fits into one; all fit into a minute."""
    done = lab.run(*NEVER_PRECISE, ask=ASK, epochs=3, max_epochs=5)
    budget, cells = done.measurement._budget, list(done.plan.cells)
    assert {figure.epochs for figure in done.outcome.cells} == {5}
    budget.budget_s = budget.elapsed_s + 60
    assert budget.affordable(cells) == cells
    assert budget.share_s(cells, 2) < budget.left_s / 2
    budget.budget_s = budget.elapsed_s + 0.001
    assert budget.affordable(cells) == []
    costs = budget.costs
    for known in (costs.start_s.values(), costs.first_look_s.values(), [costs.ending_s, costs.closing_s]):
        assert len(known) == 2
        assert min(known) > 0


def test_the_time_is_noted_while_the_run_goes_on(lab, monkeypatch):
    from perbyte.measure import telling

    monkeypatch.setattr(telling, "NOTE_EVERY_S", 0.0)
    done = lab.run({"name": "alpha", "operations": [row()]}, ask=ASK)
    noted = done.notes.all("spent")
    assert len(noted) > len(done.notes.bursts)
    assert noted == sorted(noted)
    assert 0 < noted[-1] <= done.outcome.measuring_s
    kinds = [kind for kind, _ in done.notes.events]
    assert all(kinds[place - 1] == "spent" for place, kind in enumerate(kinds) if kind == "epoch_done")


def test_starting_slowly_costs_epochs_and_no_cell(lab):
    """Each process takes half a second to come up; the budget of a run is no larger."""
    slow = fault("hello", "slow", seconds=0.5, nth=0)
    scripts = [{"name": name, "operations": [row()], "faults": [slow]} for name in ("alpha", "beta")]
    done = lab.run(*scripts, ask=ASK, epochs=5, max_epochs=9, budget_s=0.5, told_s=0.5)
    assert {figure.cell.runner: figure.epochs for figure in done.outcome.cells} == {"alpha": 3, "beta": 3}
    assert not done.outcome.failures
    assert done.measurement._budget.part_s > 1.5, "three epochs, each of half a second at the least"
    assert done.outcome.measuring_s == pytest.approx(done.measurement._budget.part_s - 0.125, abs=0.05)
    assert "3 of 5 epochs were made: one more would end after 1.25 times the budget" in str(done.watch.notes)


def test_looks_become_rarer_but_never_end(lab):
    looks = [done for done in range(5, 200) if is_look(done, 5)]
    assert looks[:10] == [5, 7, 9, 11, 13, 15, 17, 19, 21, 23]
    gaps = [later - earlier for earlier, later in itertools.pairwise(looks[9:])]
    assert gaps == sorted(gaps)
    assert max(gaps) <= looks[-1] / 8 + 1
    assert next(done for done in range(30, 60) if is_look(done, 30)) == 30, (
        "the least number is a look, whatever it is"
    )


def test_a_run_that_is_not_precise_uses_its_budget(lab):
    """More epochs than the 24 of before are made where the budget is there and the cells need them."""
    done = lab.run(*NEVER_PRECISE, ask=ASK, max_epochs=30, budget_s=600.0, precision=0.0001)
    assert {figure.epochs for figure in done.outcome.cells} == {30}


def test_too_noisy_is_said_early_with_what_helps(monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (4.0, 4.0, 4.0))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    message = noise_note(0.06, (1,))
    assert "only 6% of the samples are clean" in message
    assert "about 3.0 cores busy" in message
    assert "--cores 0,1,2" in message
    assert "--budget" in message


def test_the_cells_that_are_completed_are_the_nearest_whose_epochs_all_fit(clock):
    budget = Budget(20.0)
    budget.costs.start_s[A16.process] = 1.0
    budget.costs.start_s[B16.process] = 1.0
    missing = {A16: 2, A32: 3, B16: 8}
    assert budget.completed(missing, lambda cell: 1.0) == {A16, A32}, "B16's eight starts do not fit"
    assert budget.completed(missing, lambda cell: 0.1) == {A16, A32, B16}
    clock.now += 18.0
    assert budget.completed(missing, lambda cell: 1.0) == set()
