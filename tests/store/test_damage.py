"""Damage is found wherever it is, and what it spared is saved."""

from __future__ import annotations

import json
import os
import random
import shutil

import pytest

from perbyte.errors import StoreError
from perbyte.store import RunWriter, bursts, open_run, recover, stored_run, verify
from perbyte.store.files import RunLock


def states(place):
    return {finding.name: finding.state for finding in verify(place).findings}


def flip(file, where=0.5):
    content = bytearray(file.read_bytes())
    content[int(len(content) * where)] ^= 0x10
    file.write_bytes(bytes(content))


def files_of(place):
    return sorted(path for path in place.iterdir() if path.name not in (".lock", "journal.jsonl"))


def test_a_whole_run_is_whole_and_its_copy_is_the_same_run(finished, tmp_path):
    place = finished()
    verdict = verify(place)
    assert {*states(place).values()} == {"whole"}
    assert len(verdict.findings) == 6  # two samples files
    assert (verdict.notes, verdict.damaged) == ((), ())
    assert verdict.manifest.complete
    (place / "report.html").write_text("x")
    assert verify(place).notes == ("no part of the run: report.html",)
    again = recover(place, tmp_path / "again")
    assert (again.bursts, again.lost, again.notes) == (28, (), ())
    assert list(bursts(again.path)) == list(bursts(place))
    assert stored_run(again.path).conditions == stored_run(place).conditions
    assert open_run(again.path).complete


def test_a_bit_flipped_anywhere_is_found(finished):
    place, chance = finished(), random.Random(5)
    for file in files_of(place):
        whole = file.read_bytes()
        for _ in range(25):
            flip(file, chance.random())
            damaged = verify(place).damaged
            if file.name == "manifest.json":  # its own bytes are under no sum: some of them mean nothing
                assert damaged or json.loads(file.read_bytes()) != json.loads(whole)
            else:
                assert file.name in {path.name for path in damaged}
            file.write_bytes(whole)
        file.write_bytes(whole[: len(whole) // 2])
        assert file.name in {path.name for path in verify(place).damaged}
        file.unlink()
        missing = verify(place)
        assert missing.damaged or missing.manifest is None
        file.write_bytes(whole)
    assert not verify(place).damaged


def test_no_file_is_swapped_for_another_unseen(finished):
    place = finished()
    first, second = sorted(place.glob("samples-*"))
    shutil.copy(second, first)
    assert states(place)[first.name] == "damaged"


def test_a_samples_file_that_is_lost_costs_its_epoch_only(finished, tmp_path):
    place = finished()
    first, second = sorted(place.glob("samples-*"))
    kept = [burst for burst in bursts(place) if burst.epoch == 2]
    flip(first, 0.3)
    with pytest.raises(StoreError, match="damaged") as caught:
        RunWriter.resume(place)
    assert "perbyte recover" in caught.value.hint
    got = recover(place, tmp_path / "saved")
    assert list(bursts(got.path)) == kept
    assert [text.split(":")[0] for text in got.lost] == [first.name]
    run = open_run(got.path)
    assert not run.complete
    assert run.failures[-1 - len(run.failures) + 2].kind == "damaged"
    assert {finding.state for finding in verify(got.path).findings} == {"whole"}
    assert states(place)[first.name] == "damaged", "the damaged run stays as it is"
    second.unlink()
    assert recover(place, tmp_path / "nothing").bursts == 0


def test_figures_that_are_lost_are_made_anew(finished, tmp_path):
    place = finished()
    (place / "figures.json").write_bytes(b"{}")
    got = recover(place, tmp_path / "saved")
    assert (got.bursts, got.lost) == (28, ())
    assert "computed again" in got.notes[0]
    assert open_run(got.path).complete


@pytest.mark.parametrize("content", [None, b"", b"{"])
def test_conditions_that_are_lost_come_from_a_samples_file(finished, tmp_path, content):
    place = finished()
    before = stored_run(place)
    (place / "run.json").unlink()
    if content is not None:
        (place / "run.json").write_bytes(content)
    got = recover(place, tmp_path / "saved")
    after = stored_run(got.path)
    assert after.conditions == before.conditions
    assert after.bursts == before.bursts
    assert after.calibrations == before.calibrations
    assert "taken from a samples file" in got.lost[0]
    for file in place.glob("samples-*"):
        file.unlink()
    with pytest.raises(StoreError, match="nothing can be saved"):
        recover(place, tmp_path / "none")


def test_numbers_changed_by_hand_are_not_believed(finished, tmp_path):
    place = finished()
    text = (place / "run.json").read_text()
    (place / "run.json").write_text(text.replace("2600000000.0", "2700000000.0"))
    assert open_run(place).calibrations[0].tick_hz == 2.7e9, "reading alone compares nothing"
    assert states(place)["run.json"] == "damaged"
    got = recover(place, tmp_path / "saved")
    assert open_run(got.path).calibrations[0].tick_hz == 2.6e9


def test_a_line_of_the_journal_that_was_changed_is_found_and_left_out(tmp_path, specimens):
    place = tmp_path / "run"
    writer = RunWriter.create(place)
    writer.begin(specimens.conditions())
    for k in range(5):
        writer.measured(specimens.burst(k))
    with pytest.raises(StoreError, match="being written by process"):
        verify(place)
    writer.close()
    assert states(place)["journal.jsonl"] == "whole"
    assert verify(place).notes == ("the run was interrupted",)
    journal = (place / "journal.jsonl").read_bytes()
    assert journal.count(b'"calls":102') == 1
    (place / "journal.jsonl").write_bytes(journal.replace(b'"calls":102', b'"calls":702'))
    assert states(place)["journal.jsonl"] == "damaged"
    with pytest.raises(StoreError, match="checksum"):
        open_run(place)
    got = recover(place, tmp_path / "saved")
    assert list(bursts(got.path)) == [specimens.burst(k) for k in (0, 1, 3, 4)]
    assert got.lost == ("line 3 of journal.jsonl: it does not agree with its checksum",)
    (place / "journal.jsonl").write_bytes(journal[:-10])
    torn = recover(place, tmp_path / "torn")
    assert (torn.bursts, torn.lost) == (4, ())
    assert "torn" in torn.notes[0]


def test_a_run_without_a_manifest_is_read_and_said_to_have_none(finished, tmp_path):
    place = finished()
    (place / "manifest.json").unlink()
    verdict = verify(place)
    assert verdict.manifest is None
    assert not verdict.damaged
    assert "older Perbyte" in verdict.notes[0]
    with RunWriter.resume(place):
        pass
    assert recover(place, tmp_path / "saved").bursts == 28


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"../run.json": {"bytes": 1, "sha256": "00"}}},
        {"files": {"/etc/passwd": {"bytes": 1, "sha256": "00"}}},
        {"files": {"samples-1.parquet": {"bytes": 1, "sha256": "00"}}},
        {"files": {"run.json": 5}},
        {"schema": 2},
        {"seq": "x"},
    ],
)
def test_a_hostile_manifest_is_refused(finished, tmp_path, change):
    place = finished()
    manifest = json.loads((place / "manifest.json").read_text())
    (place / "manifest.json").write_text(json.dumps(manifest | change))
    assert verify(place).findings[0].state == "damaged"
    with pytest.raises(StoreError):
        RunWriter.resume(place)
    assert recover(place, tmp_path / "saved").bursts == 28
    for make in (lambda t: t.symlink_to(tmp_path), os.mkfifo, lambda t: t.mkdir()):
        (place / "manifest.json").unlink()
        make(place / "manifest.json")
        assert verify(place).findings[0].state == "damaged"
        (place / "manifest.json").rmdir() if make.__name__ == "<lambda>" and not (
            place / "manifest.json"
        ).is_symlink() else (place / "manifest.json").unlink()
        (place / "manifest.json").write_text("")


def test_a_run_that_is_being_written_says_by_whom(finished):
    place = finished()
    lock = RunLock(place)
    with pytest.raises(StoreError, match=f"by process {os.getpid()} of"):
        verify(place)
    with pytest.raises(StoreError, match=f"process {os.getpid()} of"):
        RunLock(place)
    lock.release()
    assert not (place / ".lock").read_bytes(), "no name of a user stays behind"
