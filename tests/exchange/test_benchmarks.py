"""Outputs of other benchmark tools, as these tools wrote them: what they become, and what of them is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from perbyte.errors import UsageError
from perbyte.exchange import make_benchmark_run, read_benchmarks, read_meaning
from perbyte.exchange.benchmarks import FORMATS

REAL = Path(__file__).parent / "benchmarks"
MODES = ("ecb", "cbc", "cfb", "ofb", "ctr", "xts")
AEADS = ("ccm", "gcm", "ocb", "siv", "gcm-siv")


def text(name: str) -> str:
    return (REAL / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("form", "file", "cells", "notes"),
    [
        ("benchfmt", "benchfmt.txt", {("sha-256", "digest", 64), ("sha-256", "digest", 8192)}, 0),
        ("google-benchmark", "google.json", {("sha-256", "digest", 64), ("sha-256", "digest", 8192)}, 1),
        (
            "google-benchmark",
            "google_repeated.json",
            {("sha-256", "digest", 64), ("sha-256", "digest", 8192)},
            1,
        ),
        ("pyperf", "pyperf.json", {("sha-256", "digest", 64), ("sha-256", "digest", 8192)}, 0),
        ("jmh", "jmh.json", {("sha-256", "digest", 64), ("sha-256", "digest", 8192)}, 0),
        ("criterion", "criterion.txt", {("sha-256", "digest", 64), ("sha-256", "digest", 8192)}, 1),
        (
            "botan-speed",
            "botan-speed.txt",
            {("aes-128-gcm", way, size) for way in ("seal", "open") for size in (1024, 8192)}
            | {("sha-256", "digest", 1024), ("sha-256", "digest", 8192)},
            1,  # the key schedule
        ),
        (
            "bench-slope",  # of libgcrypt 1.10.1
            "bench-slope.txt",
            {
                *((f"aes-128-{mode}", way, 65536) for mode in MODES for way in ("encrypt", "decrypt")),
                *((f"aes-128-{mode}", way, 65536) for mode in AEADS for way in ("seal", "open")),
                *((name, "digest", 65536) for name in ("sha-256", "sha-512")),
                ("hmac-sha-256", "mac", 65536),
            },
            8,  # EAX, which the catalogue lacks, and associated data alone
        ),
    ],
)
def test_real_outputs_become_cells(form: str, file: str, cells: set[tuple[str, str, int]], notes: int):
    readings = read_benchmarks(form, text(file), file)
    run = make_benchmark_run(readings, form, name="x", source=file, runner=form)
    assert {(cell.cell.algorithm, cell.cell.operation, cell.cell.size_bytes) for cell in run.cells} == cells
    assert len(run.conditions.input["remarks"]) == notes
    if form != "jmh":  # whose interval of six values may reach below zero, and is none then
        assert all(cell.interval.known == (form == "criterion") for cell in run.cells)
    assert all(cell.cycles_per_call is None and cell.ns_per_call > 0 for cell in run.cells)


def test_figures_are_the_tools_own():
    # the three lines of size 64 are 558.9, 534.6 and 533.4 ns/op
    assert [benchmark.ns for benchmark in read_benchmarks("benchfmt", text("benchfmt.txt"), "x")] == [
        534.6,
        11906,
    ]
    first = read_benchmarks("botan-speed", text("botan-speed.txt"), "x")[1]
    assert first.ns == pytest.approx(1024 / (354.222 * 2**20) * 1e9)
    assert first.cycles == pytest.approx(6.47 * 1024)
    jmh = json.loads(text("jmh.json"))[0]["primaryMetric"]
    reading = read_benchmarks("jmh", text("jmh.json"), "x")[0]
    assert (reading.ns, reading.low, reading.high) == (jmh["score"], *jmh["scoreConfidence"])
    values = [
        value
        for run in json.loads(text("pyperf.json"))["benchmarks"][0]["runs"]
        for value in run.get("values", ())
    ]
    assert read_benchmarks("pyperf", text("pyperf.json"), "x")[0].ns == pytest.approx(
        sum(values) / len(values) * 1e9
    )


def test_slopes_are_given_at_one_size_and_need_no_cycles():
    digest, first, *_ = read_benchmarks("bench-slope", text("bench-slope.txt"), "x")
    assert (digest.name, digest.ns) == ("SHA256", pytest.approx(0.636 * 65536))
    assert math.isnan(digest.cycles)  # no --cpu-mhz was given
    assert (first.name, first.cycles) == ("AES-128 ECB enc", pytest.approx(0.821 * 65536))


@pytest.mark.parametrize(
    ("form", "broken", "complaint"),
    [
        ("google-benchmark", "{", "line 1: no JSON"),
        ("google-benchmark", '{"benchmarks": 3}', "no list 'benchmarks'"),
        (
            "google-benchmark",
            '{"benchmarks": [\n{"name": "a",\n"real_time": "x"}]}',
            "line 2: real_time is not a number",
        ),
        (
            "google-benchmark",
            '{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "h"}]}',
            "unit of time 'h'",
        ),
        ("google-benchmark", '{"benchmarks": [{"name": "a", "real_time": NaN}]}', "real_time is nan"),
        (
            "google-benchmark",
            '{"benchmarks": [{"name": "a", "real_time": -5}]}',
            "not a possible time of a call",
        ),
        ("google-benchmark", "[" * 100_000, "line 1"),
        ("jmh", "{}", "no list of results"),
        ("jmh", '[{"benchmark": "a"}]', "no primaryMetric"),
        (
            "jmh",
            '[{"benchmark": "a", "primaryMetric": {"score": 1, "scoreUnit": "B"}}]',
            "neither a time nor a rate",
        ),
        (
            "benchfmt",
            "BenchmarkA 100 3 ns/op\n\nBenchmarkA 5 3.0",
            "line 3: the line of a benchmark is cut off",
        ),
        ("benchfmt", "BenchmarkA 100 x ns/op", "line 1: ns/op is not a number"),
        ("criterion", "a    time:   [1.0 ns 1.1", "line 1: the line with the time is cut off"),
        ("criterion", "a    time:   [1.0 ls 1.1 ns 1.2 ns]", "unit of time 'ls'"),
        ("pyperf", '{"benchmarks": [{"metadata": {"name": "a"}, "runs": [{}]}]}', "has no values"),
        ("botan-speed", "SHA-256 hash buffer size 10", "line 1: the line of a buffer size is cut off"),
        ("botan-speed", "SHA-256 hash buffer size 10 bytes: 0.0 MiB/sec", "a rate of nothing"),
        ("bench-slope", "  GCM enc |     0.250 ns/B      38", "line 1: the row is cut off"),
    ],
)
def test_broken_and_hostile_files_are_refused_with_line_and_reason(form: str, broken: str, complaint: str):
    with pytest.raises(UsageError, match="line") as error:
        read_benchmarks(form, broken, "file")
    assert complaint in str(error.value)


@pytest.mark.parametrize("form", FORMATS)
def test_another_tools_file_has_no_figure(form: str):
    with pytest.raises(UsageError):
        read_benchmarks(form, "[]" if form in ("jmh",) else '{"benchmarks": []}', "file")


@pytest.mark.parametrize("form", FORMATS)
def test_no_real_output_cut_anywhere_is_a_defect(form: str):
    """A file that is cut off is refused or read as far as it goes; nothing else happens."""
    for file in REAL.iterdir():
        whole = file.read_text(encoding="utf-8")
        for cut in range(0, len(whole), max(1, len(whole) // 60)):
            try:
                read_benchmarks(form, whole[:cut], "file")
            except UsageError:
                continue


def test_names_are_said_where_they_do_not_tell():
    readings = read_benchmarks("google-benchmark", text("google.json"), "x")
    meanings = [read_meaning("BM_startup=aes-256-gcm/open@1KiB")]
    run = make_benchmark_run(
        readings, "google-benchmark", name="x", source="x", runner="g", meanings=meanings
    )
    assert any(
        (cell.cell.algorithm, cell.cell.operation, cell.cell.size_bytes) == ("aes-256-gcm", "open", 1024)
        for cell in run.cells
    )
    for wrong in ("x", "(=sha-256", "a=sha-256/seal", "a=nothing", "=sha-256"):
        with pytest.raises(UsageError):
            read_meaning(wrong)
