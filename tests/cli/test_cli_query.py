"""SQL over stored runs, as typed: a table, JSON, CSV, and nothing but the five views."""

from __future__ import annotations

import csv
import io
import json


def test_a_table_of_the_named_run(measured):
    answer = measured.world.perbyte(
        "query", "SELECT runner, count(*) AS n FROM cells GROUP BY runner ORDER BY runner", measured.path
    )
    assert answer.returncode == 0, answer.stderr
    head, *rows = answer.stdout.splitlines()
    assert head.split() == ["runner", "n"]
    assert [row.split()[0] for row in rows] == ["alpha", "beta"]


def test_json_and_csv_hold_the_same(measured):
    sql = "SELECT address, cycles_per_byte, warnings FROM cells WHERE size_bytes = 64 ORDER BY address"
    as_json = json.loads(measured.world.perbyte("query", sql, measured.path, "--json").stdout)
    text = measured.world.perbyte("query", sql, measured.path, "--csv").stdout
    as_csv = list(csv.DictReader(io.StringIO(text)))
    assert [row["address"] for row in as_json] == [row["address"] for row in as_csv]
    assert all(
        float(b["cycles_per_byte"]) == a["cycles_per_byte"] for a, b in zip(as_json, as_csv, strict=True)
    )
    shown = {
        cell["address"]: cell["cycles_per_byte"]
        for cell in measured.world.shown(measured.path)["cells"]
        if cell["size_bytes"] == 64
    }
    assert {row["address"]: row["cycles_per_byte"] for row in as_json} == shown


def test_all_stored_runs_and_their_samples(world, script, quick):
    world.add(script("alpha"))
    assert world.perbyte("query", "SELECT 1").returncode == 2, "there is no run yet"
    for _ in range(2):
        assert world.perbyte("measure", "alpha/sha-256@16", *quick).returncode == 0
    answer = world.perbyte(
        "query", "SELECT run, count(*) AS n FROM samples JOIN runs USING (run) GROUP BY run", "--json"
    )
    assert answer.returncode == 0, answer.stderr
    assert len(json.loads(answer.stdout)) == 2


def test_what_is_no_sql_or_reaches_out_is_refused_with_the_views(measured):
    for sql in ("not sql", "SELECT * FROM '/etc/passwd'", "COPY cells TO 'x.csv'"):
        answer = measured.world.perbyte("query", sql, measured.path)
        assert answer.returncode == 2
        assert "runs, cells, figures, samples, behaviour and leaks" in answer.stderr
    assert measured.world.perbyte("query", "SELECT 1", measured.path, "--json", "--csv").returncode == 2
