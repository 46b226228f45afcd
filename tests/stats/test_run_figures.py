"""Figures of a whole run: their order, who is left out, and the doubts that belong to runs and rows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from perbyte.measure import tiers
from perbyte.model import Doubt, Failure, Quality, RunnerIdentity, UnprovenTier, Warning
from perbyte.stats import run_figures
from perbyte.stats.compare import ratio_of_medians
from perbyte.stats.cores import Apart
from perbyte.stats.run_figures import CHANGED, LAYOUT_WARNING, make_run_figures

EPOCHS = (1, 2, 3)


def cell_of(simulation, **changes):
    return replace(simulation.cell, **changes)


def figures(simulation, costs, *, layout_fixed=lambda _epoch: False, plan=None, **more):
    """Return the figures of cells whose true costs are given, `unproven` and the like as in `make_run_figures`."""
    processes = {cell.process for cell in costs}
    calibrations = [
        simulation.calibration(
            epoch, runner=p.runner, cpu=p.cpu, twin=p.twin, layout_fixed=layout_fixed(epoch)
        )
        for epoch in EPOCHS
        for p in processes
    ]
    bursts = {
        cell: [simulation.burst(cost, epoch=epoch, round=r, cell=cell) for epoch in EPOCHS for r in (1, 2)]
        for cell, cost in costs.items()
    }
    given = {
        "plan": [cell.address for cell in costs if not cell.twin] if plan is None else plan,
        "identities": [],
        "failures": [],
        "unproven": [],
        **more,
    }
    return make_run_figures(bursts, calibrations, simulation.policy, **given)


def kinds(made):
    return {figure.cell.cpu: [warning.kind for warning in figure.warnings] for figure in made.cells}


def test_figures_stand_in_the_order_of_the_plan_and_twins_make_the_floor(simulation):
    small, large = cell_of(simulation, size_bytes=16), cell_of(simulation, size_bytes=256)
    twins = {replace(large, twin=1): 300.0, replace(small, twin=1): 101.0}
    made = figures(simulation, {**twins, large: 300.0, small: 100.0}, plan=[small.address, large.address])
    assert [figure.cell for figure in made.cells] == [small, large]
    assert [address for address, _ in made.noise_floor.pairs] == [small.address, large.address]
    assert made.noise_floor.relative == pytest.approx(0.01, rel=0.1)
    assert figures(simulation, {small: 100.0, **twins}).noise_floor.pairs[0][0] == small.address


def test_what_failed_has_no_figure_and_the_last_identity_names_the_library(simulation):
    small, large = cell_of(simulation, size_bytes=16), cell_of(simulation, size_bytes=256)
    identities = [
        RunnerIdentity("openssl", "full", name, "1", "", "", "", "", "", "", "") for name in ("Old", "New")
    ]
    made = figures(
        simulation,
        {small: 100.0, large: 300.0},
        identities=identities,
        failures=[Failure("incorrect", "openssl", "wrong", address=large.address)],
    )
    assert [(figure.cell, figure.library) for figure in made.cells] == [(small, "New")]
    assert made.failures == ()
    assert made.noise_floor is None


def test_a_layout_that_is_fixed_is_a_doubt_of_every_figure(simulation):
    costs = {cell_of(simulation): 100.0, cell_of(simulation, cpu="soft"): 300.0}
    assert kinds(figures(simulation, costs)) == {"full": [], "soft": []}
    for fixed in (lambda _: True, lambda epoch: epoch == 2):
        for figure in figures(simulation, costs, layout_fixed=fixed).cells:
            assert figure.warnings == (LAYOUT_WARNING,)


@pytest.mark.parametrize(
    ("soft", "doubted"), [(100.0, True), (100.1, True), (99.9, True), (103.0, False), (97.0, False)]
)
def test_a_tier_is_proved_by_figures_that_differ_beyond_their_interval(simulation, soft, doubted):
    full = cell_of(simulation)
    lower = replace(full, cpu="soft")
    made = figures(simulation, {full: 100.0, lower: soft}, unproven=[UnprovenTier(lower.row)])
    assert kinds(made) == {"full": [], "soft": [Doubt.TIER] if doubted else []}
    if doubted:
        assert made.cells[1].warnings[0].numbers == (pytest.approx(soft / 100, rel=0.005),)


@pytest.mark.parametrize(
    ("factor", "doubted"), [(0.0, True), (1.04, True), (0.96, True), (1.06, False), (0.94, False)]
)
def test_a_tier_that_was_measured_alone_is_judged_by_the_look_at_full(simulation, factor, doubted):
    lower = cell_of(simulation, cpu="soft")
    made = figures(simulation, {lower: 100.0}, unproven=[UnprovenTier(lower.row, factor)])
    assert kinds(made) == {"soft": [Doubt.TIER] if doubted else []}
    if doubted:
        expected_text = "runs as fast as full (factor" if factor else "neither the library nor a figure shows"
        assert expected_text in made.cells[0].warnings[0].text


@pytest.mark.parametrize(
    ("ends", "doubted"),
    [((1.02, 1.04), False), ((1.005, 1.04), True), ((0.96, 0.98), False), ((0.96, 0.995), True)],
)
def test_a_look_has_to_differ_by_more_than_processes_do(simulation, ends, doubted):
    lower = cell_of(simulation, cpu="soft")
    tier = UnprovenTier(lower.row, sum(ends) / 2, *ends)
    assert kinds(figures(simulation, {lower: 100.0}, unproven=[tier])) == {
        "soft": [Doubt.TIER] if doubted else []
    }


def test_one_row_in_a_hundred_that_runs_the_same_code_is_taken_for_changed():
    """Bursts of both tiers by turns, of one cost and normal scatter; 2,000 looks."""
    draw = np.random.default_rng(34)
    changed = 0
    for _ in range(2000):
        bursts = draw.normal(1.0, 0.01, (2, tiers.BURSTS))
        ratio = ratio_of_medians(list(bursts[0]), list(bursts[1]), CHANGED)
        changed += ratio.above(1) or ratio.below(1)
    assert changed / 2000 <= 0.01 + 2.6 * (0.01 * 0.99 / 2000) ** 0.5


def test_figures_in_full_count_more_than_a_look(simulation):
    full = cell_of(simulation)
    lower, other = replace(full, cpu="soft"), replace(full, cpu="soft", algorithm="aes-256-ctr")
    unproven = [UnprovenTier(lower.row, 3.0)]
    made = figures(simulation, {full: 100.0, lower: 100.0, other: 100.0}, unproven=unproven)
    doubted = [figure.cell for figure in made.cells if figure.warnings]
    assert doubted == [lower]


def test_one_size_that_differs_proves_the_row(simulation):
    small, large = (cell_of(simulation, size_bytes=size) for size in (16, 256))
    costs = {small: 100.0, large: 300.0, replace(small, cpu="soft"): 100.0, replace(large, cpu="soft"): 900.0}
    made = figures(simulation, costs, unproven=[UnprovenTier(replace(small, cpu="soft").row)])
    assert not any(figure.warnings for figure in made.cells)


@pytest.mark.parametrize(("lacks", "doubted"), [((), False), (("aes", "sha"), True), (("sha",), False)])
def test_code_without_the_instructions_that_the_cpu_has_is_a_doubt_in_full_only(simulation, lacks, doubted):
    identities = [
        RunnerIdentity("openssl", cpu, "OpenSSL", "3", "", "", "", "/lib/libplain.so.1", "", "", "", lacks)
        for cpu in ("full", "soft")
    ]
    full = cell_of(simulation)
    made = figures(simulation, {full: 100.0, replace(full, cpu="soft"): 300.0}, identities=identities)
    assert kinds(made) == {"full": [Doubt.PLAIN_CODE] if doubted else [], "soft": []}
    if doubted:
        assert " in libplain.so.1, and" in made.cells[0].warnings[0].text


def test_samples_of_a_core_that_is_unlike_the_others_are_left_out_and_it_is_said(simulation, monkeypatch):
    asked = []

    def without(taken, cores):
        asked.append(cores)
        return taken

    monkeypatch.setattr(
        run_figures, "find_apart", lambda *_: (Apart(core=1, usual=0, relative=0.02, pairs=3),)
    )
    monkeypatch.setattr(run_figures, "without", without)
    made = figures(simulation, {cell_of(simulation): 100.0})
    assert asked == [{1}]
    [warning] = made.cells[0].warnings
    assert (warning.kind, warning.numbers) == (Doubt.CORES, (1, 0, 0.02))
    assert "core 1 costs +2 % beside core 0 (3 epochs" in warning.text
    asked.clear()
    monkeypatch.setattr(run_figures, "find_apart", lambda *_: ())
    assert figures(simulation, {cell_of(simulation): 100.0}).cells[0].warnings == ()
    assert asked == []


@pytest.mark.parametrize(
    ("message", "doubted"),
    [([Doubt.UNCHAINED], False), ([Doubt.UNCHAINED, Doubt.OTHER], True), ([Doubt.OTHER], True)],
)
def test_what_the_audit_could_not_chain_is_no_doubt_of_the_figure(simulation, monkeypatch, message, doubted):
    verdict = SimpleNamespace(refusal="", warnings=tuple(Warning(kind, "x") for kind in message))
    monkeypatch.setattr(run_figures, "judge_audits", lambda *_: verdict)
    simulation.policy = replace(simulation.policy, audit=True)
    [figure] = figures(simulation, {cell_of(simulation): 100.0}).cells
    assert (figure.quality is Quality.DOUBTED) == doubted
    assert [warning.kind for warning in figure.warnings] == message
