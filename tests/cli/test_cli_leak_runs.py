"""Leaks beside figures: `measure --leak`, and `compare`, `query`, `show` of what was found."""

from __future__ import annotations

import csv
import io
import json

import pytest

ROW = {"algorithm": "aes-128-gcm", "operation": "seal", "contract": "message/1"}
QUICK = ("--epochs", 1, "--precision", "20%", "-q")


@pytest.fixture(scope="module")
def looked_at(make_world, tmp_path_factory):
    """Two runs of a toy with figures and leaks: one without a leak, one with; and two that looked for leaks only."""
    world = make_world(tmp_path_factory.mktemp("leaks"))
    noise = {"sample": 0.003, "probe": 0.0002}
    for name, cycles in (("tight", 0), ("leaky", 12)):
        script = {"name": name, "library": "toy", "operations": [ROW], "noise": noise}
        world.add(script | {"leak": {"cycles": cycles, "role": "key"}})
        words = (f"{name}/aes-128-gcm@64", "--leak", "--out", world.home / name, "--json", *QUICK)
        done = world.perbyte("measure", *words)
        assert done.returncode == 0, done.stderr
        assert {leak["verdict"] for leak in json.loads(done.stdout)["leaks"]} == (
            {"none", "leaks"} if cycles else {"none"}
        )
        alone = ("--out", world.home / f"{name}-alone", "--budget", "1s", "-q")
        assert world.perbyte("leak", f"{name}/aes-128-gcm", *alone).returncode == 0
    return world


def test_show_has_them_with_the_figures(looked_at):
    place = looked_at.home / "leaky"
    text = looked_at.perbyte("show", place, "--leak").stdout
    assert "cycles per byte" in text
    assert "key: fixed | random: leaks" in text
    assert "fixed | random" not in looked_at.perbyte("show", place).stdout
    [row] = csv.DictReader(io.StringIO(looked_at.perbyte("show", place, "--csv").stdout))
    assert row["leak"] == "leaks"
    lines = list(csv.DictReader(io.StringIO(looked_at.perbyte("show", f"{place}-alone", "--csv").stdout)))
    assert {(line["role"], line["verdict"]) for line in lines} == {("key", "leaks"), ("data", "none")}


@pytest.mark.parametrize("kind", ["", "-alone"])
def test_a_gate_of_two_runs_fails_on_what_leaks_now(looked_at, kind):
    tight, leaky = (looked_at.home / f"{name}{kind}" for name in ("tight", "leaky"))
    answer = looked_at.perbyte("compare", tight, leaky, "--fail-on", "new-leak")
    assert answer.returncode == 1, answer.stderr
    assert "leaks now: no leak above" in answer.stdout
    assert "the time depends on a secret" in answer.stderr
    assert "key: fixed | random (leaks now)" in answer.stderr
    back = looked_at.perbyte("compare", leaky, tight, "--fail-on", "leak", "--json")
    assert back.returncode == 0, back.stderr
    assert {leak["became"] for leak in json.loads(back.stdout)["leaks"]} == {
        "no longer seen",
        "no leak on either side",
    }
    assert looked_at.perbyte("compare", tight, leaky).returncode == 0  # nobody asked for a gate


def test_what_does_not_fit_together_is_refused(looked_at):
    tight, alone = looked_at.home / "tight", looked_at.home / "leaky-alone"
    mixed = looked_at.perbyte("compare", tight, alone)
    assert mixed.returncode == 2
    assert "only with such a run" in mixed.stderr
    unknown = looked_at.perbyte("compare", tight, looked_at.home / "leaky", "--fail-on", "speed")
    assert "is unknown" in unknown.stderr
    assert looked_at.perbyte("show", alone, "--count").returncode == 2


def test_a_query_sees_runs_of_both_kinds(looked_at):
    sql = "SELECT run, address, verdict FROM leaks JOIN runs USING (run) WHERE verdict = 'leaks'"
    places = [looked_at.home / "leaky", looked_at.home / "leaky-alone"]
    told = json.loads(looked_at.perbyte("query", sql, *places, "--json").stdout)
    assert len(told) == 2
    assert all(row["address"].startswith("leaky/aes-128-gcm/seal@64") for row in told)


def test_a_gate_where_one_side_was_not_looked_at_is_no_gate(looked_at):
    world, bare = looked_at, looked_at.home / "bare"
    assert world.perbyte("measure", "tight/aes-128-gcm@64", "--out", bare, *QUICK).returncode == 0
    answer = world.perbyte("compare", world.home / "leaky", bare, "--fail-on", "leak")
    assert answer.returncode == 2
    assert "on both sides" in answer.stderr
