"""`--count` and `--memory` as typed, on the loops of known cost and on runs that were measured before."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from perbyte import places
from perbyte.errors import EXIT_FOUND, EXIT_MISSING, EXIT_USAGE
from perbyte.model import Behaviour, Counted
from perbyte.store import open_run
from perbyte.store.beside import write_behaviours

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def counted_runs(make_world, tmp_path_factory):
    """Two runs of a toy, whose cells are said to have executed 1,000 instructions."""
    from fake_scripts import row

    directory = tmp_path_factory.mktemp("count")
    paths = []
    for name in ("before", "after"):
        world = make_world(directory / name)
        world.add({"name": "alpha", "operations": [row("sha-256", "digest", "oneshot/1")]})
        paths.append(directory / name / "run")
        answer = world.perbyte(
            "measure", "alpha/sha-256@16,64", "--out", paths[-1], "--epochs", 1, "--precision", "20%", "-q"
        )
        assert answer.returncode == 0, answer.stderr
        say(paths[-1], 1000.0)
    return paths


def say(path, instructions, cells=2):
    run = open_run(path)
    behaviours = [
        Behaviour(cell.cell, 16, Counted(instructions, {"load": 10.0}), repeated=instructions)
        for cell in run.cells
        if not cell.cell.twin
    ]
    write_behaviours(path, run.conditions.run_id, behaviours[:cells])


def test_more_instructions_are_found_where_it_was_asked_for(perbyte, counted_runs):
    before, after = counted_runs
    gate = ("compare", before, after, "--missing-is", "ok", "--fail-above-instructions", "1%")
    say(after, 1005.0)
    assert perbyte(*gate).returncode == 0
    say(after, 1011.0)
    answer = perbyte(*gate)
    assert answer.returncode == EXIT_FOUND
    assert "more than 1 % more instructions: 2 cells" in answer.stderr
    assert "instructions ×1.0110" in answer.stdout
    told = json.loads(perbyte("compare", before, after, "--json").stdout)["behaviour"]
    assert [row["instructions_ratio"] for row in told] == [1.011, 1.011]


def test_a_gate_without_counts_is_no_gate(perbyte, counted_runs):
    before, after = counted_runs
    gate = ("compare", before, after, "--fail-above-instructions", "1%")
    say(after, 1000.0, cells=1)
    lost = perbyte(*gate)
    assert lost.returncode == EXIT_MISSING
    assert "not counted on both sides: 1 cell" in lost.stderr
    say(after, 1000.0, cells=0)
    assert perbyte(*gate).returncode == EXIT_USAGE


def test_show_has_what_was_counted(perbyte, counted_runs):
    before, _ = counted_runs
    text = perbyte("show", before, "--count").stdout
    assert "instr/call" in text
    assert "1,000" in text
    assert "instr/call" not in perbyte("show", before).stdout


def test_a_runner_that_cannot_count_is_measured_all_the_same(make_world, tmp_path):
    from fake_scripts import row

    world = make_world(tmp_path)
    world.add({"name": "alpha", "operations": [row("sha-256", "digest", "oneshot/1")]})
    words = ("alpha/sha-256@64", "--epochs", 1, "--precision", "20%", "-q", "--count", "--json")
    answer = world.perbyte("measure", *words)
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert told["cells"][0]["cycles_per_call"] > 0
    assert told["behaviour"][0]["instructions"] is None
    assert told["behaviour"][0]["unknown"]


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not (places.build_home() / "runners" / "reference").is_dir(),
    reason="the reference runner is not built, or this is no x86-64",
)
def test_a_loop_of_known_cost_is_counted(tmp_path):
    from perbyte.measure.behaviour import count_cell
    from perbyte.model import Cell
    from perbyte.runners import find

    cell = Cell("reference", "probe-aesenc", "run", 1024, "stream/1")
    this_cell = count_cell(find("reference"), cell, 7)
    assert this_cell.exact
    assert this_cell.call.kinds["aes"] == 1024
    assert replace(this_cell.call, kinds={}) == replace(count_cell(find("reference"), cell, 7).call, kinds={})


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 is counted")
def test_a_function_that_executes_more_than_before_is_found(world, tmp_path):
    source = tmp_path / "mine.c"
    code = (ROOT / "tests" / "trial" / "code" / "sha256.c").read_text()
    source.write_text(code)
    words = ("try", source, "--as", "sha-256", "--baseline", "--size", "1KiB", "--budget", "1s", "-q")
    gate = (*words, "--fail-above", "90%", "--undecided-is", "ok", "--fail-above-instructions", "1%")
    assert world.perbyte(*words, "--keep").returncode == 0
    same = world.perbyte(*gate, "--markdown")
    assert same.returncode == 0, same.stderr
    assert "| instructions |" in same.stdout
    assert "+0.00 %" in same.stdout
    there = code.index("{", code.index("own_sha256("))
    wasted = "\n\tfor (volatile int i = 0; i < 1000; i++)\n\t\t;\n"
    source.write_text(code[: there + 1] + wasted + code[there + 1 :])
    more = world.perbyte(*gate, "--json")
    assert more.returncode == EXIT_FOUND, more.stderr
    assert json.loads(more.stdout)["instructions"][0]["instructions_ratio"] > 1.05
    assert "more instructions: 1 cell" in more.stderr
