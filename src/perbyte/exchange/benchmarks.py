"""What benchmark tools write, as readings: a name, nanoseconds per call, bytes per call, and an interval if any.

A broken file is a UsageError with its line and the reason; what a name means in the catalogue is `benchmark_run`'s
business. Each tool's reader is in `harness_files` or `library_speeds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from perbyte.errors import UsageError
from perbyte.exchange import harness_files, library_speeds
from perbyte.exchange.reading import BrokenListing, Reading

MOST_READINGS = 20_000


def read_benchmarks(form: str, text: str, source: str) -> list[Reading]:
    """Return the readings in `text`, the output of the tool `form` (one of FORMATS).

    Raises UsageError with line and reason for a file that is broken, of another tool, or without a figure.
    """
    readings: list[Reading] = []
    read, way = _FORMATS[form]
    try:
        for reading in read(text):
            if not (0 < reading.ns < 1e15 or reading.unlike):
                raise BrokenListing(
                    reading.line, f"{reading.name[:60]!r}: {reading.ns:g} ns is not a possible time of a call"
                )
            readings.append(reading)
            if len(readings) > MOST_READINGS:
                raise BrokenListing(reading.line, f"more than {MOST_READINGS} figures")
    except BrokenListing as broken:
        raise UsageError(
            f"{source}, line {broken.line}: {broken.why}",
            hint=f"this is not what {form} writes, or not all of it",
        ) from None
    if not readings:
        raise UsageError(f"{source}: there is no figure of {form} in it", hint=f"make it: {way}")
    return readings


# what reads each tool's output, and how that is made
_FORMATS: dict[str, tuple[Callable[[str], Iterator[Reading]], str]] = {
    "google-benchmark": (harness_files.google, "./benchmark --benchmark_format=json > results.json"),
    "criterion": (harness_files.criterion, "cargo bench > results.txt"),
    "libtest": (harness_files.libtest, "cargo +nightly bench > results.txt"),
    "jmh": (harness_files.jmh, "java -jar benchmarks.jar -rf json -rff results.json"),
    "benchfmt": (harness_files.benchfmt, "go test -bench . > results.txt"),
    "pyperf": (harness_files.pyperf, "python benchmark.py -o results.json"),
    "botan-speed": (library_speeds.botan, "botan speed > results.txt"),
    "bench-slope": (library_speeds.slope, "bench-slope > results.txt"),
    "bssl-speed": (library_speeds.bssl, "bssl speed > results.txt"),
    "wolfcrypt": (library_speeds.wolfcrypt, "wolfcrypt/benchmark/benchmark > results.txt"),
    "cryptsetup": (library_speeds.cryptsetup, "cryptsetup benchmark > results.txt"),
    "mbedtls": (library_speeds.mbedtls, "programs/test/benchmark > results.txt"),
    "supercop": (
        library_speeds.supercop,
        "./do in its tree, then bench/*/data; or: perbyte supercop DIR --out PLACE, then PLACE/data",
    ),
}
FORMATS = tuple(_FORMATS)
