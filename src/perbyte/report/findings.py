"""What a run found and how sure that is, in a few sentences that stand before every table.

Every sentence counts or quotes figures of the run; none is an opinion. What cannot be counted is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from perbyte.model import Quality, Run
from perbyte.report.conditions import clean_share, counted, noise_line
from perbyte.report.points import Names
from perbyte.report.units import number, percent, plain, sentence, size_label
from perbyte.report.views import Entry, Place, Table
from perbyte.stats.quantity import read

_SAID_OF = {
    Quality.GOOD: "clean and as precise as asked for",
    Quality.IMPRECISE: "clean, but less precise than asked for",
    Quality.LONG: "single calls that outlast a sample",
    Quality.NOISY: "with too few clean samples",
    Quality.UNSETTLED: "still showing a trend",
}


def found(laid_out: Sequence[Table], names: Names | None = None) -> list[str]:
    """Say what was found: who is the fastest how often, what is cheapest and dearest, what hardware adds."""
    sentences = []
    for table in laid_out:
        sentences += [line for line in (_wins(table), _extremes(table, names or {})) if line]
        sentences += _accelerations(table, names or {})
    return sentences


def certainty(run: Run) -> list[str]:
    """Say how far the figures can be trusted: quality, width of intervals, noise floor, what is missing."""
    sentences = []
    if not run.complete:
        sentences.append("The run was interrupted: this is what had been measured until then.")
    told = [figure for figure in run.cells if figure.interval.known]
    by_quality = Counter(figure.quality for figure in told)
    total = len(told)
    if blind := len(run.cells) - total:
        sentences.append(
            f"{counted(blind)} imported from another program: one value each, without samples, without an interval "
            "and without a check of the output. They are shown, never ranked."
        )
    if total:
        parts = [
            f"{by_quality[quality]:,} ({_share(by_quality[quality], total)}) {said}"
            for quality, said in _SAID_OF.items()
            if by_quality[quality]
        ]
        sentences.append(f"Of {counted(total)}: " + "; ".join(parts) + ".")
    widths = sorted(width for figure in run.cells if math.isfinite(width := figure.relative_half_width))
    if widths:
        sentences.append(
            f"Half of the intervals are narrower than ±{percent(_quantile(widths, 0.5))}, nine in ten narrower "
            f"than ±{percent(_quantile(widths, 0.9))} (asked for: ±{percent(run.conditions.policy.precision)})."
        )
    if told or not run.cells:
        sentences.append(sentence(noise_line(run)) + ".")
    clean, taken = clean_share(run)
    if taken:
        sentences.append(
            f"{clean:,} of {taken:,} samples ({clean / taken:.0%}) were clean: nothing else used the core's "
            "execution units, and its clock stood still, as far as the probes on both sides can tell."
        )
    if without := sum(figure.cycle_source == "none" for figure in told):
        sentences.append(f"{counted(without)} had no cycle source that can be trusted: time only, no cycles.")
    failed = Counter(failure.kind for failure in run.failures if failure.kind != "unsupported")
    if failed:
        kinds = ", ".join(f"{count:,} × {plain(kind, 20)}" for kind, count in sorted(failed.items())[:8])
        sentences.append(f"Without a figure: {kinds} (listed under quality).")
    if any(failure.kind == "incorrect" for failure in run.failures):
        sentences.insert(0, "An implementation gave wrong output. Its cells carry no figure.")
    return sentences


def _share(part: int, whole: int) -> str:
    """A part in whole per cent, but never 0 % of what is there nor 100 % of what is not all."""
    share = 100 * part / whole
    if 0 < share < 0.5:
        return "<1%"
    return ">99%" if 99.5 <= share < 100 else f"{share:.0f}%"


def _wins(table: Table) -> str:
    alone: Counter[str] = Counter()
    tied: Counter[str] = Counter()
    races = 0
    for entries in _races(table):
        first = [(runner, entry) for runner, entry in entries if entry.place is not Place.NONE]
        if not first:
            continue
        races += 1
        for runner, entry in first:
            (alone if entry.place is Place.FASTEST else tied)[runner] += 1
    if not races or table.ranked_within == "column":
        return ""
    names = sorted({*alone, *tied}, key=lambda runner: (-alone[runner] - tied[runner], runner))
    parts = [
        f"{plain(name, 24)} in {alone[name] + tied[name]:,}"
        + (f" of {races:,} comparisons" if name == names[0] else "")
        + (f" ({tied[name]:,} tied)" if tied[name] else "")
        for name in names
    ]
    kept = ", ".join(parts[:6]) + (f" and {len(parts) - 6} more" if len(parts) > 6 else "")
    return f"Fastest library ({plain(table.contract, 30)}): {kept}."


def _races(table: Table) -> list[list[tuple[str, Entry]]]:
    return [
        [(row.runner, row.entries[index]) for row in rows]
        for _, rows in table.groups()
        for index in range(len(table.columns))
    ]


def _extremes(table: Table, names: Names) -> str:
    known = [
        (reading.value, reading.half_width, row, column)
        for row in table.rows
        for column, entry in zip(table.columns, row.entries, strict=True)
        if entry.figure and (reading := read(entry.figure, table.unit)) and reading.value > 0
    ]
    if len({row.title for _, _, row, _ in known}) < 2:
        return ""
    ends = (min(known, key=lambda one: one[0]), max(known, key=lambda one: one[0]))
    said = [
        f"{number(value, half)} ({plain(names.get((row.algorithm, row.cpu), row.title), 40)} in "
        f"{plain(row.runner, 24)}, {plain(column.operation, 24)}"
        + (f" {size_label(column.size_bytes)})" if column.size_bytes else ")")
        for value, half, row, column in ends
    ]
    return f"From {said[0]} to {said[1]} {table.unit.value}, {plain(table.contract, 30)}."


def _accelerations(table: Table, names: Names) -> list[str]:
    per_call = {
        (row.algorithm, row.runner, column, row.cpu): entry.figure.per_call
        for row in table.rows
        for column, entry in zip(table.columns, row.entries, strict=True)
        if entry.figure and math.isfinite(entry.figure.per_call) and entry.figure.per_call > 0
    }
    factors: dict[str, list[float]] = {}
    for (algorithm, runner, column, cpu), value in per_call.items():
        if cpu == "soft" and (full := per_call.get((algorithm, runner, column, "full"))):
            factors.setdefault(algorithm, []).append(value / full)
    return [
        f"The processor's own instructions make {plain(names.get((algorithm, 'soft'), algorithm), 40)} "
        f"{number(min(found), 0.1)} to {number(max(found), 0.1)} times as fast (contract {plain(table.contract, 30)})."
        for algorithm, found in list(factors.items())[:3]
    ]


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
