"""A process that is replaced within an epoch: one calibration stands for the samples of both, or there are none."""

from __future__ import annotations

import dataclasses

import pytest
from fake_scripts import fault, row, starts

from perbyte.measure.sessions import RESTARTS, alike
from perbyte.model import Calibration, Policy
from perbyte.stats.clean import Grounds
from perbyte.stats.figure import judge, summarise

ASK = "*/aes-128-ecb@16,32,48+contract=message"
PROBE_CYCLES = 6000.0  # of the fake's clock
NEAR = PROBE_CYCLES * 1.001  # an error of 0.1 %, where 0.25 % are asked for
FAR = PROBE_CYCLES * 1.01


def breaking(on="measure", nth=8, **probes):
    """alpha crashes in its first epoch; `probes` is what `probe_cycles` its later starts read, by start."""
    misread = [
        fault(
            "calibrate",
            "patch",
            nth=0,
            fields={"probe_cycles": cycles},
            starts=[int(start.removeprefix("start_"))],
        )
        for start, cycles in probes.items()
    ]
    noise = {"sample": 0.0005, "probe": 0.0001}
    return (
        {
            "name": "alpha",
            "operations": [row()],
            "noise": noise,
            "faults": [fault(on, "crash", nth=nth, starts=[1]), *misread],
        },
        {"name": "beta", "operations": [row()], "noise": noise},
    )


def probes_of(done, epoch=0):
    """The probe_cycles that were noted for alpha in an epoch, in order."""
    return [c.probe_cycles for c in done.notes.all("calibrated") if c.runner == "alpha" and c.epoch == epoch]


def judged_again(done, figure, epoch, calibration):
    """The figure of a cell's one epoch, judged by a calibration of one's choice."""
    bursts = [burst for burst in done.notes.bursts if burst.cell == figure.cell and burst.epoch == epoch]
    known = {(figure.cell.process, epoch): calibration}
    return judge(summarise(figure.cell, bursts, Grounds(known, Policy())), Policy())


def test_the_replacement_is_noted_and_its_calibration_is_the_epochs(lab):
    done = lab.run(*breaking(start_2=NEAR), ask=ASK)
    assert list(done.failures().values()) == ["crashed"]
    true = next(c.probe_cycles for c in done.notes.all("calibrated"))
    assert probes_of(done) == [true, NEAR]
    assert probes_of(done, 1) == [true]
    kinds = [
        (kind, getattr(value, "epoch", None))
        for kind, value in done.notes.events
        if kind in ("calibrated", "measured")
    ]
    second = [place for place, (kind, _) in enumerate(kinds) if kind == "calibrated"][2]
    assert ("measured", 0) in kinds[:second], "it broke off in mid-epoch"
    assert ("measured", 0) in kinds[second:], "and went on"
    later = [c for c in done.notes.all("calibrated") if c.runner == "alpha" and c.epoch == 0][-1]
    for figure in done.of("alpha"):
        again = judged_again(done, figure, 0, later)
        assert figure.epoch_cycles[0] == pytest.approx(again.epoch_cycles[0], rel=1e-4)
        assert figure.epoch_cycles[0] == pytest.approx(figure.epoch_cycles[1] * 1.001, rel=3e-4)


def test_a_replacement_with_another_clock_is_replaced_itself(lab):
    done = lab.run(*breaking(start_2=FAR), ask=ASK)
    assert list(done.failures().values()) == ["crashed"], "the other cells go on with the third process"
    assert FAR not in probes_of(done)
    assert len(probes_of(done)) == 2
    assert (
        starts(done.measurement.survey.specs["alpha"].here) == 5
    )  # survey, three in an epoch, one in the next
    assert any("alpha" in text and "clock" in text for text in done.watch.notes)
    assert len(done.of("alpha")) == 2
    for figure in done.of("alpha"):
        assert figure.cycles_per_call == pytest.approx(100 + figure.cell.size_bytes, rel=0.001)


def test_one_odd_look_at_the_clock_is_taken_again_and_costs_no_process(lab):
    scripts = breaking()
    odd = fault("calibrate", "patch", nth=1, fields={"probe_cycles": FAR}, starts=[2])
    scripts[0]["faults"].append(odd)
    done = lab.run(*scripts, ask=ASK)
    assert FAR not in probes_of(done)
    assert len(probes_of(done)) == 2
    assert starts(done.measurement.survey.specs["alpha"].here) == 4
    assert len(done.of("alpha")) == 2


def test_cells_are_lost_when_no_replacement_has_the_clock_of_the_first(lab):
    """Samples under two clocks have no common figure; better none than a wrong one."""
    others = {f"start_{start}": FAR for start in range(2, 2 + RESTARTS)}
    done = lab.run(*breaking(**others), ask=ASK)
    assert done.outcome.complete
    assert done.of("alpha") == []
    assert set(done.failures().values()) == {"crashed"}
    assert len(done.failures()) == 3
    assert starts(done.measurement.survey.specs["alpha"].here) == 1 + 1 + RESTARTS
    assert len(done.of("beta")) == 3


def test_before_the_first_sample_a_replacement_takes_the_place_of_the_other(lab):
    """At the validation: nothing was judged by the first one's calibration, so nothing has to agree with it."""
    done = lab.run(*breaking("check", 3, start_2=FAR), ask=ASK)
    assert list(done.failures().values()) == ["crashed"]
    assert probes_of(done)[-1] == FAR
    for figure in done.of("alpha"):
        assert figure.epoch_cycles[0] == pytest.approx(figure.epoch_cycles[1] * 1.01, rel=3e-4)


CLOCK = Calibration("r", "full", 0, 0, "probe", "", 2.5e9, 26, 18000.0, 7600.0, 52.0, {})


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"probe_cycles": 18000.0 * 1.0024}, True),
        ({"probe_cycles": 18000.0 * 1.0026}, False),
        ({"probe_cycles": 18000.0 * 0.997}, False),
        ({"probe_cycles": float("nan")}, False),
        ({"tick_hz": 2.5e9 * 1.003}, False),
        ({"fixed_ticks": 52.0 + 26.0}, True),  # a step of the counter, in a sample of 125,000 ticks
        ({"fixed_ticks": 52.0 + 400.0}, False),
        ({"probe_cycles": 18000.0 * 1.0015, "fixed_ticks": 52.0 + 200.0}, False),  # together too much
        ({"cycle_source": "none", "reason": "the self-check failed"}, False),
        ({"contention_floor": 9000.0, "selfcheck": {"add": 1.01}, "epoch": 3}, True),
    ],
)
def test_what_makes_two_clocks_alike(change, same):
    assert alike(CLOCK, dataclasses.replace(CLOCK, **change), Policy()) is same


def test_clocks_without_cycles_are_compared_by_their_ticks():
    uncycled = dataclasses.replace(CLOCK, cycle_source="none", probe_cycles=0.0)
    assert alike(uncycled, uncycled, Policy())
    assert not alike(uncycled, dataclasses.replace(uncycled, tick_hz=2.6e9), Policy())
