"""Interruptions: a run that is stopped keeps everything, ends in order, and goes on where it stopped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_scripts import fault, lie, row, starts

from perbyte.measure.history import RunHistory
from perbyte.model import Failure

ASK = "*/aes-128-ecb@16,64+contract=message"
TRUE = {16: 116.0, 64: 164.0}


def scripts(**more):
    noise = {"sample": 0.0005, "probe": 0.0001}
    return [{"name": name, "operations": [row()], "noise": noise, **more} for name in ("alpha", "beta")]


@pytest.fixture
def surveyed(lab):
    return lab.survey(*scripts())


@pytest.fixture
def stop_at(watching):
    """A watcher that presses Ctrl-C at the first moment that fits."""

    def make(fits):
        def press(moment):
            if fits(moment):
                raise KeyboardInterrupt

        return watching(press)

    return make


def descendants() -> set[int]:
    """Living processes whose parent is this one."""
    stages = set()
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                state, parent = (place / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            except OSError:
                continue
            if int(parent) == os.getpid() and state != "Z":
                stages.add(int(place.name))
    return stages


def history_of(done) -> RunHistory:
    """What a store would give back of an interrupted run."""
    history = RunHistory(
        failures=list(done.notes.all("failed")), identities=tuple(done.notes.all("identified"))
    )
    for calibration in done.notes.all("calibrated"):
        history.calibrations[calibration.process, calibration.epoch] = calibration
    for burst in done.notes.bursts:
        history.bursts[burst.cell].append(burst)
        history.epochs = max(history.epochs, burst.epoch + 1)
    return history


MOMENTS = {
    "starting the first epoch": lambda m: m.stage == "epoch 1 of at least 3, starting",
    "at the validation": lambda m: m.stage.startswith("checking 3 of "),
    "in the first round": lambda m: m.stage == "epoch 1 of at least 3, round 1",
    "in the middle of an epoch": lambda m: m.stage == "epoch 1 of at least 3, round 4",
    "between two epochs": lambda m: m.stage == "epoch 2 of at least 3, starting",
    "at the end": lambda m: m.stage == "epoch 3, round 6",
}


@pytest.mark.parametrize("when", MOMENTS)
def test_an_interrupted_run_ends_in_order_and_goes_on(lab, surveyed, stop_at, when):
    before = descendants()
    part = lab.run(surveyed=surveyed, ask=ASK, watch=stop_at(MOMENTS[when]), epochs=3, max_epochs=3)
    assert not part.outcome.complete
    assert descendants() == before, "no runner may outlive the run"
    cells, _, _, complete = part.notes.all("finish")[0]
    assert not complete
    assert cells == part.outcome.cells
    measured = {burst.cell for burst in part.notes.bursts}
    assert {figure.cell for figure in part.outcome.cells} == measured
    assert part.failures() == {}, "an interruption is nobody's fault"

    # one epoch more: the one that was broken off may hold too little to count
    rest = lab.run(surveyed=surveyed, ask=ASK, history=history_of(part), epochs=3, max_epochs=4)
    assert rest.outcome.complete
    assert rest.failures() == {}
    assert len(rest.outcome.cells) == 4
    epochs_before = max((burst.epoch for burst in part.notes.bursts), default=-1)
    assert all(burst.epoch > epochs_before for burst in rest.notes.bursts)
    for figure in rest.outcome.cells:
        true = TRUE[figure.cell.size_bytes]
        assert figure.cycles_per_call == pytest.approx(true, rel=0.001)
        assert figure.epochs >= 3
        of_both = [b for done in (part, rest) for b in done.notes.bursts if b.cell == figure.cell]
        assert figure.samples == sum(len(burst) for burst in of_both), "what was measured before counts"


def test_what_stops_the_sink_from_keeping_does_not_stop_the_end(lab, surveyed, noting):
    """Ctrl-C in the middle of storing a burst."""
    notes = noting()
    keep = notes.measured

    def interrupted(burst):
        keep(burst)
        if len(notes.bursts) == 7:
            raise KeyboardInterrupt

    notes.measured = interrupted
    part = lab.run(surveyed=surveyed, ask=ASK, notes=notes)
    assert not part.outcome.complete
    assert len(notes.bursts) == 7
    assert notes.all("finish")


def test_a_complete_run_that_is_resumed_measures_nothing_and_says_the_same(lab, surveyed):
    whole = lab.run(surveyed=surveyed, ask=ASK, twins=True)
    before = starts(surveyed.specs["alpha"].here)
    again = lab.run(surveyed=surveyed, ask=ASK, twins=True, history=history_of(whole))
    assert again.outcome.complete
    assert again.notes.bursts == []
    assert starts(surveyed.specs["alpha"].here) == before, "no process is needed"
    assert again.outcome.cells == whole.outcome.cells, "names of the libraries included"
    assert again.outcome.noise_floor == whole.outcome.noise_floor


def test_only_what_is_missing_is_measured(lab, surveyed, stop_at):
    part = lab.run(
        surveyed=surveyed,
        ask=ASK,
        watch=stop_at(lambda m: m.stage == "epoch 2, starting"),
        epochs=2,
        max_epochs=2,
    )
    rest = lab.run(surveyed=surveyed, ask=ASK, history=history_of(part), epochs=2, max_epochs=2)
    assert {burst.epoch for burst in rest.notes.bursts} == {1}
    assert len(rest.notes.bursts) == len(part.notes.bursts)


def test_the_gate_stands_before_the_second_part_too(lab, stop_at):
    scripts_ = scripts()
    scripts_[1]["lies"] = [lie("check", starts=list(range(2, 20)))]  # after the first epoch
    surveyed = lab.survey(*scripts_)
    part = lab.run(
        surveyed=surveyed,
        ask=ASK,
        watch=stop_at(lambda m: m.stage == "epoch 2, starting"),
        epochs=2,
        max_epochs=2,
    )
    rest = lab.run(surveyed=surveyed, ask=ASK, history=history_of(part), epochs=2, max_epochs=2)
    assert rest.notes.bursts == []
    assert set(rest.failures().values()) == {"disputed"}
    assert rest.outcome.cells == (), "two that disagree: neither is believed, whatever was measured before"


def test_what_failed_before_the_interruption_stays_failed(lab, stop_at):
    scripts_ = scripts()
    scripts_[0]["faults"] = [fault("measure", "crash", nth=2, starts=[1])]
    surveyed = lab.survey(*scripts_)
    part = lab.run(
        surveyed=surveyed, ask=ASK, watch=stop_at(lambda m: m.stage == "epoch 1 of at least 2, round 4")
    )
    [lost] = part.outcome.failures
    rest = lab.run(surveyed=surveyed, ask=ASK, history=history_of(part))
    assert list(rest.outcome.failures) == [lost]
    assert rest.notes.all("failed") == [], "it is not told twice"
    assert lost.address not in {figure.cell.address for figure in rest.outcome.cells}
    assert len(rest.outcome.cells) == 3


def test_a_run_without_a_figure_can_be_resumed(lab, surveyed):
    history = RunHistory(failures=[Failure("absent", "gamma", "not here")])
    done = lab.run(surveyed=surveyed, ask=ASK, history=history)
    assert len(done.outcome.cells) == 4
    assert done.failures() == {"gamma": "absent"}


def test_the_time_of_the_first_part_counts(lab, surveyed, stop_at):
    part = lab.run(surveyed=surveyed, ask=ASK, watch=stop_at(lambda m: m.stage == "epoch 2, starting"))
    history = history_of(part)
    history.measuring_s = 1000.0
    rest = lab.run(surveyed=surveyed, ask=ASK, history=history, budget_s=60.0)
    assert rest.outcome.measuring_s > 1000.0
    assert {figure.epochs for figure in rest.outcome.cells} == {2}, "promised epochs are kept all the same"
    assert {moment.left_s for moment in rest.watch.moments} == {0.0}


def test_a_budget_that_was_spent_before_buys_no_more_epochs(lab):
    """Two epochs were promised and made; what is still imprecise then waits for a new budget."""
    surveyed = lab.survey({"name": "alpha", "operations": [row(layout=0.05)]})
    ask = "alpha/aes-128-ecb@16+contract=message"
    whole = lab.run(surveyed=surveyed, ask=ask)
    history = history_of(whole)
    history.measuring_s = 1000.0
    spent = lab.run(surveyed=surveyed, ask=ask, history=history, max_epochs=4, budget_s=60.0)
    assert spent.notes.bursts == []
    history = history_of(whole)
    history.measuring_s = 1000.0
    anew = lab.run(surveyed=surveyed, ask=ask, history=history, max_epochs=4, budget_s=1060.0)
    assert {burst.epoch for burst in anew.notes.bursts} == {2, 3}
