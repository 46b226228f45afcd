"""A judged study and a comparison as text for a terminal. Same rules as `terminal`: plain text, never cut figures."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from rich.text import Text

from perbyte.model import CellFigure, NoiseFloor
from perbyte.report.studypage import PARTIAL, number_row, outcome_of, tally
from perbyte.report.terminal import columns_of, prose, to_text
from perbyte.report.units import number, percent, plain, sentence
from perbyte.stats.compare import Comparison
from perbyte.stats.quantity import Unit, read
from perbyte.studies.model import Judgement, Outcome, Verdict

_STYLES = {
    Outcome.REPRODUCED: "green",
    Outcome.NOT_REPRODUCED: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.NOT_TESTABLE: "dim",
}
Compared = tuple[CellFigure, CellFigure, Comparison]
"""Two figures and their comparison: its ratio is the second over the first, per call."""


def render_judgement(
    judgement: Judgement, *, width: int | None = None, colour: bool | None = None, numbers: bool = False
) -> str:
    """Give every claim with its verdict and the sentences that explain it; with `numbers`, those as well."""
    width = columns_of(width)
    study = judgement.study
    lines = prose(plain(study.title, 300), width)
    for line in lines:
        line.stylize("bold")
    lines += prose(plain(study.citation, 600), width)
    partial = len(PARTIAL) * any(verdict.partial for verdict in judgement.verdicts)
    label = max(len(outcome) for outcome in Outcome) + 2 + partial
    for verdict in judgement.verdicts:
        lines += [Text(), *_claim(verdict, width, label)]
        if numbers:
            lines += [Text(" " * (label + 2) + row, style="dim", no_wrap=True) for row in _numbers(verdict)]
    lines += [Text(), *prose(sentence(tally(judgement)), width)]
    return to_text(lines, colour=colour)


def render_comparison(
    compared: Sequence[Compared],
    noise: NoiseFloor | None,
    *,
    width: int | None = None,
    colour: bool | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> str:
    """Give a table of ratios, B over A per call, with interval; ties say so and why.

    `names` are what the two sides are called (two runs, or two selectors).
    """
    width = columns_of(width)
    first, second = (plain(name, 30) for name in names)
    lines = [Text(f"{second} over {first}: above 1 is slower", style="bold")]
    if not compared:
        return to_text([*lines, Text("no cell is on both sides")], colour=colour)
    rows = [_compared_row(one) for one in compared]
    heads = ("cell", first, second, "ratio", "interval", "")
    widths = [max(len(row[index]) for row in [heads, *rows]) for index in range(5)]
    room = width - sum(widths[1:]) - 10 - 14
    narrow = room < widths[0]  # then the address stands on a line of its own
    lead = 2 if narrow else widths[0]
    lines += [Text(), _comparison_line(heads, widths, lead, "bold")]
    for row, (_, _, comparison) in zip(rows, compared, strict=True):
        if narrow:
            lines += prose(row[0], width)
        style = "dim" if comparison.tie else "red" if comparison.ratio.value > 1 else "green"
        lines.append(_comparison_line(("" if narrow else row[0], *row[1:]), widths, lead, "", style))
    slower = sum(not one.tie and one.ratio.value > 1 for _, _, one in compared)
    faster = sum(not one.tie and one.ratio.value < 1 for _, _, one in compared)
    ties = len(compared) - slower - faster
    lines += [Text(), *prose(f"{faster} faster, {slower} slower, {ties} tied", width)]
    lines += prose(_floor(noise), width)
    return to_text(lines, colour=colour)


def _claim(verdict: Verdict, width: int, label: int) -> list[Text]:
    sign = outcome_of(verdict).ljust(label)
    body = textwrap.wrap(plain(verdict.claim.says, 600), max(width - label - 2, 24), break_on_hyphens=False)
    lines = [
        Text.assemble((sign if not index else " " * label, _STYLES[verdict.outcome]), "  ", (part, "bold"))
        for index, part in enumerate(body or [""])
    ]
    for said in verdict.evidence:
        for part in textwrap.wrap(plain(said, 600), max(width - label - 2, 24), break_on_hyphens=False):
            lines.append(Text(" " * (label + 2) + part))
    return lines


def _numbers(verdict: Verdict) -> list[str]:
    rows = []
    for one in verdict.numbers:
        group, name, value, low, high, unit = number_row(one)
        interval = f" ({low} to {high})" if low != "–" else ""
        rows.append(f"{group}: {name} {value}{interval} {unit}".rstrip())
    return rows


def _compared_row(compared: Compared) -> tuple[str, ...]:
    a, b, comparison = compared
    unit = Unit.NS_PER_CALL if comparison.unit == "ns" else Unit.CYCLES_PER_CALL
    if unit is Unit.CYCLES_PER_CALL and a.cell.size_bytes and a.cell.size_bytes == b.cell.size_bytes:
        unit = Unit.CYCLES_PER_BYTE
    values = [
        f"{number(one.value, one.half_width)} {unit.value}" if (one := read(side, unit)) else "n/a"
        for side in (a, b)
    ]
    interval = comparison.ratio
    half = interval.half_width
    address = a.cell.address if a.cell == b.cell else f"{a.cell.address} against {b.cell.address}"
    known = math.isfinite(comparison.ratio.value) and math.isfinite(half)
    intervals = a.interval.known and b.interval.known
    return (
        plain(address, 220),
        *values,
        number(comparison.ratio.value, half)
        if known
        else "n/a"
        if intervals
        else number(comparison.ratio.value),
        f"{number(interval.low, half)} to {number(interval.high, half)}" if known else "–",
        _said(comparison) if intervals else "no interval",
    )


def _said(comparison: Comparison) -> str:
    if comparison.tie:
        return "tie"
    change = comparison.ratio.value - 1
    return f"slower +{percent(change)}" if change > 0 else f"faster −{percent(change)}"


def _comparison_line(
    row: Sequence[str], widths: Sequence[int], lead: int, style: str, last: str = ""
) -> Text:
    line = Text(row[0].ljust(lead), style=style, no_wrap=True)
    for text, wide in zip(row[1:5], widths[1:], strict=True):
        line.append("  " + text.rjust(wide), style=style)
    line.append("  " + row[5], style=last or style)
    line.rstrip()
    return line


def _floor(noise: NoiseFloor | None) -> str:
    if noise is None or not noise.pairs or not math.isfinite(noise.relative):
        return "noise floor: not known, no pair of identical cells was measured"
    return f"noise floor: {percent(noise.relative)}; no smaller difference is claimed"
