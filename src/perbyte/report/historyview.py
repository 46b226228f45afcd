"""Then and now on a page: the same section in the report of a study and in a file of its own.

Numbers stand beside every explanation; a point without a unit says why it has none, and figures that stand on no
line are listed with the reason. Nothing is judged or converted here: that is the business of `perbyte.studies.history`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from perbyte.errors import UsageError
from perbyte.model import Estimate, Quality
from perbyte.report.gallery import Picture
from perbyte.report.historychart import (
    CYCLES,
    MEGABITS,
    first_and_last,
    history_chart,
    machine_name,
    program_name,
)
from perbyte.report.surroundings import drawn, render_page
from perbyte.report.units import number, percent, plain, sentence, size_label, three_digits
from perbyte.studies.history import Explained, History, HistoryPoint, Jump, LeftOut, Line, Means

COLUMNS = (
    ("algorithm", ""),
    ("year", "n"),
    ("figure", ""),
    ("machine", "text"),
    ("program", "text"),
    ("uses", ""),
    ("per call", "n"),
    ("clock", "n"),
    ("cycles/byte", "n"),
    ("Mbit/s", "n"),
    ("× first", "n"),
    ("remarks", "text"),
)
STEP_COLUMNS = ("from", "to", "cycles/byte", "Mbit/s", "times as fast", "clock ×", "work per cycle ×")
_SECTIONS = (
    ("summary", "Summary"),
    ("history", "Then and now"),
    ("explanations", "What explains it"),
    ("points", "Every point"),
    ("left-out", "Left out"),
    ("sources", "Sources"),
    ("repeat", "Repeat"),
)
_MEANS = {Means.SOFTWARE: "software", Means.INSTRUCTIONS: "instructions", Means.VIRTUAL: "Java VM"}
Part = tuple[float | None, str]
"""A number to sort by (None: nothing) and its text."""


def write_history(history: History, path: Path | str) -> Path:
    """Write then and now as one HTML file and return its path. Raises OSError where it cannot be written."""
    path = Path(path)
    path.write_text(render_history(history), encoding="utf-8")
    return path


def render_history(history: History) -> str:
    """Give then and now as the text of one HTML file."""
    years = sorted({point.year for point in history.points})
    span = f", {years[0]} to {years[-1]}" if years else ""
    return render_page(
        "history.html",
        title=f"Then and now: the speed of cryptography{span}",
        sections=_SECTIONS,
        found=found(history),
        certainty=certainty(history),
        history=history_view(history),
        sources=[
            (
                plain(study.name, 60),
                plain(study.citation, 600),
                [plain(one.name, 160) for one in study.machines],
            )
            for study in history.studies
        ],
        runs=[_run_line(run_id, cpu, started) for run_id, cpu, started in _runs(history)],
        command="perbyte report --history "
        + "".join(f"{plain(run.path or run.conditions.run_id, 200)} " for run in history.runs)
        + "-o history.html",
    )


def history_view(history: History) -> dict[str, Any]:
    """The section's content as text in rows."""
    return {
        "pictures": drawn(history_pictures(history)),
        "explanations": [_explanation(one, history) for one in history.explained],
        "step_columns": STEP_COLUMNS,
        "columns": COLUMNS,
        "rows": [row for line in history.lines for row in _rows(history, line)],
        "notes": [(plain(line.name, 60), plain(line.note, 300)) for line in history.lines if line.note],
        "left_out": [_left_out(one) for one in history.left_out],
        "converted": f"{history.converted:,}",
        "total": f"{sum(len(study.published) for study in history.studies):,}",
    }


def history_pictures(history: History) -> tuple[Picture, ...]:
    """The figures, in cycles per byte and in Mbit/s, as far as there is anything to draw."""
    found = []
    for name, heading, unit in (
        ("history", "Then and now: cycles per byte", CYCLES),
        ("history-throughput", "Then and now: throughput", MEGABITS),
    ):
        try:
            found.append(Picture(name, heading, history_chart(history, unit)))
        except UsageError:
            continue
    return tuple(found)


def found(history: History) -> list[str]:
    """The largest and the smallest gains between the first published figure and the best measured one."""
    gains: list[tuple[float, str]] = []
    for line in history.lines:
        ends = first_and_last(history.of(line), MEGABITS) if line.common else None
        if ends:
            first, last = ends
            gain = _ratio(last.megabits_per_second, first.megabits_per_second)
            gains.append((gain, _gain(line, first, last, gain)))
    if not gains:
        return []
    gains.sort(reverse=True)
    shown = gains if len(gains) <= 6 else [*gains[:3], *gains[-3:]]
    return [text for _, text in shown]


def certainty(history: History) -> list[str]:
    """What the figures are and how far they can be compared."""
    lines = [
        f"{history.converted:,} of {sum(len(one.published) for one in history.studies):,} published figures of "
        f"{len(history.studies)} studies stand on {len(history.lines)} lines; the others are listed with the reason.",
        "Published figures came without intervals. Cycles are computed with the clock that the source gives for its "
        "machine; where it gives none, there are none.",
        "Machines, compilers, programs and the lengths of messages differ from point to point. An explanation names "
        "what is known to matter; it does not divide a factor up further than into clock and work per cycle.",
    ]
    measured = [point for point in history.points if point.measured]
    if not history.runs:
        lines.append("Nothing was measured for this page: it shows published figures only.")
    elif rough := [one for one in measured if one.quality not in ("", Quality.GOOD)]:
        lines.append(
            f"{len(rough)} of {len(measured)} measured points are less than good (see remarks): "
            "fine for factors of two, not for a percent."
        )
    return lines


def _gain(line: Line, first: HistoryPoint, last: HistoryPoint, gain: float) -> str:
    cycles = ""
    if first.cycles_per_byte and last.cycles_per_byte:
        cycles = f"; {_short(first.cycles_per_byte)} to {_short(last.cycles_per_byte)} cycles per byte"
    return (
        f"{plain(line.name, 60)}: {_short(first.megabits_per_second)} Mbit/s ({first.year}) to "
        f"{_short(last.megabits_per_second)} ({last.year}), {three_digits(gain)} times as fast{cycles}."
    )


def _rows(history: History, line: Line) -> Iterable[dict[str, Any]]:
    points = history.of(line)
    rates = {one.id: one.megabits_per_second.value for one in points if one.megabits_per_second}
    printed = [one for one in points if one.id in rates and not one.measured]
    printed = [one for one in printed if one.means is not Means.VIRTUAL] or printed
    earliest = [one for one in printed if one.year == printed[0].year]  # points are in the order of years
    first = max(earliest, key=lambda one: rates[one.id], default=None)
    for index, point in enumerate(points):
        yield {"first": not index, "measured": point.measured, "parts": _row(line, point, first)}


def _row(line: Line, point: HistoryPoint, first: HistoryPoint | None) -> list[Part]:
    gain = None
    if first and point.megabits_per_second:
        gain = _ratio(point.megabits_per_second, first.megabits_per_second)
    clock = point.clock_hz
    return [
        (None, plain(line.name, 60)),
        (point.year, str(point.year)),
        (None, "measured" if point.measured else "published"),
        (None, machine_name(point)),
        (None, program_name(point) or "not named"),
        (None, _MEANS[point.means]),
        (point.size_bytes, size_label(point.size_bytes)),
        (clock, f"{number(clock / 1e9, clock / 1e11)} GHz" if clock else "–"),
        _part(point.cycles_per_byte, point),
        _part(point.megabits_per_second, point),
        (gain, three_digits(gain) if gain else "–"),
        (None, _remarks(point)),
    ]


def _remarks(point: HistoryPoint) -> str:
    said = [] if point.measured else [plain(point.source, 40)]
    if point.printed and not point.printed.endswith((CYCLES, MEGABITS)):
        said.append(f"printed as {plain(point.printed, 40)}")
    if point.among > 1:
        said.append(f"the best of {point.among}")
    if point.cpu != "full":
        said.append(f"tier {plain(point.cpu, 20)}")
    if point.quality not in ("", Quality.GOOD):
        said.append(point.quality)
    return "; ".join([*said, *([point.gap] if point.gap else [])])


def _explanation(one: Explained, history: History) -> dict[str, Any]:
    names = {line.id: line.name for line in history.lines}
    missing = "; ".join(plain(text, 120) for text in one.missing)
    return {
        "title": plain(one.explanation.title, 120),
        "text": plain(one.explanation.text, 1500),
        "steps": [_step(jump, names) for jump in one.jumps],
        "missing": f"Not shown here: {missing}." if missing else "",
    }


def _step(jump: Jump, names: dict[str, str]) -> tuple[str, ...]:
    before, after = jump.before, jump.after
    return (
        _point_name(before, names),
        _point_name(after, names),
        _change(before.cycles_per_byte, after.cycles_per_byte),
        _change(before.megabits_per_second, after.megabits_per_second),
        _factor(jump.faster),
        three_digits(jump.clock) if jump.clock else "–",
        _factor(jump.work),
    )


def _change(before: Estimate | None, after: Estimate | None) -> str:
    return f"{_short(before)} → {_short(after)}" if before or after else "–"


def _point_name(point: HistoryPoint, names: dict[str, str]) -> str:
    who = f", {program_name(point)}" if point.measured else ""
    tier = f", tier {plain(point.cpu, 20)}" if point.cpu != "full" else ""
    return (
        f"{plain(names[point.line], 60)}, {size_label(point.size_bytes)}: {machine_name(point)}"
        f"{who}{tier}, {'measured ' if point.measured else ''}{point.year}"
    )


def _left_out(one: LeftOut) -> str:
    names = ", ".join(plain(name, 40) for name in one.names)
    figures = "1 figure" if one.count == 1 else f"{one.count:,} figures"
    return f"{plain(one.source, 60)}: {figures}: {plain(one.why, 160)}" + (f" ({names})" if names else "")


def _runs(history: History) -> list[tuple[str, str, str]]:
    return [
        (run.conditions.run_id, run.conditions.machine.cpu_model, run.conditions.started_at)
        for run in history.runs
    ]


def _run_line(run_id: str, cpu: str, started: str) -> str:
    where, when = plain(cpu, 80) or "unknown processor", plain(started, 40) or "at a time not known"
    return sentence(f"run {plain(run_id, 80)}, {where}, started {when}")


def _ratio(above: Estimate | None, below: Estimate | None) -> float:
    assert above is not None  # the callers ask first
    assert below is not None
    return above.value / below.value


def _part(estimate: Estimate | None, point: HistoryPoint) -> Part:
    if estimate is None:
        return None, "–"
    if point.has_interval:
        return estimate.value, number(estimate.value, (estimate.high - estimate.low) / 2)
    return estimate.value, f"{float(f'{estimate.value:.4g}'):,.10g}"


def _short(estimate: Estimate | None) -> str:
    return three_digits(estimate.value) if estimate else "–"


def _factor(estimate: Estimate | None) -> str:
    """A factor, with the half-width that today's interval gives it where that is seen in three digits."""
    if estimate is None:
        return "–"
    half = (estimate.high - estimate.low) / 2
    wide = f" ±{percent(half / estimate.value)}" if half > estimate.value / 200 else ""
    return three_digits(estimate.value) + wide
