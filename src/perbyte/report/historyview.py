"""The history in words and rows: gains, every point, what explains the jumps, and what is on no line.

Numbers accompany every explanation; a point without a unit says why it has none. Nothing is judged or converted here:
that is the business of `perbyte.studies.history`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perbyte.model import Estimate, Quality, Run
from perbyte.report.historychart import CYCLES, MEGABITS, gains_of, machine_name, program_name
from perbyte.report.wording import number, percent, plain, sentence, size_label, three_digits
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
    ("notes", "text"),
)
STEP_COLUMNS = (
    ("from", "text"),
    ("to", "text"),
    *((name, "n") for name in ("cycles/byte", "Mbit/s", "times as fast", "clock ×", "work per cycle ×")),
)
_MEANS = {Means.SOFTWARE: "software", Means.INSTRUCTIONS: "instructions", Means.VIRTUAL: "Java VM"}
Part = tuple[float | None, str]
"""A number to sort by (None: nothing) and its text."""


def point_rows(history: History) -> list[dict[str, Any]]:
    """Every point, under `COLUMNS`, line by line."""
    return [row for line in history.lines for row in _rows(history, line)]


def explanations(history: History) -> list[dict[str, Any]]:
    """What explains the jumps, each with its steps under `STEP_COLUMNS`."""
    return [_explanation(one, history) for one in history.explained]


def left_out_lines(history: History) -> list[str]:
    """The figures that are on no line, with the reason."""
    return [_left_out(one) for one in history.left_out]


def run_line(run: Run) -> str:
    """A run by name, machine and time."""
    conditions = run.conditions
    where = plain(conditions.machine.cpu_model, 80) or "unknown processor"
    when = plain(conditions.started_at, 40) or "at a time not known"
    return sentence(f"run {plain(conditions.run_id, 80)}, {where}, started {when}")


def history_found(history: History) -> list[str]:
    """The largest and the smallest gains between the first published figure and the best measured one."""
    gains = sorted(gains_of(history, MEGABITS), key=lambda one: -one[0])
    shown = gains if len(gains) <= 6 else [*gains[:3], *gains[-3:]]
    return [_gain(line, first, last, gain) for gain, line, first, last in shown]


def history_certainty(history: History) -> list[str]:
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
            f"{len(rough)} of {len(measured)} measured points are less than good (see notes): "
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
        (None, _notes(point)),
    ]


def _notes(point: HistoryPoint) -> str:
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
