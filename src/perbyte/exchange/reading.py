"""One figure of a benchmark tool as its reader gives it, and what all readers of such files share."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from perbyte.exchange.benchmark_sizes import Sizes

UNITS_NS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10}
BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True, slots=True)
class Reading:
    """One figure of a tool. `sizes` are the bytes of a call where the tool tells them; `low` and `high` are NaN
    without interval, else of the confidence `level`. `cycles` per call are the tool's own claim, NaN without.

    `package` is where the name stands, outer parts first; `settings` are named parameters. `threads` made calls at
    once, whose mean this is. `unlike` says why the figure is of nothing that is measured here; `ns` counts for nothing
    then.
    """

    name: str
    line: int
    ns: float
    sizes: Sizes = field(default_factory=Sizes)
    low: float = math.nan
    high: float = math.nan
    level: float = 0.0
    cycles: float = math.nan
    package: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    threads: int = 1
    unlike: str = ""

    @property
    def size_bytes(self) -> int:
        """The bytes of a call; 0 where the tool does not tell them well enough."""
        return self.sizes.roundest()


class BrokenListing(Exception):
    """A file that is cut off, or no output of the tool."""

    def __init__(self, line: int, why: str) -> None:
        self.line, self.why = line, why


def json_of(text: str) -> Any:
    """The decoded text. Raises BrokenListing."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BrokenListing(error.lineno, f"no JSON: {error.msg}") from None
    except RecursionError:
        raise BrokenListing(1, "JSON that is nested without end") from None


def line_of(text: str, name: str) -> int:
    """The line on which a name stands in JSON."""
    at = text.find(json.dumps(name))
    return text.count("\n", 0, max(at, 0)) + 1


def number(value: Any, line: int, what: str) -> float:
    """A finite number. Raises BrokenListing."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BrokenListing(line, f"{what} is not a number")
    try:
        result = float(value)
    except (ValueError, OverflowError):
        raise BrokenListing(line, f"{what} is not a number: {str(value)[:40]!r}") from None
    if not math.isfinite(result):
        raise BrokenListing(line, f"{what} is {result}")
    return result


def entries_of(document: Any, key: str) -> list[Any]:
    """The list of objects under `key`. Raises BrokenListing."""
    entries = document.get(key) if isinstance(document, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BrokenListing(1, f"there is no list '{key}'")
    return entries


def scale(unit: Any, line: int) -> float:
    """Nanoseconds of a unit of time. Raises BrokenListing."""
    if unit not in UNITS_NS:
        raise BrokenListing(line, f"the unit of time {str(unit)[:20]!r} is not known")
    return UNITS_NS[unit]
