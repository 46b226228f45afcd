"""A killed, resumed or merged run has the figures, noise floor and doubts that the live run would have had."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_scripts import row

from perbyte.measure.history import RunHistory
from perbyte.model import Conditions, Doubt, Machine
from perbyte.runners.process import RunnerProcess
from perbyte.store import RunWriter, merge, open_run, stored_run

ASK = "alpha/*/encrypt@64,256+contract=message+cpu=full,soft"
ALONE = "alpha/*/encrypt@64+contract=message+cpu=soft"
BOTH = ("full", "soft")


class Killed(RunWriter):
    """A writer that never comes to store the figures."""

    def finish(self, *_figures):
        self.close()


@pytest.fixture
def fixed(monkeypatch):
    """A system that places all processes alike."""
    monkeypatch.setattr(
        RunnerProcess, "layout_fixed", property(lambda _: True, lambda *_: None), raising=False
    )


def surveyed(lab, tiers=None):
    """Return a survey of a library whose tier soft changes nothing, unless `tiers` says so."""
    script = {"name": "alpha", "operations": [row("aes-128-ecb")], "noise": {"sample": 0.0005}}
    return lab.survey({**script, "tiers": tiers or {}}, cpus=BOTH)


def measured(lab, surveyed, path, *, ask=ASK, kind=RunWriter, history=None, run_id="r-1"):
    """Run what `ask` says; the store writes into `path`."""
    plan = lab.plan(surveyed, ask, twins=True)
    writer = kind.resume(path) if history else kind.create(path)
    addresses = tuple(cell.address for cell in plan.cells)
    policy = lab.policy()
    writer.begin(Conditions(run_id, "1", "1", 1, "now", (), Machine(), policy, addresses))
    done = lab.measure(plan, surveyed, notes=writer, history=history)
    writer.close()
    return done.outcome


def kinds(figures, cpu):
    return [{warning.kind for warning in figure.warnings} for figure in figures if figure.cell.cpu == cpu]


@pytest.mark.parametrize("ask", [ASK, ALONE])
def test_a_kill_before_the_figures_are_stored_loses_no_doubt(lab, tmp_path, fixed, ask):
    outcome = measured(lab, surveyed(lab), tmp_path / "run", kind=Killed, ask=ask)
    assert all({Doubt.LAYOUT, Doubt.TIER} <= doubts for doubts in kinds(outcome.cells, "soft"))
    read = open_run(tmp_path / "run")
    assert read.cells == outcome.cells
    assert read.noise_floor == outcome.noise_floor
    assert read.failures == outcome.failures


def test_a_run_that_goes_on_keeps_the_doubts_of_its_first_part(lab, tmp_path, monkeypatch):
    path, runners = tmp_path / "run", surveyed(lab)
    with monkeypatch.context() as patch:
        fixed_here = property(lambda _: True, lambda *_: None)
        patch.setattr(RunnerProcess, "layout_fixed", fixed_here, raising=False)
        measured(lab, runners, path, kind=Killed)
    outcome = measured(lab, runners, path, history=RunHistory.of(stored_run(path)))
    assert all({Doubt.LAYOUT, Doubt.TIER} <= doubts for doubts in kinds(outcome.cells, "soft"))
    assert all(Doubt.LAYOUT in doubts and Doubt.TIER not in doubts for doubts in kinds(outcome.cells, "full"))
    assert open_run(path).cells == outcome.cells


@pytest.mark.parametrize(("tiers", "doubted"), [({}, True), ({"soft": 8}, False)])
def test_a_merged_run_knows_what_a_look_at_full_showed(lab, tmp_path, tiers, doubted):
    runners = surveyed(lab, tiers)
    for name in ("a", "b"):
        measured(lab, runners, tmp_path / name, ask=ALONE, run_id=name)
    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert [Doubt.TIER in doubts for doubts in kinds(merged.cells, "soft")] == [doubted]


def test_a_cell_without_a_usable_sample_is_a_failure_read_or_live(lab, tmp_path):
    path = tmp_path / "run"
    outcome = measured(lab, surveyed(lab), path, kind=Killed)
    lost = outcome.cells[0].cell
    broken = tmp_path / "broken"
    with RunWriter.create(broken) as writer:
        stored = stored_run(path)
        writer.begin(stored.conditions)
        for calibration in stored.calibrations:
            writer.calibrated(calibration)
        for burst in stored.bursts:
            failed_call = [16] * len(burst)
            writer.measured(replace(burst, flags=failed_call) if burst.cell == lost else burst)
    read = open_run(broken)
    assert lost not in [figure.cell for figure in read.cells]
    assert [(failure.kind, failure.address) for failure in read.failures] == [("refused", lost.address)]
