"""Charts of the figures of a run: bars, software by library, acceleration, everything.

None mixes contracts. A chart without data is None.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from perbyte.catalogue import load
from perbyte.model.groups import grouped
from perbyte.model.text import plain
from perbyte.report import charts, theme
from perbyte.report.charts import Chart, Places, Records, finished
from perbyte.report.many import Chosen
from perbyte.report.marks import IN_CHARTS, Mark
from perbyte.report.runview import Points, RunView
from perbyte.report.wording import number, sentence, size_label
from perbyte.stats.quantity import Unit
from perbyte.stats.standing import Lead

_MOST_STACKED = 240  # bars of all operations below each other; with more, the first operation alone
_ALIKE = {"seal": "encrypt", "open": "decrypt"}  # names of one thing, with a tag and without
_WIDE = 300  # times the smallest figure, beyond which its bar from zero would be a pixel or two wide
_COLOURS = {
    Lead.FASTEST: theme.BLUE,
    Lead.TIED: theme.SKY,
    Lead.UNKNOWN: theme.GREY,
    Lead.NONE: theme.MUTED,
}


def bars(view: RunView, points: Points, *, narrow: bool = False) -> Chart | None:
    """Draw any run as bars: algorithms below each other, libraries within, a panel for smallest and largest size.

    Of several operations, the first, and what is like it; of public keys, which have no sizes, a panel for each. Rows
    without the processor's own instructions stand in `acceleration`: on one linear axis with them, what is ten times as
    fast would all look alike. Colour and sign say where each figure stands: a tie is known to be one, and what is not
    known is grey. Figures that lie far apart are drawn as dots on a logarithmic axis: a bar has to begin at zero.
    """
    first, *others = points.operations
    alike = [first, *(other for other in others if _ALIKE.get(other, other) == _ALIKE.get(first, first))]
    chosen = Chosen(points)
    chosen.accelerated()
    chosen.leading()
    sized = any(chosen.values("size_bytes"))
    public = not sized and len(chosen.records) <= _MOST_STACKED
    if public:  # what is signed is verified too, and neither has a size
        alike = list(points.operations)
    chosen.keep("operation", alike)
    wanted = chosen.first_sizes(2)
    series = chosen.first_series()
    here = chosen.records
    rest = chosen.told("series", "tiers", "libraries")
    if others and not sized and not public:
        rest.append(f"of {len(points.operations)} operations the first is shown, the tables have all")
    rest += chosen.told("sizes")
    alone = len(chosen.libraries) == 1
    place = ("series", series) if alone else charts.grouped_axis(here, "series", "library", series)
    shown = {record["size_bytes"]: record["size"] for record in here}
    column = ("operation", alike) if public else ("size", [shown[size] for size in wanted])
    chart = _bars_or_dots(here, points, y=place, column=column, stacked=public, narrow=narrow)
    written = [str(record["text"]).rpartition(" ")[2] for record in here]
    subtitle = subtitle_of(view, points, *rest, marked=written)
    return finished(chart, _bars_title(here, " or ".join(alike), points), subtitle, narrow=narrow)


def _bars_or_dots(
    here: Records, points: Points, *, y: Places, column: Places, stacked: bool, narrow: bool
) -> Any:
    """Bars, or dots on a logarithmic axis where a bar would be too short to be seen."""
    panels: dict[str, list[float]] = {}
    for record in here:
        panels.setdefault(record[column[0]], []).append(float(record["value"]))
    standings = {record["standing"] for record in here}
    present = {IN_CHARTS[lead]: colour for lead, colour in _COLOURS.items() if IN_CHARTS[lead] in standings}
    if any(max(values) > _WIDE * min(values) for values in panels.values()):
        values = list(itertools.chain(*panels.values()))
        styles = theme.series(list(present))
        look = {name: (present[name], shape, dash) for name, (_, shape, dash) in styles.items()}
        return (charts.dots_apart if stacked else charts.dots)(
            here,
            y=y,
            x=points.unit.value,
            # room on the right for what is written at the dots
            scale=charts.logarithmic([*values, 4 * max(values)]),
            look=look,
            by="standing",
            text="text",
            column=column,
            narrow=narrow,
        )
    by_standing = alt.Scale(domain=list(present), range=list(present.values()))
    direction = "vertical" if narrow else "horizontal"  # no telephone has room for it in one line
    told_by = alt.Legend(title=None, direction=direction) if len(present) > 1 else None
    return charts.apart(
        charts.bars,
        here,
        y=y,
        unit=points.unit.value,
        text="text",
        colour=alt.Color("standing:N", scale=by_standing, legend=told_by),
        column=column,
        stacked=stacked,
        narrow=narrow,
    )


def by_library(view: RunView, points: Points, *, narrow: bool = False) -> Chart | None:
    """Draw the algorithms of each library: a panel per library and operation, a bar per size.

    An algorithm that was measured with and without the processor's own instructions counts with them; in a study,
    which asks for both, without.
    """
    switched = {record["algorithm"] for record in points.records if record["soft"]}
    switched &= {record["algorithm"] for record in points.records if not record["soft"]}
    soft = bool(switched and view.study)
    kept = [
        record for record in points.records if record["soft"] == soft or record["algorithm"] not in switched
    ]
    chosen = Chosen(points, kept)
    if narrow:
        chosen.for_a_telephone()
    chosen.leading_libraries()
    series = chosen.first_series()
    sizes = chosen.first_sizes(5)
    if not any(sizes):  # of public keys, `bars` shows every operation
        return None
    labels = [size_label(size) for size in sizes]
    colour = alt.Color("size:N", title="data per call", sort=labels, scale=charts.ordered(labels))
    chart = charts.bars(
        chosen.records,
        y=("series", series),
        lane=("size", labels) if len(labels) > 1 else None,
        unit=points.unit.value,
        colour=colour if len(labels) > 1 else alt.value(theme.BLUE),
        row=("library", chosen.libraries),
        column=("operation", points.operations),
        narrow=narrow,
    )
    rest = chosen.told("narrow", "sizes", "libraries", "series")
    if switched:
        how = "without" if soft else "with"
        rest = [f"what the processor has instructions for is shown {how} them, the tables have both", *rest]
    told = subtitle_of(view, points, *rest)
    return finished(chart, _slowest_title(chosen.records, points, soft), told, narrow=narrow)


def acceleration(view: RunView, points: Points, algorithm: str, *, narrow: bool = False) -> Chart | None:
    """Draw one algorithm with and without the processor's own instructions, by library, size and operation."""
    pairs = {key: pair for key, pair in _tiers(points).items() if key[0] == algorithm}
    if not pairs:
        return None
    factors = factors_of(points)[algorithm]
    here = []
    for full, soft in pairs.values():
        factor = _factor(full, soft, points.unit)
        here.append({**full, "with": "with", "factor": ""})
        here.append({**soft, "with": "without", "factor": f"{number(factor, factor / 50)}×"})
    chosen = Chosen(points, here)
    if narrow:
        chosen.for_a_telephone()
    chosen.leading_libraries()
    sizes = chosen.first_sizes(6)
    tiers = ["without", "with"]
    own = "AES instructions" if "aes" in algorithm else "processor's own instructions"
    chart = charts.bars(
        chosen.records,
        y=("library", chosen.libraries),
        lane=("with", tiers),
        unit=points.unit.value,
        text="factor",
        colour=alt.Color(
            "with:N", title=own, sort=tiers, scale=alt.Scale(domain=tiers, range=[theme.ORANGE, theme.BLUE])
        ),
        row=("operation", chosen.values("operation")),
        column=("size", [size_label(size) for size in sizes]),
        narrow=narrow,
    )
    ends = dict.fromkeys(number(pick(factors), 0.1) for pick in (min, max))
    times = " to ".join(ends)
    title = f"{plain(algorithm, 40)}: the processor's own instructions make it {times} times as fast"
    rest = chosen.told("narrow", "sizes", "libraries")
    told = subtitle_of(view, points, "at the bars: how many times as fast", *rest)
    return finished(chart, title, told, narrow=narrow)


def everything(view: RunView, points: Points, *, narrow: bool = False) -> Chart | None:
    """Draw all figures of a contract at once: a point per cell on a logarithmic axis, a panel per column."""
    chosen = Chosen(points)
    if narrow:
        chosen.for_a_telephone()
    chosen.leading_libraries()
    series = chosen.first_series()
    sizes = chosen.first_sizes(6)
    operations = ("operation", chosen.values("operation"))
    columns = ("size", [size_label(size) for size in sizes])
    chart = (charts.dots if any(sizes) else charts.dots_apart)(  # no public key has all operations
        chosen.records,
        y=("series", series),
        x=points.unit.value,
        scale=charts.logarithmic(chosen.values("value")),
        look=theme.series(chosen.libraries),
        by="library",
        lanes=chosen.libraries,
        row=operations if any(sizes) else None,
        column=columns if any(sizes) else operations,
        narrow=narrow,
    )
    headline = Chosen(points, chosen.records)
    headline.accelerated()
    best, worst = (pick(headline.records, key=lambda record: float(record["value"])) for pick in (min, max))
    begin = "With the processor's own instructions, from" if headline.told("tiers") else "From"
    title = (
        f"{begin} {best['shown']} to {worst['shown']} {points.unit.value}: "
        f"{best['series']} in {best['library']} to {worst['series']} in {worst['library']}"
    )
    told = subtitle_of(view, points, *chosen.told("narrow", "sizes", "libraries", "series"))
    return finished(chart, title, told, narrow=narrow)


def factors_of(points: Points) -> dict[str, list[float]]:
    """How many times as fast the processor's own instructions make an algorithm, by library, operation and size."""
    factors: dict[str, list[float]] = {}
    known = load().algorithms
    for (algorithm, *_), (full, soft) in _tiers(points).items():
        if algorithm in known and not known[algorithm].accelerated_by:
            continue  # the tiers have the same code
        factors.setdefault(algorithm, []).append(_factor(full, soft, points.unit))
    return factors


def _factor(full: Mapping[str, Any], soft: Mapping[str, Any], unit: Unit) -> float:
    factor: float = full["value"] / soft["value"]
    return factor if unit.more_is_better else 1 / factor


def subtitle_of(view: RunView, points: Points, *more: str, marked: Sequence[str] = ()) -> list[str]:
    """Say what the chart shows: unit, contract, machine, how intervals and marks are to be read.

    `marked` are the marks that are written in it.
    """
    run = view.run
    machine = plain(run.conditions.machine.cpu_model, 60)
    levels = {round(figure.interval.level * 100, 2) for figure in run.cells}
    level = f"{levels.pop():g} % intervals" if len(levels) == 1 else "intervals"
    what = [points.unit.in_words, f"contract {plain(points.contract, 30)}", *([machine] if machine else [])]
    better = "more is better" if points.unit.more_is_better else "less is better"
    here = [figure for figure in run.cells if figure.cell.contract == points.contract]
    lines = f"thin lines: {level}, often narrower than the mark"
    if not any(figure.interval.known for figure in here):
        lines = "one value each from another program, no interval is known"
    notes = [better, *more, lines]
    if points.left_out:
        notes.append(f"{points.left_out} cells have no figure in this unit")
    shown = "".join(text for text in marked if not any(letter.isdigit() for letter in text))
    marks = [f"{mark} {mark.meaning}" for mark in Mark if mark in shown]
    return [", ".join(what), "; ".join(notes), *(["; ".join(marks)] if marks else [])]


def _tiers(points: Points) -> dict[tuple[Any, ...], tuple[dict[str, Any], dict[str, Any]]]:
    """(full, soft) records of the same algorithm, library, operation and size."""
    fields = ("algorithm", "library", "operation", "size_bytes")
    full, soft = (
        {
            tuple(record[field] for field in fields): record
            for record in points.records
            if record["tier"] == tier
        }
        for tier in ("full", "soft")
    )
    return {key: (full[key], soft[key]) for key in full if key in soft}


def _bars_title(records: Records, operation: str, points: Points) -> str:
    soft = all(record["soft"] for record in records)
    operation += ", without the processor's own instructions" if soft else ""
    nobody, unsure = IN_CHARTS[Lead.NONE], IN_CHARTS[Lead.UNKNOWN]
    ranked = [record for record in records if record["standing"] != nobody]
    races = grouped(ranked, lambda record: (record["series"], record["operation"], record["size"])).values()
    if races and len(points.libraries) > 1:
        won = Counter(record["library"] for record in ranked if record["standing"] != unsure)
        unknown = sum(any(rival["standing"] == unsure for rival in rivals) for rivals in races)
        if not won:
            return f"Who is the fastest cannot be told in any of {len(races)} comparisons ({operation})"
        best = max(sorted(won), key=lambda name: won[name])
        rest = f"; in {unknown} it is not known who is" if unknown else ""
        return f"{best} is the fastest, alone or tied, in {won[best]} of {len(races)} comparisons{rest} ({operation})"
    picks = (max, min) if points.unit.more_is_better else (min, max)
    first, last = (pick(records, key=lambda record: float(record["value"])) for pick in picks)
    value = f"{first['shown']} {points.unit.value}"
    if len({record["operation"] for record in records}) > 1:
        # Different operations, and keys of different strength: no race, so that nobody wins it.
        ends = (f"{end['series']}, {end['operation']}: {end['shown']}" for end in (first, last))
        return f"From {' to '.join(ends)} {points.unit.value}"
    if _apart(first, [record for record in records if record["size"] == first["size"]]):
        return f"{first['series']} is the fastest to {operation}: {value}"
    return f"{first['series']}, {operation}: {value} at the best"


def _apart(record: Mapping[str, Any], rivals: Records) -> bool:
    others = [other for other in rivals if other["series"] != record["series"]]
    return bool(others) and all(
        record["sure"] and other["sure"] and (other["low"] > record["high"] or other["high"] < record["low"])
        for other in others
    )


def _slowest_title(here: Records, points: Points, switched: bool) -> str:
    """Which is the slowest and which the fastest in every library, at the largest size, as far as that can be told.

    `switched`: some algorithms are shown in software although the processor has instructions for them.
    """
    largest = max(int(record["size_bytes"]) for record in here)
    records = [record for record in here if record["size_bytes"] == largest]
    races: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        races.setdefault((record["library"], record["operation"]), []).append(record)

    def extreme(pick: Any) -> str:
        names = set()
        for rivals in races.values():
            picked = pick(rivals, key=lambda record: float(record["value"]))
            names.add(picked["series"] if _apart(picked, rivals) else "")
        return names.pop() if len(names) == 1 else ""

    slowest, fastest = map(extreme, (min, max) if points.unit.more_is_better else (max, min))
    everywhere = " in every library" if len({record["library"] for record in here}) > 1 else ""
    there = len({record["series"] for record in records})
    of = f", of the {there} measured there" if there < len({record["series"] for record in here}) else ""
    ends = [f"{name} is the {what}" for name, what in ((slowest, "slowest"), (fastest, "fastest")) if name]
    text = f"{' and '.join(ends)}{everywhere} at {size_label(largest)}{of}"
    if not ends:
        text = "no algorithm is the fastest or the slowest in every library beyond doubt"
    if switched:
        return f"Without the processor's own instructions, {text}"
    return text if ends else sentence(text)
