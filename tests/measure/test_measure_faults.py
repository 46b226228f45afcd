"""A runner that crashes, hangs, floods or babbles costs the cell it happens at; all others are complete."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from fake_scripts import fault, row, starts

from perbyte.catalogue import load
from perbyte.errors import (
    RunnerCrashed,
    RunnerEnded,
    RunnerFlooded,
    RunnerGarbled,
    RunnerRefused,
    RunnerSpokeOutOfTurn,
    RunnerTimedOut,
    RunnerVersionMismatch,
)
from perbyte.measure.sessions import RESTARTS, failure_of
from perbyte.model import Cell

ASK = "*/aes-128-ecb@16,32+contract=message"
SIZES = (16, 32)
TRUE = {size: 100.0 + size for size in SIZES}


def pair(*faults, **more):
    """alpha breaks as told, beta never does."""
    noise = {"sample": 0.0005, "probe": 0.0001}
    return (
        {"name": "alpha", "operations": [row()], "noise": noise, "faults": list(faults), **more},
        {"name": "beta", "operations": [row()], "noise": noise},
    )


def check_whole(figures, sizes=SIZES, epochs=2):
    assert sorted(figure.cell.size_bytes for figure in figures) == sorted(sizes)
    for figure in figures:
        assert figure.cycles_per_call == pytest.approx(TRUE[figure.cell.size_bytes], rel=0.002)
        assert figure.epochs == epochs
        assert figure.clean_samples >= 60


def living_fakes(lab_directory: Path) -> list[int]:
    """Processes that still run a script of this test's directory."""
    processes = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                environment = (place / "environ").read_bytes()
                state = (place / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if str(lab_directory).encode() in environment and state != "Z" and int(place.name) != os.getpid():
                processes.append(int(place.name))
    return processes


FAULTS = {
    "crash": (fault("measure", "crash", nth=5), "crashed"),
    "exit status": (fault("measure", "crash", how=7, nth=5), "crashed"),
    "end": (fault("measure", "end", nth=5), "crashed"),
    "close": (fault("measure", "close", nth=5), "crashed"),
    "hang": (fault("measure", "hang", nth=5), "timed-out"),
    "spin": (fault("measure", "spin", nth=5), "timed-out"),
    "half a line": (fault("measure", "half", nth=5), "timed-out"),
    "flood": (fault("measure", "flood", nth=5), "garbled"),
    "garbage": (fault("measure", "text", nth=5, text="\x00\xff{[not json"), "garbled"),
    "another answer": (fault("measure", "patch", nth=5, fields={"id": 1}), "garbled"),
    "a field missing": (fault("measure", "patch", nth=5, fields={}, without=["ticks"]), "garbled"),
    "arrays that differ": (fault("measure", "patch", nth=5, fields={"ticks": [1, 2]}), "garbled"),
    "numbers beyond 64 bits": (fault("measure", "patch", nth=5, fields={"waits": 2**70}), "garbled"),
    "a negative time": (fault("measure", "patch", nth=5, fields={"ticks": [-5] * 6}), "garbled"),
    "no samples": (
        fault(
            "measure",
            "patch",
            nth=5,
            fields={
                name: []
                for name in (
                    "start",
                    "ticks",
                    "clock_before",
                    "clock_after",
                    "contention_before",
                    "contention_after",
                    "flags",
                )
            },
        ),
        "garbled",
    ),
    "no calls": (fault("measure", "patch", nth=5, fields={"calls": 0}), "garbled"),
    "an error of the library": (
        fault("measure", "refuse", nth=5, code="library", message="broken"),
        "refused",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_while_measuring_costs_that_cell_only(lab, hasty, what, tmp_path):
    broken, kind = FAULTS[what]
    done = lab.run(*pair({**broken, "starts": [1]}), ask=ASK, limits=hasty)
    assert done.outcome.complete
    assert list(done.failures().values()) == [kind]
    [lost] = done.outcome.failures
    assert lost.runner == "alpha"
    assert lost.message
    hit = int(lost.address.split("@")[1].split("+")[0])
    check_whole(done.of("alpha"), [size for size in SIZES if size != hit])
    check_whole(done.of("beta"))
    assert not living_fakes(tmp_path)


def test_stray_output_costs_one_cell_of_the_runner(lab):
    """Whether it is seen with the answer it follows or with the next one is a matter of microseconds."""
    done = lab.run(*pair(fault("measure", "stray", nth=5, text="tick", starts=[1])), ask=ASK)
    assert list(done.failures().values()) == ["garbled"]
    check_whole(done.of("beta"))
    assert len(done.of("alpha")) == len(SIZES) - 1
    assert (
        "tick" in done.outcome.failures[0].message or "more than one line" in done.outcome.failures[0].message
    )


def test_the_words_of_a_dying_runner_are_reported(lab):
    broken = fault("measure", "crash", nth=5, starts=[1], stderr="assertion failed: key != NULL")
    [lost] = lab.run(*pair(broken), ask=ASK).outcome.failures
    assert "SIGSEGV" in lost.message
    assert "assertion failed: key != NULL" in lost.message


@pytest.mark.parametrize("verb", ["prepare", "check"])
@pytest.mark.parametrize("how", ["crash", "hang", "text"])
def test_a_fault_at_the_gate_costs_that_cell_only(lab, hasty, verb, how):
    broken = fault(verb, how, nth=2, starts=[1], text="hello?")
    if how == "hang":
        hasty = type(hasty)(prepare=1.0, check=1.0, quit=0.3)
    done = lab.run(*pair(broken), ask=ASK, limits=hasty)
    assert list(done.failures().values()) == [
        {"crash": "crashed", "hang": "timed-out", "text": "garbled"}[how]
    ]
    assert len(done.of("alpha")) == len(SIZES) - 1
    check_whole(done.of("beta"))


def test_a_crash_on_release_costs_that_cell_only(lab):
    size = 1 << 17
    done = lab.run(
        *pair(fault("release", "crash", starts=[1])), ask=f"*/aes-128-ecb@16,{size}+contract=message"
    )
    assert done.failures() == {f"alpha/aes-128-ecb/encrypt@{size}+contract=message/1": "crashed"}
    assert len(done.of("beta")) == 2
    assert len(done.of("alpha")) == 1


def test_a_witness_that_crashes_after_the_timing_costs_its_own_cell(lab):
    """beta asks alpha what the last timed call must give; alpha's death says nothing about beta."""
    at_the_gate = len(load().known_answers("aes-128-ecb", "encrypt")) + 3 * len(
        SIZES
    )  # round trip, 1 call, 18 calls
    broken = fault("check", "crash", nth=at_the_gate + 1, starts=[1])
    done = lab.run(*pair(broken), ask=ASK)
    assert len(done.notes.bursts) > 2 * len(SIZES) * 6, "it crashed after the first epoch's timing"
    assert {failure.runner for failure in done.outcome.failures} == {"alpha"}
    assert list(done.failures().values()) == ["crashed"]
    check_whole(done.of("beta"))
    assert len(done.of("alpha")) == len(SIZES) - 1


@pytest.mark.parametrize("verb", ["start", "hello", "calibrate"])
@pytest.mark.parametrize("how", ["crash", "text"])
def test_a_process_that_dies_at_every_start_costs_its_own_cells(lab, verb, how):
    broken = fault(verb, how, nth=0, starts=list(range(1, 50)), text="login:")
    if (verb, how) == ("start", "text"):
        broken = fault("start", "end", starts=list(range(1, 50)))
    done = lab.run(*pair(broken), ask=ASK)
    assert done.outcome.complete
    assert len(done.failures()) == len(SIZES)
    assert {failure.runner for failure in done.outcome.failures} == {"alpha"}
    assert set(done.failures().values()) == {"crashed" if broken["do"] != "text" else "garbled"}
    check_whole(done.of("beta"))


@pytest.mark.parametrize(("how", "more"), [("slow", {"seconds": 0.03}), ("shout", {"mebibytes": 16})])
def test_who_keeps_a_run_waiting_costs_no_other_runner_its_figures(lab, how, more):
    done = lab.run(*pair(fault("measure", how, nth=0, **more)), ask=ASK, budget_s=1.0)
    check_whole(done.of("beta"))
    assert {failure.runner for failure in done.outcome.failures} <= {"alpha"}


def test_a_process_that_dies_at_every_measure_is_not_started_for_ever(lab):
    broken = fault("measure", "crash", nth=0)
    done = lab.run(*pair(broken), ask="*/aes-128-ecb@16,32,48,64,80,96,112,128+contract=message")
    assert set(done.failures().values()) == {"crashed"}
    assert len(done.failures()) == 8
    assert any("too often" in failure.message for failure in done.outcome.failures)
    assert starts(done.measurement.survey.specs["alpha"].here) <= 1 + 1 + RESTARTS
    assert len(done.of("beta")) == 8


def test_a_process_that_dies_once_is_replaced_and_its_other_cells_go_on(lab):
    done = lab.run(*pair(fault("measure", "crash", nth=2, starts=[1])), ask=ASK)
    assert starts(done.measurement.survey.specs["alpha"].here) == 4  # survey, epoch, its replacement, epoch
    check_whole(done.of("alpha"), [figure.cell.size_bytes for figure in done.of("alpha")])


def test_another_protocol_version_later_on_is_a_fault_of_that_runner(lab):
    broken = fault("hello", "patch", fields={"protocol": 2}, starts=[1])
    done = lab.run(*pair(broken), ask=ASK)
    assert set(done.failures().values()) == {"garbled"}
    assert all("version 2" in failure.message for failure in done.outcome.failures)
    check_whole(done.of("beta"))


def test_a_runner_in_another_tier_than_asked_for_is_not_measured(lab):
    broken = fault("hello", "patch", fields={"tier": "soft"}, starts=[1])
    done = lab.run(*pair(broken), ask=ASK)
    assert set(done.failures().values()) == {"unsupported"}
    check_whole(done.of("beta"))


def test_a_runner_whose_program_disappears_costs_its_own_cells(lab, watching):
    surveyed = lab.survey(*pair(fault("measure", "crash", nth=5, starts=[1])))
    here = surveyed.specs["alpha"].here

    def vanish(moment):
        if moment.stage == "epoch 1 of at least 2, round 1" and here.exists():
            shutil.rmtree(here)

    done = lab.run(surveyed=surveyed, ask=ASK, watch=watching(vanish))
    assert done.outcome.complete
    assert {failure.runner for failure in done.outcome.failures} == {"alpha"}
    assert len(done.failures()) == len(SIZES)
    check_whole(done.of("beta"))


def test_a_runner_that_will_not_quit_and_leaves_children_is_cleared_away(lab, hasty, tmp_path):
    stubborn = pair(fault("quit", "stay", nth=0), fault("prepare", "fork"), stubborn=True)
    done = lab.run(*stubborn, ask="*/aes-128-ecb@16+contract=message", limits=hasty)
    assert done.failures() == {}
    assert len(done.outcome.cells) == 2
    assert not living_fakes(tmp_path)


def test_two_runners_that_break_do_not_hide_each_other(lab, hasty):
    scripts = list(pair(fault("measure", "crash", nth=2, starts=[1])))
    scripts.append(
        {"name": "gamma", "operations": [row()], "faults": [fault("measure", "hang", nth=3, starts=[1])]}
    )
    done = lab.run(*scripts, ask=ASK, limits=hasty)
    assert sorted((f.runner, f.kind) for f in done.outcome.failures) == [
        ("alpha", "crashed"),
        ("gamma", "timed-out"),
    ]
    check_whole(done.of("beta"))
    assert len(done.outcome.cells) == 3 * len(SIZES) - 2


def test_a_fault_in_a_later_epoch_takes_the_figure_back(lab):
    done = lab.run(*pair(fault("measure", "crash", nth=5, starts=[2])), ask=ASK)
    [lost] = done.outcome.failures
    assert lost.address not in {figure.cell.address for figure in done.outcome.cells}
    assert len(done.of("alpha")) == len(SIZES) - 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RunnerCrashed("x"), "crashed"),
        (RunnerEnded("x"), "crashed"),
        (RunnerTimedOut("x"), "timed-out"),
        (RunnerFlooded("x"), "garbled"),
        (RunnerGarbled("x"), "garbled"),
        (RunnerSpokeOutOfTurn("x"), "garbled"),
        (RunnerVersionMismatch("x"), "garbled"),
        (RunnerRefused("x", code="unsupported"), "unsupported"),
        (RunnerRefused("x", code="bad-size"), "refused"),
        (RunnerRefused("x", code="library"), "refused"),
    ],
)
def test_every_fault_has_a_kind(error, kind):
    assert failure_of(Cell("fake", "aes-128-ecb", "encrypt", 16, "message/1"), error).kind == kind


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        ("calibrate", {"probe_cycles": 1e-300}),
        ("calibrate", {"tick_hz": 1e300}),
        ("calibrate", {"fixed_ticks": 1e300}),
        ("measure", {"calls": 10**12}),
        ("measure", {"ticks": [2**62] * 8}),
    ],
)
def test_numbers_that_are_allowed_and_absurd_cost_their_runner_only(lab, ecb, address, verb, fields):
    broken = ecb("beta", faults=[fault(verb, "patch", fields=fields, nth=0)])
    done = lab.run(ecb("alpha"), broken)
    assert done.figure(address("alpha")).cycles_per_call == pytest.approx(116, rel=1e-3)
    assert done.failures() == {address("beta"): "garbled"}


def test_a_runner_that_becomes_another_costs_its_own_cells(lab, ecb, address):
    changed = fault("hello", "patch", fields={"library_version": "2.0"}, starts=[2])
    done = lab.run(ecb("alpha"), ecb("beta", faults=[changed]))
    assert done.figure(address("alpha")).epochs == 2
    assert done.failures() == {address("beta"): "garbled"}
    assert "1.0 then, " in done.failure(address("beta")).message


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/tty", "a\0b", "fifo"])
def test_an_object_that_never_ends_is_not_read(lab, ecb, address, tmp_path, path):
    if path == "fifo":
        path = str(tmp_path / "pipe")
        os.mkfifo(path)
    done = lab.run(ecb("alpha", faults=[fault("hello", "patch", fields={"object": path}, nth=0)]))
    assert done.figure(address("alpha"))
    assert {identity.object_sha256 for identity in done.notes.all("identified")} == {""}
