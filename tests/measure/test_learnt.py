"""What is learnt about a processor: kept for a boot, checked by each process, never believed blindly."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from perbyte.measure import learnt as module
from perbyte.measure.learnt import Learnt, probe_note
from perbyte.model import Calibration, KnownProbe

SURE = "nops 5 405 10 432 sure"
FOUND = Calibration(
    "reference", "full", 0, 0, "probe", "", 2.6e9, 26, 12_060.0, 930.0, 80.0, {},
    contention_probe="reorder-buffer", contention_window=SURE, contention_length=405, contention_shared=1338.0,
)  # fmt: skip


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cache" / "processor.json"


def test_the_first_process_tells_all_later_ones_of_the_boot(file):
    Learnt(0, file=file).note(FOUND)
    assert Learnt(0, file=file).known == KnownProbe(SURE, 930.0, 1338.0)


def test_another_boot_and_another_processor_learn_anew(file, monkeypatch):
    Learnt(0, file=file).note(FOUND)
    with monkeypatch.context() as patch:
        patch.setattr(module, "_boot", lambda: "another")
        assert Learnt(0, file=file).known == KnownProbe()
    monkeypatch.setattr(module, "describe_processor", lambda core: "GenuineIntel; 6; 143")
    assert Learnt(0, file=file).known == KnownProbe()


@pytest.mark.parametrize(
    "content",
    ["", "null", "[]", "{}", "[" * 5000, '{"window": 3}', "\0" * 100, "x" * 100_000],
)
def test_a_broken_file_is_none(file, content):
    file.parent.mkdir()
    file.write_text(content)
    assert Learnt(0, file=file).known == KnownProbe()


@pytest.mark.parametrize(
    "change",
    [
        {"window": "x" * 65},
        {"window": "nops\n5"},
        {"floor": -1.0},
        {"floor": 1e300, "shared": 2e300},
        {"floor": 900.0, "shared": 800.0},
        {"floor": "much"},
    ],
)
def test_what_makes_no_sense_is_not_handed_on(file, change):
    Learnt(0, file=file).note(FOUND)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    assert Learnt(0, file=file).known == KnownProbe()


def test_a_process_that_was_less_sure_changes_nothing(file):
    known = Learnt(0, file=file)
    known.note(FOUND)
    known.note(replace(FOUND, contention_window="nops 5 190 10 200 halved", contention_floor=0.0))
    assert known.known.window == SURE


def test_a_process_that_found_another_window_is_believed(file):
    """It has looked whether the known one holds, and it did not: another host, or other microcode."""
    known = Learnt(0, file=file)
    known.note(FOUND)
    known.note(replace(FOUND, contention_window="vectors 5 141 10 240 sure", contention_floor=845.0))
    assert Learnt(0, file=file).known == KnownProbe("vectors 5 141 10 240 sure", 845.0, 1338.0)


def test_the_first_who_was_alone_says_what_that_reads(file):
    known = Learnt(0, file=file)
    known.note(replace(FOUND, contention_floor=0.0, contention_shared=0.0))
    assert known.known == KnownProbe(SURE)
    known.note(FOUND)
    known.note(replace(FOUND, contention_floor=999.0))
    assert known.known.floor == 930.0


def test_a_place_that_cannot_be_written_costs_nothing_but_the_file(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("no directory")
    known = Learnt(0, file=blocked / "processor.json")
    known.note(FOUND)
    assert known.known.window == SURE


def test_a_core_without_the_probe_leaves_nothing(file):
    Learnt(0, file=file).note(replace(FOUND, contention_probe="front-end", contention_window=""))
    assert not file.exists()


def test_a_run_without_a_working_probe_says_so_once():
    blind = replace(FOUND, contention_floor=0.0, contention_shared=0.0)
    front = replace(FOUND, contention_probe="front-end", contention_window="")
    assert "judged by their clock only" in probe_note([blind, blind])
    assert "finds nothing on this processor" in probe_note([front])
    assert not probe_note([blind, FOUND]), "one that was alone speaks for all"
    assert not probe_note([]), "runners in other languages are their own affair"
