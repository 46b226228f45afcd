"""`perbyte atlas` as a user types it: from a run to an answer over machines, and back to a run."""

from __future__ import annotations

import json

import pytest

from perbyte.store import open_run


def test_from_a_run_to_an_atlas_and_back(make_world, script, quick, tmp_path):
    world = make_world(tmp_path)
    world.add(script("alpha"))
    run = tmp_path / "secret-place"
    made = world.perbyte("measure", "alpha/sha-256@64", *quick, "--out", run)
    assert made.returncode == 0, made.stderr
    answer = world.perbyte("atlas", "add", run, "--machine", "lab-3")
    assert answer.returncode == 0, answer.stderr
    assert "there already" in world.perbyte("atlas", "add", run, "--machine", "lab-3").stderr
    assert "lab-3" in world.perbyte("atlas", "list").stdout
    (listed,) = json.loads(world.perbyte("atlas", "list", "--json").stdout)
    assert listed["cells"] == len(open_run(run).cells) > 0
    this_answer = world.perbyte(
        *("atlas", "query", "--json"),
        "SELECT machine, address, cycles_per_call FROM cells JOIN runs USING (run, machine) ORDER BY ALL",
    )
    assert this_answer.returncode == 0, this_answer.stderr
    assert {
        document["address"]: document["cycles_per_call"] for document in json.loads(this_answer.stdout)
    } == {cell.cell.address: cell.cycles_per_call for cell in open_run(run).cells}
    assert world.perbyte("atlas", "pull", open_run(run).conditions.run_id).returncode == 0
    shown = world.shown(listed["key"])
    assert shown["cells"] == world.shown(run)["cells"]
    assert "secret-place" not in json.dumps(shown)
    assert world.perbyte("atlas", "verify").returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list",), "there is no atlas"),
        (("pull", "x"), "there is no atlas"),
        (("add", "--atlas", "ftpx://host/x"), "nothing here reaches"),
        (("add", "--machine", "Lab 3"), "for example: lab-3"),
    ],
)
def test_what_cannot_be_done_is_said(make_world, tmp_path, words, message):
    world = make_world(tmp_path)
    (tmp_path / "home" / "runs").mkdir(parents=True)
    told = world.perbyte("atlas", *words, *([tmp_path] if words[0] == "add" else []))
    assert told.returncode != 0
    assert "error: " in told.stderr
    assert "hint: " in told.stderr
    assert message in told.stderr
