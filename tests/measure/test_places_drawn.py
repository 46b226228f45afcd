"""Places are drawn in many processes, each is measured twice, and faults cost what they befall."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from fake_scripts import FAKE, fault, row

from perbyte import places
from perbyte.measure.placement import (
    DRAWN,
    DRAWS,
    HEAVY_PROCESSES,
    LARGE,
    NEAR_DRAWS,
    NEAR_PROCESSES,
    PlaceDrawing,
    interpreter,
)
from perbyte.model import Cell, Policy
from perbyte.stats.placement import error_of

CELL = Cell("alpha", "aes-128-ecb", "encrypt", 64, "message/1")
ROWS = [row(), row(operation="decrypt")]
BAND = {"factor": "stack", "begin": 1024, "end": 1536, "more": 0.14}


def take(fake_runners, script, *cells, near=None):
    specs = fake_runners({"name": "alpha", "operations": ROWS, "noise": {"sample": 0.002}, **script})
    drawing = PlaceDrawing({spec.name: spec for spec in specs}, Policy(), (0,))
    if near:
        drawing.near_command = near
    return drawing.take(cells or (CELL,))


def test_what_decides_is_named_and_every_place_was_measured_twice(fake_runners):
    [placement] = take(fake_runners, {"placed": BAND})
    assert [each.factor for each in placement.deciders] == ["stack"]
    assert len(placement.places) == HEAVY_PROCESSES * DRAWS
    assert set(Counter(place.process for place in placement.places).values()) == {DRAWS}
    assert all(place.stack % 16 == 0 and place.far for place in placement.places)
    for name in ("stack", "state", "input", "output"):
        assert len({getattr(place, name) % 4096 for place in placement.places}) > 64, f"{name} is drawn"
    slow = [place for place in placement.places if 1024 <= place.stack % 4096 < 1536]
    assert all(min(place.costs) > 1.05 * 164 for place in slow)


def test_two_cells_share_processes_and_the_error(fake_runners, tmp_path):
    other = Cell("alpha", "aes-128-ecb", "decrypt", 64, "message/1")
    first, second = take(fake_runners, {"placed": {}}, CELL, other)
    assert first.verdict == second.verdict == "nothing"
    assert first.error == error_of(2)


def test_a_runner_that_cannot_move_has_one_place_a_process(fake_runners):
    [placement] = take(fake_runners, {"noise": {"sample": 0.0005}})
    assert (placement.verdict, placement.drawn) == ("nothing", ())
    assert len(placement.places) == HEAVY_PROCESSES
    [placement] = take(fake_runners, {"name": "beta", "layout": 0.1}, replace(CELL, runner="beta"))
    assert [each.factor for each in placement.deciders] == ["process"]


def test_a_program_beside_its_library_is_told_from_one_that_is_far(fake_runners, tmp_path):
    script = tmp_path / "near.json"
    near = {"name": "alpha", "starts_file": str(tmp_path / "starts"), "noise": {"sample": 0.002}}
    script.write_text(json.dumps({**near, "placed": {"near": True}, "operations": [row(per_call=85)]}))
    command = ["env", f"PERBYTE_FAKE_SCRIPT={script}", sys.executable, "-E", "-s", "-S", str(FAKE)]
    [placement] = take(fake_runners, {"placed": {}}, near=lambda spec, cpu: command)
    assert sum(place.near for place in placement.places) == NEAR_PROCESSES * NEAR_DRAWS
    assert [each.factor for each in placement.deciders] == ["distance"]
    assert placement.near.value == pytest.approx(164 / 149 - 1, abs=0.002)


def test_a_process_that_dies_costs_its_own_places(fake_runners):
    script = {"placed": BAND, "faults": [fault("measure", "crash", how="SIGSEGV", nth=3, starts=[2])]}
    [placement] = take(fake_runners, script)
    assert [each.factor for each in placement.deciders] == ["stack"]
    assert {place.process for place in placement.places} >= set(range(HEAVY_PROCESSES)) - {2}
    assert placement.lost


def test_a_refusal_says_why_nothing_is_known(fake_runners):
    script = {"placed": {}, "faults": [fault("measure", "refuse", message="no such luck")]}
    [placement] = take(fake_runners, script)
    assert (placement.verdict, placement.unknown) == ("unknown", "no such luck")
    [placement] = take(fake_runners, {"name": "beta"}, Cell("beta", "aes-128-ctr", "encrypt", 64, "stream/1"))
    assert "not in the script" in placement.unknown


def test_calls_that_vary_at_random_have_no_places(fake_runners):
    [placement] = take(fake_runners, {}, Cell("alpha", "rsa-2048", "keygen", 64, "draw/1"))
    assert placement.unknown == DRAWN
    [placement] = take(
        fake_runners, {"name": "beta"}, Cell("beta", "aes-128-ecb", "encrypt", 2 << 20, "message/1")
    )
    assert placement.unknown == LARGE


def test_the_loader_of_a_program_is_read_from_it():
    assert interpreter(Path(sys.executable).resolve().read_bytes()).startswith("/lib")
    assert interpreter(b"#!/bin/sh\n") == ""
    assert interpreter(b"\x7fELF\x02\x01" + bytes(70)) == ""


@pytest.mark.native
@pytest.mark.slow
def test_a_real_program_lies_where_it_was_asked_to_and_beside_its_library(tmp_path):
    """Functions of bench/placed, whose cost by place is known: one looks at its stack, one at its callee."""
    from perbyte.measure.machine import choose_cores
    from perbyte.runners.build import build
    from perbyte.runners.locate import read_spec

    file = places.data_dir("runners").parent / "bench" / "placed" / "runner.toml"
    if not file.exists():
        pytest.skip("no checkout")
    spec = read_spec(file)
    build(spec)
    cells = [Cell("placed", name, "encrypt", 64, "stream/1") for name in ("stack", "far")]
    stack, far = PlaceDrawing({"placed": spec}, Policy(), choose_cores(())[:1]).take(cells)
    assert {len({place.input % 4096 for place in stack.usual}) > 64, all(p.far for p in stack.usual)} == {
        True
    }
    assert any(place.near and not place.far for place in far.places)
    assert [each.factor for each in stack.deciders][:1] == ["stack"]
    assert "distance" in [each.factor for each in far.deciders]
