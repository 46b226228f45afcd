"""Text of numbers, sizes and names: no digit that the interval does not support, nothing unsafe to print."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from perbyte.model import Estimate
from perbyte.stats.compare import Answer, Comparison, Unsure

MOST_DIGITS = 4
LOPSIDED = 2.0  # one end of an interval so many times farther than the other: both are shown
_SIZES = ((2**30, "GiB"), (10**9, "GB"), (2**20, "MiB"), (10**6, "MB"), (2**10, "KiB"))


def number(value: float, half_width: float = 0.0) -> str:
    """Write `value` with the digits its interval supports, at most four significant ones.

    The last digit printed is that of the half-width's first digit (one digit of uncertainty; GUM 7.2.6 allows
    two at most). A value within ten half-widths of zero keeps one digit. Digits of the integer part that are
    not supported are written as zeros, and from 10,000 on in groups of three. Below 1 a fourth decimal is given
    only where three significant digits need it. What is not finite is written as a dash.
    """
    if not math.isfinite(value):
        return "–"
    order = math.floor(math.log10(abs(value))) if value else 0
    if not -6 <= order < 12:
        return f"{value:.{MOST_DIGITS - 1}e}"
    decimals = max(min(MOST_DIGITS - 1 - order, max(3, 2 - order)), 0)
    if half_width > 0:
        supported = -math.floor(math.log10(half_width)) if math.isfinite(half_width) else -order
        decimals = min(decimals, max(supported, -order) if half_width < 10 * abs(value) else supported)
    text = f"{round(value, decimals):{',' if order > 3 else ''}.{max(decimals, 0)}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def value_text(estimate: Estimate | None) -> str:
    """Write a value with the digits its interval supports; all it can have where no interval is known."""
    return number(estimate.value, estimate.half_width) if estimate else "n/a"


def ratio_text(ratio: Estimate) -> str:
    """Write a ratio with the digits its interval supports, with three where it is not known or wider than its value."""
    wide = not ratio.known or ratio.half_width > ratio.value
    return three_digits(ratio.value) if wide else number(ratio.value, ratio.half_width)


def ratio_interval_text(ratio: Estimate) -> str:
    """As `interval_text`, with more digits where rounding would hide on which side of 1 the interval lies."""
    shown = interval_text(ratio)
    near = min(abs(end - 1) for end in (ratio.low, ratio.high)) if ratio.known else math.inf
    if "1.0" not in f"{shown} " or near > 0.5 or not (ratio.above(1) or ratio.below(1)):
        return shown
    decimals = min(max(2, 1 - math.floor(math.log10(near))), 7) if near else 7
    return f"{ratio.low:.{decimals}f} to {ratio.high:.{decimals}f}"


def interval_text(estimate: Estimate) -> str:
    """Write the ends of an interval with the digits it supports; a dash where it is not known."""
    if not estimate.known:
        return "–"
    half = estimate.half_width
    if half > abs(estimate.value) and estimate.low > 0:  # nothing but its order is known
        return f"{three_digits(estimate.low)} to {three_digits(estimate.high)}"
    return f"{number(estimate.low, half)} to {number(estimate.high, half)}"


def three_digits(value: float, towards: Callable[[float], int] = round) -> str:
    """Write a positive value with three significant digits, where no interval says how many: `0.677`, `15,300`.

    `towards`: `math.floor` or `math.ceil` for the end of an interval, which is never shown narrower than it is.
    """
    decimals = 2 - math.floor(math.log10(value))
    scaled = value * 10.0**decimals
    exact = round(scaled) if math.isclose(scaled, round(scaled), rel_tol=1e-9) else towards(scaled)
    return f"{exact / 10.0**decimals:,.{max(decimals, 0)}f}"


def claim_text(comparison: Comparison) -> str:
    """What keeps a difference from being claimed, by its word; what is known of it all the same; empty where one is."""
    if comparison.claimed:
        return ""
    if comparison.tie:
        return f"alike within {percent(comparison.margin)}"
    if comparison.unsure is Unsure.CLOSE:
        return close_text([comparison])
    known = extent_text(comparison)
    return f"{known}; {doubt_text(comparison)}" if known else doubt_text(comparison)


def doubt_text(comparison: Comparison) -> str:
    """Which doubt keeps a factor from being claimed, with the cause where the word does not say it; empty for none."""
    word = comparison.unsure
    if word is None or word is Unsure.UNAUDITED:
        return word or ""
    if comparison.doubt.startswith(word):
        return comparison.doubt
    return f"{word}: {comparison.doubt or 'the interval is wide'}"


def close_text(comparisons: Sequence[Comparison]) -> str:
    """By how much costs differ at the most that are close."""
    most = max(max(each.ratio.high, 1 / each.ratio.low) for each in comparisons) - 1
    return f"{Unsure.CLOSE}: they differ by less than {_up(most)}"


def extent_text(comparison: Comparison) -> str:
    """What a doubt leaves of a ratio: `at least ×30`, `×0.75 to ×1.6`; empty where it may be anything."""
    least, most = comparison.apart.low, comparison.apart.high
    if comparison.direction is Answer.SLOWER:
        return f"at least ×{three_digits(least, math.floor)}"
    if comparison.direction is Answer.FASTER:
        return f"at most ×{three_digits(most, math.ceil)}"
    if least > 0 and math.isfinite(most):
        return f"×{three_digits(least, math.floor)} to ×{three_digits(most, math.ceil)}"
    return ""


def times_text(comparison: Comparison) -> str:
    """A ratio with what is known of it: `×1.37 (1.36 to 1.38)`, `×120 (at least ×30; noisy)`, `×0.4 (not audited)`."""
    ratio = comparison.ratio
    if comparison.unsure in (None, Unsure.CLOSE):
        return f"×{ratio_text(ratio)}" + (f" ({ratio_interval_text(ratio)})" if ratio.known else "")
    if not ratio.value > 0:
        return "×–"
    known = filter(None, (extent_text(comparison), doubt_text(comparison)))
    return f"×{three_digits(ratio.value)} ({'; '.join(known)})"


def width_text(estimate: Estimate) -> str:
    """Write how far an interval reaches from its value, in per cent, never less than it does: `±0.26%`.

    Both ends where one is farther than twice the other: `-0.7/+17%`. A dash where an end is not known.
    """
    if not estimate.known or not estimate.value:
        return "–"
    down, up = ((abs(end - estimate.value) / abs(estimate.value)) for end in (estimate.low, estimate.high))
    if max(down, up) > LOPSIDED * min(down, up):
        return f"-{_up(down).rstrip('%')}/+{_up(up)}"
    return f"±{_up(max(down, up))}"


def _up(relative: float) -> str:
    """As `percent`, rounded up: an interval is never shown narrower than it is."""
    share = relative * 100
    step = 1.0 if share >= 9.95 else 0.1 if share >= 0.995 else 0.01
    return percent(math.ceil(share / step - 1e-6) * step / 100)


def percent(relative: float) -> str:
    """Write a relative width or difference as per cent with two significant digits at most: `0.02%`."""
    if not math.isfinite(relative):
        return "–"
    share = abs(relative) * 100
    if share >= 999.5:
        return ">999%"
    if share >= 9.95:
        return f"{share:.0f}%"
    if share >= 0.995:
        return f"{share:.1f}%"
    return "<0.01%" if 0 < share < 0.005 else f"{share:.2f}%"


def size_label(size_bytes: int) -> str:
    """Write a size so that it is exact: `16 B`, `1 KiB`, `10 MB` (10^7), `10 MiB` (10 x 2^20)."""
    for step, name in _SIZES:
        if size_bytes >= step and size_bytes % step == 0:
            return f"{size_bytes // step} {name}"
    return f"{size_bytes} B"


def sentence(text: str) -> str:
    """Begin with a capital letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def numbered(names: Sequence[str]) -> list[str]:
    """Names of columns: those that occur more than once get their number."""
    return [
        f"{name} ({number})" if names.count(name) > 1 else name for number, name in enumerate(names, start=1)
    ]
