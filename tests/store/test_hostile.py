"""A run from anywhere: whatever is in it, the answer is a StoreError with a hint, or the run."""

from __future__ import annotations

import contextlib
import json
import os
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from older import make_older

from perbyte.errors import StoreError
from perbyte.model import Doubt
from perbyte.store import RunWriter, bursts, latest, open_run, query, runs, stored_run


def refused(place, *actions):
    for action in actions or (open_run, lambda p: list(bursts(p)), stored_run):
        with pytest.raises(StoreError) as caught:
            action(place)
        assert caught.value.hint
        assert len(str(caught.value)) < 1000


def change(place, **changes):
    content = json.loads((place / "run.json").read_text())
    content.update(changes)
    (place / "run.json").write_text(json.dumps(content))


def test_what_is_no_run_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("{}")
    for place in ("missing", "empty", "file", "x\0y", "e" * 300):
        refused(tmp_path / place)
        refused(tmp_path / place, RunWriter.resume)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"schema": "1"}',
        b'{"schema": 1}',
        b'{"schema": 1, "conditions": 5}',
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"schema": 1' + b"000" * 1000 + b"}",
        b'{"schema":1,"conditions":' * 5000,
    ],
)
def test_a_run_json_of_anything_is_refused(finished, content):
    place = finished()
    (place / "run.json").write_bytes(content)
    refused(place)
    refused(place, RunWriter.resume)


@pytest.mark.parametrize(
    "changes",
    [
        {"conditions": None},
        {"calibrations": {"a": 1}},
        {"calibrations": [{"runner": "x"}]},
        {"failures": [1]},
        {"seq": "many"},
        {"seq": [1]},
        {"complete": "perhaps"},
        {"noise_floor": 1},
        {"continued": "x"},
    ],
)
def test_wrong_types_are_refused(finished, changes):
    place = finished()
    change(place, **changes)
    refused(place)


def test_a_newer_schema_is_refused_with_advice(finished):
    place = finished()
    change(place, schema=2, conditions={"new": "form"})
    with pytest.raises(StoreError, match="schema 2") as caught:
        open_run(place)
    assert "update" in caught.value.hint


def test_unknown_fields_are_left_alone(finished):
    place = finished()
    before = open_run(place)
    change(place, invented_later=[1, 2])
    assert open_run(place) == before


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("kind", ["figures", "samples"])
def test_a_file_cut_anywhere_or_scrambled_never_breaks_the_reader(finished, kind, older):
    place = make_older(finished()) if older else finished()
    file = place / ("cells.parquet" if older else "figures.json")
    if kind == "samples":
        file = sorted(place.glob("samples-*"))[0]
    action = open_run if kind == "figures" else lambda p: list(bursts(p))
    whole = file.read_bytes()
    chance = random.Random(3)
    for length in (0, 1, 4, 8, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(place, action)
    for _ in range(150):
        scrambled = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            scrambled[chance.randrange(len(whole))] = chance.randrange(256)
        file.write_bytes(bytes(scrambled))
        with contextlib.suppress(StoreError):
            action(place)


@pytest.mark.filterwarnings("ignore::perbyte.errors.DamagedRunWarning")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["run.json", "samples"])
def test_figures_of_scrambled_runs_are_made_or_refused(finished, name):
    place = finished()
    change(place, figures_seq=-1)
    file = place / name if name == "run.json" else sorted(place.glob("samples-*"))[0]
    whole = file.read_bytes()
    chance = random.Random(4)
    for _ in range(150):
        scrambled = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            scrambled[chance.randrange(len(whole))] = (
                chance.choice(b'0919{}[],."-e') if name == "run.json" else chance.randrange(256)
            )
        file.write_bytes(bytes(scrambled))
        with contextlib.suppress(StoreError):
            open_run(place)


def test_columns_of_other_types_or_missing_ones_are_refused(finished, specimens):
    place = make_older(finished(figures=specimens.figures))
    file = place / "cells.parquet"
    table = pq.read_table(file)
    for broken in (
        table.drop_columns(["quality"]),
        table.set_column(table.column_names.index("quality"), "quality", [["splendid"] * 2]),
        table.set_column(table.column_names.index("ns_per_call"), "ns_per_call", [["fast"] * 2]),
        table.set_column(table.column_names.index("ns_per_call"), "ns_per_call", pa.nulls(2, pa.float64())),
        table.set_column(table.column_names.index("warnings"), "warnings", pa.array([[None], []])),
        table.set_column(
            table.column_names.index("warning_kinds"), "warning_kinds", pa.array([["long"], []])
        ),
        table.set_column(
            table.column_names.index("warning_numbers"),
            "warning_numbers",
            pa.array([[[None], []], [[1.0], []]]),
        ),
        table.set_column(table.column_names.index("size_bytes"), "size_bytes", [[1.5, 2.5]]),
        pa.table({"x": [1]}),
    ):
        pq.write_table(broken, file)
        refused(place, open_run)


def test_warnings_of_older_files_have_no_kind(finished, specimens):
    place = make_older(finished(figures=specimens.figures))
    file = place / "cells.parquet"
    whole = pq.read_table(file)
    pq.write_table(whole.drop_columns(["warning_kinds", "warning_numbers"]), file)
    *kindses, rules = [
        (warning.kind, warning.text, warning.numbers) for warning in open_run(place).cells[0].warnings
    ]
    assert kindses == [(Doubt.OTHER, "the interval is wide", ()), (Doubt.OTHER, "ünïcode", ())]
    assert rules[0] is Doubt.OLDER_RULES
    kinds = whole.column_names.index("warning_kinds")
    newer = pa.array([["of-a-newer-version", "other"]] * whole.num_rows)
    pq.write_table(whole.set_column(kinds, "warning_kinds", newer), file)
    assert open_run(place).cells[0].warnings[0].kind is Doubt.OTHER


def test_a_run_from_before_warm_loops_had_none(finished):
    place = finished()
    file = place / "run.json"
    stored = json.loads(file.read_text())
    del stored["conditions"]["policy"]["warm_us"]
    file.write_text(json.dumps(stored))
    assert open_run(place).conditions.policy.warm_us == 0


def test_absurd_sizes_are_refused_before_they_are_unpacked(finished):
    place = make_older(finished())
    rows = 3_000_000
    bomb = pa.table({"address": pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), ["x"])})
    pq.write_table(bomb, place / "cells.parquet", compression="zstd")
    refused(place, open_run)
    huge = place / "run.json"
    with huge.open("r+b") as file:
        file.truncate(2**40)
    refused(place)


def test_links_pipes_and_directories_are_not_followed(finished, tmp_path):
    place = finished()
    secret = tmp_path / "secret"
    secret.write_text("{}")
    samples = sorted(place.glob("samples-*"))[0].name
    for name in ("run.json", "figures.json", "journal.jsonl", samples):
        target = place / name
        keep = target.read_bytes()
        action = (lambda p: list(bursts(p))) if name.startswith("samples") else open_run
        for make in (
            lambda t=target: t.symlink_to(secret),
            lambda t=target: os.mkfifo(t),
            lambda t=target: t.mkdir(),
        ):
            target.unlink()
            make()
            refused(place, action)
            target.rmdir() if target.is_dir() and not target.is_symlink() else target.unlink()
            target.write_bytes(keep)
    open_run(place)


def test_a_lock_that_is_a_link_is_not_followed(finished, tmp_path):
    place = finished()
    (place / ".lock").unlink()
    (place / ".lock").symlink_to(tmp_path / "elsewhere")
    refused(place, RunWriter.resume)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"nonsense",
        b'{"event":"measured","seq":99,"burst":{}}',
        b'{"event":"x","seq":1}',
        b"\xff",
        b"[" * 99999,
    ],
)
def test_a_journal_of_anything_is_refused(finished, line):
    place = finished()
    (place / "journal.jsonl").write_bytes(line + b"\n" + line + b"\n")
    refused(place)
    refused(place, RunWriter.resume)


def test_a_burst_in_the_journal_with_unequal_arrays_makes_no_figure_and_no_traceback(tmp_path, specimens):
    place = tmp_path / "run"
    with RunWriter.create(place) as writer:
        writer.begin(specimens.conditions())
        writer.calibrated(specimens.calibration(1))
        writer.measured(specimens.burst(0))
    journal = (place / "journal.jsonl").read_bytes()
    for broken in (
        journal.replace(b'"flags":[0,', b'"flags":['),
        journal.replace(b'"calls":100', b'"calls":0'),
        journal.replace(b'"ticks":[26000', b'"ticks":[' + b"9" * 30),
    ):
        assert broken != journal
        (place / "journal.jsonl").write_bytes(broken)
        refused(place)


def test_a_shelf_with_broken_runs_still_lists(finished, tmp_path):
    old, new = (
        finished("old", started_at="2025-01-01T00:00:00Z"),
        finished("new", started_at="2025-02-01T00:00:00Z"),
    )
    broken = finished("broken", started_at="2025-03-01T00:00:00Z")
    (broken / "run.json").write_text("{")
    (tmp_path / "stray.txt").write_text("")
    (tmp_path / "nothing").mkdir()
    this_runs = runs(tmp_path)
    assert [summary.path for summary in this_runs] == [new, old, broken]
    assert "damaged" in this_runs[2].problem
    assert (this_runs[0].cells, this_runs[0].planned, this_runs[0].failures, this_runs[0].complete) == (
        7,
        2,
        1,
        True,
    )
    assert latest(tmp_path) == new
    assert runs(tmp_path / "missing") == []
    assert latest(tmp_path / "missing") is None


def test_queries_of_broken_runs_are_refused(finished):
    place = finished()
    (place / "run.json").write_text("{")
    refused(place, lambda p: query(p, "SELECT 1"))
