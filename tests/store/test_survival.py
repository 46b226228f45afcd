"""Nothing acknowledged is lost or doubled: by kills, by full disks, by torn lines."""

from __future__ import annotations

import os
import random
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perbyte.errors import StoreError
from perbyte.store import RunWriter, bursts, open_run, verify
from perbyte.store.journal import JournalWriter

CHILD = """
import importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("specimens", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
specimens = module.Specimens()
from perbyte.store import RunWriter
place, first = Path(sys.argv[2]), int(sys.argv[3])
writer = RunWriter.resume(place) if first else RunWriter.create(place)
writer.begin(specimens.conditions())
k = first
while True:
    writer.measured(specimens.burst(k))
    print(k, flush=True)
    k += 1
    if k % 5 == 0:
        writer.epoch_done(k // 5)
"""
SPECIMENS = Path(__file__).with_name("conftest.py")


def start_child(place: Path, first: int, **options) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(SPECIMENS), str(place), str(first)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


@pytest.mark.slow
def test_six_kills_lose_and_double_nothing(tmp_path, specimens):
    place, chance = tmp_path / "run", random.Random(5)
    kept = 0
    for _ in range(6):
        child = start_child(place, kept)
        acknowledged = [int(child.stdout.readline())]
        end = time.monotonic() + chance.random() * 0.4
        while (left := end - time.monotonic()) > 0:
            if select.select([child.stdout], [], [], left)[0]:
                acknowledged.append(int(child.stdout.readline()))
        child.send_signal(signal.SIGKILL)
        rest = child.communicate()[0].split("\n")[:-1]
        acknowledged += [int(line) for line in rest]
        this_bursts = list(bursts(place))
        assert acknowledged[0] == kept
        assert len(this_bursts) in (acknowledged[-1] + 1, acknowledged[-1] + 2)
        assert this_bursts == [specimens.burst(k) for k in range(len(this_bursts))]
        kept = len(this_bursts)
    with RunWriter.resume(place) as writer:
        writer.begin(specimens.conditions())
        writer.finish((), None, 1.0, True)
    assert list(bursts(place)) == [specimens.burst(k) for k in range(kept)]
    assert not (place / "journal.jsonl").read_bytes()


class Killed(BaseException):
    """Stands for the end of the process at one exact step."""


@pytest.mark.parametrize("step", ["samples", "manifest", "state", "journal", "figures"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("ending", ["epoch_done", "finish"])
def test_a_kill_at_each_step_of_a_compaction(tmp_path, specimens, monkeypatch, step, when, ending):
    import perbyte.store.samples as samples
    import perbyte.store.writer as writing

    place = tmp_path / "run"
    writer = RunWriter.create(place)
    writer.begin(specimens.conditions())
    writer.measured(specimens.burst(0))
    writer.epoch_done(1)
    expected = [specimens.burst(k) for k in range(4)]
    writer.calibrated(specimens.calibration(2))
    for burst in expected[1:]:
        writer.measured(burst)

    def killing(function, applies):
        def call(*arguments):
            if applies(*arguments) and when == "before":
                raise Killed
            function(*arguments)
            if applies(*arguments):
                raise Killed

        return call

    if step == "samples":
        monkeypatch.setattr(samples, "write_samples", killing(samples.write_samples, lambda *_: True))
    elif step in ("manifest", "state", "figures"):
        name = f"write_{step}"
        monkeypatch.setattr(writing, name, killing(getattr(writing, name), lambda *_: True))
    else:
        monkeypatch.setattr(JournalWriter, "start_anew", killing(JournalWriter.start_anew, lambda *_: True))
    if ending == "epoch_done" and step == "figures":
        writer.epoch_done(2)
    else:
        with pytest.raises(Killed):
            writer.epoch_done(2) if ending == "epoch_done" else writer.finish((), None, 1.0, True)
    monkeypatch.undo()
    writer.close()
    assert not verify(place).damaged, "a kill is no damage"
    assert list(bursts(place)) == expected
    assert open_run(place).calibrations == (specimens.calibration(2),)
    with RunWriter.resume(place) as again:
        again.begin(specimens.conditions())
        again.measured(specimens.burst(4))
        again.epoch_done(3)
        assert list(bursts(place)) == [*expected, specimens.burst(4)]
        again.finish((), None, 1.0, True)
    assert {finding.state for finding in verify(place).findings} == {"whole"}
    assert list(bursts(place)) == [*expected, specimens.burst(4)]
    assert open_run(place).calibrations == (specimens.calibration(2),)


def test_the_time_that_was_spent_outlives_a_kill(tmp_path, specimens):
    place = tmp_path / "run"
    writer = RunWriter.create(place)
    writer.begin(specimens.conditions())
    assert open_run(place).measuring_s == 0.0
    writer.spent(1.5)
    writer.measured(specimens.burst(0))
    writer.spent(2.5)
    writer.close()  # no finish: a kill leaves the same behind
    assert open_run(place).measuring_s == 2.5
    again = RunWriter.resume(place)
    again.begin(specimens.conditions())
    assert open_run(place).measuring_s == 2.5
    again.spent(3.5)
    again.epoch_done(0)  # the journal is empty after it
    assert open_run(place).measuring_s == 3.5
    again.finish((), None, 4.25, True)
    assert open_run(place).measuring_s == 4.25
    assert list(bursts(place)) == [specimens.burst(0)]


def test_a_compaction_that_is_repeated_doubles_nothing(tmp_path, specimens, monkeypatch):
    """Interrupted after the samples file, the same writer goes on: its next file replaces the first."""
    import perbyte.store.writer as writing

    writer = RunWriter.create(tmp_path / "run")
    writer.begin(specimens.conditions())
    writer.measured(specimens.burst(0))

    def broken(*_: object) -> None:
        raise StoreError("no room")

    monkeypatch.setattr(writing, "write_state", broken)
    with pytest.raises(StoreError):
        writer.epoch_done(1)
    monkeypatch.undo()
    writer.measured(specimens.burst(1))
    writer.epoch_done(1)
    assert list(bursts(tmp_path / "run")) == [specimens.burst(0), specimens.burst(1)]


def test_a_line_torn_at_any_byte_is_dropped_with_a_remark(tmp_path, specimens):
    place = tmp_path / "run"
    writer = RunWriter.create(place)
    writer.begin(specimens.conditions())
    writer.measured(specimens.burst(0))
    whole = (place / "journal.jsonl").read_bytes()
    writer.measured(specimens.burst(1))
    writer.close()
    both = (place / "journal.jsonl").read_bytes()
    for length in range(len(whole), len(both)):
        (place / "journal.jsonl").write_bytes(both[:length])
        assert list(bursts(place)) == [specimens.burst(0)]
        with RunWriter.resume(place) as again:
            assert len(again.notes) == (length > len(whole))
            assert all("torn" in remark for remark in again.notes)
        assert (place / "journal.jsonl").read_bytes() == whole
    (place / "journal.jsonl").write_bytes(whole + b"\0" * 300)
    with RunWriter.resume(place) as again:
        again.begin(specimens.conditions())
        again.measured(specimens.burst(1))
    assert list(bursts(place)) == [specimens.burst(0), specimens.burst(1)]


def fill_until_full(place: Path, specimens) -> tuple[RunWriter, int]:
    writer = RunWriter.create(place)
    writer.begin(specimens.conditions())
    kept: list[int] = []

    def write_on() -> None:
        for k in range(100_000):
            writer.measured(specimens.burst(k, n=40))
            kept.append(k)

    with pytest.raises(StoreError, match="no room") as caught:
        write_on()
    assert "--resume" in caught.value.hint
    return writer, len(kept)


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("cannot mount a small file system here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_loses_nothing_and_the_run_goes_on(small_disk, specimens):
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 40_000)
    writer, kept = fill_until_full(small_disk / "run", specimens)
    expected = [specimens.burst(k, n=40) for k in range(kept)]
    assert list(bursts(small_disk / "run")) == expected
    with pytest.raises(StoreError, match="no room"):
        writer.epoch_done(1)
    assert list(bursts(small_disk / "run")) == expected
    ballast.unlink()
    writer.measured(specimens.burst(kept, n=40))
    writer.epoch_done(1)
    writer.finish((), None, 1.0, True)
    assert list(bursts(small_disk / "run")) == [*expected, specimens.burst(kept, n=40)]


def test_a_file_size_limit_is_met_like_a_full_disk(tmp_path, specimens):
    place = tmp_path / "run"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_001, before[1]))
    try:
        writer, kept = fill_until_full(place, specimens)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    writer.close()
    assert kept > 5
    assert list(bursts(place)) == [specimens.burst(k, n=40) for k in range(kept)]
    with RunWriter.resume(place) as again:
        assert again.notes == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="cannot write"):
        RunWriter.create(tmp_path / "run")


def test_a_file_in_the_way_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot write"):
        RunWriter.create(tmp_path / "file" / "run")
    with pytest.raises(StoreError, match="cannot write"):
        RunWriter.create(tmp_path / "file")
