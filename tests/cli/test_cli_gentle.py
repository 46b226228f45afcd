"""`--gentle` is kept with the run, and told wherever its figures are."""

from __future__ import annotations


def test_a_gentle_run_says_so_and_keeps_no_core_awake(world, script, quick):
    world.add(script("alpha"))
    place = world.home / "run"
    words = [word for word in quick if word != "-q"]
    answer = world.perbyte("measure", "alpha/aes-128-ecb@16", "--gentle", "--out", place, *words)
    assert answer.returncode == 0, answer.stderr
    assert "gentle: without priority" in " ".join(answer.stdout.split())
    assert world.shown(place)["run"]["policy"]["gentle"] is True
    assert "without priority over other programs" in " ".join(world.perbyte("methods", place).stdout.split())
    usual = world.perbyte("measure", "alpha/aes-128-ecb@16", "--out", world.home / "other", *words)
    assert "gentle" not in usual.stdout
    merged = world.perbyte("merge", place, world.home / "other", "--out", world.home / "both")
    assert merged.returncode == 2
    assert "gentle" in merged.stderr
