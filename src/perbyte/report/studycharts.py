"""Published figures beside today's: paired points on a logarithmic axis, one panel per library and size."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import altair as alt

from perbyte.errors import UsageError
from perbyte.model import CellFigure, Run
from perbyte.report import theme
from perbyte.report.panels import Chart, Records, facet, finished, header, log_axis
from perbyte.report.units import number, plain, size_label
from perbyte.studies.cells import expand, with_contract
from perbyte.studies.estimates import Estimate
from perbyte.studies.model import PublishedFigure, Study
from perbyte.studies.units import Unit, today_in

_PUBLISHED, _TODAY = "published", "today"


@dataclass(frozen=True, slots=True)
class Pair:
    """A published figure and today's counterpart, both in the published unit."""

    published: PublishedFigure
    figure: CellFigure
    today: Estimate

    @property
    def ratio(self) -> float:
        """Today's value over the published one."""
        return self.today.value / float(self.published.value or float("nan"))


def pairs_of(run: Run, study: Study) -> tuple[Pair, ...]:
    """Pair every published figure that has a counterpart in `run` with it; ratios are left out."""
    figures = {figure.cell: figure for figure in run.cells}
    found = []
    for published in study.published:
        if not published.available or not published.value or not published.cell or " over " in published.cell:
            continue
        for pattern in expand(with_contract(published.cell, study.contract)):
            cell = pattern.cell() if pattern.literal else next(filter(pattern.matches, figures), None)
            if cell not in figures:
                continue
            figure = figures[cell]
            today = today_in(published.unit, figure, size_bytes=published.size_bytes, calls=published.calls)
            if today is not None and 0 < today.low <= today.high < float("inf"):
                found.append(Pair(published, figure, today))
                break
    return tuple(found)


def operations_of(run: Run, study: Study) -> tuple[str, ...]:
    """The published operations that `published_against_today` can draw."""
    return tuple(dict.fromkeys(pair.published.operation for pair in pairs_of(run, study)))


def published_against_today(run: Run, study: Study, *, operation: str | None = None) -> Chart:
    """Draw each published figure and today's as two joined points, in the published unit.

    Without `operation`, the first; a study that published in several units shows the most frequent. Raises
    UsageError where no published figure has a counterpart in the run.
    """
    pairs = [pair for pair in pairs_of(run, study) if operation in (None, pair.published.operation)]
    if not pairs:
        raise UsageError("no published figure of the study has a counterpart in this run")
    operation = operation or pairs[0].published.operation
    pairs = [pair for pair in pairs if pair.published.operation == operation]
    unit = statistics.mode(pair.published.unit for pair in pairs)
    pairs = [pair for pair in pairs if pair.published.unit == unit]
    records = _records(pairs, unit)
    ciphers = list(dict.fromkeys(record["algorithm"] for record in records))
    libraries = list(dict.fromkeys(record["library"] for record in records))
    sizes = [size_label(size) for size in sorted({pair.published.size_bytes for pair in pairs}) if size]
    base = alt.Chart().encode(
        y=alt.Y("algorithm:N", title=None, sort=ciphers, axis=alt.Axis(grid=True, ticks=False))
    )
    value = alt.X("value:Q", title=unit, scale=alt.Scale(type="log", nice=False, padding=8), axis=log_axis())
    joined = base.mark_rule(color=theme.MUTED, strokeWidth=2, aria=False).encode(
        x=alt.X("published:Q"), x2="today:Q"
    )
    whisker = base.mark_rule(color=theme.INK, aria=False).encode(x="low:Q", x2="high:Q")
    order = [_PUBLISHED, _TODAY]
    point = base.mark_point(size=52, filled=True, opacity=1).encode(
        x=value,
        color=alt.Color(
            "when:N", title="figure", scale=alt.Scale(domain=order, range=[theme.ORANGE, theme.BLUE])
        ),
        shape=alt.Shape("when:N", title="figure", scale=alt.Scale(domain=order, range=["diamond", "circle"])),
        description="described:N",
        tooltip=[alt.Tooltip("described:N", title=" ")],
    )
    panels = facet(
        alt.layer(joined, whisker, point).properties(
            width=max(620 // max(len(libraries), 1), 130), height=alt.Step(16)
        ),
        records,
        row=header("size", sizes, angle=0) if len(sizes) > 1 else None,
        column=header("library", libraries) if len(libraries) > 1 else None,
    )
    machine = plain(run.conditions.machine.cpu_model, 60)
    subtitle = [
        f"{unit} on a logarithmic axis, {plain(operation, 24)}; "
        f"{'more' if Unit(unit).larger_is_faster else 'less'} is better",
        f"published: {_authors(study)}; today: {machine or 'this machine'}; "
        "thin lines: intervals, often narrower than the mark; the published figures came without",
    ]
    return finished(panels, _title(pairs, unit, operation), subtitle)


def _records(pairs: list[Pair], unit: str) -> Records:
    records = []
    for pair in pairs:
        published, today = pair.published, pair.today
        half = (today.high - today.low) / 2
        size = size_label(published.size_bytes) if published.size_bytes else ""
        both = {
            "algorithm": plain(published.algorithm, 40),
            "library": plain(published.library, 24),
            "size": size,
            "published": published.value,
            "today": today.value,
        }
        name = f"{both['algorithm']} in {both['library']}, {plain(published.operation, 24)} {size}".rstrip()
        now = plain(f"{pair.figure.library} {pair.figure.library_version}", 60)
        records.append(
            {
                **both,
                "when": _PUBLISHED,
                "value": published.value,
                "low": published.value,
                "high": published.value,
                "described": f"{name}: published {plain(published.printed, 24)} {unit}",
            }
        )
        records.append(
            {
                **both,
                "when": _TODAY,
                "value": today.value,
                "low": today.low,
                "high": today.high,
                "described": f"{name}: today {number(today.value, half)} {unit} ({now}), "
                f"{number(pair.ratio, 0.01)} times the published figure",
            }
        )
    return records


def _title(pairs: list[Pair], unit: str, operation: str) -> str:
    ratios = sorted(pair.ratio for pair in pairs)
    middle, low, high = statistics.median(ratios), ratios[0], ratios[-1]
    return (
        f"Today's figures are {number(middle, 0.01)} times the published ones in the median "
        f"({number(low, 0.01)} to {number(high, 0.01)}; {len(pairs)} pairs, {plain(operation, 24)})"
    )


def _authors(study: Study) -> str:
    first = plain(study.authors[0], 40) if study.authors else plain(study.name, 40)
    return f"{first} {'and others ' if len(study.authors) > 1 else ''}{study.year}"
