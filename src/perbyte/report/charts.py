"""Figures of a run as Altair charts: one specification each serves HTML, SVG, PNG and PDF.

Every chart names its unit, draws its intervals, says in its title what is seen, and tells series apart by
more than colour. Charts never mix contracts: of a run with several, the one with most figures is drawn unless
another is named. Published figures and cost models have charts of their own in `studycharts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.report import theme
from perbyte.report.panels import (
    Chart,
    Records,
    algorithm_header,
    axis,
    chosen,
    coloured,
    facet,
    finished,
    first_series,
    header,
    logarithmic,
    ordered,
    some,
    some_sizes,
    subtitle,
    tooltip,
)
from perbyte.report.points import Names, Points
from perbyte.report.units import number, plain, size_label
from perbyte.stats.quantity import Unit


def bars(
    run: Run,
    *,
    contract: str | None = None,
    unit: Unit | None = None,
    operation: str | None = None,
    sizes: Sequence[int] | None = None,
    names: Names | None = None,
    points: Points | None = None,
) -> Chart:
    """Draw any run as bars: algorithms below each other, libraries within, one panel per size.

    Without `operation`, the first; without `sizes` (bytes), the smallest and the largest. The fastest of each
    algorithm is dark, ties likewise. Raises UsageError when nothing is left to draw.
    """
    points = chosen(run, contract, unit, names, points)
    operation = plain(operation, 24) if operation else points.operations[0]
    here = [record for record in points.records if record["operation"] == operation]
    found = sorted({record["size_bytes"] for record in here})
    wanted = list(sizes) if sizes else sorted({*found[:1], *found[-1:]})
    here = [record for record in here if record["size_bytes"] in wanted]
    series, here, rest = first_series(points, some(here))
    base = alt.Chart().encode(
        y=alt.Y(
            "library:N", title=None, sort=list(points.libraries), axis=alt.Axis(ticks=False, domain=False)
        ),
    )
    value = alt.X("value:Q", title=axis(points.unit), scale=_from_zero(here))
    drawn = base.mark_bar(height={"band": 0.72}).encode(
        x=value,
        color=alt.Color(
            "first:N", scale=alt.Scale(domain=[True, False], range=[theme.BLUE, theme.MUTED]), legend=None
        ),
        description="described:N",
        tooltip=tooltip(),
    )
    whisker = base.mark_rule(strokeWidth=1.5, color=theme.INK, aria=False).encode(x="low:Q", x2="high:Q")
    label = base.mark_text(align="left", dx=5, aria=False).encode(x="high:Q", text="text:N")
    panels = facet(
        alt.layer(drawn, whisker, label).properties(width=760 // max(len(wanted), 1), height=alt.Step(17)),
        here,
        row=algorithm_header(series),
        column=header("size", [size_label(size) for size in sorted(wanted)]) if len(wanted) > 1 else None,
    ).resolve_scale(y="independent")
    if isinstance(
        panels, alt.FacetChart
    ):  # panels are as high as their own rows, so rows of panels are not alike
        panels = panels.properties(align={"row": "each", "column": "all"})
    return finished(
        panels,
        _bars_title(here, operation, points),
        subtitle(run, points, "highlighted: fastest of its algorithm", *rest, marked=True),
    )


def by_library(
    run: Run, *, contract: str | None = None, names: Names | None = None, points: Points | None = None
) -> Chart:
    """Draw the software ciphers of each library: one panel per library and operation, bars by size.

    An algorithm that was measured with and without the processor's own instructions counts without them.
    """
    points = chosen(run, contract, None, names, points)
    switched = {record["algorithm"] for record in points.records if record["soft"]}
    software = [one for one in points.records if one["soft"] or one["algorithm"] not in switched]
    series, here, rest = first_series(points, some(software))
    kept, said = some_sizes(here, 5)
    here = [record for record in here if record["size_bytes"] in kept]
    sizes = [size_label(size) for size in kept]
    base = alt.Chart().encode(
        x=alt.X("series:N", title=None, sort=series, axis=alt.Axis(labelAngle=-35, ticks=False)),
        xOffset=alt.XOffset("size:N", sort=sizes),
    )
    drawn = base.mark_bar().encode(
        y=alt.Y("value:Q", title=axis(points.unit), scale=_from_zero(here)),
        color=alt.Color("size:N", title="data per call", sort=sizes, scale=ordered(sizes)),
        description="described:N",
        tooltip=tooltip(),
    )
    whisker = base.mark_rule(color=theme.INK, aria=False).encode(y="low:Q", y2="high:Q")
    panels = facet(
        alt.layer(drawn, whisker).properties(width=max(36 * len(series), 330), height=110),
        here,
        row=header("library", list(points.libraries), angle=0),
        column=header("operation", list(points.operations)),
    )
    return finished(panels, _slowest_title(here, points), subtitle(run, points, *said, *rest))


def acceleration(
    run: Run,
    *,
    algorithm: str | None = None,
    contract: str | None = None,
    names: Names | None = None,
    points: Points | None = None,
) -> Chart:
    """Draw one algorithm with and without the processor's own instructions, by library, size and operation.

    Without `algorithm`, the first that was measured on both tiers. Raises UsageError when there is none.
    """
    points = chosen(run, contract, None, names, points)
    pairs = _pairs(points)
    algorithm = algorithm or next((key[0] for key in pairs), None)
    pairs = {key: pair for key, pair in pairs.items() if key[0] == algorithm}
    if not pairs:
        raise UsageError(
            "no algorithm of this run was measured both with and without the processor's own instructions",
            way_out="measure with --cpu full,soft",
        )
    rises = points.unit.more_is_better
    factors = {
        key: full["value"] / soft["value"] if rises else soft["value"] / full["value"]
        for key, (full, soft) in pairs.items()
    }
    here = []
    for key, (full, soft) in pairs.items():
        here.append({**full, "with": "with", "factor": ""})
        here.append({**soft, "with": "without", "factor": f"{number(factors[key], factors[key] / 50)}×"})
    kept, said = some_sizes(here, 6)
    here = [record for record in here if record["size_bytes"] in kept]
    sizes = [size_label(size) for size in kept]
    base = alt.Chart().encode(
        y=alt.Y(
            "library:N", title=None, sort=list(points.libraries), axis=alt.Axis(ticks=False, domain=False)
        ),
        yOffset=alt.YOffset("with:N", sort=["without", "with"]),
    )
    value = alt.X("value:Q", title=axis(points.unit), scale=_from_zero(here))
    drawn = base.mark_bar().encode(
        x=value,
        color=alt.Color(
            "with:N",
            title="AES instructions" if "aes" in str(algorithm) else "processor's own instructions",
            sort=["without", "with"],
            scale=alt.Scale(domain=["without", "with"], range=[theme.ORANGE, theme.BLUE]),
        ),
        description="described:N",
        tooltip=tooltip(),
    )
    whisker = base.mark_rule(color=theme.INK, aria=False).encode(x="low:Q", x2="high:Q")
    label = base.mark_text(align="left", dx=4, aria=False).encode(x="high:Q", text="factor:N")
    panels = facet(
        alt.layer(drawn, whisker, label).properties(width=max(720 // len(sizes), 130), height=alt.Step(12)),
        here,
        row=header("operation", list(dict.fromkeys(record["operation"] for record in here)), angle=0),
        column=header("size", sizes),
    )
    title = (
        f"{plain(algorithm, 40)}: the processor's own instructions make it "
        f"{number(min(factors.values()), 0.1)} to {number(max(factors.values()), 0.1)} times as fast"
    )
    return finished(
        panels, title, subtitle(run, points, "figures at the bars: how many times as fast", *said)
    )


def everything(
    run: Run,
    *,
    contract: str | None = None,
    unit: Unit | None = None,
    names: Names | None = None,
    points: Points | None = None,
) -> Chart:
    """Draw all figures of a contract at once: a point per cell on a logarithmic axis, a panel per column."""
    points = chosen(run, contract, unit, names, points)
    series, here, rest = first_series(points, points.records)
    look = theme.series(points.libraries)
    kept, said = some_sizes(here, 6)
    here = [record for record in here if record["size_bytes"] in kept]
    sizes = [size_label(size) for size in kept]
    operations = list(dict.fromkeys(record["operation"] for record in here))
    lane = max(18, 5 * len(points.libraries) + 6)
    base = alt.Chart().encode(
        y=alt.Y("series:N", title=None, sort=series, axis=alt.Axis(grid=True, ticks=False)),
        yOffset=alt.YOffset("library:N", sort=list(points.libraries)),
    )
    drawn = base.mark_point(size=38, filled=True).encode(
        x=alt.X(
            "value:Q",
            title=axis(points.unit),
            **logarithmic(record["value"] for record in here),
        ),
        color=coloured("library", look),
        shape=alt.Shape(
            "library:N",
            title="library",
            scale=alt.Scale(domain=list(look), range=[one[1] for one in look.values()]),
        ),
        description="described:N",
        tooltip=tooltip(),
    )
    whisker = base.mark_rule(strokeWidth=1.5, aria=False).encode(
        x="low:Q", x2="high:Q", color=coloured("library", look)
    )
    panels = facet(
        alt.layer(whisker, drawn).properties(
            width=max(840 // max(len(sizes), 1), 120), height=len(series) * lane
        ),
        here,
        row=header("operation", operations, angle=0) if len(operations) > 1 else None,
        column=header("size", sizes) if len(sizes) > 1 else None,
    )
    best, worst = min(here, key=lambda one: one["value"]), max(here, key=lambda one: one["value"])
    title = (
        f"From {best['text'].split()[0]} to {worst['text'].split()[0]} {points.unit.value}: "
        f"{best['series']} in {best['library']} to {worst['series']} in {worst['library']}"
    )
    return finished(panels, title, subtitle(run, points, *said, *rest))


def accelerated(points: Points) -> tuple[str, ...]:
    """The algorithms `acceleration` can draw."""
    return tuple(dict.fromkeys(key[0] for key in _pairs(points)))


def _from_zero(records: Records) -> Any:
    """A linear scale from zero to the largest value; an interval that reaches far beyond ends at its edge."""
    values = [float(record["value"]) for record in records]
    ends = [float(record["high"]) for record in records]
    return alt.Scale(domain=[0, min(max(ends), 1.25 * max(values))], nice=True, clamp=True)


def _pairs(points: Points) -> dict[tuple[Any, ...], tuple[dict[str, Any], dict[str, Any]]]:
    """(full, soft) records of the same algorithm, library, operation and size."""
    by_tier: dict[str, dict[Any, dict[str, Any]]] = {"full": {}, "soft": {}}
    for one in points.records:
        key = (one["algorithm"], one["library"], one["operation"], one["size_bytes"])
        by_tier.setdefault(one["tier"], {})[key] = one
    soft = by_tier["soft"]
    return {key: (full, soft[key]) for key, full in by_tier["full"].items() if key in soft}


def _bars_title(records: Records, operation: str, points: Points) -> str:
    won: dict[str, int] = {}
    rivals = Counter((one["series"], one["size"]) for one in records)
    races = sum(count > 1 for count in rivals.values())
    for one in records:
        if one["first"]:
            won[one["library"]] = won.get(one["library"], 0) + 1
    if not won or len(points.libraries) < 2:
        best = (max if points.unit.more_is_better else min)(records, key=lambda one: float(one["value"]))
        if len({one["series"] for one in records}) == 1:
            return f"{best['series']}, {operation}: {best['text'].split()[0]} {points.unit.value} at the best"
        return (
            f"{best['series']} is the fastest to {operation}: {best['text'].split()[0]} {points.unit.value}"
        )
    best_library = max(sorted(won), key=lambda name: won[name])
    return (
        f"{best_library} is the fastest, alone or tied, in {won[best_library]} of {races} "
        f"comparisons ({operation})"
    )


def _slowest_title(records: Records, points: Points) -> str:
    def extremes(pick: Any) -> set[str]:
        return {
            pick((one for one in records if one["library"] == library), key=lambda one: float(one["value"]))[
                "series"
            ]
            for library in {one["library"] for one in records}
        }

    slowest, fastest = map(extremes, (min, max) if points.unit.more_is_better else (max, min))
    most = sorted(slowest)[0] if len(slowest) == 1 else ""
    least = sorted(fastest)[0] if len(fastest) == 1 else ""
    everywhere = " in every library" if len(points.libraries) > 1 else ""
    if most and least:
        said = f"{most} is the slowest and {least} the fastest{everywhere}"
    elif most or least:
        said = f"{most or least} is the {'slowest' if most else 'fastest'}{everywhere}"
    else:
        said = "which is the fastest and which the slowest depends on the library"
    return f"Without the processor's own instructions, {said}"
