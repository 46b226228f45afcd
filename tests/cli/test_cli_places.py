"""`--places` as typed: measured, kept, shown again, compared; and what it does not go with."""

from __future__ import annotations

import json
import shutil

import pytest
from fake_scripts import row

from perbyte.errors import EXIT_USAGE

BAND = {"factor": "stack", "begin": 1024, "end": 2048, "more": 0.14}
ROW = ("sha-256", "digest", "oneshot/1")


@pytest.fixture(scope="module")
def runs(make_world, tmp_path_factory):
    """A run in which a quarter of the places is slow, and what measuring it printed."""
    directory = tmp_path_factory.mktemp("places")
    world = make_world(directory / "world")
    world.add({"name": "alpha", "noise": {"sample": 0.002}, "operations": [row(*ROW, placed=BAND)]})
    how = ("--out", directory / "run", "--epochs", 1, "--precision", "20%", "-q", "--places")
    return directory / "run", world.perbyte("measure", "alpha/sha-256@64", *how)


def test_measure_names_what_decides_and_show_says_it_again(perbyte, runs):
    path, answer = runs
    assert answer.returncode == 0, answer.stderr
    told = " ".join(answer.stdout.split())
    assert "decides: the stack modulo 4,096: from" in told
    assert answer.stdout.endswith(perbyte("show", path, "--places").stdout.split("\n", 1)[1][-200:])
    assert "Places in memory" not in perbyte("show", path).stdout
    [places] = json.loads(perbyte("show", path, "--json").stdout)["places"]
    assert places["verdict"] == "decided"
    assert places["slow_share_low"] < 0.25 < places["slow_share_high"]
    [decider] = places["deciders"]
    assert 960 <= decider["begin"] <= 1152
    assert 1920 <= decider["end"] <= 2112


def test_two_runs_are_compared(perbyte, runs, tmp_path):
    path, _ = runs
    other = shutil.copytree(path, tmp_path / "other")
    told = perbyte("compare", path, other)
    assert "slow places:" in told.stdout
    assert "decides: stack modulo 4096 → stack modulo 4096" in told.stdout
    both = json.loads(perbyte("compare", path, other, "--json").stdout)["places"]
    assert both[0]["before"] == both[0]["after"]


def test_try_refuses_what_does_not_go_with_it(perbyte, tmp_path):
    source = tmp_path / "mine.c"
    source.write_text("int x;\n")
    for words in (("--baseline",), ("--leak",), ("--since", "HEAD")):
        answer = perbyte("try", source, "--as", "sha-256", "--places", *words)
        assert answer.returncode == EXIT_USAGE
        assert "--places" in answer.stderr
