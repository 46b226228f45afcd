"""The tables of leaks that bench/leak_tables.py prints: on scripted runners, whose leaks the scripts say."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from made_leaks import made_leak

from perbyte import places
from perbyte.model import Cell
from perbyte.model.leak import Difference

sys.path.insert(0, str(places.data_dir("runners").parent / "bench"))

import leak_tables

AES = leak_tables.TABLES[0]
CELL = Cell("alpha", "aes-128-ecb", "encrypt", 64, "stream/1")
QUIET = [{"core": 1, "alone": 0.98, "shared": 0.02, "taken": 0.0}]
NOISY = {"sample": 0.003, "probe": 0.0002}
BUDGET_S = 2.0


@pytest.fixture
def rows(fake_runners, monkeypatch, tmp_path):
    """The rows of AES of a runner whose key leaks in software, and who answered."""
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PERBYTE_TEST_LOCKS", str(tmp_path))
    monkeypatch.setattr(leak_tables, "doctor", lambda: {"cores": QUIET})
    operation = {"algorithm": "aes-128-ecb", "operation": "encrypt", "contract": "stream/1"}
    leak = {"cycles": 12, "role": "key"}
    fake_runners({"name": "alpha", "operations": [operation], "leak": leak, "noise": NOISY})
    return leak_tables.rows_of(AES, ["alpha"])


def test_a_row_is_a_runner_in_a_tier_with_all_that_it_is_asked(rows):
    all_rows, _ = rows
    assert [row.name for row in all_rows] == ["aes-alpha", "aes-alpha-soft"]
    columns = {(str(case.contrast), case.cold) for case in all_rows[0].cases}
    assert columns == {
        (contrast, cold)
        for contrast in ("key: fixed | random", "data: zeros | random")
        for cold in (False, True)
    }


def test_a_row_is_measured_kept_and_printed(rows, tmp_path, capsys, monkeypatch):
    (row, _), survey = rows
    into = tmp_path / "rows"
    into.mkdir()
    (into / f"{row.name}.part").mkdir()  # of a command that was killed
    assert leak_tables.render(AES, into) == ""
    assert leak_tables.take_row(row, survey, into, BUDGET_S)
    assert [place.name for place in into.iterdir()] == ["aes-alpha"]
    text = leak_tables.render(AES, into)
    [line] = [line for line in text.splitlines() if line.startswith("| Fake alpha")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    titles = next(line for line in text.splitlines() if line.startswith("| library")).strip("| ").split(" | ")
    key = cells[titles.index("aes-128-ecb encrypt, key: fixed or random")]
    data = cells[titles.index("aes-128-ecb encrypt, data: zeros or random")]
    assert key.startswith("**leaks**: +1")
    assert data.startswith("none above ")
    assert cells[titles.index("siblings")] == "2.0%, 2.0%"
    assert "Siblings were active 2.0% to 2.0% of the time (median 2.0%)" in text
    monkeypatch.setattr(
        sys, "argv", ["", "--into", str(into), "--runners", "alpha", "--table", "aes", "--dry-run"]
    )
    leak_tables.main()
    printed = capsys.readouterr()
    assert "1 of 2 rows" in printed.err
    assert printed.out == text + "\n"


def test_an_interrupted_row_is_not_kept(rows, tmp_path, monkeypatch):
    (row, _), survey = rows

    def interrupt(*what, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("perbyte.measure.leaks.Leaks._epoch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        leak_tables.take_row(row, survey, tmp_path, BUDGET_S)
    assert not (tmp_path / row.name).exists()
    assert leak_tables.render(AES, tmp_path) == ""


def test_each_verdict_has_its_difference_and_interval():
    spread = Difference(30.0, 28.0, 32.0, 1e-9)
    leaking = made_leak(CELL, 12.0)
    assert leak_tables.entry(leaking) == "**leaks**: +12.0 (+11.6 to +12.4)"
    assert leak_tables.entry(made_leak(CELL)) == "none above 0.40: +0.00 (-0.40 to +0.40)"
    assert leak_tables.entry(made_leak(CELL, verdict="unknown", unit="ns")) == (
        "not known below 0.40 ns: +0.00 (-0.40 to +0.40) ns"
    )
    wide = replace(leaking, found=replace(leaking.found, spread=spread))
    assert leak_tables.entry(wide).endswith("; spread +30.0 (+28.0 to +32.0)")
    assert leak_tables.entry(made_leak(CELL, found=None)).startswith("too few clean pairs of 5,100")
