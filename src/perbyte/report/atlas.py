"""The page of an atlas: machines by libraries, versions through time, machines unlike others of their model.

Its card says who is the fastest at each point that machines have in common.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import altair as alt

from perbyte.atlas.index import Atlas, RunRow
from perbyte.atlas.overview import Overview, Point, PointCost, look_over, per
from perbyte.model import Estimate
from perbyte.model.text import counted, plain
from perbyte.report import charts, theme
from perbyte.report.card import RATES, cores_at, milliseconds
from perbyte.report.charts import Chart, finished
from perbyte.report.document import Block, Card, Code, Items, Line, Page, Section, Widget, figures, table_of
from perbyte.report.marks import AUDIT_SAW_OTHERS
from perbyte.report.pictures import Picture, drawn
from perbyte.report.site.view import estimate_in, marks_text, meanings_of, rank, value_in
from perbyte.report.wording import number, percent, size_label, times_text, value_text, width_text
from perbyte.stats.compare import CYCLES, NS

_MOST = 4  # answers on the card; the page lists the others
_NAMED = 3  # of those that are alike, or of whom it is not known
_MACHINES = 150  # rows of a heat map
_READABLE, _UPRIGHT = 34, 58  # pixels of a tile for a number in it, for a name above it
_PER = ("byte", "call")  # never on one axis: what is signed beside a cipher


def atlas_pictures(overview: Overview) -> tuple[Picture, ...]:
    """The charts of an atlas: heat maps of the first point, dots of all, versions through time.

    One machine gets no heat map, which would have one row, and no chart in nanoseconds beside that in cycles, which
    would be the same chart.
    """
    pictures: list[Picture] = []
    several = len(overview.models) > 1
    fields = [CYCLES, NS]
    if not several:
        fields = [CYCLES if any(cost.cycles for cost in overview.costs) else NS]
    if several and overview.points:
        for field in fields:
            heading = f"Machines by libraries: {field} per {per(overview.points[0])}"
            pictures += drawn(f"heat-{field}", heading, partial(_heat, overview, field), narrow=True)
    for field in fields:
        for each in _PER:
            name = f"machines-{field}" + ("" if each == _PER[0] else f"-{each}")
            heading = f"{'Every machine' if several else 'Every library'}: {field} per {each}"
            pictures += drawn(name, heading, partial(_dots, overview, field, each), narrow=True)
    pictures += drawn("versions", "Versions through time", partial(_versions, overview))
    return tuple(pictures)


def atlas_page(atlas: Atlas) -> tuple[Page, Overview]:
    """The page of an atlas, and what it shows. Raises what reading it raises."""
    overview = look_over(atlas)
    main, *others = figures(atlas_pictures(overview), "atlas")
    machines = atlas.machines()
    unlike = [_unlike(overview)] if len(machines) > 1 else []
    floors = [(plain(name, 60), percent(floor), f"{count:,}") for name, floor, count in overview.floors]
    noise = table_of("Noise floors", "provider | median noise floor:n | runs:n", floors)
    repeat = Code("perbyte report --atlas PLACE -o atlas.html")
    sections = [
        Section("summary", "Summary", [atlas_card(overview), main, _found(overview)]),
        Section("charts", "Charts", others),
        Section("unlike", "Unlike", unlike, "Machines unlike others of their model"),
        Section("floors", "Noise", [noise], "Noise floors by provider"),
        Section("machines", "Machines", [_machines(machines, overview)]),
        Section("repeat", "Repeat", [repeat], "How to repeat it"),
    ]
    title = f"{counted(len(machines), 'machine')}, {counted(overview.runs, 'run')}"
    lead = f"{overview.cells:,} figures of cryptographic functions, measured with Perbyte."
    return Page(title, [lead], sections), overview


def atlas_card(overview: Overview) -> Card:
    """The answers at the first points; figures in doubt win nothing."""
    lines = [line for point in overview.points[:_MOST] if (line := _line(overview, point))]
    left = len(overview.points) - len(lines)
    return Card(tuple(lines), (f"{left} more below.",) if lines and left > 0 else ())


def _line(overview: Overview, point: Point) -> Line | None:
    ranking = rank(_newest(overview, point))
    if ranking is None:
        return None

    def named(cost: PointCost) -> str:
        library = f"{plain(cost.library, 40)} {plain(cost.version, 80)}".strip()
        return library if len(overview.models) == 1 else f"{library} on {plain(cost.machine, 60)}"

    told = [f"{_cost_text(ranking.best, ranking.field)} {ranking.field} per {per(point)}"]
    if not ranking.sure:
        told.append("every figure of it is in doubt")
    if ranking.near:
        told.append(f"{named(ranking.near[0])} may be as fast, but its figure is in doubt")
    if ranking.unseen:
        told.append(AUDIT_SAW_OTHERS)
    if ranking.behind:
        cost, compared = ranking.behind[0]
        told.append(f"the next, {named(cost)}, costs {times_text(compared)} as much")
    names = " or ".join(dict.fromkeys(map(named, ranking.ahead[:_NAMED])))
    return Line(_point_text(point), ranking.sign, names, "; ".join(told), _price(ranking.best))


def _price(cost: PointCost) -> str:
    if per(cost.point) == "call":
        return f"{milliseconds(estimate_in(cost, NS))} a call"
    return cores_at((rate, Estimate(rate * cost.ns * 1e-9, math.nan, math.nan)) for rate in RATES)


def _point_text(point: Point) -> str:
    """What is compared, in words; of what is signed no size, which costs nothing."""
    algorithm, operation, _, size = point
    what = f"{plain(algorithm, 40)} {plain(operation, 20)}"
    return f"{what} at {size_label(size)}" if per(point) == "byte" else what


def _cost_text(cost: PointCost, field: str) -> str:
    """A cost with the digits that its widest interval supports, that interval, and every mark of doubt."""
    estimate, marks = estimate_in(cost, field), marks_text(cost)
    if not estimate.known:
        return f"{value_text(estimate)} (interval not known) {marks}".rstrip()
    return f"{value_text(estimate)} {width_text(estimate)}{marks}"


def _machines(machines: dict[str, list[RunRow]], overview: Overview) -> Block:
    rows = [
        (
            plain(name, 80),
            plain(overview.models[name], 80),
            plain(overview.providers[name], 40),
            f"{len(runs):,}",
            f"{sum(row.cells for row in runs):,}",
            plain(_newest_versions(runs), 300),
        )
        for name, runs in machines.items()
    ]
    heads = "machine | model:text | provider:text | runs:n | cells:n | libraries:text"
    return table_of("Machines", heads, rows)


def _newest_versions(runs: list[RunRow]) -> str:
    """The libraries of runs, each by the version that was measured last."""
    versions: dict[str, dict[str, None]] = {}
    for run in sorted(runs, key=lambda row: row.started_at, reverse=True):
        for library in run.libraries:
            versions.setdefault(library.rpartition(" ")[0] or library, {})[library] = None
    texts = []
    for _, (newest, *others) in sorted(versions.items()):
        texts.append(newest + (f" and {counted(len(others), 'other')}" if others else ""))
    return ", ".join(texts)


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
    for point in overview.points[_MOST:]:
        costs = [cost for cost in _newest(overview, point) if cost.cycles]
        if costs:
            sure = [cost for cost in costs if not cost.doubted]
            cost = min(sure or costs, key=lambda cost: value_in(cost, CYCLES))
            lines.append(
                f"{_point_text(point)}: {_cost_text(cost, CYCLES)} cycles per {per(point)} at best, by "
                f"{plain(cost.library, 40)} {plain(cost.version, 80)} on {plain(cost.machine, 80)}"
                + ("." if sure else "; every figure of it is in doubt.")
            )
    if not overview.points:
        lines = ["No figure is comparable across machines."]
    blocks = [("What was found as well", lines)] if lines else []
    return Widget("cards", [*blocks, ("How sure that is", certain)])


def _unlike(overview: Overview) -> Block:
    lines = [
        f"{plain(unlike.machine, 80)} ({plain(unlike.model, 80)}): {number(unlike.ratio)} times the cycles of "
        f"{unlike.others} others, which spread by {percent(unlike.spread)}."
        for unlike in overview.unlike
    ]
    return Items(lines or ["None, among the models of which three or more machines were measured."])


def _newest(overview: Overview, point: Point) -> list[PointCost]:
    return [cost for (where, _, _), cost in sorted(overview.newest().items()) if where == point]


def _heat(overview: Overview, field: str, *, narrow: bool = False) -> Chart | None:
    """A tile for each machine and library, dark where it is slow."""
    point = overview.points[0]
    costs = [cost for cost in _newest(overview, point) if getattr(cost, field)]
    if not costs:
        return None
    unit = f"{field} per {per(point)}"
    ordered = sorted(costs, key=lambda cost: (value_in(cost, field), cost.machine))
    machines = list(dict.fromkeys(cost.machine for cost in ordered))
    kept = {*machines[:_MACHINES]}
    costs = [cost for cost in costs if cost.machine in kept]
    records = [
        {
            "machine": plain(cost.machine, 60),
            "library": plain(cost.library, 30),
            "value": value_in(cost, field),
            "text": f"{number(value_in(cost, field), value_in(cost, field) * cost.width)}{marks_text(cost)}",
            "described": _described(cost, field, unit),
        }
        for cost in costs
    ]
    values = [value_in(cost, field) for cost in costs]
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
    colour = alt.Color("value:Q", scale=scale, legend=None)
    tiles = base.mark_rect().encode(color=colour, description="described:N", tooltip=charts.tooltip())
    light = alt.condition(f"datum.value > {middle!r}", alt.value(theme.PAPER), alt.value(theme.INK))
    labels = base.mark_text(fontSize=10, aria=False).encode(text="text:N", color=light)
    chart = alt.layer(*((tiles, labels) if room > _READABLE else (tiles,)))
    told = [
        f"{unit}, median of a machine's runs; newest version of each library; the darker, the slower",
        *_legend(costs),
    ]
    if left := len(machines) - len(kept):
        told.append(f"{left} slower machines are not drawn")
    title = f"{_point_text(point)} on {counted(len(kept), 'machine')}, fastest first"
    return finished(chart.properties(width=width, height=alt.Step(17)), title, told, narrow=narrow)


def _described(cost: PointCost, field: str, unit: str) -> str:
    return (
        f"{plain(cost.machine, 80)}, {plain(cost.library, 40)} {plain(cost.version, 80)}, "
        f"{_point_text(cost.point)}: {_cost_text(cost, field)} {unit}, {counted(cost.runs, 'run')}"
    )


def _legend(costs: Iterable[PointCost]) -> list[str]:
    """What the marks of these costs mean; nothing where there is none."""
    meanings = "; ".join(f"{mark} {meaning}" for mark, meaning in meanings_of(costs))
    return [meanings] if meanings else []


def _dots(overview: Overview, field: str, each: str, *, narrow: bool = False) -> Chart | None:
    """A dot for each machine and library, a row a point that is counted per `each`: how far machines spread."""
    unit = f"{field} per {each}"
    points = [point for point in overview.points if per(point) == each]
    costs = [cost for point in points for cost in _newest(overview, point) if getattr(cost, field)]
    if not costs:
        return None
    records: list[dict[str, Any]] = []
    for cost in costs:
        records.append(
            {
                "what": _point_text(cost.point),
                "library": plain(cost.library, 30),
                **charts.spread(estimate_in(cost, field)),
                "marks": marks_text(cost),
                "described": _described(cost, field, unit),
            }
        )
    libraries = sorted({record["library"] for record in records})[: len(theme.SERIES)]
    records = [record for record in records if record["library"] in libraries]
    chart = charts.dots(
        records,
        y=("what", list(map(_point_text, points))),
        x=unit,
        scale=charts.logarithmic(record["value"] for record in records),
        look=theme.series(libraries),
        by="library",
        lanes=libraries,
        text="marks",
        narrow=narrow,
    )
    machines = [*overview.models]
    title = f"How far {counted(len(machines), 'machine')} spread"
    if len(machines) == 1:
        title = f"What libraries cost on {plain(machines[0], 80)}"
    subtitle = f"{unit}, a dot a machine and library; thin lines: the widest interval of its runs"
    return finished(chart, title, [subtitle, *_legend(costs)], narrow=narrow)


def _versions(overview: Overview) -> Chart | None:
    """Versions of libraries in the order in which one machine measured them."""
    machine, costs = overview.versions()
    costs = [cost for cost in costs if cost.cycles]
    costs = [cost for cost in costs if per(cost.point) == per(costs[0].point)]
    if not costs:
        return None
    unit = f"cycles per {per(costs[0].point)}"
    records: list[dict[str, Any]] = []
    for cost in costs:
        what, library, cycles = _point_text(cost.point), plain(cost.library, 30), value_in(cost, CYCLES)
        records.append(
            {
                "what": what,
                "library": library,
                "version": plain(f"{cost.library} {cost.version}", 60),
                **charts.spread(Estimate(cycles, math.nan, math.nan)),
                "described": f"{what}, {library} {plain(cost.version, 80)}: {number(cycles)} {unit}",
            }
        )
    libraries = list(dict.fromkeys(record["library"] for record in records))[: len(theme.SERIES)]
    records = [record for record in records if record["library"] in libraries]
    by_library = sorted(records, key=lambda record: record["library"])
    chart = charts.dots(
        records,
        y=("version", list(dict.fromkeys(record["version"] for record in by_library))),
        x=unit,
        scale=charts.logarithmic(record["value"] for record in records),
        look=theme.series(libraries),
        by="library",
        row=("what", list(dict.fromkeys(record["what"] for record in records))),
    )
    title = f"Versions of libraries on {plain(machine, 80)}"
    return finished(chart, title, [f"{unit}; to the left is faster"])
