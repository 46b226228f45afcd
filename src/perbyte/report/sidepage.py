"""Several runs on one page: machines beside each other, a column per run, ratios to the first.

Figures are in cycles per byte where all have cycles, else in MB/s, and the reader may choose another unit; a ratio is
always that of costs, in cycles for units of cycles and in time for the others. Imported figures without an interval
are shown with their value; nothing is claimed about a difference there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from perbyte.errors import UsageError
from perbyte.model import CellFigure, Interval, NoiseFloor, Run
from perbyte.model.cell import FULL
from perbyte.report.conditions import failure_lines
from perbyte.report.contracts import meaning_of
from perbyte.report.gallery import Picture
from perbyte.report.page import crowd
from perbyte.report.profiles import feature_rows, profile_rows
from perbyte.report.sidebyside import Beside, SideRow, set_side_by_side
from perbyte.report.sidechart import ratio_chart
from perbyte.report.surroundings import drawn, render_page
from perbyte.report.units import number, percent, plain, size_label, three_digits
from perbyte.stats.compare import Comparison, compare, larger_floor
from perbyte.stats.quantity import Unit, data_bytes, read

_OF_DATA = (Unit.CYCLES_PER_BYTE, Unit.MEGABYTES_PER_SECOND, Unit.NS_PER_CALL, Unit.CYCLES_PER_CALL)
_OF_CALLS = (Unit.CYCLES_PER_CALL, Unit.CALLS_PER_SECOND, Unit.NS_PER_CALL)  # of signatures and key schedules
_IN_CYCLES = (Unit.CYCLES_PER_BYTE, Unit.CYCLES_PER_CALL)
_SECTIONS = (
    ("summary", "Summary"),
    ("machines", "Machines"),
    ("figures", "Figures"),
    ("side-by-side", "Side by side"),
    ("missing", "Without a figure"),
    ("repeat", "Repeat"),
)


def write_side_by_side(runs: Sequence[Run], path: Path | str, *, names: Sequence[str] | None = None) -> Path:
    """Write `runs` side by side as one HTML file and return its path. Raises OSError where it cannot be written.

    `names` head the columns (by default the directories' names); the first run is what the others are compared with.
    """
    path = Path(path)
    path.write_text(render_side_page(runs, names=names), encoding="utf-8")
    return path


def render_side_page(runs: Sequence[Run], *, names: Sequence[str] | None = None) -> str:
    """Give `runs` side by side as the text of one HTML file. Raises UsageError for fewer than two runs."""
    if len(runs) < 2:
        raise UsageError("one run stands beside nothing", way_out="name two runs or more")
    heads = [plain(name, 40) for name in names or run_names(runs)]
    rows = set_side_by_side(runs)
    return render_page(
        "sidebyside.html",
        title=f"{len(runs)} runs side by side: {', '.join(heads)}",
        sections=_SECTIONS,
        names=heads,
        warned=[
            f"{name} was interrupted." for name, run in zip(heads, runs, strict=True) if not run.complete
        ],
        found=_found(rows, heads),
        certainty=_certainty(rows, runs),
        profiles=profile_rows(runs),
        features=feature_rows(runs),
        pictures=drawn(_pictures(rows, heads)),
        crowd=crowd(2 * len(heads) - 1),
        tables=[_table(contract, group, runs, heads) for contract, group in _by_contract(rows).items()],
        missing=[
            (name, failure_lines(run)) for name, run in zip(heads, runs, strict=True) if failure_lines(run)
        ],
        command=" ".join(["perbyte report", *(plain(run.path or run.conditions.run_id, 200) for run in runs)])
        + " -o report.html",
    )


def side_pictures(runs: Sequence[Run], *, names: Sequence[str] | None = None) -> tuple[Picture, ...]:
    """The figures of runs side by side; none when no cell is in the first run and in another one."""
    return _pictures(set_side_by_side(runs), [plain(name, 40) for name in names or run_names(runs)])


def run_names(runs: Sequence[Run]) -> list[str]:
    """What to call the columns: the directories' names, numbered where they occur more than once."""
    found = [run.path.resolve().name if run.path else run.conditions.run_id for run in runs]
    return [
        f"{name} ({number})" if found.count(name) > 1 else name for number, name in enumerate(found, start=1)
    ]


def _pictures(rows: Sequence[SideRow], names: Sequence[str]) -> tuple[Picture, ...]:
    try:
        return (Picture("side-by-side", f"Ratios to {names[0]}", ratio_chart(rows, names)),)
    except UsageError:
        return ()


def _found(rows: Sequence[SideRow], names: Sequence[str]) -> list[str]:
    sentences = []
    for index, name in enumerate(names[1:], start=1):
        pairs = [
            (row, one)
            for row in rows
            if (one := row.entries[index].comparison) and 0 < one.ratio.value < math.inf
        ]
        if not pairs:
            sentences.append(f"{name} has no cell in common with {names[0]}.")
            continue
        logs = [math.log(one.ratio.value) for _, one in pairs]
        mean = math.exp(sum(logs) / len(logs))
        cheapest, dearest = (pick(pairs, key=lambda pair: pair[1].ratio.value) for pick in (min, max))
        blind = sum(not math.isfinite(one.ratio.half_width) for _, one in pairs)
        tied = sum(one.tie for _, one in pairs) - blind
        counts = (
            (sum(not one.tie and one.ratio.value < 1 for _, one in pairs), "cheaper"),
            (sum(not one.tie and one.ratio.value > 1 for _, one in pairs), "dearer"),
            (tied, "tied"),
            (blind, "without an interval, where no difference is claimed"),
        )
        told = ", ".join(f"{count:,} {said}" for count, said in counts if count > 0)
        units = {one.unit for _, one in pairs}
        what = (
            "cycles"
            if units == {"cycles"}
            else "time"
            if units == {"ns"}
            else "cycles (time where there are none)"
        )
        sentences.append(
            f"{name} against {names[0]}, {len(pairs):,} common cells: {three_digits(mean)} times the {what} in "
            f"the geometric mean, from {_ratio_of(*cheapest)} to {_ratio_of(*dearest)}; {told}."
        )
    return sentences


def _ratio_of(row: SideRow, one: Comparison) -> str:
    size = f" {size_label(row.cell.size_bytes)}" if row.cell.size_bytes else ""
    cell = f"{plain(row.cell.algorithm, 40)}, {plain(row.cell.operation, 20)}{size}"
    return f"{three_digits(one.ratio.value)} ({cell})"


def _certainty(rows: Sequence[SideRow], runs: Sequence[Run]) -> list[str]:
    everywhere = sum(all(entry.figure for entry in row.entries) for row in rows)
    alone = sum(sum(bool(entry.figure) for entry in row.entries) == 1 for row in rows)
    lines = [
        f"{len(rows):,} cells: {everywhere:,} in all runs, {alone:,} in one only; both kinds are in the tables."
    ]
    if any(run.conditions.origin != "measured" for run in runs):
        lines.append(
            "Some figures were imported: another program measured them, without intervals and without a check of its "
            "output. Ratios to them are marked ?."
        )
    floors = [run.noise_floor.relative for run in runs if run.noise_floor]
    if known := [floor for floor in floors if math.isfinite(floor)]:
        lines.append(
            f"No difference below the larger noise floor of two runs is claimed (up to {percent(max(known))})."
        )
    lines.append("Machines, kernels, compilers and library versions may differ at once: see Machines.")
    return lines


def _by_contract(rows: Sequence[SideRow]) -> dict[str, list[SideRow]]:
    found: dict[str, list[SideRow]] = {}
    for row in rows:
        found.setdefault(row.cell.contract, []).append(row)
    return found


def _table(
    contract: str, rows: Sequence[SideRow], runs: Sequence[Run], names: Sequence[str]
) -> dict[str, Any]:
    figures = [entry.figure for row in rows for entry in row.entries if entry.figure]
    whole = all(figure.cycles_per_call is not None for figure in figures)
    units = _OF_DATA if any(data_bytes(row.cell) for row in rows) else _OF_CALLS
    unit = units[0 if whole else 1]
    floors = [larger_floor((runs[0].noise_floor, run.noise_floor)) for run in runs]
    laid_out = []
    previous = ""
    for row in rows:
        title = plain(row.cell.algorithm, 60) + (
            "" if row.cell.cpu == FULL else f" ({plain(row.cell.cpu, 20)})"
        )
        laid_out.append(
            {
                "first": title != previous,
                "title": title,
                "what": _what(row),
                "entries": [
                    one
                    for index in range(len(names))
                    for one in _entries(row, index, units, unit, floors[index])
                ],
            }
        )
        previous = title
    return {
        "contract": plain(contract, 40),
        "unit": unit.value,
        "units": [{"name": one.value, "chosen": one is unit} for one in units],
        "meaning": meaning_of(contract),
        "rows": laid_out,
    }


def _what(row: SideRow) -> str:
    runners = dict.fromkeys(entry.figure.cell.runner for entry in row.entries if entry.figure)
    size = f" {size_label(data_bytes(row.cell))}" if data_bytes(row.cell) else ""
    return f"{plain(' | '.join(runners), 60)}: {plain(row.cell.operation, 24)}{size}"


def _entries(
    row: SideRow, index: int, units: Sequence[Unit], unit: Unit, floor: NoiseFloor | None
) -> list[dict[str, str]]:
    """The value of one run and, for all but the first, its ratio: each in every one of `units`."""
    entry = row.entries[index]
    if entry.figure is None:
        said = entry.failed or "not in this run"
        gap = {
            "every": "",
            "text": plain(entry.failed, 20) or "–",
            "said": plain(said, 120),
            "place": " none",
        }
        return [gap, {**gap, "text": "–"}] if index else [gap]
    values = [_value(entry.figure, one) for one in units]
    shown = {
        "every": "|".join(f"{text};{exact}" for text, exact in values),
        "text": values[units.index(unit)][0],
        "said": _said(entry.figure),
        "place": "",
    }
    if not index:
        return [shown]
    first = row.entries[0].figure
    if first is None:
        return [shown, {"every": "", "text": "–", "said": "not in the first run", "place": " none"}]
    ratios = [_ratio(first, entry, one, floor) for one in units]
    comparison = entry.comparison
    place = "" if comparison is None or comparison.tie else " fast" if comparison.ratio.value < 1 else " slow"
    return [
        shown,
        {
            "every": "|".join(f"{text};{exact}" for text, exact in ratios),
            "text": ratios[units.index(unit)][0],
            "said": plain(comparison.reason, 300) if comparison else "",
            "place": place,
        },
    ]


def _value(figure: CellFigure, unit: Unit) -> tuple[str, str]:
    """Text and exact value; what has no bytes among figures that have some is given per call."""
    name = ""
    if not data_bytes(figure.cell) and unit in (Unit.CYCLES_PER_BYTE, Unit.MEGABYTES_PER_SECOND):
        unit, name = (
            (Unit.CYCLES_PER_CALL, " cycles") if unit is Unit.CYCLES_PER_BYTE else (Unit.NS_PER_CALL, " ns")
        )
    reading = read(figure, unit)
    if reading is None:
        return "n/a", ""
    return number(reading.value, reading.half_width) + name, f"{reading.value:.7g}"


def _ratio(first: CellFigure, entry: Beside, unit: Unit, floor: NoiseFloor | None) -> tuple[str, str]:
    """The ratio of costs that belongs to `unit`, with its doubt: `=` tied, `?` no interval is known."""
    one, figure = entry.comparison, entry.figure
    if one is None or figure is None:
        return "–", ""
    if unit in _IN_CYCLES and one.unit != "cycles":
        return "n/a", ""
    if unit not in _IN_CYCLES and one.unit == "cycles":
        one = compare(_timed(first), _timed(figure), floor, same_run=False)
    if not 0 < one.ratio.value < math.inf:
        return "n/a", ""
    known = math.isfinite(one.ratio.half_width)
    doubt = " ?" if not known else " =" if one.tie else ""
    text = number(one.ratio.value, one.ratio.half_width) if known else three_digits(one.ratio.value)
    return f"×{text}{doubt}", f"{one.ratio.value:.7g}"


def _timed(figure: CellFigure) -> CellFigure:
    """The same figure counted in nanoseconds, its interval of the same relative width."""
    if not figure.per_call:
        return figure
    scale = figure.ns_per_call / figure.per_call
    interval = figure.interval
    in_time = Interval(interval.low * scale, interval.high * scale, interval.level, interval.dominated_by)
    return replace(figure, cycles_per_call=None, epoch_cycles=(), interval=in_time, cycle_source="none")


def _said(figure: CellFigure) -> str:
    remarks = [
        f"{plain(figure.library, 40)} {plain(figure.library_version, 40)}".strip(),
        str(figure.quality),
    ]
    return "; ".join([*remarks, *(plain(one, 120) for one in figure.warnings)])
