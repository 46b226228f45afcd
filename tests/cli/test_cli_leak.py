"""`perbyte leak` on scripted runners whose second class costs what the script says."""

from __future__ import annotations

import json
import os
import pty

import pytest

ROW = {"algorithm": "aes-128-gcm", "operation": "seal", "contract": "message/1"}
NOISY = {"sample": 0.003, "probe": 0.0002}


def script(leak, **more):
    return {"name": "alpha", "operations": [ROW], "leak": leak, "noise": NOISY, **more}


def look(world, *more):
    return world.perbyte("leak", "alpha/aes-128-gcm", "--budget", "1s", "-q", *more)


def figures(answer):
    assert answer.returncode in (0, 1, 5), answer.stderr
    return json.loads(answer.stdout)["figures"]


def test_a_leak_is_told_in_cycles(world):
    world.add(script({"cycles": 12, "role": "key"}))
    key, data = figures(look(world, "--json"))
    assert key["contrast"] == {"role": "key", "first": "fixed", "second": "random"}
    assert key["verdict"] == "leaks"
    assert key["found"]["shift"]["low"] <= 12.5
    assert key["found"]["shift"]["high"] >= 11.5
    assert "random is slower" in key["said"]
    assert data["verdict"] == "none"
    assert data["said"].startswith("no leak above")


def test_one_value_of_a_byte_is_found(world):
    world.add(script({"cycles": 60, "role": "data", "value": [5, 90]}))
    key, data = figures(look(world, "--json"))
    assert key["verdict"] == "none"
    assert data["verdict"] == "leaks"
    assert (data["found"]["spots"]["most"]["byte"], data["found"]["spots"]["most"]["which"]) == (5, 90)
    assert "slower with 0x5a in byte 5 of the data" in data["said"]


@pytest.mark.slow
def test_a_limit_of_ones_own_has_three_answers(world):
    world.add(script({"cycles": 12, "role": "key"}))
    key, data = figures(look(world, "--above", "5", "--json"))
    assert (key["verdict"], key["above"]) == ("leaks", 5.0)
    assert key["said"].startswith("leaks more than 5 cycles")
    assert data["said"].startswith(("none above 5 cycles: at most", "not known whether above 5 cycles"))
    key, data = figures(look(world, "--above", "1e5", "--json"))
    assert (key["verdict"], data["verdict"]) == ("none", "none")
    assert look(world, "--above", "12", "--fail-on", "unknown").returncode == 5


def test_emptied_caches_have_a_target_of_their_own(world):
    world.add(script({"cycles": 0}))
    targets = {leak["cold"]: leak["target"] for leak in figures(look(world, "--cold", "--json"))}
    assert targets == {False: 1.0, True: 4.0}


def test_nothing_is_ever_called_constant(world):
    world.add(script({"cycles": 0}))
    answer = look(world)
    assert "no leak above" in answer.stdout
    assert "constant" not in answer.stdout.lower()


@pytest.mark.slow
def test_a_gate_fails_on_a_leak_and_not_without(world):
    world.add(script({"spread": 40}))
    assert look(world, "--fail-on", "leak").returncode == 1
    assert look(world).returncode == 0


def test_what_is_not_known_says_what_would_tell(world):
    world.add(script({"cycles": 0}))
    answer = look(world, "--down-to", "0.0001", "--fail-on", "leak,unknown")
    assert answer.returncode == 5
    assert "not known below" in answer.stdout
    assert "more would tell" in answer.stdout


def test_a_null_that_differs_puts_the_harness_at_fault(world):
    world.add(script({"cycles": 12, "null": True}))
    answer = look(world)
    assert "harness is at fault" in " ".join(answer.stdout.split())
    assert "leaks" not in answer.stdout.replace("what is not seen", "")


def test_a_run_is_shown_again(world):
    world.add(script({"cycles": 12}))
    first = look(world)
    [place] = (world.home / "runs").iterdir()
    assert world.perbyte("show", place.name).stdout == first.stdout
    assert json.loads(world.perbyte("show", place, "--json").stdout)["figures"]
    assert (place / "pairs.parquet").stat().st_size
    assert world.perbyte("show", place, "--memory").returncode == 2


def test_a_runner_without_the_verb_is_told(world):
    world.add({"name": "alpha", "operations": [ROW]})
    answer = look(world)
    assert answer.returncode == 3
    assert "not measured: alpha/aes-128-gcm/seal" in answer.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--secret", "tag"), "there is no secret 'tag'"),
        (("--fail-on", "slow"), "is unknown"),
        (("--operation", "open", "--secret", "key"), "fits no cell"),
        (("--down-to", "-3"), "--down-to"),
        (("--above", "0"), "--above"),
        (("--above", "3", "--down-to", "1"), "exclude each other"),
    ],
)
def test_what_there_is_not_is_refused(world, words, message):
    world.add(script({"cycles": 0}))
    answer = look(world, *words)
    assert answer.returncode == 2
    assert message in answer.stderr


def test_what_is_wrong_is_not_timed(world):
    lies = [{"in": ["round_trip"], "operation": "seal"}]
    world.add(script({"cycles": 0}, lies=lies))
    answer = look(world)
    assert answer.returncode == 3
    assert "does not give back" in answer.stdout or "not measured" in answer.stdout


def test_a_run_of_leaks_is_listed_and_refused_by_name_where_figures_are_wanted(world):
    world.add(script({"cycles": 12}))
    look(world)
    [place] = (world.home / "runs").iterdir()
    [row] = json.loads(world.perbyte("list", "runs", "--json").stdout)
    assert (row["path"], row["origin"], row["cells"]) == (str(place), "leaks", 1)
    assert "aes-128-gcm of alpha" in world.perbyte("list", "runs").stdout
    assert world.perbyte("verify", place).returncode == 0
    for words in (("report", place), ("export", place), ("recover", place)):
        answer = world.perbyte(*words)
        assert answer.returncode in (2, 3), words
        assert "verdicts on leaks only" in answer.stderr, (words, answer.stderr)
        assert "damaged" not in answer.stdout


def test_how_far_it_is_can_be_seen(monkeypatch, capsys):
    from perbyte.cli import terminal
    from perbyte.cli.conduct import watched

    with watched(5.0) as tell:
        tell("alpha/aes-128-gcm/seal, key: fixed | random")
        assert capsys.readouterr().err == "", "the first line comes after a while"
        monkeypatch.setattr(terminal, "_LINE_EVERY_S", 0.0)
        tell("alpha/aes-128-gcm/seal, key: fixed | random")
    told = "0 s, at most 5 s left · alpha/aes-128-gcm/seal, key: fixed | random"
    assert capsys.readouterr().err.splitlines() == [told]
    with watched(5.0, quiet=True) as tell:
        tell("alpha")
    assert capsys.readouterr().err == ""


def test_progress_is_told_of_pairs_that_are_taken(world):
    world.add(script({"cycles": 0}))
    ours, theirs = pty.openpty()
    answer = world.perbyte("leak", "alpha/aes-128-gcm", "--budget", "2s", capture_output=False, stderr=theirs)
    os.close(theirs)
    assert answer.returncode == 0
    assert b"left \xc2\xb7 alpha/aes-128-gcm/seal" in os.read(ours, 65536)
    os.close(ours)
