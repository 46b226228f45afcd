"""The page of an atlas: machines by libraries, versions through time, machines unlike others of their model."""

from __future__ import annotations

import math
from collections.abc import Iterable

import altair as alt

from perbyte.atlas.index import Atlas, RunRow
from perbyte.atlas.overview import Overview, Point, PointCost, look_over, per
from perbyte.model.text import counted, plain
from perbyte.report import charts, theme
from perbyte.report.atlascard import MOST, atlas_card, cost_text, named
from perbyte.report.charts import Chart, finished
from perbyte.report.html import Block, Page, Section, answer, drawing, listed, table, text
from perbyte.report.listing import Listing, columns
from perbyte.report.marks import Mark, marks_of_kinds
from perbyte.report.pictures import Picture
from perbyte.report.ratiocharts import versions_chart
from perbyte.report.wording import number, percent

_MACHINES = 150  # rows of a heat map
_READABLE, _UPRIGHT = 34, 58  # pixels of a tile for a number in it, for a name above it
_UNITS = (("cycles", "cycles"), ("ns", "ns"))
_PER = ("byte", "call")  # never on one axis: what is signed beside a cipher


def atlas_pictures(overview: Overview) -> tuple[Picture, ...]:
    """The charts of an atlas: heat maps of the first point, dots of all, versions through time.

    One machine gets no heat map, which would have one row, and no chart in nanoseconds beside that in cycles, which
    would be the same chart.
    """
    pictures = []
    several = len(overview.models) > 1
    cycles = any(cost.cycles for cost in overview.costs)
    units = _UNITS if several else [pair for pair in _UNITS if pair[1] == ("cycles" if cycles else "ns")]
    if overview.points:
        for unit, field in units:
            if several and (chart := _heat(overview, overview.points[0], unit, field)):
                narrow = _heat(overview, overview.points[0], unit, field, narrow=True)
                subject = f"{unit} per {per(overview.points[0])}"
                pictures.append(Picture(f"heat-{field}", f"Machines by libraries: {subject}", chart, narrow))
        for unit, field in units:
            for each in _PER:
                if chart := _dots(overview, f"{unit} per {each}", field, each):
                    name = f"machines-{field}" + ("" if each == _PER[0] else f"-{each}")
                    narrow = _dots(overview, f"{unit} per {each}", field, each, narrow=True)
                    heading = "Every machine" if several else "Every library"
                    pictures.append(Picture(name, f"{heading}: {unit} per {each}", chart, narrow))
    if chart := _versions(overview):
        pictures.append(Picture("versions", "Versions through time", chart))
    return tuple(pictures)


def atlas_page(atlas: Atlas) -> tuple[Page, Overview]:
    """The page of an atlas, and what it shows. Raises what reading it raises."""
    overview = look_over(atlas)
    pictures = [
        drawing(picture, f"atlas-{number}") for number, picture in enumerate(atlas_pictures(overview), 1)
    ]
    machines = len(atlas.machines())
    page = Page(
        f"{counted(machines, 'machine')}, {counted(overview.runs, 'run')}",
        [f"{overview.cells:,} figures of cryptographic functions, measured with Perbyte."],
        [
            Section(
                "summary",
                "Summary",
                "Summary",
                [
                    *answer(atlas_card(overview)),
                    *(pictures[:1] or [text("There is nothing to draw.")]),
                    _found(overview),
                ],
            ),
            *([Section("charts", "Charts", "Charts", pictures[1:])] if pictures[1:] else []),
            *([_unlike_section(overview)] if machines > 1 else []),
            _floors_section(overview),
            _machines_section(atlas, overview),
            Section(
                "repeat",
                "Repeat",
                "How to repeat it",
                [Block("code", "perbyte report --atlas PLACE -o atlas.html")],
            ),
        ],
    )
    return page, overview


def _unlike_section(overview: Overview) -> Section:
    return Section("unlike", "Unlike", "Machines unlike others of their model", _unlike_blocks(overview))


def _floors_section(overview: Overview) -> Section:
    floors = [(plain(name, 60), percent(floor), f"{count:,}") for name, floor, count in overview.floors]
    listing = Listing("Noise floors", columns("provider | median noise floor:n | runs:n"), floors)
    return Section("floors", "Noise", "Noise floors by provider", [table(listing)])


def _machines_section(atlas: Atlas, overview: Overview) -> Section:
    machines = [
        (
            plain(name, 80),
            plain(overview.models[name], 80),
            plain(overview.providers[name], 40),
            f"{len(runs):,}",
            f"{sum(row.cells for row in runs):,}",
            plain(_newest_versions(runs), 300),
        )
        for name, runs in atlas.machines().items()
    ]
    heads = columns("machine | model:text | provider:text | runs:n | cells:n | libraries:text")
    return Section("machines", "Machines", "Machines", [table(Listing("Machines", heads, machines))])


def _newest_versions(runs: list[RunRow]) -> str:
    """The libraries of runs, each by the version that was measured last."""
    versions: dict[str, list[str]] = {}
    for run in sorted(runs, key=lambda row: row.started_at, reverse=True):
        for library in run.libraries:
            known = versions.setdefault(library.rpartition(" ")[0] or library, [])
            known += [library] * (library not in known)
    return ", ".join(
        names[0] + (f" and {len(names) - 1} other{'s' * (len(names) > 2)}" if names[1:] else "")
        for _, names in sorted(versions.items())
    )


def _found(overview: Overview) -> Block:
    """What the card has no room for, and how sure all of it is."""
    certain = [
        "Where a machine has several runs, the median of their figures stands for it; of several versions of a "
        "library, the one that was measured last.",
        "Names of machines are made of their profile or given by their owners. Nobody has checked that a run is true.",
    ]
    if len(overview.models) > 1:
        certain.insert(
            1,
            "A machine is unlike its model where it lies more than four times the usual spread, and 2%, from the "
            f"middle of three or more; {counted(len(overview.unlike), 'machine')} "
            f"{'is' if len(overview.unlike) == 1 else 'are'}.",
        )
    lines = []
    for point in overview.points[MOST:]:
        best = [cost for (where, _, _), cost in overview.newest().items() if where == point and cost.cycles]
        if best:
            sure = [cost for cost in best if not cost.doubted]
            cost = min(sure or best, key=lambda cost: cost.cycles or 0)
            lines.append(
                f"{named(point)}: {cost_text(cost, cost.cycles or 0)} cycles per {per(point)} at best, by "
                f"{plain(cost.library, 40)} {plain(cost.version, 40)} on {plain(cost.machine, 80)}"
                + ("." if sure else "; every figure of it is in doubt.")
            )
    if not overview.points:
        lines = ["No figure is comparable across machines."]
    blocks = [("What was found as well", lines)] if lines else []
    return Block("cards", [*blocks, ("How sure that is", certain)])


def _unlike_blocks(overview: Overview) -> list[Block]:
    lines = [
        f"{plain(unlike.machine, 80)} ({plain(unlike.model, 80)}): {number(unlike.ratio)} times "
        f"the cycles of {unlike.others} "
        f"others, which spread by {percent(unlike.spread)}."
        for unlike in overview.unlike
    ]
    return [listed(lines or ["None, among the models of which three or more machines were measured."])]


def _shown(overview: Overview, point: Point, field: str) -> list[tuple[PointCost, float]]:
    return [
        (cost, value)
        for (where, _, _), cost in sorted(overview.newest().items())
        if where == point and (value := getattr(cost, field))
    ]


def _described(cost: PointCost, value: float, unit: str) -> str:
    return (
        f"{plain(cost.machine, 80)}, {plain(cost.library, 40)} {plain(cost.version, 40)}, {named(cost.point)}: "
        f"{cost_text(cost, value)} {unit}, {counted(cost.runs, 'run')}"
    )


def _heat(overview: Overview, point: Point, unit: str, field: str, *, narrow: bool = False) -> Chart | None:
    """A tile for each machine and library, dark where it is slow, with its value where there is room for it."""
    shown = _shown(overview, point, field)
    if not shown:
        return None
    unit = f"{unit} per {per(point)}"
    rank: dict[str, float] = {}
    for cost, value in shown:
        rank[cost.machine] = min(rank.get(cost.machine, value), value)
    machines = sorted(rank, key=lambda name: (rank[name], name))
    kept = set(machines[:_MACHINES])
    records = [
        {
            "machine": plain(cost.machine, 60),
            "library": plain(cost.library, 30),
            "value": value,
            "text": number(value, value * cost.width) + "".join(marks_of_kinds(cost.qualities, cost.doubts)),
            "described": _described(cost, value, unit),
        }
        for cost, value in shown
        if cost.machine in kept
    ]
    values = [value for cost, value in shown if cost.machine in kept]
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
        f"{named(point)} on {counted(len(kept), 'machine')}, fastest first",
        [
            f"{unit}, median of a machine's runs; newest version of each library; the darker, the slower",
            *_legend(cost for cost, _ in shown if cost.machine in kept),
        ]
        + ([f"{left} slower machines are not drawn"] if left > 0 else []),
        narrow=narrow,
    )


def _legend(costs: Iterable[PointCost]) -> list[str]:
    """What the marks of these costs mean; nothing where there is none."""
    used = {mark for cost in costs for mark in marks_of_kinds(cost.qualities, cost.doubts)}
    meanings = "; ".join(f"{mark} {mark.meaning}" for mark in Mark if mark in used)
    return [meanings] if meanings else []


def _dots(overview: Overview, unit: str, field: str, each: str, *, narrow: bool = False) -> Chart | None:
    """A dot for each machine and library, a row a point that is counted per `each`: how far machines spread."""
    records, costs = [], []
    for point in (point for point in overview.points if per(point) == each):
        for cost, value in _shown(overview, point, field):
            records.append(
                {
                    "what": named(point),
                    "library": plain(cost.library, 30),
                    "value": value,
                    "low": max(value * (1 - cost.width), value * 1e-3)
                    if math.isfinite(cost.width)
                    else value,
                    "high": value * (1 + cost.width) if math.isfinite(cost.width) else value,
                    "marks": "".join(marks_of_kinds(cost.qualities, cost.doubts)),
                    "described": _described(cost, value, unit),
                }
            )
            costs.append(cost)
    if not records:
        return None
    libraries = sorted({str(record["library"]) for record in records})[: len(theme.SERIES)]
    records = [record for record in records if record["library"] in libraries]
    drawn = charts.dots(
        records,
        y=("what", [named(point) for point in overview.points if per(point) == each]),
        x=unit,
        scale=charts.logarithmic([float(str(record["value"])) for record in records]),
        look=theme.series(libraries),
        by="library",
        lanes=libraries,
        text="marks",
        narrow=narrow,
    )
    alone = next(iter(overview.models)) if len(overview.models) == 1 else ""
    spread = f"How far {counted(len(overview.models), 'machine')} spread"
    return finished(
        drawn,
        f"What libraries cost on {plain(alone, 80)}" if alone else spread,
        [
            f"{unit}, a dot a machine and library; thin lines: the widest interval of its runs",
            *_legend(costs),
        ],
        narrow=narrow,
    )


def _versions(overview: Overview) -> Chart | None:
    """Versions of libraries in the order in which one machine measured them."""
    machine, costs = overview.versions()
    costs = [cost for cost in costs if cost.cycles]
    if not costs:
        return None
    costs = [cost for cost in costs if per(cost.point) == per(costs[0].point)]
    rows = [
        (named(cost.point), cost.library, cost.version, cycles, cycles, cycles)
        for cost in costs
        if (cycles := cost.cycles)
    ]
    return versions_chart(
        rows, f"cycles per {per(costs[0].point)}", f"Versions of libraries on {plain(machine, 80)}"
    )
