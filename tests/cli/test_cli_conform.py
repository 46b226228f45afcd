"""`perbyte conform`: a verdict for people, and an exit code."""

from __future__ import annotations

import json

import pytest
from fake_scripts import fault, lie, row


def test_a_runner_that_keeps_its_promises(world, script):
    world.add(script("alpha"))
    answer = world.perbyte("conform", "alpha", "--cpu", "full,soft")
    assert answer.returncode == 0, answer.stdout
    full, unaudited, soft, again = answer.stdout.splitlines()
    assert full.startswith("alpha, tier full: keeps every promise of protocol/SPEC.md (all operations, ")
    assert soft.startswith("alpha, tier soft: keeps every promise")
    assert unaudited == again == "  not audited from outside: PERBYTE_AUDIT=off"
    assert answer.stderr == "", "no progress where no terminal is"


@pytest.mark.parametrize("words", [(), ("--quick",)])
def test_what_is_not_kept_is_said_with_its_section(world, script, words):
    world.add(script("alpha", lies=[lie("measure")], faults=[fault("quit", "stay")]))
    answer = world.perbyte("conform", "alpha", *words)
    assert answer.returncode == 1
    first, *lines = answer.stdout.splitlines()
    assert "promises are not kept" in first
    assert ("an operation of each kind" in first) == bool(words)
    heads = [line.strip() for line in lines if line.startswith("  SPEC.md")]
    assert heads == ["SPEC.md, section 7: measure", "SPEC.md, section 8: release, quit"]
    assert "timed calls is not that of check" in " ".join(answer.stdout.split())
    assert max(map(len, lines)) <= 100


def test_in_json(world, script):
    world.add(script("alpha", lies=[lie("measure")]))
    answer = world.perbyte("conform", "alpha", "--json", "--cpu", "full,soft", "--quick")
    assert answer.returncode == 1
    full, soft = json.loads(answer.stdout)
    assert (full["runner"], full["cpu"], soft["cpu"]) == ("alpha", "full", "soft")
    assert {complaint["section"] for complaint in full["complaints"]} == {7}
    assert all(complaint["what"] for complaint in full["complaints"])
    assert full["audit"]["why_not"]


@pytest.mark.slow
def test_the_audit_of_a_run_is_part_of_it(world):
    """Scripts that really take CPU time: as much as they say, and three times as much. No clock to compare."""
    operations = [row(operation=name, per_call=4e6) for name in ("encrypt", "decrypt")]
    given = {
        "operations": operations,
        "clock": {"cycle_source": "none", "probe_cycles": 0},
        "chained": 1.0,
        "beside": 0.0,
    }
    world.add({"name": "alpha", "burn": 1.0, **given}, {"name": "beta", "burn": 3.0, **given})
    on = {"PERBYTE_AUDIT": "on"}
    answer = world.perbyte("conform", "alpha", environment=on)
    assert answer.returncode == 0, answer.stdout
    lines = answer.stdout.splitlines()
    assert lines[1].startswith("  audited from outside as in a run of `measure` (operations: 2, looks: ")
    assert [line.split("  ")[2] for line in lines[2:6]] == ["time", "new data", "place", "clock"]
    assert "not compared" in lines[5]
    assert any("Not proved: other operations and sizes" in line for line in lines[6:])
    assert not list(world.home.glob("**/manifest.json")), "the run is not kept"
    answer = world.perbyte("conform", "beta", "--json", environment=on)
    assert answer.returncode == 1
    [document] = json.loads(answer.stdout)
    assert document["complaints"] == []
    assert len(document["audit"]["cells"]) == 2
    assert document["audit"]["seen"]["time"][0] > 2
    assert {(kind, "ns of CPU time" in message) for _, kind, message in document["audit"]["refused"]} == {
        ("audit", True)
    }


def test_what_a_runner_says_cannot_steer_the_terminal(world, script):
    operations = [{"algorithm": "\x1b[31mred", "operation": "encrypt", "contract": "message/1"}] * 2
    world.add(script("alpha") | {"operations": operations})
    answer = world.perbyte("conform", "alpha")
    assert answer.returncode == 1
    assert "listed twice: [31mred" in answer.stdout
    assert "\x1b" not in answer.stdout


def test_a_runner_that_cannot_be_asked(perbyte):
    for words, code, complaint in (
        (("openssl",), 3, "perbyte build openssl"),
        (("nothing",), 2, "there is no runner 'nothing'"),
        (("fake", "--cpu", "full,hard"), 2, "no CPU tier 'hard'"),
    ):
        answer = perbyte("conform", *words)
        assert answer.returncode == code, answer.stderr
        assert complaint in answer.stderr
        assert answer.stdout == ""
