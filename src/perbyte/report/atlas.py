"""The page of an atlas: machines by libraries, versions through time, machines unlike others of their model."""

from __future__ import annotations

import altair as alt

from perbyte.atlas.index import Atlas, RunRow
from perbyte.atlas.overview import Cost, Overview, Point, look_over
from perbyte.model.text import plain
from perbyte.report import charts, theme
from perbyte.report.charts import Chart, finished
from perbyte.report.html import Block, Page, Section, drawing, listed, table, text
from perbyte.report.pictures import Picture
from perbyte.report.ratiocharts import versions_chart
from perbyte.report.sections import cards
from perbyte.report.wording import number, percent, size_label

_MACHINES = 150  # rows of a heat map
_READABLE, _UPRIGHT = 34, 58  # pixels of a tile for a number in it, for a name above it
_UNITS = (("cycles per byte", "cycles"), ("ns per byte", "ns"))


def atlas_pictures(overview: Overview) -> tuple[Picture, ...]:
    """The charts of an atlas: heat maps of the first point, dots of all, versions through time."""
    found = []
    if overview.points:
        for unit, field in _UNITS:
            if chart := _heat(overview, overview.points[0], unit, field):
                narrow = _heat(overview, overview.points[0], unit, field, narrow=True)
                found.append(Picture(f"heat-{field}", f"Machines by libraries: {unit}", chart, narrow))
        for unit, field in _UNITS:
            if chart := _dots(overview, unit, field):
                found.append(Picture(f"machines-{field}", f"Every machine: {unit}", chart))
    if chart := _versions(overview):
        found.append(Picture("versions", "Versions through time", chart))
    return tuple(found)


def atlas_page(atlas: Atlas) -> tuple[Page, Overview]:
    """The page of an atlas, and what it shows. Raises what reading it raises."""
    overview = look_over(atlas)
    pictures = [drawing(one, f"atlas-{number}") for number, one in enumerate(atlas_pictures(overview), 1)]
    machines = [
        (
            plain(name, 80),
            plain(overview.models[name], 80),
            plain(overview.providers[name], 40),
            f"{len(runs):,}",
            f"{sum(one.cells for one in runs):,}",
            plain(_newest_versions(runs), 300),
        )
        for name, runs in atlas.machines().items()
    ]
    columns = (("machine", ""), ("model", "text"), ("provider", "text"), ("runs", "n"), ("cells", "n"))
    floors = [(plain(name, 60), percent(floor), f"{count:,}") for name, floor, count in overview.floors]
    first = pictures[:1] or [text("There is nothing to draw.")]
    page = Page(
        f"{len(machines):,} machines, {overview.runs:,} runs",
        [f"{overview.cells:,} figures of cryptographic functions, measured with Perbyte."],
        [
            Section(
                "summary",
                "Summary",
                "Summary",
                [*first, _found(overview)],
            ),
            *([Section("charts", "Charts", "Charts", pictures[1:])] if pictures[1:] else []),
            Section("unlike", "Unlike", "Machines unlike others of their model", _unlike_blocks(overview)),
            Section(
                "floors",
                "Noise",
                "Noise floors by provider",
                [
                    table(
                        (("provider", ""), ("median noise floor", "n"), ("runs", "n")), floors, "Noise floors"
                    )
                ],
            ),
            Section(
                "machines",
                "Machines",
                "Machines",
                [table((*columns, ("libraries", "text")), machines, "Machines")],
            ),
            Section(
                "repeat",
                "Repeat",
                "How to repeat it",
                [Block("code", "perbyte report --atlas PLACE -o atlas.html")],
            ),
        ],
    )
    return page, overview


def _newest_versions(runs: list[RunRow]) -> str:
    """The libraries of runs, each by the version that was measured last."""
    versions: dict[str, list[str]] = {}
    for run in sorted(runs, key=lambda one: one.started_at, reverse=True):
        for library in run.libraries:
            known = versions.setdefault(library.rpartition(" ")[0] or library, [])
            known += [library] * (library not in known)
    return ", ".join(
        found[0] + (f" and {len(found) - 1} other{'s' * (len(found) > 2)}" if found[1:] else "")
        for _, found in sorted(versions.items())
    )


def _found(overview: Overview) -> Block:
    certain = [
        "Where a machine has several runs, the median of their figures stands for it; of several versions of a "
        "library, the one that was measured last.",
        "A machine is unlike its model where it lies more than four times the usual spread, and 2%, from the middle "
        f"of three or more; {len(overview.unlike)} are.",
        "Names of machines are made of their profile or given by their owners. Nobody has checked that a run is true.",
    ]
    lines = []
    for point in overview.points:
        best = [one for (where, _, _), one in overview.newest().items() if where == point and one.cycles]
        if best:
            one = min(best, key=lambda one: one.cycles or 0)
            lines.append(
                f"{_named(point)}: {number(one.cycles or 0)} cycles per byte at best, by {plain(one.library, 40)} "
                f"{plain(one.version, 40)} on {plain(one.machine, 80)}."
            )
    return cards(lines or ["No figure is comparable across machines."], certain)


def _unlike_blocks(overview: Overview) -> list[Block]:
    lines = [
        f"{plain(one.machine, 80)} ({plain(one.model, 80)}): {number(one.ratio)} times the cycles of {one.others} "
        f"others, which spread by {percent(one.spread)}."
        for one in overview.unlike
    ]
    return [listed(lines or ["None, among the models of which three or more machines were measured."])]


def _named(point: Point) -> str:
    algorithm, operation, _, size = point
    return f"{plain(algorithm, 40)} {plain(operation, 20)} at {size_label(size)}"


def _shown(overview: Overview, point: Point, field: str) -> list[tuple[Cost, float]]:
    return [
        (one, value)
        for (where, _, _), one in sorted(overview.newest().items())
        if where == point and (value := getattr(one, field))
    ]


def _described(one: Cost, value: float, unit: str) -> str:
    runs = f"{one.runs} run{'s' * (one.runs != 1)}"
    return (
        f"{plain(one.machine, 80)}, {plain(one.library, 40)} {plain(one.version, 40)}, {_named(one.point)}: "
        f"{number(value)} {unit}, {runs}"
    )


def _heat(overview: Overview, point: Point, unit: str, field: str, *, narrow: bool = False) -> Chart | None:
    """A tile for each machine and library, dark where it is slow, with its value where there is room for it."""
    shown = _shown(overview, point, field)
    if not shown:
        return None
    rank: dict[str, float] = {}
    for one, value in shown:
        rank[one.machine] = min(rank.get(one.machine, value), value)
    machines = sorted(rank, key=lambda name: (rank[name], name))
    kept = set(machines[:_MACHINES])
    records = [
        {
            "machine": plain(one.machine, 60),
            "library": plain(one.library, 30),
            "value": value,
            "text": number(value),
            "described": _described(one, value, unit),
        }
        for one, value in shown
        if one.machine in kept
    ]
    values = [value for one, value in shown if one.machine in kept]
    middle = (min(values) * max(values)) ** 0.5
    width = charts.NARROW if narrow else charts.WIDE
    room = width / len({record["library"] for record in records})
    base = alt.Chart(charts.inlined(records)).encode(
        x=alt.X(
            "library:N",
            title=None,
            axis=alt.Axis(orient="top", labelAngle=0 if room > _UPRIGHT else -90, domain=False, ticks=False),
        ),
        y=alt.Y(
            "machine:N",
            title=None,
            sort=[plain(name, 60) for name in machines],
            axis=alt.Axis(labelLimit=110 if narrow else 320, domain=False, ticks=False),
        ),
    )
    scale = alt.Scale(type="log", range=list(theme.SEQUENCE[:4]), interpolate="lab")
    tiles = base.mark_rect().encode(
        color=alt.Color("value:Q", scale=scale, legend=None),
        description="described:N",
        tooltip=charts.tooltip(),
    )
    light = alt.condition(f"datum.value > {middle!r}", alt.value(theme.PAPER), alt.value(theme.INK))
    labels = base.mark_text(fontSize=10, aria=False).encode(text="text:N", color=light)
    layers = (tiles, labels) if room > _READABLE else (tiles,)
    drawn = alt.layer(*layers).properties(width=width, height=alt.Step(17))
    left = len(machines) - len(kept)
    return finished(
        drawn,
        f"{_named(point)} on {len(kept)} machines, fastest first",
        [f"{unit}, median of a machine's runs; newest version of each library; the darker, the slower"]
        + ([f"{left} slower machines are not drawn"] if left > 0 else []),
        narrow=narrow,
    )


def _dots(overview: Overview, unit: str, field: str) -> Chart | None:
    """A dot for each machine and library, a row a point: how far machines spread."""
    records = []
    for point in overview.points:
        for one, value in _shown(overview, point, field):
            records.append(
                {
                    "what": _named(point),
                    "library": plain(one.library, 30),
                    "value": value,
                    "low": value,
                    "high": value,
                    "described": _described(one, value, unit),
                }
            )
    if not records:
        return None
    libraries = sorted({str(one["library"]) for one in records})[: len(theme.SERIES)]
    records = [one for one in records if one["library"] in libraries]
    drawn = charts.dots(
        records,
        y=("what", [_named(point) for point in overview.points]),
        x=unit,
        scale=charts.logarithmic([float(str(one["value"])) for one in records]),
        look=theme.series(libraries),
        by="library",
        lanes=libraries,
    )
    return finished(
        drawn, f"How far {len(overview.models)} machines spread", [f"{unit}, a dot a machine and library"]
    )


def _versions(overview: Overview) -> Chart | None:
    """Versions of libraries in the order in which one machine measured them."""
    machine, costs = overview.versions()
    costs = [one for one in costs if one.cycles]
    if not costs:
        return None
    rows = [
        (_named(one.point), one.library, one.version, cycles, cycles, cycles)
        for one in costs
        if (cycles := one.cycles)
    ]
    return versions_chart(rows, "cycles per byte", f"Versions of libraries on {plain(machine, 80)}")
