"""Shares, rates, sizes, times, cores and units as people write them. All raise UsageError for what they cannot take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from perbyte import extras
from perbyte.errors import UsageError
from perbyte.places import require_writable

# those of `stats.quantity`, which a test compares
UNITS = ("cycles/byte", "cycles/call", "ns/call", "MB/s", "GB/s", "calls/s")
MORE_UNITS = ("Mbit/s", "Gbit/s", "MiB/s", "GiB/s", "1000 bytes/s", "µs", "ms", "s")
ALL_UNITS = (*UNITS, *MORE_UNITS)
LONGEST_S = 7 * 86400.0  # of a run; nobody means more
_TIME_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def read_share(text: str) -> float:
    """`0.25%` or `0.0025`: the fraction, above 0 and below 1."""
    try:
        number = float(text.rstrip("% ")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = -1.0
    if not 0 < number < 1:
        meant = f"{text}% or" if 1 <= number < 100 and "%" not in text else "0.25% or"
        raise UsageError(f"invalid percentage {text!r}: above 0% and below 100%", hint=f"e.g. {meant} 0.0025")
    return number


def read_unit(text: str) -> str:
    """The name of a unit as `UNITS` and `MORE_UNITS` have it, from the ways in which people write it."""
    from perbyte.stats.quantity import unit_named

    try:
        unit = unit_named(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if unit not in ALL_UNITS:
        raise UsageError(f"no unit '{text}'; there are {', '.join(ALL_UNITS)}")
    return unit


def read_rate(text: str) -> float:
    """`2GB/s`, `500 MB/s`, `10Gbit/s`: bytes a second."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)(i?)(B|[bB][iI][tT])(?:/s|ps)?", text)
    if not match or float(match[1]) <= 0:
        if either := re.fullmatch(r"(\d+(?:\.\d+)?\s*[kKmMgGtT]?)b(?:/s|ps)?", text):
            raise UsageError(f"invalid rate {text!r}: {either[1]}B/s or {either[1]}bit/s?")
        raise UsageError(f"invalid rate {text!r}", hint="e.g. 2GB/s, 500MB/s or 10Gbit/s")
    steps = " KMGT".index(match[2].upper() or " ")
    return float(match[1]) * float((1024 if match[3] else 1000) ** steps) / (1 if match[4] == "B" else 8)


def read_size(text: str) -> int:
    """`64MiB`, `1TB`, `4096`: bytes, by the one grammar of sizes (`catalogue.parse_bytes`)."""
    from perbyte.catalogue import parse_bytes

    size = parse_bytes(text)
    if not size:
        raise UsageError(f"'{text}' is no data", hint="e.g. 64MiB, 1TB or 4096")
    return size


def read_page(text: str) -> Path:
    """The path of a page. Raises EnvironmentLacking where none can be made."""
    extras.require("report", "A page")
    require_writable(Path(text))
    if not text.lower().endswith((".html", ".htm")):
        hint = "a chart: perbyte report --chart bars.pdf"
        raise UsageError(f"'{text}' does not end in .html", hint=hint)
    return Path(text)


def read_cores(text: str) -> tuple[int, ...]:
    """The numbers of cores in a list as Linux writes it, `0-3,8`, in the order written."""
    cores: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise UsageError(f"'{text}' is not a list of cores such as 1 or 0-3,8")
        cores += range(int(low), min(int(high or low), 1 << 16) + 1)
    return tuple(dict.fromkeys(cores))


def read_seconds(text: str) -> float:
    """`60s`, `2min`, `500ms`: seconds, as a bare number is."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|)", text)
    if not match or float(match[1]) <= 0:
        raise UsageError(f"invalid duration {text!r}: a time above zero", hint="e.g. 60s, 2min or 500ms")
    seconds = float(match[1]) * _TIME_UNITS[match[2] or "s"]
    if seconds > LONGEST_S:
        raise UsageError(f"invalid duration {text!r}: a week (168h) at the most")
    return seconds


def read_words(text: str) -> tuple[str, ...]:
    """Words that are separated by commas."""
    words = tuple(part.strip() for part in text.split(",") if part.strip())
    if not words:
        raise UsageError("an empty list")
    return words


def read_sizes(words: Sequence[str] | None) -> tuple[int, ...] | None:
    """Sizes in bytes; None where none were named. Raises UsageError for what is no size."""
    from perbyte.catalogue import parse_sizes

    return parse_sizes(",".join(words)) if words else None


def read_choices(name: str, words: Sequence[str] | None, there: Sequence[str]) -> tuple[str, ...]:
    """The words of an option that takes several of those `there`. Raises UsageError for another one."""
    if unknown := sorted(set(words or ()) - set(there)):
        raise UsageError(f"{name} '{unknown[0]}' is unknown", hint=f"there are {', '.join(there)}")
    return tuple(words or ())
