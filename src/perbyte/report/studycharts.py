"""Published figures beside today's: paired points on a logarithmic axis, one panel per library and size."""

from __future__ import annotations

import math
import statistics

import altair as alt

from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.report import theme
from perbyte.report.panels import Chart, Records, facet, finished, header, logarithmic
from perbyte.report.units import number, plain, size_label
from perbyte.stats.quantity import Unit
from perbyte.studies.model import Study
from perbyte.studies.printed import PairedPoint, paired

_PUBLISHED, _TODAY = "published", "today"


def drawable(run: Run, study: Study) -> tuple[PairedPoint, ...]:
    """The pairs that can stand on a logarithmic axis: both figures there, positive, and no ratios."""
    return tuple(
        point
        for point in paired(study, run)
        if point.today is not None
        and point.published.value
        and point.published.value > 0
        and point.published.unit != Unit.RATIO
        and 0 < point.today.low <= point.today.high < math.inf
    )


def operations_of(run: Run, study: Study) -> tuple[str, ...]:
    """The published operations that `published_against_today` can draw."""
    return tuple(dict.fromkeys(pair.published.operation for pair in drawable(run, study)))


def published_against_today(run: Run, study: Study, *, operation: str | None = None) -> Chart:
    """Draw each published figure and today's as two joined points, in the published unit.

    Without `operation`, the first; a study that published in several units shows the most frequent. Raises
    UsageError where no published figure has a counterpart in the run.
    """
    pairs = [pair for pair in drawable(run, study) if operation in (None, pair.published.operation)]
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
    value = alt.X("value:Q", title=unit, **logarithmic(record["value"] for record in records))
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
            width=max(840 // max(len(libraries), 1), 130), height=alt.Step(16)
        ),
        records,
        row=header("size", sizes, angle=0) if len(sizes) > 1 else None,
        column=header("library", libraries) if len(libraries) > 1 else None,
    )
    machine = plain(run.conditions.machine.cpu_model, 60)
    subtitle = [
        f"{unit} on a logarithmic axis, {plain(operation, 24)}; "
        f"{'more' if Unit(unit).more_is_better else 'less'} is better",
        f"published: {_authors(study)}; today: {machine or 'this machine'}; "
        "thin lines: intervals, often narrower than the mark; the published figures came without",
    ]
    return finished(panels, _title(pairs, operation), subtitle)


def _records(pairs: list[PairedPoint], unit: str) -> Records:
    records = []
    for pair in pairs:
        published, today = pair.published, pair.today
        assert today is not None  # drawable() left the others out
        size = size_label(published.size_bytes) if published.size_bytes else ""
        both = {
            "algorithm": plain(published.algorithm, 40),
            "library": plain(published.library, 24),
            "size": size,
            "published": published.value,
            "today": today.value,
        }
        where = f" in {both['library']}" if both["library"] else ""
        name = f"{both['algorithm']}{where}, {plain(published.operation, 24)} {size}".rstrip()
        then = f"{name}: published {plain(published.printed, 24)} {unit}"
        now = (
            f"{name}: today {number(today.value, (today.high - today.low) / 2)} {unit} "
            f"({plain(pair.library, 60)}), {number(pair.ratio or math.nan, 0.01)} times as fast as published"
        )
        for when, value, low, high, described in (
            (_PUBLISHED, published.value, published.value, published.value, then),
            (_TODAY, today.value, today.low, today.high, now),
        ):
            records.append(
                {**both, "when": when, "value": value, "low": low, "high": high, "described": described}
            )
    return records


def _title(pairs: list[PairedPoint], operation: str) -> str:
    ratios = sorted(pair.ratio for pair in pairs if pair.ratio)
    middle, low, high = statistics.median(ratios), ratios[0], ratios[-1]
    return (
        f"Today is {number(middle, 0.01)} times as fast as published, in the median of {len(ratios)} pairs "
        f"({number(low, 0.01)} to {number(high, 0.01)}; {plain(operation, 24)})"
    )


def _authors(study: Study) -> str:
    first = plain(study.authors[0], 40) if study.authors else plain(study.name, 40)
    return f"{first} {'and others ' if len(study.authors) > 1 else ''}{study.year}"
