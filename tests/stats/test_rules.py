"""The version of the rules changes whenever the figures of the same samples do."""

from __future__ import annotations

import hashlib

import msgspec
import numpy as np
import pytest

from perbyte.model import Burst, Calibration, Cell, Policy
from perbyte.stats.run_figures import RULES, make_run_figures

# of what a version of the rules makes of the bursts below, to nine digits and without sentences
DIGESTS = {1: "edc838fd0bfa09c0", 2: "7de242481f4bc259"}


def bursts_and_calibrations():
    """Seven cells over four epochs: quiet, disturbed, forked, varying, without a usable sample, and an A/A pair."""
    draw = np.random.default_rng(20)
    cells = [
        Cell("alpha", "aes-128-ctr", "encrypt", 16, "message/1"),
        Cell("alpha", "aes-128-ctr", "encrypt", 16384, "message/1"),
        Cell("alpha", "sha-256", "digest", 64, "message/1"),
        Cell("beta", "aes-128-ctr", "encrypt", 16, "message/1"),
        Cell("beta", "sha-256", "digest", 1_000_000, "message/1"),
        Cell("beta", "aes-128-ctr", "encrypt", 16, "message/1", twin=1),
        Cell("beta", "ml-dsa-44", "sign", 32, "pk/1"),
    ]
    bursts, calibrations = {cell: [] for cell in cells}, []
    for epoch in range(4):
        for runner, twin in (("alpha", 0), ("beta", 0), ("beta", 1)):
            calibrations.append(
                Calibration(
                    runner=runner,
                    cpu="full",
                    twin=twin,
                    epoch=epoch,
                    cycle_source="probe",
                    reason="",
                    tick_hz=2.6e9,
                    tick_quantum=1,
                    probe_cycles=6000.0,
                    contention_floor=1800.0,
                    fixed_ticks=80.0,
                    selfcheck={},
                    contention_limit=2200.0,
                )
            )
        for number, cell in enumerate(cells):
            for round in range(6):
                n = 8
                ticks = (26_000 + 900 * number + draw.integers(0, 60, n) + 40 * (epoch % 2)).tolist()
                if cell.operation == "sign":
                    ticks = (9_000 + 26_000 * draw.geometric(0.25, n)).tolist()
                disturbed = draw.random(n) < (0.6 if number == 2 else 0.1)
                probe = [4000 + int(k) for k in draw.integers(0, 8, n)]
                bursts[cell].append(
                    Burst(
                        cell=cell,
                        epoch=epoch,
                        round=round,
                        calls=1 if cell.operation == "sign" else 50 + number,
                        start=[
                            10**9 * (epoch + 1) + 10**6 * (20 * round + number) + 40_000 * k for k in range(n)
                        ],
                        ticks=ticks,
                        clock_before=probe,
                        clock_after=probe,
                        contention_before=[1800] * n,
                        contention_after=[3000 if worse else 1805 for worse in disturbed],
                        flags=[int(k == 3 and round == 2) for k in range(n)],
                        cycles=[],
                        waits=0,
                        forked=number < 3,
                        piece_bytes=65536 if number == 4 else 0,
                    )
                )
    return bursts, calibrations


def rounded(part):
    if isinstance(part, float):
        return f"{part:.9g}"
    if isinstance(part, dict):
        return {key: rounded(value) for key, value in part.items() if key not in ("text", "message")}
    return [rounded(value) for value in part] if isinstance(part, list | tuple) else part


def test_figures_of_the_same_samples_are_those_of_the_version():
    bursts, calibrations = bursts_and_calibrations()
    made = make_run_figures(
        bursts,
        calibrations,
        Policy(audit=False),
        plan=[cell.address for cell in bursts if not cell.twin],
        identities=(),
        failures=(),
        unproven=(),
    )
    assert (len(made.cells), len(made.failures)) == (5, 1)
    assert made.noise_floor is not None
    digest = hashlib.sha256(msgspec.json.encode(rounded(msgspec.to_builtins(made)))).hexdigest()[:16]
    assert max(DIGESTS) == RULES
    if digest != DIGESTS[RULES]:
        pytest.fail(
            f"the figures of the same samples are others: add 1 to RULES in perbyte.stats.run_figures, "
            f"and {RULES + 1}: {digest!r} to DIGESTS"
        )
