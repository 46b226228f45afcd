"""The orchestrator is stopped, terminated and killed: what was measured stays, and --resume goes on."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from fake_scripts import row

from perbyte.model import Policy
from perbyte.store import RunWriter, bursts, open_run

ASK = "*/aes-128-ecb@16,64+contract=message"
PRECISE = ("--precision", "2%")  # the promised epochs reach it
CELLS = 4
PACE = 6  # real seconds for each virtual one, so that a run can be met in its middle


def slow(name, **more):
    return {
        "name": name,
        "operations": [row(per_byte=2.0)],
        "noise": {"sample": 0.0005, "probe": 0.0001},
        "pace": PACE,
        **more,
    }


@pytest.fixture
def slow_world(world):
    world.add(slow("alpha"), slow("beta"))
    return world


@pytest.fixture
def stalled_world(world):
    """A run in it stands still in its middle for as long as a test may take to look at it."""
    world.add(slow("alpha", faults=[{"on": "measure", "do": "slow", "seconds": 50, "nth": 6}]), slow("beta"))
    return world


def wait_for(condition, within_s=60.0):
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)  # looking costs the run time
    return False


def stored(path: Path):
    """Bursts of a run by their number in it; nothing while there is no run yet."""
    if not (path / "run.json").exists():
        return []
    return list(bursts(path))


def fakes_of(world) -> list[int]:
    """Runner processes of this world that still run."""
    results = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError):
                if (place / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    continue
                if f"PERBYTE_FAKE_SCRIPT={world.runners}".encode() in (place / "environ").read_bytes():
                    results.append(int(place.name))
    return results


def figures(path: Path):
    return {figure.cell: figure for figure in open_run(path).cells}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_in_order_and_resume_completes_it(slow_world, tmp_path, number):
    path = tmp_path / "run"
    process = slow_world.start("measure", ASK, *PRECISE, "--out", path)
    assert wait_for(lambda: len(stored(path)) > 8)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert f"perbyte measure --resume {path}" in err
    assert "aes-128-ecb" in out, "the table of what there is"
    assert "Traceback" not in err
    assert fakes_of(slow_world) == []

    shown = slow_world.shown(path)
    assert shown["run"]["complete"] is False
    assert shown["cells"]
    before = stored(path)

    answer = slow_world.perbyte("measure", "--resume", path, "--json")
    assert answer.returncode == 0, answer.stderr
    whole = json.loads(answer.stdout)
    assert whole["run"]["complete"] is True
    assert len(whole["cells"]) == CELLS
    assert all(cell["epochs"] >= 3 and cell["library"].startswith("Fake") for cell in whole["cells"])
    assert whole["run"]["id"] == shown["run"]["id"]
    assert whole["run"]["measuring_s"] > shown["run"]["measuring_s"]
    assert stored(path)[: len(before)] == before


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_that_was_to_be_ignored_is_ignored(slow_world, tmp_path, number):
    """What nohup does: the run outlives its terminal."""
    path = tmp_path / "run"
    before = signal.signal(number, signal.SIG_IGN)
    try:
        process = slow_world.start("measure", ASK, *PRECISE, "--out", path, "-q")
    finally:
        signal.signal(number, before)
    assert wait_for(lambda: len(stored(path)) > 4)
    process.send_signal(number)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0
    assert open_run(path).complete


def test_what_a_killed_run_had_spent_stays_spent(slow_world, tmp_path):
    """Of a precision nobody reaches, only the promised epochs are made once the budget is gone."""
    path = tmp_path / "run"
    process = slow_world.start(
        "measure", ASK, "--precision", "0.0001%", "--budget", "1h", "--out", path, "-q"
    )
    began = time.monotonic()
    assert wait_for(lambda: len(stored(path)) > 8 and open_run(path).measuring_s > 0)
    process.kill()
    process.communicate()
    took = time.monotonic() - began
    spent = open_run(path).measuring_s
    assert 0 < spent < took
    with RunWriter.resume(path) as writer:  # an hour later
        writer.spent(spent + 3600)

    answer = slow_world.perbyte("measure", "--resume", path, "--json")
    assert answer.returncode == 0, answer.stderr
    assert "budget of 3600 s is spent" in answer.stderr
    whole = json.loads(answer.stdout)
    assert whole["run"]["measuring_s"] > spent + 3600
    most = max(burst.epoch for burst in stored(path)) + 1
    assert {cell["epochs"] for cell in whole["cells"]} <= {Policy().epochs, Policy().epochs + 1}, (
        "the promised ones, and what the kill cut off"
    )
    assert most <= Policy().epochs + 1


def test_another_budget_for_the_rest_stands_in_the_run(stalled_world, tmp_path):
    path = tmp_path / "run"
    process = stalled_world.start("measure", ASK, *PRECISE, "--out", path, "-q")
    assert wait_for(lambda: len(stored(path)) > 2)
    process.kill()
    process.communicate()
    spent = open_run(path).measuring_s
    shutil.rmtree(stalled_world.runners / "alpha")
    stalled_world.add(slow("alpha"))  # which no longer stands still
    answer = stalled_world.perbyte("measure", "--resume", path, "--budget", "40s", "-q")
    assert answer.returncode == 0, answer.stderr
    run = open_run(path)
    assert run.complete
    assert run.conditions.policy.budget_s == pytest.approx(spent + 40, abs=1)


def test_kill_9_at_any_moment_loses_nothing_and_resume_agrees_with_an_undisturbed_run(slow_world, tmp_path):
    calm = tmp_path / "calm"
    assert slow_world.perbyte("measure", ASK, *PRECISE, "--out", calm, "-q").returncode == 0
    whole = len(stored(calm))
    undisturbed = figures(calm)
    assert len(undisturbed) == CELLS

    draw = random.Random(20)
    met = 0
    for number, share in enumerate((0.1, 0.6)):
        path = tmp_path / f"killed-{number}"
        process = slow_world.start("measure", ASK, *PRECISE, "--out", path, "-q")
        moment = share * draw.uniform(0.8, 1.2) * whole
        assert wait_for(lambda place=path, moment=moment: len(stored(place)) >= moment)
        time.sleep(draw.uniform(0, 0.02))
        process.kill()
        process.communicate()
        assert wait_for(lambda: not fakes_of(slow_world), 5), "orphans"

        readable = open_run(path)
        before = stored(path)
        met += not readable.complete  # it may have been done already, and about to print
        answer = slow_world.perbyte("measure", "--resume", path, "-q")
        assert answer.returncode == 0, answer.stderr
        after = stored(path)
        assert after[: len(before)] == before, "a burst was lost or changed"
        run = open_run(path)
        assert run.complete
        assert run.failures == ()
        assert figures(path).keys() == undisturbed.keys()
        for cell, figure in figures(path).items():
            true = undisturbed[cell]
            assert figure.cycles_per_call == pytest.approx(true.cycles_per_call, rel=0.001)
            assert figure.epochs >= true.epochs
    assert met >= 1, "the machine was too fast for this test to meet a run in its middle"


def test_a_second_kill_while_resuming_loses_nothing_either(slow_world, tmp_path):
    path = tmp_path / "run"
    seen: list = []
    for words in (("measure", ASK, *PRECISE, "--out", path, "-q"), ("measure", "--resume", path, "-q")):
        process = slow_world.start(*words)
        known = len(seen)
        assert wait_for(lambda known=known: len(stored(path)) > known + 10)
        process.kill()
        process.communicate()
        now = stored(path)
        assert now[: len(seen)] == seen
        assert len(now) > len(seen)
        seen = now
    assert slow_world.perbyte("measure", "--resume", path, "-q").returncode == 0
    assert stored(path)[: len(seen)] == seen
    assert open_run(path).complete
    assert len(figures(path)) == CELLS


def test_two_cannot_write_one_run(stalled_world, tmp_path):
    path = tmp_path / "run"
    process = stalled_world.start("measure", ASK, *PRECISE, "--out", path, "-q")
    try:
        assert wait_for(lambda: len(stored(path)) > 2)
        other = stalled_world.perbyte("measure", "--resume", path)
        assert other.returncode == 3
        assert str(path) in other.stderr
        assert process.poll() is None, "the first one goes on"
    finally:
        process.kill()
        process.communicate()


def test_a_run_can_be_looked_at_while_it_is_made(stalled_world, tmp_path):
    path = tmp_path / "run"
    process = stalled_world.start("measure", ASK, *PRECISE, "--out", path, "-q")
    try:
        assert wait_for(lambda: len(stored(path)) > 5)
        shown = stalled_world.shown(path)
        assert shown["cells"]
        assert shown["run"]["complete"] is False
    finally:
        process.kill()
        process.communicate()


def test_runners_end_with_their_orchestrator_even_when_they_hang(world, tmp_path):
    world.add(slow("alpha", faults=[{"on": "measure", "do": "hang", "nth": 5, "starts": [1]}], stubborn=True))
    process = world.start("measure", ASK, *PRECISE, "--out", tmp_path / "run", "-q")
    assert wait_for(lambda: len(stored(tmp_path / "run")) >= 4)
    time.sleep(0.1)
    process.kill()
    process.communicate()
    assert wait_for(lambda: not fakes_of(world), 5), "a hanging runner outlived its orchestrator"


def test_resume_of_a_complete_run_measures_nothing(world, script, tmp_path, quick):
    world.add(script("alpha"))
    path = tmp_path / "run"
    assert world.perbyte("measure", "alpha/sha-256@16", "--out", path, *quick).returncode == 0
    before, cells = stored(path), world.shown(path)["cells"]
    answer = world.perbyte("measure", "--resume", path, "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["cells"] == cells
    assert stored(path) == before


def test_resume_refuses_other_conditions(world, script, tmp_path, quick):
    world.add(script("alpha"))
    path = tmp_path / "run"
    assert world.perbyte("measure", "alpha/sha-256@16", "--out", path, *quick).returncode == 0
    content = json.loads((path / "run.json").read_text())
    content["conditions"]["machine"]["cpu_model"] = "Another CPU"
    (path / "run.json").write_text(json.dumps(content))
    answer = world.perbyte("measure", "--resume", path)
    assert (answer.returncode, "damaged" in answer.stderr) == (3, True), (
        "changed by hand, it is not what was written"
    )
    (path / "manifest.json").unlink()
    answer = world.perbyte("measure", "--resume", path)
    assert answer.returncode == 2
    assert "cpu_model" in answer.stderr
    assert "Another CPU" in answer.stderr


def test_resume_refuses_a_library_that_was_replaced_meanwhile(slow_world, tmp_path):
    path = tmp_path / "run"
    process = slow_world.start("measure", ASK, *PRECISE, "--out", path, "-q")
    assert wait_for(lambda: len(stored(path)) > 5)
    process.kill()
    process.communicate()
    place = slow_world.runners / "alpha" / "script.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "library_version": "1.1"}))
    answer = slow_world.perbyte("measure", "--resume", path)
    assert answer.returncode == 2, answer.stderr
    assert "library_version" in answer.stderr
    assert fakes_of(slow_world) == []


def test_resume_refuses_a_runner_that_is_gone(slow_world, tmp_path, quick):
    path = tmp_path / "run"
    assert slow_world.perbyte("measure", "alpha/*@16+contract=message", "--out", path, *quick).returncode == 0
    (slow_world.runners / "alpha" / "runner.toml").unlink()
    answer = slow_world.perbyte("measure", "--resume", path)
    assert answer.returncode == 2
    assert "there is no runner 'alpha'" in answer.stderr


@pytest.mark.parametrize(
    "words", [("alpha/sha-256",), ("--size", "16"), ("--precision", "1%"), ("--seed", "3"), ("--dry-run",)]
)
def test_resume_takes_plan_and_policy_from_the_run(perbyte, tmp_path, words):
    answer = perbyte("measure", "--resume", tmp_path, *words)
    assert answer.returncode == 2
    assert "--resume uses the" in answer.stderr


def test_resume_of_nothing(perbyte, tmp_path):
    answer = perbyte("measure", "--resume", tmp_path / "nowhere")
    assert answer.returncode == 2
    assert "there is no run" in answer.stderr
    assert isinstance(answer, subprocess.CompletedProcess)
