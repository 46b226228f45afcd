"""The disk's own rate, on whatever disk this is."""

from __future__ import annotations

import pytest

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.measure import disk


def test_the_disk_is_measured_and_nothing_is_left_on_it(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "MOST_BYTES", 8 << 20)
    (tmp_path / "mine").write_text("kept")
    rates = disk.disk_rates(tmp_path)
    assert rates.bytes == 8 << 20
    assert rates.read > 0
    assert rates.write > 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (tmp_path / "mine").read_text() == "kept"


def test_what_is_no_disk_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="is not a directory"):
        disk.disk_rates(tmp_path / "nowhere")
    monkeypatch.setattr(disk, "LEAST_BYTES", 1 << 60)
    with pytest.raises(EnvironmentLacking, match="too little is free"):
        disk.disk_rates(tmp_path)
