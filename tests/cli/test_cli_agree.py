"""`perbyte dev agree`: equal outputs are counted, others are told with what was expected."""

from __future__ import annotations

import json

import pytest
from fake_scripts import lie, row

HASH = {"operations": [row("sha-256", "digest", "oneshot/1")]}


def test_equal_outputs(world, script):
    world.add(script("alpha", **HASH), script("beta", library="Other", **HASH))
    answer = world.perbyte("dev", "agree", "{alpha,beta}/*")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    head, line, _, last = answer.stdout.splitlines()
    assert head.split()[:3] == ["algorithm", "runners", "libraries"]
    assert line.split()[:3] == ["sha-256", "2", "2"]
    assert line.endswith("equal")
    assert last.startswith("1 algorithm, 2 runners: 4 cells right, 8 outputs compared, 0 differ")


def test_another_output_is_told_and_counts_as_failure(world, script):
    wrong = script("gamma", lies=[lie("check")], **HASH)
    world.add(script("alpha", **HASH), script("beta", **HASH), wrong)
    answer = world.perbyte("dev", "agree", "{alpha,beta,gamma}/sha-256", "--json")
    assert answer.returncode == 1
    (counted,) = json.loads(answer.stdout)["algorithms"]
    assert counted["runners"] == ["alpha", "beta"]
    assert {failure["runner"] for failure in counted["failures"]} == {"gamma"}


def test_tiers_and_sizes_are_chosen(world, script):
    world.add(script("alpha", **HASH), script("beta", **HASH))
    words = ("--cpu", "*", "--size", "16", "--json")
    told = json.loads(world.perbyte("dev", "agree", "{alpha,beta}/*", *words).stdout)
    assert told["algorithms"][0]["tiers"] == 4
    assert told["algorithms"][0]["cells"] == 4


def test_a_runner_that_does_not_start_is_no_agreement(world, script):
    world.add(script("alpha", **HASH), script("beta", protocol=99, **HASH))
    answer = world.perbyte("dev", "agree", "{alpha,beta}/*")
    assert answer.returncode == 1
    assert "beta was not asked: " in answer.stdout


@pytest.mark.parametrize(
    ("selector", "hint"),
    [("alpa/*", "did you mean 'alpha'?"), ("alpha/sha-257", "did you mean sha-256"), ("alpha/md5", "alpha")],
)
def test_a_name_that_nobody_has_is_a_usage_error(world, script, selector, hint):
    world.add(script("alpha", **HASH))
    answer = world.perbyte("dev", "agree", "alpha/sha-256", selector)
    assert answer.returncode == 2, answer.stdout
    assert not answer.stdout
    assert hint in answer.stderr
