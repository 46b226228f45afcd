"""What `perbyte try` does to answer in the promised time. No clock of this machine decides a verdict here."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from fake_scripts import row

from perbyte.app.trying.bench import Bench, Nowhere
from perbyte.app.trying.clock import BESIDE_S, LEAST_S, WALL_S, Clock
from perbyte.catalogue import load
from perbyte.errors import EXIT_FINE
from perbyte.locks import Lock
from perbyte.measure import Survey
from perbyte.measure.budget import OVERDUE
from perbyte.measure.forecast import Pace
from perbyte.model import Cell, Policy
from perbyte.report.trials import first_line


def test_a_clock_gives_what_is_left_of_the_promise_and_more_beside_a_neighbour():
    clock = Clock(began=time.monotonic() - 4)
    assert clock.promised_s == WALL_S
    assert 4 < clock.left_s < WALL_S - 4
    assert clock.measuring_s(starts_s=0.5) == pytest.approx(clock.left_s - 0.5, abs=0.06)
    dear = pytest.approx(clock.left_s / OVERDUE, abs=0.06)
    assert clock.measuring_s(starts_s=2.0) == dear, "starts beyond a quarter of the budget count in it"
    clock.note_clean(0.9)
    assert clock.promised_s == WALL_S
    clock.note_clean(0.2)
    assert clock.promised_s == BESIDE_S
    late = Clock(began=time.monotonic() - 99)
    assert late.left_s == late.measuring_s(5.0) == LEAST_S
    assert Clock(budget_s=33.0).measuring_s(50.0) == 33.0


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    made = Bench([], [], load().find("sha-256"), (64,), Policy(), patience_s=1.0)
    made.programs = [type("Spec", (), {"name": "mine"})()]
    return made


def test_libraries_that_take_too_long_are_left_out_and_one_stays(bench):
    names = ("mine", "quick", "slow", "slower")
    cells = tuple(Cell(name, "sha-256", "digest", 64, "oneshot/1") for name in names)
    pace = Pace(starts_s={"mine": 0.01, "quick": 0.02, "slow": 0.9, "slower": 3.0})
    nothing = Survey({}, {}, ())
    kept, policy = bench._in_time(nothing, cells, pace)
    assert [cell.runner for cell in kept] == ["mine", "quick", "slow"]
    assert bench.unreached == ("slower",)
    assert WALL_S - 5 * 0.9 < policy.budget_s < WALL_S / OVERDUE
    bench.clock = Clock(began=time.monotonic() - 99)
    kept, _ = bench._in_time(nothing, cells, pace)
    assert [cell.runner for cell in kept] == ["mine", "quick"], "one library at the least"
    bench.clock = Clock(budget_s=5.0)
    assert bench._in_time(nothing, cells, pace)[0] == cells, "who gives a budget gets all"


def test_epochs_go_where_one_library_does_not_fit_either_but_not_of_a_baseline(bench):
    cells = tuple(Cell(name, "sha-256", "digest", 64, "oneshot/1") for name in ("mine", "slow"))
    pace = Pace(starts_s={"mine": 1.5, "slow": 1.5})
    kept, policy = bench._in_time(Survey({}, {}, ()), cells, pace)
    assert [cell.runner for cell in kept] == ["mine", "slow"]
    assert policy.epochs == 3 < Policy().epochs
    bench.fewest_epochs = Policy().epochs
    assert bench._in_time(Survey({}, {}, ()), cells, pace)[1].epochs == Policy().epochs


def test_what_others_held_the_cores_for_is_not_taken_from_the_time():
    clock = Clock(began=time.monotonic() - 30)
    assert clock.left_s == LEAST_S
    clock.waited_s = 28.0
    assert 6 < clock.left_s < WALL_S


@pytest.mark.native
def test_whoever_waits_for_the_cores_says_so_and_has_the_whole_time_then(world, script, tmp_path):
    world.add(script("alpha"))
    source = tmp_path / "mine.c"
    source.write_text((Path(__file__).parent.parent / "trial" / "code" / "sha256.c").read_text())
    world.home.mkdir(exist_ok=True)
    locks = [Lock(world.home / f"perbyte-core-{core}.lock", shared=True) for core in os.sched_getaffinity(0)]
    assert all(lock.take("perbyte measure 'a/*'") for lock in locks)
    child = world.start("try", source, "--as", "sha-256", "--size", "64", "--budget", "500ms")
    told = next(line for line in child.stderr if line.startswith("waiting: core "))
    assert "perbyte measure 'a/*'" in told
    assert child.poll() is None
    for lock in locks:
        lock.release()
    out, rest = child.communicate(timeout=60)
    assert child.returncode == EXIT_FINE, rest
    assert "mine, digest 64 B" in out
    assert "waiting" not in rest, "said once"


@pytest.mark.native
def test_the_first_line_comes_before_the_table_and_is_kept_nowhere(world, script, tmp_path):
    world.add(script("alpha"))
    code = Path(__file__).parent.parent / "trial" / "code" / "sha256.c"
    source = tmp_path / "mine.c"
    source.write_text(code.read_text())
    done = world.perbyte("try", source, "--as", "sha-256", "--size", "64,1KiB", "--budget", "500ms")
    assert done.returncode == EXIT_FINE, done.stderr
    first = done.stderr.splitlines()[0]
    assert first.startswith("compiled, right so far; mine: digest 1 KiB about ")
    assert len(list((world.home / "runs").iterdir())) == 1


@pytest.mark.native
@pytest.mark.slow
def test_each_library_comes_from_the_newest_run_that_has_it(world, script, tmp_path):
    """One run has alpha, a later one beta: both are true, and only the best is measured again."""
    dear = row("sha-256", "digest", "oneshot/1", per_call=900.0, per_byte=9.0)
    world.add(
        script("alpha"), {"name": "beta", "operations": [dear]}, {"name": "gamma", "operations": [dear]}
    )
    code = Path(__file__).parent.parent / "trial" / "code" / "sha256.c"
    source = tmp_path / "mine.c"
    source.write_text(code.read_text())
    words = ("try", source, "--as", "sha-256", "--size", "64", "--budget", "1s", "-q", "--json")
    for name in ("alpha", "beta"):
        assert world.perbyte(*words, "--beside", name).returncode == EXIT_FINE
    told = json.loads(world.perbyte(*words).stdout)
    assert {cell["runner"] for cell in told["cells"]} == {"mine", "alpha", "gamma"}
    assert [cell["address"].split("/")[0] for cell in told["trial"]["stored"]["cells"]] == ["beta"]


def test_a_first_look_keeps_nothing_and_says_so_where_there_is_no_figure():
    assert Nowhere().finish((), None, 1.0, complete=True) is None
    assert first_line((), 1.23) == "compiled, right so far; no figure yet (1.2 s)"
