"""SQL sees the samples and nothing else; merging takes what fits together and nothing else."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

from perbyte.errors import IncompatibleRuns, UsageError
from perbyte.store import RunWriter, bursts, merge, open_run, query


def test_sql_over_samples_and_figures(finished, specimens):
    place = finished(figures=specimens.figures)
    columns, rows = query(
        place,
        "SELECT run, address, count(*) AS n, sum(ticks) FROM samples WHERE epoch = 1 GROUP BY ALL ORDER BY address",
    )
    assert columns[:3] == ("run", "address", "n")
    taken = [b for b in bursts(place) if b.epoch == 1]
    address = specimens.cell(0).address
    expected = sum(sum(b.ticks) for b in taken if b.cell.address == address)
    assert [row for row in rows if row[1] == address] == [("r-1", address, 16, expected)]
    assert query(place, "SELECT quality, warnings, warning_kinds FROM cells LIMIT 1")[1] == [
        ("imprecise", ["the interval is wide", "ünïcode"], ["imprecise", "other"])
    ]
    assert query(place, "SELECT cycles FROM samples WHERE burst = 3 LIMIT 1") == (("cycles",), [(None,)])


def test_sql_over_several_runs_and_one_under_way(finished, tmp_path, specimens):
    place = finished()
    with RunWriter.create(tmp_path / "other") as writer:
        writer.begin(specimens.conditions(run_id="r-2"))
        writer.calibrated(specimens.calibration(1))
        writer.measured(specimens.burst(0))
        rows = query([place, tmp_path / "other"], "SELECT run, count(*) FROM samples GROUP BY 1 ORDER BY 1")
    assert rows[1] == [("r-1", 28 * 8), ("r-2", 5)]


def test_figures_join_the_conditions_of_their_run(finished):
    columns, rows = query(
        finished(),
        "SELECT machine, round(cycles_per_byte * size_bytes - cycles_per_call, 9) AS zero, "
        "round(megabytes_per_second, 3) FROM cells JOIN runs USING (run) WHERE size_bytes > 0 LIMIT 1",
    )
    assert columns[:2] == ("machine", "zero")
    assert rows[0][1] == 0.0
    assert rows[0][2] > 0


def test_a_run_without_samples_can_be_asked(tmp_path, specimens):
    with RunWriter.create(tmp_path / "run") as writer:
        writer.begin(specimens.conditions())
    assert query(tmp_path / "run", "SELECT count(*) FROM samples, cells")[1] == [(0,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "COPY samples TO 'stolen.csv'",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SELECT * FROM specimens",
        "SELECT * FROM glob('/*')",
        "not sql at all",
        "",
    ],
)
def test_sql_reaches_nothing_but_the_views(finished, sql, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = finished()
    before = sorted(tmp_path.rglob("*"))
    if sql:
        with pytest.raises(UsageError) as caught:
            query(place, sql)
        assert caught.value.hint
    else:
        assert query(place, sql) == ((), [])
    assert sorted(tmp_path.rglob("*")) == before


def test_merged_runs_have_the_epochs_of_both(finished, tmp_path):
    first, second = finished("a"), finished("b", run_id="r-2", started_at="later", plan=("x/y/z@1",))
    merged = merge([first, second], tmp_path / "both")
    assert sorted({c.epoch for c in merged.calibrations}) == [1, 2, 4, 5]
    assert len(list(bursts(tmp_path / "both"))) == 56
    assert merged.cells[0].epochs == 4
    assert merged.cells[0].samples == 64
    assert (merged.complete, merged.measuring_s) == (True, 25.0)
    assert merged.conditions.run_id == "r-1+r-2"
    assert merged.conditions.plan == (*open_run(first).conditions.plan, "x/y/z@1")
    assert len(merged.failures) == 2
    assert merged == open_run(tmp_path / "both")


def test_runs_that_differ_are_not_merged_by_accident(finished, tmp_path, specimens):
    first = finished("a")
    other = tmp_path / "b"
    with RunWriter.create(other) as writer:
        writer.begin(specimens.conditions(run_id="r-2", catalogue_version="c2"))
        writer.identified(specimens.identity(object_sha256="cd" * 32))
        writer.finish((), None, 1.0, True)
    with pytest.raises(IncompatibleRuns) as caught:
        merge([first, other], tmp_path / "both")
    assert caught.value.fields == ("catalogue_version", "openssl+cpu=full.object_sha256")
    assert "c1" in str(caught.value)
    assert not (tmp_path / "both").exists()


@pytest.mark.parametrize("field", ["policy.precision", "study"])
def test_runs_of_another_precision_or_purpose_are_not_merged(finished, tmp_path, field):
    first = finished("a")
    policy = open_run(first).conditions.policy
    finer = dataclasses.replace(policy, precision=policy.precision / 2)
    changed = {"study": "another"} if field == "study" else {"policy": finer}
    other = finished("b", run_id="r-2", started_at="later", **changed)
    with pytest.raises(IncompatibleRuns) as caught:
        merge([first, other], tmp_path / "both")
    assert caught.value.fields == (field,)


def test_a_run_is_not_merged_with_itself(finished, tmp_path):
    place = finished("a")
    with pytest.raises(UsageError, match="different runs"):
        merge([place, place], tmp_path / "both")
    with pytest.raises(UsageError, match="different runs"):
        merge([place], tmp_path / "both")
    shutil.copytree(place, tmp_path / "copy")
    with pytest.raises(UsageError, match="copy of a run"):
        merge([place, tmp_path / "copy"], tmp_path / "both")
