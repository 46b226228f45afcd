"""Comparing runs and proving the harness, as typed: exit code 1 only where something was found."""

from __future__ import annotations

import json
import math
import statistics

import pytest
from fake_scripts import row

from perbyte.app.gate import gate_code
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_MISSING, EXIT_USAGE
from perbyte.model import Cell, CellFigure, Interval, NoiseFloor, Quality
from perbyte.report.gate import regression_lines
from perbyte.stats.compare import compare
from perbyte.stats.pairing import find_regressions

ASK = "alpha/sha-256@16,64"


def hashing(name, per_byte=4.0):
    return {
        "name": name,
        "operations": [row("sha-256", "digest", "oneshot/1", per_call=400.0, per_byte=per_byte)],
        "noise": {"sample": 0.0005, "probe": 0.0001},
    }


@pytest.fixture(scope="module")
def two_runs(make_world, tmp_path_factory):
    """The same cells twice, the second time 10 % dearer per byte; and the first run once more."""
    directory = tmp_path_factory.mktemp("compare")
    paths = []
    for name, per_byte in (("before", 4.0), ("again", 4.0), ("after", 4.8)):
        world = make_world(directory / name)
        world.add(hashing("alpha", per_byte))
        paths.append(directory / name / "run")
        answer = world.perbyte("measure", ASK, "--out", paths[-1], "--precision", "1%", "-q")
        assert answer.returncode == 0, answer.stderr
    return paths


def test_what_became_slower_is_found_where_it_was_asked_for(perbyte, two_runs):
    before, _, after = two_runs
    assert perbyte("compare", before, after).returncode == 0
    answer = perbyte("compare", before, after, "--fail-above", "1%", "--json")
    assert answer.returncode == 1
    ratios = {
        str(each_row["size_bytes"]): each_row["figures"][1] for each_row in json.loads(answer.stdout)["rows"]
    }
    assert ratios["64"]["ratio"] == pytest.approx((400 + 4.8 * 64) / (400 + 4 * 64), rel=0.002)
    assert not ratios["64"]["tie"]
    assert ratios["64"]["interval_low"] <= ratios["64"]["ratio"] <= ratios["64"]["interval_high"]
    assert perbyte("compare", before, after, "--fail-above", "50%").returncode == 0
    assert perbyte("compare", after, before, "--fail-above", "1%").returncode == 0, "faster is no failure"


def test_the_same_again_is_no_regression(perbyte, two_runs):
    before, again, _ = two_runs
    answer = perbyte("compare", before, again, "--fail-above", "3%", "--json")
    assert answer.returncode == 0, answer.stderr
    assert "not slower by more than 3 %, beyond doubt: 2 cells" in answer.stderr
    assert json.loads(answer.stdout)["limit"]["answer"] == "not slower"
    for each_row in json.loads(answer.stdout)["rows"]:
        assert each_row["figures"][1]["ratio"] == pytest.approx(1.0, abs=0.002)


def test_what_cannot_be_told_is_neither_a_failure_nor_fine(perbyte, two_runs):
    """Runs of the same code differ by up to 1 %, so a limit below that can be told in one run only."""
    before, again, after = two_runs
    answer = perbyte("compare", before, again, "--fail-above", "0.5%", "--json")
    assert answer.returncode == 5
    assert "undecided whether slower by more than 0.5 %: 2 of 2 cells" in answer.stderr
    assert "noise floor is too large" in answer.stderr
    assert "both builds in one run" in answer.stderr
    told = json.loads(answer.stdout)["limit"]
    assert (told["answer"], len(told["undecided"]), told["more_s"]) == ("undecided", 2, None)
    for word, code in (("ok", 0), ("fail", 1)):
        this_answer = perbyte("compare", before, again, "--fail-above", "0.5%", "--undecided-is", word)
        assert this_answer.returncode == code
    assert perbyte("compare", before, after, "--fail-above", "1%", "--undecided-is", "ok").returncode == 1
    assert perbyte("compare", before, again, "--undecided-is", "ok").returncode == 2


def test_a_gate_does_not_pass_where_cells_are_missing(perbyte, make_world, tmp_path, quick):
    """Of the later run beta breaks off, and one size was not asked for."""
    from fake_scripts import fault

    before, after = make_world(tmp_path / "before"), make_world(tmp_path / "after")
    before.add(hashing("alpha"), hashing("beta"))
    after.add(hashing("alpha"), {**hashing("beta"), "faults": [fault("measure", "crash", nth=0)]})
    old, new = before.home / "old", after.home / "new"
    assert before.perbyte("measure", "*/sha-256@64,1024", "--out", old, *quick).returncode == EXIT_FINE
    assert after.perbyte("measure", "*/sha-256@64", "--out", new, *quick).returncode == EXIT_FINE
    gate = ("--fail-above", "50%", "--undecided-is", "ok")
    answer = perbyte("compare", old, new, *gate)
    assert answer.returncode == EXIT_MISSING, answer.stderr
    assert "missing in new: beta/sha-256/digest@64+contract=oneshot/1: crashed" in answer.stderr
    assert "beta/sha-256/digest@1024+contract=oneshot/1: it has no such cell" in answer.stderr
    assert "left out: 3 cells of old without a counterpart" in answer.stderr
    assert perbyte("compare", old, new, *gate, "--missing-is", "ok").returncode == EXIT_FINE
    assert perbyte("compare", old, new, *gate, "--missing-is", "fail").returncode == EXIT_FOUND
    # without a gate only what was to be measured is missing
    plain = perbyte("compare", old, new, "--json")
    assert plain.returncode == EXIT_MISSING
    [gap] = json.loads(plain.stdout)["missing"]
    assert (gap["address"], gap["side"]) == ("beta/sha-256/digest@64+contract=oneshot/1", "new")
    # the baseline may have less: that is no gap
    assert (
        perbyte("compare", new, old, "--fail-above", "50%", "--undecided-is", "ok").returncode == EXIT_MISSING
    )
    one_run = perbyte("compare", "alpha/*@1024", "beta/*@1024", "--run", old)
    assert one_run.returncode == EXIT_FINE
    lost = perbyte("compare", "alpha/*", "beta/*", "--run", new)
    assert lost.returncode == EXIT_USAGE
    assert "beta/sha-256/digest@64+contract=oneshot/1 is crashed" in lost.stderr


def test_sides_of_one_run_that_lost_cells_are_told(perbyte, make_world, tmp_path, quick):
    from fake_scripts import fault

    world = make_world(tmp_path)
    world.add(hashing("alpha"), {**hashing("beta"), "faults": [fault("measure", "crash", nth=0, sizes=[64])]})
    assert (
        world.perbyte("measure", "*/sha-256@64,1024", "--out", tmp_path / "run", *quick).returncode
        == EXIT_FINE
    )
    answer = perbyte("compare", "alpha/*", "beta/*", "--run", tmp_path / "run")
    assert answer.returncode == EXIT_MISSING
    assert "missing in beta/*: beta/sha-256/digest@64+contract=oneshot/1: crashed" in answer.stderr
    assert answer.stderr.count("missing in") == 1
    gate = perbyte("compare", "alpha/*", "beta/*", "--run", tmp_path / "run", "--fail-above", "90%")
    assert gate.returncode == EXIT_MISSING


def test_one_run_tells_how_much_longer_it_takes():
    """Figures of two builds, whose epochs scatter by some per cent; widths shrink with the square root of the time."""
    old = figure_of("old", (100.0, 103.0, 98.0, 101.0, 99.0))
    new = figure_of("new", (101.0, 100.0, 99.0, 103.0, 98.0))
    compared = [("new", compare(old, new, NoiseFloor(0.001, ())))]
    regressions = find_regressions(compared, 0.01, 10.0)
    assert gate_code(regressions, None) == 5
    [[_, comparison]] = regressions.undecided
    wanted = 10 * ((comparison.measured / math.log(1.01)) ** 2 - 1)
    assert regressions.more_s == pytest.approx(wanted)
    undecided, more = regression_lines(regressions, one_run=True)
    assert undecided.startswith("undecided whether slower by more than 1 %: 1 of 1 cell: new ×")
    assert more == f"about {math.ceil(wanted)} s more of measuring in the run would decide it here"
    none = find_regressions(compared, 0.3, 10.0)
    assert regression_lines(none, one_run=True) == ["not slower by more than 30 %, beyond doubt: 1 cell"]


def figure_of(runner, epochs):
    value = statistics.median(epochs)
    return CellFigure(
        cell=Cell(runner, "sha-256", "digest", 64, "oneshot/1"),
        library=runner,
        library_version="1",
        cycles_per_call=value,
        ns_per_call=value / 2,
        interval=Interval(value - 2, value + 2),
        samples=100,
        clean_samples=90,
        epochs=len(epochs),
        epoch_cycles=epochs,
        epoch_ns=tuple(epoch / 2 for epoch in epochs),
        calls_per_sample=10,
        quality=Quality.IMPRECISE,
        cycle_source="probe",
    )


def test_runs_without_a_common_cell(perbyte, make_world, two_runs, tmp_path, quick):
    world = make_world(tmp_path / "other")
    world.add(hashing("beta"))
    assert world.perbyte("measure", "beta/sha-256@32", "--out", tmp_path / "run", *quick).returncode == 0
    answer = perbyte("compare", two_runs[0], tmp_path / "run")
    assert answer.returncode == 2
    assert "no cell in common" in answer.stderr


def known_loops(imul=3.0):
    """A fake `reference` runner: the loops of known cost, of which the first may lie."""
    costs = {"probe-imul": imul, "probe-imul-add": 4.0, "probe-crc32": 3.0}
    operations = [row(name, "run", "stream/1", per_call=0.0, per_byte=cost) for name, cost in costs.items()]
    operations.append(row("probe-empty", "run", "stream/1", per_call=0.4, per_byte=0.0))
    return {"name": "reference", "operations": operations, "noise": {"sample": 0.0003, "probe": 0.0001}}


@pytest.mark.parametrize(("imul", "code", "verdict"), [(3.0, 0, "ok"), (3.06, 1, "WRONG")])
def test_selftest_tells_whether_the_harness_reads_known_costs(world, imul, code, verdict):
    world.add(known_loops(imul))
    answer = world.perbyte("selftest", "-q")
    assert answer.returncode == code, (answer.stdout, answer.stderr)
    [line] = [line for line in answer.stdout.splitlines() if "probe-imul " in line]
    assert verdict in line
    assert "must read 3.00" in line


def test_selftest_without_its_loops(perbyte):
    answer = perbyte("selftest", "-q")
    assert answer.returncode == 3
    assert "perbyte build" in answer.stderr


def test_a_full_selftest_says_what_the_machine_can_tell(world):
    world.add(known_loops())
    answer = world.perbyte("selftest", "--full", "--trials", 2, "--budget", "2s", "--json", "-q")
    assert answer.returncode == 0, answer.stderr
    full = json.loads(answer.stdout)["full"]
    assert full["ratios"] == 30
    assert full["called_the_wrong_way_round"] == 0
    assert full["identical_pairs"] == 6
    foundses = {each_row["slowdown"]: (each_row["found"], each_row["runs"]) for each_row in full["detected"]}
    assert foundses[0.05] == (2, 2)
    assert full["tells_from"][0]["difference"] <= 0.05
    assert full["largest_error"] < 0.05


def test_what_counts_as_told():
    from perbyte.report.checkup import trials_lines
    from perbyte.stats.estimate import binomial_bound
    from perbyte.stats.known_loops import Trials

    trials = Trials(
        detected={(5.0, share): [True, share > 0.005] for share in (0.0025, 0.005, 0.01, 0.02, 0.05)}
    )
    assert trials.smallest(5.0) == 0.01
    trials.detected[5.0, 0.02] = [True, False]
    assert trials.smallest(5.0) == 0.05
    trials.detected[5.0, 0.05] = [False]
    assert trials.smallest(5.0) == float("inf")
    told = list(trials_lines(trials))
    assert told[-1] == "in runs of 5 s (six cells) this machine can tell no such difference reliably, now"
    assert binomial_bound(0, 20) == pytest.approx(1 - 0.05 ** (1 / 20))
    assert binomial_bound(3, 10) == pytest.approx(0.6066, abs=1e-3)
    assert binomial_bound(2, 2) == binomial_bound(0, 0) == 1.0


def test_earlier_runs_of_the_same_plan_and_code_say_by_how_much_runs_differ(world):
    world.add(hashing("alpha"))
    for _ in range(4):
        assert world.perbyte("measure", ASK, "--precision", "1%", "-q").returncode == 0
    names = [document["path"] for document in json.loads(world.perbyte("list", "runs", "--json").stdout)]
    assert len(names) == 4
    answer = world.perbyte("compare", names[0], names[1])
    assert answer.returncode == 0, answer.stderr
    assert "by 2 earlier runs of the same code on this machine" in " ".join(answer.stdout.split())
    world.add(hashing("beta"))
    assert world.perbyte("measure", "beta/sha-256@16,64", "--precision", "1%", "-q").returncode == 0
    other = json.loads(world.perbyte("list", "runs", "--json").stdout)[0]["path"]
    assert "earlier runs" not in world.perbyte("compare", other, names[0], "--side-by-side").stdout


def test_selectors_mean_the_newest_run_that_has_both(world):
    """A newer run without one of them is passed over, and the run that was taken is named."""
    world.add(hashing("alpha"), hashing("beta", 4.8))
    quick = ("--precision", "1%", "--budget", "500ms", "-q")
    for asked in ("{alpha,beta}/sha-256@64", "alpha/sha-256@64"):
        assert world.perbyte("measure", asked, *quick).returncode == 0
    runs = (world.home / "runs").iterdir()
    older = min(runs, key=lambda path: (path / "run.json").stat().st_mtime_ns).name
    answer = world.perbyte("compare", "alpha/sha-256", "beta/sha-256")
    assert answer.returncode == 0, answer.stderr
    assert f"both from the run {older}, the newest that has them" in answer.stdout
    three = world.perbyte("compare", "alpha/*", "beta/*", "gamma/*")
    assert three.returncode == EXIT_USAGE
    assert "two of one run are compared" in three.stderr
    other = world.perbyte("advise", "kem", "--run", world.home / "runs" / older)
    assert other.returncode == 3
    assert "has no figures for this question: it has sha-256@64" in other.stderr
