"""What was found about leaks is kept beside a run, or in a directory of its own, and asked of both."""

from __future__ import annotations

import pytest
from made_leaks import keep, made_leak

from perbyte.errors import StoreError
from perbyte.store import RunWriter, leak_runs, open_run, query, verify
from perbyte.store.beside import LeakWriter, is_leak_run, read_leaks
from perbyte.store.files import LEAK_FILE, PAIRS_FILE

SQL = "SELECT run, verdict, shift, shift_low, bound, cold FROM leaks ORDER BY shift"


def test_they_come_back_beside_a_run_and_are_asked_for(finished, specimens):
    place, run_id = finished(), specimens.conditions().run_id
    assert open_run(place).leaks == ()  # a run where nobody asked
    told = (made_leak(specimens.cell(0)), made_leak(specimens.cell(1), 12.0, cold=True))
    keep(place, run_id, told, beside=True)
    assert open_run(place).leaks == told
    assert not is_leak_run(place)
    _, rows = query(place, SQL)
    assert rows == [(run_id, "none", 0.0, -0.4, 0.4, False), (run_id, "leaks", 12.0, 11.6, 12.4, True)]
    verdict = verify(place)
    assert not [note for note in verdict.notes if LEAK_FILE in note or PAIRS_FILE in note]


def test_a_run_that_only_looked_for_leaks_is_asked_beside_others(finished, specimens, tmp_path):
    place, alone = finished(), tmp_path / "home" / "leak-1"
    keep(alone, "leak-1", (made_leak(specimens.cell(0), 3.0),))
    assert is_leak_run(alone)
    assert is_leak_run(alone / LEAK_FILE)
    assert leak_runs(tmp_path / "home") == [alone]
    assert read_leaks(alone).figures[0].least == pytest.approx(2.6)
    _, rows = query([place, alone], SQL)
    assert [row[:2] for row in rows] == [("leak-1", "leaks")]
    _, rows = query([place, alone], "SELECT run, machine, seed FROM runs WHERE run = 'leak-1'")
    assert rows == [("leak-1", "a made core", str(2**62 + 1))]
    assert query(alone, "SELECT count(*) FROM cells")[1] == [(0,)]


def test_a_file_of_another_run_or_a_damaged_one_is_refused(finished, specimens):
    place = finished()
    keep(place, "another", (made_leak(specimens.cell(0)),), beside=True)
    with pytest.raises(StoreError, match="it is of the run 'another'"):
        open_run(place)
    (place / LEAK_FILE).write_bytes(b'{"run_id": "\xff"}')
    with pytest.raises(StoreError, match="cannot be read"):
        open_run(place)


def test_they_go_with_the_run_that_is_overwritten(finished, specimens):
    place = finished()
    keep(place, specimens.conditions().run_id, (made_leak(specimens.cell(0)),), beside=True)
    with RunWriter.create(place, overwrite=True) as writer:
        writer.begin(specimens.conditions())
    assert not (place / LEAK_FILE).exists()
    assert not (place / PAIRS_FILE).exists()


def test_a_directory_that_is_there_is_not_written_to(tmp_path):
    with pytest.raises(StoreError, match="cannot make"):
        LeakWriter(tmp_path)
