"""What a run found about leaks, and what became of them between two sides: in words, as JSON and as CSV.

Nothing here is ever called constant time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from perbyte.model.leak import Difference, LeakFigure, PairFigures
from perbyte.model.run import LeakRun
from perbyte.model.text import csv_text, json_ready, plain
from perbyte.report.document import Block, Heading, Items, Text
from perbyte.report.terminal import render
from perbyte.report.wording import size_label
from perbyte.stats.leak import ALPHA, LeakChange

LEAKS, NONE, UNKNOWN, HARNESS = "leaks", "none", "unknown", "harness"


def verdict_text(figure: LeakFigure) -> str:
    """One line: what the pairs say, in the unit of the figure, with the interval."""
    if figure.found is None or figure.bound is None:
        return f"not known: {figure.taken:,} pairs, too few of them clean"
    bound = f"{_amount(figure.bound)} {figure.unit}"
    if figure.above is not None and figure.verdict != HARNESS:
        return _of_limit(figure, figure.found, figure.above)
    if figure.verdict == HARNESS:
        return "not known: the null, one class against itself, differs as well; the harness is at fault"
    if figure.verdict == LEAKS:
        return _leak(figure, figure.found)
    if figure.verdict == NONE:
        return f"no leak above {bound} (95 %){_rare(figure, figure.found)}"
    return f"not known below {bound}{_more(figure)}"


def _more(figure: LeakFigure) -> str:
    return f"; {_duration(figure.more_s)} more would tell" if figure.more_s else ""


def _rare(figure: LeakFigure, pairs: PairFigures) -> str:
    """What may be in the tails, or behind one value of a byte, that the mean does not show."""
    told = []
    if tails := pairs.tails:
        outermost = 1 - tails.levels[-1] if tails.levels[-1] > 0.5 else 0.5
        told.append(f"the slowest 1 in {round(1 / outermost)} by at most {_amount(tails.apart[-1].bound)}")
    if spots := pairs.spots:
        told.append(f"one value of a byte by at most {_amount(spots.bound)}")
    return f"; {', '.join(told)}" if told else ""


def _of_limit(figure: LeakFigure, pairs: PairFigures, limit: float) -> str:
    """The answer to whether the secret costs more than a limit."""
    shown = f"{limit:g} {figure.unit}"
    most = f"at most {_amount(pairs.cost_bound)} (95 %)"
    if figure.verdict == LEAKS:
        return f"leaks more than {shown}: {_largest(figure, pairs)}"
    if figure.verdict == NONE:
        return f"none above {shown}: {most}"
    return f"not known whether above {shown}: {most}{_more(figure)}"


def _largest(figure: LeakFigure, pairs: PairFigures) -> str:
    told = [(pairs.shift.least, f"{_ends(pairs.shift)} in the middle")]
    if pairs.tails:
        level, apart = max(
            zip(pairs.tails.levels, pairs.tails.apart, strict=True), key=lambda each: each[1].least
        )
        told.append((apart.least, f"{_ends(apart)} {_of_level(level)}"))
    if pairs.spots:
        spot = pairs.spots.most
        told.append((spot.apart.least, f"{_ends(spot.apart)} with {spot} of the {figure.contrast.role}"))
    return max(told)[1]


def _of_level(level: float) -> str:
    if level == 0.5:
        return "in the middle"
    return f"in the {'slowest' if level > 0.5 else 'fastest'} 1 of {round(1 / min(level, 1 - level))}"


def _leak(figure: LeakFigure, pairs: PairFigures) -> str:
    contrast, unit, told = figure.contrast, figure.unit, []
    if pairs.shift.least:
        slower = contrast.second if pairs.shift.value > 0 else contrast.first
        told.append(f"leaks {_ends(pairs.shift)} {unit}: {slower} is slower")
    if pairs.spread.least:
        wider = contrast.second if pairs.spread.value > 0 else contrast.first
        lead = "" if told else "leaks: "
        told.append(f"{lead}the time of {wider} varies by {_ends(pairs.spread)} {unit} more")
    if pairs.spots and pairs.spots.most.apart.p < ALPHA:
        spot = pairs.spots.most
        which = "slower" if spot.apart.value > 0 else "faster"
        lead = "" if told else "leaks: "
        told.append(f"{lead}{_ends(spot.apart)} {unit} {which} with {spot} of the {contrast.role}")
    elif pairs.tails and pairs.tails.p < ALPHA and not told:
        apart, level = pairs.tails.told, pairs.tails.strongest
        slower = contrast.second if apart.value > 0 else contrast.first
        told.append(f"leaks {_of_level(level)} calls: there {slower} is slower by {_ends(apart)} {unit}")
    return "; ".join(told) or f"leaks (p = {figure.p:.1g})"


def _ends(difference: Difference) -> str:
    low, high = sorted((abs(difference.low), abs(difference.high)))
    return f"{_amount(low)} to {_amount(high)}"


def render_leaks(run: LeakRun) -> str:
    """The table: a block for each cell, a line for each contrast."""
    parts = leak_parts(run.figures, run.alpha) if run.figures else []
    parts += [Text(taint_line(entry)) for entry in run.taint]
    parts += [
        Text(f"not measured: {failure.address or failure.runner}: {plain(failure.message, 300)}")
        for failure in run.failures
    ]
    return render(parts)


def leak_parts(figures: Sequence[LeakFigure], alpha: float = ALPHA) -> list[Block]:
    """The verdicts, a heading for each cell and a line for each contrast."""
    if not figures:
        told = "no verdict on leaks here: perbyte measure SELECTOR --leak gives one of runners in C, C++ and Rust"
        return [Text(told)]
    parts: list[Block] = [
        Text(
            "the time of one call, pair by pair; intervals hold in 95 of 100 cases, at most 1 row in "
            f"{round(1 / alpha):,} is a false alarm"
        ),
        Text("what is not seen: docs/leak.md"),
    ]
    for cell, group in itertools.groupby(figures, key=lambda figure: figure.cell):
        name = (
            f"{cell.runner}/{cell.algorithm}/{cell.operation}, {size_label(cell.size_bytes)}, {cell.contract}"
        )
        parts += [Heading(name), Items([_contrast(leak) for leak in group])]
    return parts


def _contrast(leak: LeakFigure) -> tuple[str, ...]:
    """A contrast, its verdict, and the pairs that it rests on."""
    if not leak.found:
        return contrast_text(leak), verdict_text(leak)
    rare = "" if leak.found.tails or leak.found.spots else "; too few to see rare differences"
    pairs = f"{leak.found.pairs:,} clean pairs of {leak.taken:,}"
    call = f"a call {_amount(leak.found.call)} {leak.unit}, {leak.seconds:.1f} s{rare}"
    return contrast_text(leak), verdict_text(leak), f"{pairs}, {call}"


def worst_of(figures: Sequence[LeakFigure]) -> LeakFigure | None:
    """What has to be told first: the largest leak, else what is not known, else the widest bound; None of nothing."""

    def order(leak: LeakFigure) -> tuple[bool, float, bool, float]:
        unclear = leak.verdict in (UNKNOWN, HARNESS)
        return leak.verdict == LEAKS, leak.least, unclear, math.inf if leak.bound is None else leak.bound

    return max(figures, key=order, default=None)


def leaks_csv(figures: Sequence[LeakFigure]) -> str:
    """The figures as CSV (RFC 4180), a line for each cell and contrast, with the verdict's words."""
    rows = [leak.record() | {"said": verdict_text(leak)} for leak in figures]
    return csv_text(rows[0] if rows else ("address",), rows)


def figures_json(figures: Sequence[LeakFigure]) -> list[dict[str, Any]]:
    """The figures as flat objects, with the verdict's words."""
    return [
        json_ready(leak.record() | {"more_s": leak.more_s, "said": verdict_text(leak)}) for leak in figures
    ]


def taint_line(entry: dict[str, Any]) -> str:
    """One place of code that a secret decides, or the answer that there is none."""
    if not entry.get("where"):
        return f"{entry['what']}: {entry['said']}"
    times = f" ({entry['times']:,} times)" if entry.get("times", 1) > 1 else ""
    return f"{entry['what']}: {entry['said']} at {entry['where']}{times}"


def leaks_json(run: LeakRun) -> dict[str, Any]:
    """The run as JSON types, each figure with the verdict's words and the cell's address."""
    told = asdict(run)
    for figure, leak in zip(told["figures"], run.figures, strict=True):
        figure["address"] = leak.cell.address
        figure["said"] = verdict_text(leak)
        figure["more_s"] = json_ready(leak.more_s)
    return told


def contrast_text(figure: LeakFigure) -> str:
    """Which secret, which two classes of it, and whether caches were emptied."""
    return f"{figure.contrast}{', emptied caches' * figure.cold}"


def _amount(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{max(1, math.ceil(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


SHOWN = 4


def leak_change_lines(changes: Sequence[LeakChange]) -> list[str]:
    """A line for each cell and contrast: what became of it, and what each side says."""
    return [
        f"{change.after.cell.address}, {contrast_text(change.after)}: {change.became}: "
        f"{verdict_text(change.before)} → {verdict_text(change.after)}"
        for change in changes
    ]


def leak_changes_json(changes: Sequence[LeakChange]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "address": change.after.cell.address,
            "contrast": contrast_text(change.after),
            "became": change.became.value,
            "worse": change.worse,
            "before": verdict_text(change.before),
            "after": verdict_text(change.after),
            "verdict_before": change.before.verdict,
            "verdict_after": change.after.verdict,
        }
        for change in changes
    ]


def leak_notes(lost: Sequence[str], bad: Sequence[LeakChange]) -> list[str]:
    """What was tested on the first side only, and the leaks at which a gate fails."""
    notes = [f"leaks were tested only on the first side: {', '.join(lost[:SHOWN])}"] if lost else []
    if bad:
        names = "; ".join(
            f"{change.after.cell.address}, {contrast_text(change.after)} ({change.became})"
            for change in bad[:SHOWN]
        )
        notes.append(f"the time depends on a secret: {names}{'; ...' * (len(bad) > SHOWN)}")
    return notes
