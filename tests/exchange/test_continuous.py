"""Runs in the formats of tools that watch speed: what they hold, and that they can be read again."""

from __future__ import annotations

import dataclasses

import pytest

from perbyte.exchange import make_benchmark_run, read_benchmarks, to_action, to_bencher, to_benchfmt
from perbyte.exchange.benchmark_sizes import exact
from perbyte.exchange.reading import Reading
from perbyte.model import Run


@pytest.fixture
def run() -> Run:
    readings = [
        Reading("sha-256/64", 1, 100.0, exact(64), 90.0, 120.0, 0.95),
        Reading("aes-128-gcm/seal/1024", 2, 500.0, exact(1024)),
    ]
    made = make_benchmark_run(readings, "criterion", name="x", source="x", runner="some lib")
    several = dataclasses.replace(
        made.cells[0],
        epoch_ns=(99.0, 100.0, 101.0),
        cycles_per_call=300.0,
        epoch_cycles=(297.0, 300.0, 303.0),
    )
    return dataclasses.replace(made, cells=(several, made.cells[1]))


def test_benchfmt_has_a_line_for_each_epoch_and_can_be_imported_again(run: Run):
    text = to_benchfmt(run)
    lines = [line for line in text.splitlines() if line.startswith("Benchmark")]
    assert len(lines) == 4
    assert lines[1] == (
        "BenchmarkPerbyte/runner=some_lib/algorithm=sha-256/operation=digest/size=64/contract=oneshot.1/cpu=full"
        " 1 100 ns/op 640 MB/s 300 cycles/op"
    )
    again = make_benchmark_run(
        read_benchmarks("benchfmt", text, "x"), "benchfmt", name="y", source="x", runner="b"
    )
    algorithmses = {
        (cell.cell.algorithm, cell.cell.operation, cell.cell.size_bytes, cell.ns_per_call)
        for cell in again.cells
    }
    assert algorithmses == {("sha-256", "digest", 64, 100.0), ("aes-128-gcm", "seal", 1024, 500.0)}


def test_bencher_gets_the_ends_of_known_intervals_only(run: Run):
    bencher = to_bencher(run)
    first, second = bencher[run.cells[0].cell.address], bencher[run.cells[1].cell.address]
    assert first["latency"]["value"] == 100.0
    assert first["cycles"]["value"] == 300.0
    assert first["throughput"]["value"] == pytest.approx(6.4e8)
    assert set(second["latency"]) == {"value"}


def test_the_action_gets_one_value_each(run: Run):
    assert [(row["unit"], row["value"]) for row in to_action(run)] == [
        ("cycles/call", 300.0),
        ("ns/call", 500.0),
    ]
    assert "range" not in to_action(run)[1]
