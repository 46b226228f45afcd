"""Processes of one cell at once, on the scripted runner; and the disk's own rate, on whatever disk this is."""

from __future__ import annotations

import pytest
from fake_scripts import row

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.measure import disk
from perbyte.measure.threads import measure_together
from perbyte.model import Cell, Policy

CELL = Cell("alpha", "aes-128-ecb", "encrypt", 4096, "message/1")


def test_each_process_gives_its_own_time_while_all_are_at_work(fake_runners, spare_core):
    [spec] = fake_runners({"name": "alpha", "operations": [row(per_call=0.0, per_byte=1.0)]})
    # each scripted process has a virtual clock of its own: they agree as long as both do the same
    [one] = measure_together(CELL, spec, (1,), (spare_core,), Policy())
    [two] = measure_together(CELL, spec, (2,), (spare_core, spare_core), Policy())
    assert (one.threads, two.threads) == (1, 2)
    assert all(len(turn) == 1 for turn in one.ns_per_call)
    assert all(len(turn) == 2 for turn in two.ns_per_call)
    assert len(one.ns_per_call) > 1
    for turn in (*one.ns_per_call, *two.ns_per_call):
        assert turn == pytest.approx([4096 / 2.7] * len(turn), rel=0.02)
    assert one.clean == pytest.approx(1.0)


def test_a_neighbour_shows_in_the_share_of_clean_samples(fake_runners, spare_core):
    busy = {"share": 0.5, "burst_s": 0.001, "factor": 1.5}
    [spec] = fake_runners({"name": "alpha", "operations": [row()], "contention": [busy]})
    [one] = measure_together(CELL, spec, (1,), (spare_core,), Policy())
    assert one.clean < 0.9


def test_more_threads_than_cores_are_refused(fake_runners, spare_core):
    [spec] = fake_runners({"name": "alpha"})
    with pytest.raises(EnvironmentLacking, match="3 threads need as many cores") as found:
        measure_together(CELL, spec, (1, 3), (spare_core,), Policy())
    assert "--threads" in found.value.hint


def test_the_disk_is_measured_and_nothing_is_left_on_it(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "MOST_BYTES", 8 << 20)
    (tmp_path / "mine").write_text("kept")
    found = disk.disk_rates(tmp_path)
    assert found.bytes == 8 << 20
    assert found.read > 0
    assert found.write > 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (tmp_path / "mine").read_text() == "kept"


def test_what_is_no_disk_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="is no directory"):
        disk.disk_rates(tmp_path / "nowhere")
    monkeypatch.setattr(disk, "LEAST_BYTES", 1 << 60)
    with pytest.raises(EnvironmentLacking, match="too little is free"):
        disk.disk_rates(tmp_path)
