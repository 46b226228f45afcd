"""A process whose contention floor is unlike its siblings' looks again, and is not given up for it."""

from __future__ import annotations

import pytest
from fake_scripts import fault, row

from perbyte.measure.sessions import CALIBRATIONS

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "zulu")
ASK = "*/aes-128-ecb@16+contract=message"
FLOOR = 5000.0  # of the fake's probe
LOW = 0.985 * FLOOR


def runners(*, looks):
    """Nine runners; the last one's first `looks` calibrations find a floor 1.5 % too low."""
    patch = {"fields": {"contention_floor": LOW}}
    odd = [fault("calibrate", "patch", nth=1 if looks == 1 else 0, **patch)]
    noise = {"sample": 0.0005, "probe": 0.0001}
    return [
        {
            "name": name,
            "operations": [row()],
            "noise": noise,
            **({"faults": odd} if name == NAMES[-1] else {}),
        }
        for name in NAMES
    ]


def floors_of(done, name):
    return [
        calibration.contention_floor
        for calibration in done.notes.all("calibrated")
        if calibration.runner == name
    ]


def test_it_looks_again_and_the_better_look_counts(lab):
    done = lab.run(*runners(looks=1), ask=ASK, epochs=1, max_epochs=1)
    assert floors_of(done, NAMES[-1]) == [pytest.approx(FLOOR, rel=0.003)]
    assert done.failures() == {}


def test_after_some_looks_it_is_taken_as_it_is_and_judged_by_the_others(lab):
    done = lab.run(*runners(looks=CALIBRATIONS), ask=ASK, epochs=1, max_epochs=1)
    assert floors_of(done, NAMES[-1]) == [pytest.approx(LOW)]
    assert done.failures() == {}
    (figure,) = done.of(NAMES[-1])
    assert figure.clean_samples > 0.9 * figure.samples, "by what the others take for a quiet core"
