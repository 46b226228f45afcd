"""What benchmark tools write, as readings: a name, nanoseconds per call, bytes per call, and an interval if any.

Google Benchmark, criterion, JMH, Go's benchfmt, pyperf, `botan speed`, libgcrypt's `bench-slope` and SUPERCOP. A
broken file is a UsageError with its line and the reason; what a name means in the catalogue is `benchmark_run`'s
business. An interval is taken only where the tool states one of a confidence level; a spread, a minimum or a deviation
is none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from perbyte.errors import UsageError
from perbyte.exchange.listing import whole_number

MOST_READINGS = 20_000
_UNITS_NS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10}
_BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True, slots=True)
class Reading:
    """One figure of a tool. `size_bytes` is 0 where the tool does not say; `low` and `high` are NaN without interval,
    else of the confidence `level`. `cycles` per call are the tool's own claim, NaN without.
    """

    name: str
    line: int
    ns: float
    size_bytes: int = 0
    low: float = math.nan
    high: float = math.nan
    level: float = 0.0
    cycles: float = math.nan


def read_benchmarks(form: str, text: str, source: str) -> list[Reading]:
    """Return the readings in `text`, the output of the tool `form` (one of FORMATS).

    Raises UsageError with line and reason for a file that is broken, of another tool, or without a figure.
    """
    readings: list[Reading] = []
    read, way = _FORMATS[form]
    try:
        for reading in read(text):
            if not (0 < reading.ns < 1e15):
                raise _BrokenListing(
                    reading.line, f"{reading.name[:60]!r}: {reading.ns:g} ns is not a possible time of a call"
                )
            readings.append(reading)
            if len(readings) > MOST_READINGS:
                raise _BrokenListing(reading.line, f"more than {MOST_READINGS} figures")
    except _BrokenListing as broken:
        raise UsageError(
            f"{source}, line {broken.line}: {broken.why}",
            hint=f"this is not what {form} writes, or not all of it",
        ) from None
    if not readings:
        raise UsageError(f"{source}: there is no figure of {form} in it", hint=f"make it: {way}")
    return readings


class _BrokenListing(Exception):
    def __init__(self, line: int, why: str) -> None:
        self.line, self.why = line, why


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _BrokenListing(error.lineno, f"no JSON: {error.msg}") from None
    except RecursionError:
        raise _BrokenListing(1, "JSON that is nested without end") from None


def _line_of(text: str, name: str) -> int:
    at = text.find(json.dumps(name))
    return text.count("\n", 0, max(at, 0)) + 1


def _number(value: Any, line: int, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _BrokenListing(line, f"{what} is not a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise _BrokenListing(line, f"{what} is not a number: {str(value)[:40]!r}") from None
    if not math.isfinite(number):
        raise _BrokenListing(line, f"{what} is {number}")
    return number


def _list(document: Any, key: str) -> list[Any]:
    entries = document.get(key) if isinstance(document, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _BrokenListing(1, f"there is no list '{key}'")
    return entries


def _scale(unit: Any, line: int) -> float:
    if unit not in _UNITS_NS:
        raise _BrokenListing(line, f"the unit of time {str(unit)[:20]!r} is not known")
    return _UNITS_NS[unit]


def _google(text: str) -> Iterator[Reading]:
    """`--benchmark_format=json`; of repetitions the single ones are left out where there is a median."""
    entries = _list(_json(text), "benchmarks")
    with_median = {entry.get("run_name") for entry in entries if entry.get("aggregate_name") == "median"}
    for entry in entries:
        name = str(entry.get("name", ""))
        line = _line_of(text, name)
        if entry.get("error_occurred") or (entry.get("aggregate_name") or "median") != "median":
            continue
        if not entry.get("aggregate_name") and entry.get("run_name") in with_median:
            continue
        unit_ns = _scale(entry.get("time_unit", "ns"), line)
        ns = _number(entry.get("real_time"), line, "real_time") * unit_ns
        size = 0
        if "bytes_per_second" in entry:
            cpu = _number(entry.get("cpu_time"), line, "cpu_time") * unit_ns
            size = round(_number(entry["bytes_per_second"], line, "bytes_per_second") * cpu * 1e-9)
        yield Reading(str(entry.get("run_name") or name), line, ns, size)


_CRITERION = re.compile(
    r"^(?P<name>\S.*?)?\s+time:\s+\[(?P<low>\S+) (?P<lu>\S+) (?P<mid>\S+) (?P<mu>\S+) (?P<high>\S+) (?P<hu>\S+)\]"
)
_CRITERION_THRPT = re.compile(r"^\s+thrpt:\s+\[\S+ \S+ (?P<rate>\S+) (?P<unit>[KMG]i?B|B)/s \S+ \S+\]")


def _criterion(text: str) -> Iterator[Reading]:
    """The text of `cargo bench`: estimate and 95 % interval of the time, and the throughput that tells the size."""
    above, pending = "", None
    for line, raw in enumerate(text.split("\n"), start=1):
        if match := _CRITERION.match(raw):
            if pending:
                yield pending
            low, mid, high = (
                _number(match[part], line, "a time") * _scale(match[unit], line)
                for part, unit in (("low", "lu"), ("mid", "mu"), ("high", "hu"))
            )
            pending = Reading(match["name"] or above, line, mid, 0, low, high, 0.95)
        elif pending and (rate := _CRITERION_THRPT.match(raw)):
            per_s = _number(rate["rate"], line, "a rate") * _BYTES[rate["unit"]]
            pending = replace(pending, size_bytes=round(per_s * pending.ns * 1e-9))
        elif re.search(r"\btime:\s+\[", raw):
            raise _BrokenListing(line, "the line with the time is cut off")
        above = raw.strip() or above
    if pending:
        yield pending


_JMH_UNITS = ("ns", "us", "ms", "s")


def _jmh(text: str) -> Iterator[Reading]:
    """`-rf json`: the score with its 99.9 % interval; modes that give a time or a rate per call."""
    entries = _json(text)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _BrokenListing(1, "there is no list of results")
    for entry in entries:
        name = str(entry.get("benchmark", ""))
        line = _line_of(text, name)
        metric = entry.get("primaryMetric")
        if not isinstance(metric, dict):
            raise _BrokenListing(line, f"{name[:60]!r} has no primaryMetric")
        score = _number(metric.get("score"), line, "score")
        ends = metric.get("scoreConfidence")
        if not isinstance(ends, list) or len(ends) != 2 or "NaN" in ends:
            ends = [math.nan, math.nan]
        unit = metric.get("scoreUnit")
        parameters = entry.get("params") if isinstance(entry.get("params"), dict) else {}
        shown = "/".join([name, *(str(value) for value in parameters.values())])
        low, high = (float(end) if isinstance(end, int | float) else math.nan for end in ends)
        what, _, per = str(unit).partition("/")
        if what == "ops" and per in _JMH_UNITS and score > 0:
            factor = _UNITS_NS[per]
            low, high = (factor / end if end > 0 else math.nan for end in (high, low))
            yield Reading(shown, line, factor / score, 0, low, high, 0.999)
        elif what in _JMH_UNITS and per == "op":
            factor = _UNITS_NS[what]
            yield Reading(shown, line, score * factor, 0, low * factor, high * factor, 0.999)
        else:
            raise _BrokenListing(line, f"the unit {str(unit)[:20]!r} is neither a time nor a rate")


def _benchfmt(text: str) -> Iterator[Reading]:
    """`go test -bench`: the median of lines of one name, because each is a mean of its own."""
    readings: dict[str, list[tuple[int, float, float]]] = {}
    for line, raw in enumerate(text.split("\n"), start=1):
        words = raw.split()
        if not raw.startswith("Benchmark") or len(words) < 2:
            continue
        if len(words) < 4 or len(words) % 2 or whole_number(words[1]) < 0:
            raise _BrokenListing(line, "the line of a benchmark is cut off")
        values = {
            unit: _number(value, line, unit) for value, unit in zip(words[2::2], words[3::2], strict=True)
        }
        ns = values.get("ns/op", values.get("sec/op", 0.0) * 1e9)
        rate = values.get("MB/s", values.get("B/s", 0.0) / 1e6)
        if ns:
            readings.setdefault(words[0], []).append((line, ns, rate * 1e6 * ns * 1e-9))
    for name, several in readings.items():
        line, ns, size = sorted(several, key=lambda reading: reading[1])[len(several) // 2]
        yield Reading(re.sub(r"-\d+$", "", name.removeprefix("Benchmark")), line, ns, round(size))


def _pyperf(text: str) -> Iterator[Reading]:
    """`pyperf ... -o FILE`: the mean of all values, as pyperf prints it; its deviation is no interval."""
    for benchmark in _list(_json(text), "benchmarks"):
        metadata = benchmark.get("metadata") if isinstance(benchmark.get("metadata"), dict) else {}
        name = str(metadata.get("name", ""))
        line = _line_of(text, name)
        values: list[float] = []
        for run in _list(benchmark, "runs"):
            values += [_number(value, line, "a value") for value in run.get("values") or ()]
        if not name and isinstance(whole := _json(text).get("metadata"), dict):
            name = str(whole.get("name", ""))
        if not values:
            raise _BrokenListing(line, f"{name[:60]!r} has no values")
        yield Reading(name, line, sum(values) / len(values) * 1e9)


_BOTAN = re.compile(
    r"^(?P<name>\S+)(?: \[[^\]]*\])? (?P<what>\S+) buffer size (?P<size>\d+) bytes: "
    r"(?P<rate>[\d.]+) (?P<unit>[KMG]iB)/sec"
    r"(?: (?P<cpb>[\d.]+) cycles/byte)?"
)


def _botan(text: str) -> Iterator[Reading]:
    for line, raw in enumerate(text.split("\n"), start=1):
        if match := _BOTAN.match(raw):
            size = int(_number(match["size"], line, "a size"))
            rate = _number(match["rate"], line, "a rate") * _BYTES[match["unit"]]
            if rate <= 0 or size > 2**40:
                raise _BrokenListing(line, "a rate of nothing, or a size of more than a terabyte")
            cycles = _number(match["cpb"], line, "cycles") * size if match["cpb"] else math.nan
            yield Reading(f"{match['name']} {match['what']}", line, size / rate * 1e9, size, cycles=cycles)
        elif " buffer size " in raw:
            raise _BrokenListing(line, "the line of a buffer size is cut off")


_SLOPE_HEAD = re.compile(r"^\s*(?P<name>\S.*?)?\s+\|\s+nanosecs/byte\s+mebibytes/sec\s+cycles/byte")
_SLOPE = re.compile(r"^\s*(?P<what>\S.*?)?\s*\|\s+(?P<ns>[\d.]+) ns/B\s+[\d.]+ MiB/s\s+(?P<cpb>[\d.]+|-) c/B")
SLOPE_BYTES = 65_536


def _slope(text: str) -> Iterator[Reading]:
    """`bench-slope`: the cost of a further byte, given at SLOPE_BYTES; what a call costs besides is not in it."""
    head = ""
    for line, raw in enumerate(text.split("\n"), start=1):
        if match := _SLOPE_HEAD.match(raw):
            head = re.sub("^AES$", "AES-128", match["name"] or "")  # libgcrypt's name for it
        elif match := _SLOPE.match(raw):
            cycles = math.nan if match["cpb"] == "-" else _number(match["cpb"], line, "cycles") * SLOPE_BYTES
            ns = _number(match["ns"], line, "ns/B") * SLOPE_BYTES
            yield Reading(f"{head} {match['what'] or ''}".strip(), line, ns, SLOPE_BYTES, cycles=cycles)
        elif "ns/B" in raw:
            raise _BrokenListing(line, "the row is cut off")


_SUPERCOP = re.compile(r"(\S+) (\S+) (\S+) (\d{8}) crypto_(\w+) ([^/\s]+)(?:/(\S+))? (\w+) ?(.*)$")
_SUPERCOP_OPERATIONS = {
    ("hash", "cycles"): "digest",
    ("auth", "cycles"): "mac",
    ("onetimeauth", "cycles"): "mac",
    ("stream", "xor_cycles"): "encrypt",
    ("aead", "encrypt_cycles"): "seal",
    ("aead", "decrypt_cycles"): "open",
    ("sign", "cycles"): "sign",
    ("sign", "open_cycles"): "verify",
    ("kem", "enc_cycles"): "encapsulate",
    ("kem", "dec_cycles"): "decapsulate",
    ("scalarmult", "cycles"): "derive",
}
_WITH_AAD, _AAD = 1_000_000, (0, 13)
_UNSIZED_BYTES = 32  # under which operations without a length are measured


def _supercop(text: str) -> Iterator[Reading]:
    """The lines of SUPERCOP's `data`: the best implementation of each primitive and size.

    `version host abi date crypto_OP PRIMITIVE/SECURITY WORD ...`. A line of cycles says the length, the middle one of
    its timings, and how far the others lie from it; that is a spread, and no interval. The clock's rate stands in a
    line before. Of associated data only none, or as much as Perbyte's material has, is taken.
    """
    hertz: dict[tuple[str, ...], float] = {}
    best: dict[tuple[str, int], Reading] = {}
    for line, raw in enumerate(text.split("\n"), start=1):
        if not (match := _SUPERCOP.match(raw.strip())):
            continue
        *where, operation, primitive, _, word, rest = match.groups()
        values = rest.split()
        if word == "cpucycles_persecond" and values:
            hertz[tuple(where)] = float(whole_number(values[0]))
        named = _SUPERCOP_OPERATIONS.get((operation, word))
        rate = hertz.get(tuple(where), 0.0)
        if not named or len(values) < 2 or rate <= 0:
            continue
        cycles = float(whole_number(values[1]))
        size = _UNSIZED_BYTES if values[0] == "-" else whole_number(values[0])
        if cycles <= 0 or size < 0:
            continue
        if operation == "aead":
            if size // _WITH_AAD not in _AAD:
                continue
            size %= _WITH_AAD
        name = f"{re.sub(r'v[0-9]+$', '', primitive)} {named}"
        if (name, size) not in best or cycles < best[name, size].cycles:
            best[name, size] = Reading(name, line, cycles / rate * 1e9, size, cycles=cycles)
    yield from best.values()


# what reads each tool's output, and how that is made
_FORMATS: dict[str, tuple[Callable[[str], Iterator[Reading]], str]] = {
    "google-benchmark": (_google, "./benchmark --benchmark_format=json > results.json"),
    "criterion": (_criterion, "cargo bench > results.txt"),
    "jmh": (_jmh, "java -jar benchmarks.jar -rf json -rff results.json"),
    "benchfmt": (_benchfmt, "go test -bench . > results.txt"),
    "pyperf": (_pyperf, "python benchmark.py -o results.json"),
    "botan-speed": (_botan, "botan speed > results.txt"),
    "bench-slope": (_slope, "bench-slope > results.txt"),
    "supercop": (
        _supercop,
        "./do in its tree, then bench/*/data; or: perbyte supercop DIR --out PLACE, then PLACE/data",
    ),
}
FORMATS = tuple(_FORMATS)
