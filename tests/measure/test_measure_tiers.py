"""CPU tiers: one that changes nothing is shown as such, one that does is not."""

from __future__ import annotations

import dataclasses

import pytest
from fake_scripts import fault, row, starts

from perbyte.model import Doubt
from perbyte.stats.run_figures import make_run_figures

BOTH = ("full", "soft")
ASK = "alpha/*/encrypt@64,256+contract=message+cpu=full,soft"


def aes(**more):
    return {"name": "alpha", "operations": [row("aes-128-ecb", **more)], "noise": {"sample": 0.0005}}


def tier_warnings(done):
    return {
        (figure.cell.algorithm, figure.cell.cpu, figure.cell.size_bytes): warning.text
        for figure in done.outcome.cells
        for warning in figure.warnings
        if warning.kind is Doubt.TIER
    }


@pytest.mark.parametrize("factor", [10.0, 0.5, 1.2])
def test_a_tier_that_changes_the_cost_gets_no_warning(lab, factor):
    done = lab.run(aes(tiers={"soft": factor}), ask=ASK, cpus=BOTH)
    assert len(done.outcome.cells) == 4
    assert tier_warnings(done) == {}
    costs = {(f.cell.cpu, f.cell.size_bytes): f.cycles_per_call for f in done.outcome.cells}
    assert costs["soft", 256] / costs["full", 256] == pytest.approx(factor, rel=0.005)


def test_a_tier_that_changes_nothing_is_warned_of_on_its_rows_only(lab):
    done = lab.run(aes(), ask=ASK, cpus=BOTH)
    warnings = tier_warnings(done)
    assert set(warnings) == {("aes-128-ecb", "soft", 64), ("aes-128-ecb", "soft", 256)}
    for warning in warnings.values():
        assert "runs as fast as full (factor" in warning
        assert "nothing shows that" in warning
    cells, *_ = done.notes.all("finish")[0]
    assert cells == done.outcome.cells, "the store gets the warnings too"


def test_the_word_of_the_library_is_proof_enough(lab):
    told = aes(code_path={"full": "AESNI", "soft": "bitsliced"})
    assert tier_warnings(lab.run(told, ask=ASK, cpus=BOTH)) == {}


def test_a_library_that_names_the_same_code_twice_is_judged_by_its_speed(lab):
    same = {"full": "AESNI", "soft": "AESNI"}
    assert len(tier_warnings(lab.run(aes(code_path=same), ask=ASK, cpus=BOTH))) == 2


def test_the_same_word_with_another_speed_is_a_change(lab):
    same = {"full": "asm", "soft": "asm"}
    assert tier_warnings(lab.run(aes(code_path=same, tiers={"soft": 4}), ask=ASK, cpus=BOTH)) == {}


def test_what_no_cpu_accelerates_needs_no_proof(lab):
    serpent = {"name": "alpha", "operations": [row("serpent-128-ecb", nonce_bytes=0)]}
    done = lab.run(serpent, ask=ASK, cpus=BOTH)
    assert len(done.outcome.cells) == 4
    assert tier_warnings(done) == {}


@pytest.mark.parametrize(("tiers", "warned"), [({"soft": 8}, False), ({}, True)])
def test_a_tier_measured_alone_is_proved_by_a_look_at_full(lab, tiers, warned):
    done = lab.run(aes(tiers=tiers), ask="alpha/aes-128-ecb@64+contract=message+cpu=soft", cpus=BOTH)
    assert {figure.cell.cpu for figure in done.outcome.cells} == {"soft"}
    assert bool(tier_warnings(done)) is warned
    assert {burst.cell.cpu for burst in done.notes.bursts} == {"soft"}, "the look is no part of the run"


def test_where_nothing_can_be_shown_that_is_said(lab):
    script = aes(tiers={"soft": 8})
    script["faults"] = [fault("prepare", "crash", nth=0, cpu=["full"])]
    done = lab.run(script, ask="alpha/aes-128-ecb@64+contract=message+cpu=soft", cpus=BOTH)
    [warning] = tier_warnings(done).values()
    assert "neither the library nor a figure shows" in warning


def test_one_size_that_differs_is_enough_for_the_row(lab):
    """Below some size the cost of the call hides the code behind it."""
    done = lab.run(aes(), ask=ASK, cpus=BOTH)
    assert len(tier_warnings(done)) == 2
    bursts = {cell: list(taken) for cell, taken in done.measurement.history.bursts.items()}
    for cell, taken in bursts.items():
        if (cell.cpu, cell.size_bytes) == ("soft", 256):
            bursts[cell] = [dataclasses.replace(burst, ticks=[2 * t for t in burst.ticks]) for burst in taken]
    history = done.measurement.history
    made = make_run_figures(
        bursts,
        history.calibrations.values(),
        done.measurement.policy,
        plan=[cell.address for cell in done.plan.cells],
        identities=history.identities,
        failures=[],
        unproven=history.unproven.values(),
    )
    assert len(history.unproven) == 1
    assert len(made.cells) == 4
    assert not [warning for figure in made.cells for warning in figure.warnings if warning.kind is Doubt.TIER]


def test_tiers_run_in_processes_of_their_own(lab):
    surveyed = lab.survey(aes(tiers={"soft": 3}), cpus=BOTH)
    lab.run(surveyed=surveyed, ask=ASK)
    assert starts(surveyed.specs["alpha"].here) == 2 + 2 * 2  # the survey, and two epochs of two tiers


def plain_code(done, **changes):
    """The figures of the run, had its runner's object been another one: {algorithm, tier: warning}."""
    history = done.measurement.history
    made = make_run_figures(
        history.bursts,
        history.calibrations.values(),
        done.measurement.policy,
        plan=[cell.address for cell in done.plan.cells],
        identities=[dataclasses.replace(identity, **changes) for identity in history.identities],
        failures=[],
        unproven=history.unproven.values(),
    )
    return {
        (figure.cell.algorithm, figure.cell.cpu): warning.text
        for figure in made.cells
        for warning in figure.warnings
        if warning.kind is Doubt.PLAIN_CODE
    }


def test_an_object_without_the_instructions_is_warned_of_where_they_would_matter(lab):
    two = aes(tiers={"soft": 8})
    two["operations"].append(row("serpent-128-ecb", nonce_bytes=0))
    done = lab.run(two, ask=ASK, cpus=BOTH)
    warnings = plain_code(done, object_path="/lib/libplain.so.1", lacks=("aes", "sha"))
    assert warnings == {
        ("aes-128-ecb", "full"): "alpha: no AES instructions in libplain.so.1, and this CPU has them"
    }
    assert plain_code(done, lacks=("sha",)) == {}
    assert plain_code(done) == {}
