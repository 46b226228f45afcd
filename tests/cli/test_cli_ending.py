"""What makes a command that measures fail, and what it says about cells without a figure."""

from __future__ import annotations

import dataclasses

import pytest
from fake_scripts import fault, row

from perbyte.app.verdicts import run_code
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, EXIT_INCORRECT, EXIT_INTERRUPTED, EXIT_MISSING
from perbyte.model import NOT_REACHED, Failure
from perbyte.report.gate import losses

KINDS = ("unsupported", "crashed", "timed-out", "garbled", "refused", "absent", "damaged", "audit")


@pytest.mark.parametrize("kind", KINDS)
def test_what_costs_a_cell_does_not_cost_the_run(kind):
    failure = Failure(kind, "alpha", "why", address="alpha/sha-256/digest@16")
    assert run_code([failure], measured=True, complete=True) == EXIT_FINE
    assert run_code([failure], measured=False, complete=True) == EXIT_ENVIRONMENT
    assert run_code([failure], measured=True, complete=False) == EXIT_INTERRUPTED


@pytest.mark.parametrize("kind", ["incorrect", "disputed"])
def test_a_wrong_output_is_an_error(kind):
    failure = Failure(kind, "alpha", "why", address="alpha/sha-256/digest@16")
    assert run_code([failure], measured=True, complete=True) == EXIT_INCORRECT


def test_a_cell_that_was_not_reached_is_an_error_and_told_once():
    failure = Failure(NOT_REACHED, "alpha", "why", address="alpha/sha-256/digest@16")
    wrong = Failure("incorrect", "alpha", "why", address="alpha/sha-256/digest@64")
    assert run_code([failure], measured=True, complete=True) == EXIT_MISSING
    assert run_code([failure], measured=False, complete=True) == EXIT_MISSING
    assert run_code([failure], measured=True, complete=False) == EXIT_INTERRUPTED
    assert run_code([failure, wrong], measured=True, complete=True) == EXIT_INCORRECT


def test_a_run_without_room_says_which_cells_and_what_would_reach_them(world, script):
    """Beta's calls take 2 s of real time each; alpha's take none."""
    dear = row("aes-128-ecb", "encrypt", "message/1", per_call=5.4e9)
    world.add(script("alpha"), {"name": "beta", "operations": [dear], "pace": 1.0})
    words = ["--contract", "message", "--budget", "1s", "--precision", "20%"]
    run = world.home / "short"
    answer = world.perbyte("measure", "*/aes-128-ecb/encrypt@16", *words, "--epochs", 5, "--out", run)
    assert answer.returncode == EXIT_MISSING, answer.stderr
    assert "not reached" in answer.stdout
    assert answer.stdout.count("would do") == 1
    assert "without a figure: 1 not reached (the list above says which --budget would do)" in answer.stderr
    assert "twin" not in answer.stdout
    [failure] = world.shown(run)["run"]["failures"]
    assert failure["kind"] == NOT_REACHED
    again = world.perbyte("compare", "alpha/*", "beta/*", "--run", run)
    assert again.returncode != EXIT_FINE
    assert "beta/aes-128-ecb/encrypt@16+contract=message/1 is not-reached" in again.stderr


def test_the_last_line_counts_cells_by_cause_and_says_what_to_do(measured):
    from perbyte.store import open_run

    run = open_run(measured.path)
    assert losses(run) == ""
    failures = [Failure("audit", "beta", "x", address=f"beta/sha-256/digest@{size}") for size in (16, 64)]
    failures += [
        Failure("unsupported", "beta", "x", address="beta/sha-256/digest@3"),
        Failure("refused", "beta", "x", address="beta/sha-256/digest@64+twin=1"),
        Failure("crashed", "gamma", "x", address="gamma/sha-256/digest@64"),
    ]
    line = losses(dataclasses.replace(run, failures=tuple(failures)))
    assert "\n" not in line
    assert line.startswith(
        "without a figure: 2 refused by the audit (perbyte show --audit marked tells what decided"
    )
    assert "with more --budget" in line
    assert line.endswith("; 1 of runners that broke off (perbyte conform gamma)")


def test_a_runner_that_crashes_is_told_and_fails_nothing(world, script, quick):
    world.add(script("alpha"), script("beta", faults=[fault("measure", "crash")]))
    words = [word for word in quick if word != "-q"]
    answer = world.perbyte("measure", "*/aes-128-ecb/encrypt@16", *words)
    assert answer.returncode == EXIT_FINE, answer.stderr
    assert "without a figure: 1 of runners that broke off (perbyte conform beta)" in answer.stderr
    alone = world.perbyte("measure", "beta/aes-128-ecb/encrypt@16", *quick)
    assert alone.returncode == EXIT_ENVIRONMENT


def test_a_selftest_beside_noise_is_undecided_and_not_wrong():
    from perbyte.model import Cell, CellFigure, Interval, Quality
    from perbyte.stats.known_loops import judged

    def reading(cycles: float, half: float, quality: Quality = Quality.GOOD) -> tuple[bool, bool]:
        figure = CellFigure(
            cell=Cell("reference", "probe-imul", "run", 1024, "stream/1"),
            library="loops",
            library_version="1",
            cycles_per_call=1024 * cycles,
            ns_per_call=1024 * cycles,
            interval=Interval(1024 * (cycles - half), 1024 * (cycles + half)),
            samples=9,
            clean_samples=9,
            epochs=3,
            epoch_cycles=(),
            epoch_ns=(),
            calls_per_sample=1,
            quality=quality,
            cycle_source="probe",
        )
        reading_made = judged(figure)
        return reading_made.wrong, reading_made.unclear

    assert reading(3.001, 0.001) == (False, False)
    assert reading(3.2, 0.01) == (True, False)
    assert reading(3.2, 0.3) == (False, True)
    assert reading(3.2, 0.01, Quality.NOISY) == (False, True)
