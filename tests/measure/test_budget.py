"""The budget: an epoch beyond the least is begun only where it fits into what is left of the budget."""

from __future__ import annotations

import itertools

import pytest
from fake_scripts import row

from perbyte.measure import budget as budgets
from perbyte.measure.budget import START_S, Budget, foresee
from perbyte.measure.cores import noise_note
from perbyte.measure.stopping import is_look
from perbyte.model import Cell, Policy


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


def test_epochs_share_what_is_left_after_what_is_sure_to_come(clock):
    budget = Budget(60.0)
    assert budget.share_s([A16, B16], 3) == 20.0, "nothing is known yet"
    for process, took in ((A16.process, 1.0), (B16.process, 2.0)):
        budget.note_start(process, took)
    budget.note_rest(0.5)
    budget.note_closing(2.5)
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
    budget.note_start(A16.process, 1.0)
    budget.note_start(B16.process, 2.0)
    for one, took in ((A16, 0.3), (A32, 1.0), (B16, 3.0)):
        budget.note_first_look(one, took)
    budget.note_rest(0.5)
    budget.note_closing(1.0)
    assert budget.affordable([B16, A16, A32]) == fit


def test_nothing_is_affordable_when_all_is_spent(clock):
    budget = Budget(10.0, before_s=10.0)
    assert budget.affordable([A16]) == []


ASK = "*/aes-128-ecb@16+contract=message"
NEVER_PRECISE = [{"name": name, "operations": [row(layout=0.05)]} for name in ("alpha", "beta")]


def test_only_what_fits_gets_further_epochs_and_the_end_says_why(lab, monkeypatch):
    monkeypatch.setattr(
        Budget, "affordable", lambda _budget, cells: [one for one in cells if one.runner == "alpha"]
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
    for known in (budget._starts.values(), budget._first_looks.values(), [budget._rest_s, budget._closing_s]):
        assert len(known) == 2
        assert min(known) > 0


def test_the_time_is_noted_while_the_run_goes_on(lab, monkeypatch):
    from perbyte.measure import run

    monkeypatch.setattr(run, "NOTE_EVERY_S", 0.0)
    done = lab.run({"name": "alpha", "operations": [row()]}, ask=ASK)
    noted = done.notes.all("spent")
    assert len(noted) > len(done.notes.bursts)
    assert noted == sorted(noted)
    assert 0 < noted[-1] <= done.outcome.measuring_s
    kinds = [kind for kind, _ in done.notes.events]
    assert all(kinds[place - 1] == "spent" for place, kind in enumerate(kinds) if kind == "epoch_done")


def test_a_plan_says_beforehand_how_long_it_takes(lab):
    found = lab.survey(*NEVER_PRECISE)
    plan = lab.plan(found, ASK)
    seen = foresee(plan, Policy(epochs=5, budget_s=60.0), found.specs)
    assert 5 * 2 * START_S < seen.least_s < 2.0
    assert seen.fits
    assert "up to 60 s" in str(seen)
    many = foresee(plan, Policy(epochs=100, budget_s=2.0), found.specs)
    assert many.least_s == pytest.approx(20 * seen.least_s, rel=0.1)
    assert not many.fits
    assert "more than the budget of 2 s" in str(many)


def test_one_call_that_outlasts_the_budget_is_named(lab):
    found = lab.survey(*NEVER_PRECISE)
    plan = lab.plan(found, "alpha/aes-128-ecb@16,4GiB+contract=message")
    seen = foresee(plan, Policy(budget_s=5.0), found.specs)
    [(cell, took)] = seen.alone
    assert cell.size_bytes == 4 << 30
    assert took > 5.0
    assert not seen.fits
    assert foresee(plan, Policy(budget_s=500.0), found.specs).fits


def test_what_does_not_fit_into_the_budget_is_left_out_by_name(lab, monkeypatch):
    """After the first epoch it is known what epochs take; alpha's cell alone is taken to fit."""
    monkeypatch.setattr(
        Budget, "affordable", lambda _budget, cells, *_: [one for one in cells if one.runner == "alpha"]
    )
    found = lab.survey(*NEVER_PRECISE)
    done = lab.run(found=found, ask=ASK, epochs=3, max_epochs=3, cut=True)
    assert [figure.cell.runner for figure in done.outcome.cells] == ["alpha"]
    [failure] = done.outcome.failures
    assert (failure.kind, failure.runner) == ("refused", "beta")
    assert any(text.startswith("beta/") and "left out" in text for text in done.watch.notes)
    whole = lab.run(found=found, ask=ASK, epochs=3, max_epochs=3)
    assert len(whole.outcome.cells) == 2, "nothing is left out where that was not asked for"


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
    said = noise_note(0.06, (1,))
    assert "only 6% of the samples are clean" in said
    assert "about 3.0 cores busy" in said
    assert "--cores 0,1,2" in said
    assert "--budget" in said
