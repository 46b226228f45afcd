"""Readers of what benchmark harnesses write: Google Benchmark, criterion, libtest, JMH, Go's benchfmt, pyperf.

An interval is taken only where the tool states one of a confidence level; a spread, a minimum or a deviation is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from perbyte.exchange.benchmark_sizes import Sizes, rounded
from perbyte.exchange.listing import whole_number
from perbyte.exchange.reading import (
    BYTES,
    UNITS_NS,
    BrokenListing,
    Reading,
    entries_of,
    json_of,
    line_of,
    number,
    scale,
)

_BY_WALL = re.compile(r"/(?:real_time|manual_time)(?:/|$)")


def google(text: str) -> Iterator[Reading]:
    """`--benchmark_format=json`, or the table on the console; of repetitions only the median where there is one."""
    if not text.lstrip().startswith(("{", "[")):
        yield from _google_console(text)
        return
    entries = entries_of(json_of(text), "benchmarks")
    with_median = {entry.get("run_name") for entry in entries if entry.get("aggregate_name") == "median"}
    for entry in entries:
        name = str(entry.get("name", ""))
        line = line_of(text, name)
        if entry.get("error_occurred") or (entry.get("aggregate_name") or "median") != "median":
            continue
        if not entry.get("aggregate_name") and entry.get("run_name") in with_median:
            continue
        unit_ns = scale(entry.get("time_unit", "ns"), line)
        ns = number(entry.get("real_time"), line, "real_time") * unit_ns
        shown = str(entry.get("run_name") or name)
        sizes = Sizes()
        if "bytes_per_second" in entry:
            # the rate is per the time that was chosen, which is the CPU's unless the name says otherwise
            cpu = number(entry.get("cpu_time"), line, "cpu_time") * unit_ns
            rate = number(entry["bytes_per_second"], line, "bytes_per_second") * 1e-9
            sizes = _from_double(rate * (ns if _BY_WALL.search(name) else cpu))
        yield Reading(shown, line, ns, sizes)


def _from_double(size: float) -> Sizes:
    return Sizes(size * (1 - 1e-6), size * (1 + 1e-6)) if size > 0 else Sizes()


_CONSOLE = re.compile(
    r"^(?P<name>\S+)\s+(?P<time>[\d.e+]+) (?P<tu>ns|us|ms|s)\s+(?P<cpu>[\d.e+]+) (?P<cu>ns|us|ms|s)\s+\d+"
    r"(?P<rest>.*)$"
)
_CONSOLE_RATE = re.compile(
    r"bytes_per_second=(?P<rate>[\d.]+)(?P<unit>[kKMGT]?)i?B?/s|(?P<old>[\d.]+)(?P<ou>[kKMG])i?B/s"
)
_AGGREGATE = re.compile(r"_(mean|median|stddev|cv|min|max)$")


def _google_console(text: str) -> Iterator[Reading]:
    rows = [(line, match) for line, raw in enumerate(text.split("\n"), 1) if (match := _CONSOLE.match(raw))]
    with_median = {
        match["name"].removesuffix("_median") for _, match in rows if match["name"].endswith("_median")
    }
    for line, match in rows:
        name = match["name"]
        aggregate = _AGGREGATE.search(name)
        if (aggregate and aggregate[1] != "median") or name in with_median:
            continue
        name = name.removesuffix("_median")
        time = match["time" if _BY_WALL.search(name) else "cpu"]
        unit = match["tu" if _BY_WALL.search(name) else "cu"]
        sizes = Sizes()
        if rate := _CONSOLE_RATE.search(match["rest"]):
            printed = rate["rate"] or rate["old"]
            power = "kmgt".find((rate["unit"] or rate["ou"] or "x").lower()) + 1
            per_ns = number(printed, line, "a rate") * 1024.0**power * 1e-9
            sizes = rounded(per_ns * number(time, line, "a time") * scale(unit, line), printed, time)
        yield Reading(name, line, number(match["time"], line, "a time") * scale(match["tu"], line), sizes)


_CRITERION = re.compile(
    r"^(?P<name>\S.*?)?\s+time:\s+\[(?P<low>\S+) (?P<lu>\S+) (?P<mid>\S+) (?P<mu>\S+) (?P<high>\S+) (?P<hu>\S+)\]"
)
_CRITERION_THRPT = re.compile(r"^\s+thrpt:\s+\[\S+ \S+ (?P<rate>\S+) (?P<unit>[KMG]i?B|B)/s \S+ \S+\]")


def criterion(text: str) -> Iterator[Reading]:
    """The text of `cargo bench`: estimate and 95 % interval of the time, and the throughput that tells the size."""
    above, pending, printed = "", None, ""
    for line, raw in enumerate(text.split("\n"), start=1):
        if raw.lstrip().startswith("change:"):
            above = ""  # what follows are differences to an earlier run
        if match := _CRITERION.match(raw):
            if pending:
                yield pending
            name = (match["name"] or above).strip()
            if "cycles" in match["mu"]:  # of the plug-in criterion-cycles-per-byte
                pending = None
                yield Reading(
                    name, line, math.nan, unlike="it is in ticks of a counter, whose rate is not said"
                )
                continue
            low, mid, high = (
                number(match[part], line, "a time") * scale(match[unit], line)
                for part, unit in (("low", "lu"), ("mid", "mu"), ("high", "hu"))
            )
            printed = match["mid"]
            pending = Reading(name, line, mid, low=low, high=high, level=0.95)
        elif pending and (rate := _CRITERION_THRPT.match(raw)):
            per_s = number(rate["rate"], line, "a rate") * BYTES[rate["unit"]]
            pending = replace(pending, sizes=rounded(per_s * pending.ns * 1e-9, rate["rate"], printed))
        elif re.search(r"\btime:\s+\[(?![-+\u2212])", raw):
            raise BrokenListing(line, "the line with the time is cut off")
        above = raw.strip() or above
    if pending:
        yield pending


_LIBTEST = re.compile(
    r"^(?:test |[*-] )?(?P<name>\S.*?)\s+(?:\.\.\. bench:\s+)?(?P<ns>[\d,.]+) ns/iter"
    r" \(\+/- [\d,.]+\)(?: = (?P<rate>\d+) MB/s)?\s*$"
)
_LIBTEST_CRATE = re.compile(r"^\s+Running .*?/deps/(\w+)-[0-9a-f]{16}\)?$")


def libtest(text: str) -> Iterator[Reading]:
    """`cargo bench` with the nightly harness: the median; `+/-` is a spread, and no interval."""
    crate = ""
    for line, raw in enumerate(text.split("\n"), start=1):
        if run := _LIBTEST_CRATE.match(raw):
            crate = run[1]
        elif match := _LIBTEST.match(raw.strip()):
            printed = match["ns"].replace(",", "")
            ns = number(printed, line, "a time")
            sizes = Sizes()
            if match["rate"] and ns > 0:
                # bytes * 1000 / ns of the rounded time, and the fraction is cut off
                rate, half = int(match["rate"]), 0.5 * 10.0 ** -len(printed.partition(".")[2])
                sizes = Sizes(max(rate * (ns - half) / 1000, 1e-9), (rate + 1) * (ns + half) / 1000)
            *modules, name = match["name"].split("::")
            name = re.sub(r"^bench\d_(?=\d)", "bench_", name)  # bench4_10000
            yield Reading(name, line, ns, sizes, package="/".join(modules) or crate)
        elif "bench:" in raw and raw.startswith("test "):
            raise BrokenListing(line, "the line of a benchmark is cut off")


_JMH_UNITS = ("ns", "us", "ms", "s")


def jmh(text: str) -> Iterator[Reading]:
    """`-rf json`, or the table at the end of the text: the score with its 99.9 % interval.

    Modes that give a time or a rate per call. The rate of several threads is their sum and is divided by them.
    """
    if not text.lstrip().startswith(("{", "[")):
        yield from _jmh_table(text)
        return
    entries = json_of(text)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BrokenListing(1, "there is no list of results")
    for entry in entries:
        name = str(entry.get("benchmark", ""))
        line = line_of(text, name)
        metric = entry.get("primaryMetric")
        if not isinstance(metric, dict):
            raise BrokenListing(line, f"{name[:60]!r} has no primaryMetric")
        score = number(metric.get("score"), line, "score")
        ends = metric.get("scoreConfidence")
        if not isinstance(ends, list) or len(ends) != 2 or "NaN" in ends:
            ends = [math.nan, math.nan]
        low, high = (float(end) if isinstance(end, int | float) else math.nan for end in ends)
        parameters = entry.get("params") if isinstance(entry.get("params"), dict) else {}
        threads = entry.get("threads")
        yield _jmh_reading(
            name,
            line,
            (score, low, high),
            str(metric.get("scoreUnit")),
            tuple((str(key), str(value)) for key, value in parameters.items() if str(value)),
            threads=threads if isinstance(threads, int) and threads > 0 else 1,
            mode=str(entry.get("mode", "")),
        )


def _jmh_reading(
    name: str,
    line: int,
    values: tuple[float, float, float],
    unit: str,
    settings: tuple[tuple[str, str], ...],
    *,
    threads: int,
    mode: str,
) -> Reading:
    score, low, high = values
    what, _, per = unit.partition("/")
    if what == "ops" and per in _JMH_UNITS and score > 0:
        factor = UNITS_NS[per] * threads
        score = factor / score
        low, high = (factor / end if end > 0 else math.nan for end in (high, low))
    elif what in _JMH_UNITS and per == "op":
        score, low, high = (value * UNITS_NS[what] for value in values)
    else:
        raise BrokenListing(line, f"the unit {unit[:20]!r} is neither a time nor a rate")
    *packages, holder, method = ["", *name.split(".")]
    return Reading(
        f"{holder}.{method}".strip("."),
        line,
        score,
        low=low,
        high=high,
        level=0.999,
        package=".".join(packages).strip("."),
        settings=settings,
        threads=threads,
        unlike="single shots are cold calls, which are measured otherwise here" if mode == "ss" else "",
    )


_JMH_HEAD = re.compile(r"^Benchmark\s+(?:\(\w+\)\s+)*Mode\s+(?:Cnt\s+|Samples\s+)?Score\s.*Units\s*$")
_JMH_THREADS = re.compile(r"^# Threads: (\d+) threads?\b")
_JMH_ROW = re.compile(
    r"\s(?P<mode>thrpt|avgt|sample|ss)\s+(?:(?P<count>\d+)\s+)?(?P<score>[\d.,≈]+(?:[eE][-+]?\d+|[⁻⁰-⁹]+)?)"
    r"(?:\s+(?:±|\(99\.9%\)|\?)?\s*(?P<error>[\d.,]+(?:[eE][-+]?\d+)?|NaN))?\s+(?P<unit>\S+)\s*$"
)


def _jmh_table(text: str) -> Iterator[Reading]:
    columns: list[tuple[str, int]] = []
    threads, inside = 1, False
    for line, raw in enumerate(text.split("\n"), start=1):
        if count := _JMH_THREADS.match(raw):
            threads = max(1, int(count[1][:6]))
        elif _JMH_HEAD.match(raw):
            columns = [(match[1], match.end()) for match in re.finditer(r"\((\w+)\)", raw)]
            inside = True
        elif inside and raw.strip() and "·" not in raw.split()[0]:
            match = _JMH_ROW.search(raw)
            if not match:
                inside = False
                continue
            score = number(match["score"].replace(",", "").lstrip("≈"), line, "score")
            error = match["error"]
            off = math.nan if error in (None, "NaN") else number(error.replace(",", ""), line, "error")
            words = raw[: match.start()].split()
            if ":" in words[0]:
                continue  # a part of another row: its percentiles, or what a profiler says
            settings = _in_columns(raw, columns, match.start())
            yield _jmh_reading(
                words[0],
                line,
                (score, score - off, score + off),
                match["unit"],
                settings,
                threads=threads,
                mode=match["mode"],
            )


def _in_columns(row: str, columns: list[tuple[str, int]], end: int) -> tuple[tuple[str, str], ...]:
    """The parameters of a row. Each stands right-aligned below its name; a row that was pasted without that has all."""
    values = row[:end].split()[1:]
    if len(values) == len(columns):
        return tuple((name, value) for (name, _), value in zip(columns, values, strict=True))
    named, begin = [], row.find(" ")
    for name, stop in columns:
        if value := row[begin : min(stop, end)].strip():
            named.append((name, value))
        begin = stop
    return tuple(named)


_GO_NAME = re.compile(r"-\d+$")


def benchfmt(text: str) -> Iterator[Reading]:
    """`go test -bench`: the median of lines of one name in one package, because each is a mean of its own."""
    readings: dict[tuple[str, str], list[tuple[int, float, Sizes]]] = {}
    package = ""
    for line, raw in enumerate(text.split("\n"), start=1):
        words = raw.split()
        if raw.startswith("pkg:"):
            package = raw.removeprefix("pkg:").strip()
        if not raw.startswith("Benchmark") or len(words) < 2:
            continue
        if len(words) < 4 or len(words) % 2 or whole_number(words[1]) < 0:
            raise BrokenListing(line, "the line of a benchmark is cut off")
        printed = dict(zip(words[3::2], words[2::2], strict=True))
        values = {unit: number(value, line, unit) for unit, value in printed.items()}
        ns = values.get("ns/op", values.get("sec/op", 0.0) * 1e9)
        rate = values.get("MB/s", values.get("B/s", 0.0) / 1e6)
        if ns > 0:
            texts = [printed[unit] for unit in ("ns/op", "sec/op", "MB/s", "B/s") if unit in printed]
            sizes = rounded(rate * 1e6 * ns * 1e-9, *texts) if rate > 0 else Sizes()
            readings.setdefault((package, words[0]), []).append((line, ns, sizes))
    for (package, name), several in readings.items():
        line, ns, sizes = sorted(several, key=lambda reading: reading[1])[(len(several) - 1) // 2]
        yield Reading(_GO_NAME.sub("", name.removeprefix("Benchmark")), line, ns, sizes, package=package)


def pyperf(text: str) -> Iterator[Reading]:
    """`pyperf ... -o FILE`: the mean of all values, as pyperf prints it; its deviation is no interval."""
    document: Any = json_of(text)
    for benchmark in entries_of(document, "benchmarks"):
        metadata = benchmark.get("metadata") if isinstance(benchmark.get("metadata"), dict) else {}
        name = str(metadata.get("name", ""))
        line = line_of(text, name)
        values: list[float] = []
        for run in entries_of(benchmark, "runs"):
            values += [number(value, line, "a value") for value in run.get("values") or ()]
        if not name and isinstance(whole := document.get("metadata"), dict):
            name = str(whole.get("name", ""))
        if not values:
            raise BrokenListing(line, f"{name[:60]!r} has no values")
        yield Reading(name, line, sum(values) / len(values) * 1e9)
