"""How numbers and groups are said in the sentences that explain a verdict.

Three significant digits: more would pretend to a sureness that another machine does not share.
"""

from __future__ import annotations

from collections.abc import Sequence

from perbyte.model import Estimate


def number(value: float) -> str:
    """Three significant digits, with thousands separated, never in scientific notation."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.4f}" if size < 0.1 else f"{value:.3f}"


def exact(value: float) -> str:
    """A limit as the claim gives it, without trailing zeros."""
    return f"{value:,.10g}"


def span(estimate: Estimate) -> str:
    """A value with its interval, `2.34 (2.31 to 2.36)`; ratios close to 1 get another digit."""
    if estimate.low == estimate.high:
        return number(estimate.value)
    if 0.9 < estimate.value < 1.1:
        return f"{estimate.value:.4f} ({estimate.low:.4f} to {estimate.high:.4f})"
    return f"{number(estimate.value)} ({number(estimate.low)} to {number(estimate.high)})"


def percent(fraction: float) -> str:
    """A fraction as a percentage, `12.3 %`."""
    return f"{number(100 * fraction)} %"


def group_name(key: Sequence[tuple[str, str | int]]) -> str:
    """A group's key in words, `nettle, decrypt, 16 bytes`; empty for the only group there is."""
    return ", ".join(value_name(name, value) for name, value in key)


def value_name(dimension: str, value: str | int) -> str:
    """A dimension's value in words: sizes get their unit, everything else stands for itself."""
    if dimension == "size_bytes":
        return f"{value:,} bytes"
    if dimension == "cpu":
        return f"CPU tier {value}"
    return str(value)


def listing(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
