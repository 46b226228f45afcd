"""Runs side by side as a figure: what a call costs in each run as a multiple of the first, cell by cell.

Drawn are cells that the first run and another one have. The axis is logarithmic, so that twice and half are equally far
from 1; runs differ in colour, in shape and in their place within the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from perbyte.errors import UsageError
from perbyte.model.cell import FULL
from perbyte.report import theme
from perbyte.report.panels import Chart, Records, coloured, finished, inlined, ratio_scale, tooltip
from perbyte.report.sidebyside import SideRow
from perbyte.report.units import number, plain, size_label, three_digits

_MOST = 40


def ratio_chart(rows: Sequence[SideRow], names: Sequence[str]) -> Chart:
    """Draw the ratios of `rows` to the first run. Raises UsageError when no cell is in the first and another run."""
    records = _records(rows, names)
    if not records:
        raise UsageError("no cell is in the first run and in another one")
    title = _title(records, names)
    found = list(dict.fromkeys(record["algorithm"] for record in records))
    algorithms = found[:_MOST]
    kept = set(algorithms)
    records = [record for record in records if record["algorithm"] in kept]
    others = [plain(name, 40) for name in names[1:] if any(one["run"] == plain(name, 40) for one in records)]
    look = theme.series(others)
    lane = max(18, 9 * len(others) + 6)
    base = alt.Chart().encode(
        y=alt.Y("algorithm:N", title=None, sort=algorithms, axis=alt.Axis(grid=True, ticks=False)),
        yOffset=alt.YOffset("run:N", sort=others),
    )
    scale = ratio_scale(record["value"] for record in records)
    value = alt.X("value:Q", title=f"cost of a call, as a multiple of {plain(names[0], 40)}", **scale)
    one = (
        alt.Chart()
        .mark_rule(color=theme.INK, strokeDash=[4, 3], aria=False)
        .encode(x=alt.X(datum=1.0, type="quantitative"))
    )
    point = base.mark_point(size=44, filled=True).encode(
        x=value,
        color=coloured("run", look),
        shape=alt.Shape(
            "run:N",
            title="run",
            scale=alt.Scale(domain=list(look), range=[each[1] for each in look.values()]),
        ),
        description="described:N",
        tooltip=tooltip(),
    )
    whisker = base.mark_rule(strokeWidth=1.5, aria=False).encode(
        x="low:Q", x2="high:Q", color=coloured("run", look)
    )
    drawn = alt.layer(one, whisker, point, data=inlined(records)).properties(
        width=760, height=len(algorithms) * lane
    )
    units = {record["unit"] for record in records}
    counted = (
        "cycles" if units == {"cycles"} else "time" if units == {"ns"} else "cycles, or time without them"
    )
    lines = [
        f"{counted}, on a logarithmic axis; left of 1 is cheaper than in {plain(names[0], 40)}",
        "a point for each cell that both have; thin lines: intervals, where they are known",
    ]
    if len(found) > len(algorithms):
        lines.append(f"{len(algorithms)} of {len(found)} algorithms are shown, the tables have all")
    return finished(drawn, title, lines)


def _records(rows: Sequence[SideRow], names: Sequence[str]) -> Records:
    records = []
    for row in rows:
        cell = row.cell
        tier = "" if cell.cpu == FULL else f" ({plain(cell.cpu, 20)})"
        size = f" {size_label(cell.size_bytes)}" if cell.size_bytes else ""
        for entry, name in zip(row.entries, names, strict=True):
            one = entry.comparison
            if one is None or not 0 < one.ratio.value < math.inf:
                continue
            known = math.isfinite(one.ratio.half_width) and one.ratio.low > 0
            text = number(one.ratio.value, one.ratio.half_width) if known else three_digits(one.ratio.value)
            what = "time" if one.unit == "ns" else "cycles"
            records.append(
                {
                    "algorithm": plain(cell.algorithm, 40) + tier,
                    "run": plain(name, 40),
                    "value": one.ratio.value,
                    "low": one.ratio.low if known else one.ratio.value,
                    "high": one.ratio.high if known else one.ratio.value,
                    "unit": one.unit,
                    "described": f"{plain(cell.algorithm, 40)}{tier}, {plain(cell.runner, 30)}, "
                    f"{plain(cell.operation, 24)}{size}: {text} times the {what} of "
                    f"{plain(names[0], 40)} in {plain(name, 40)}" + ("" if known else ", interval not known"),
                }
            )
    return records


def _title(records: Records, names: Sequence[str]) -> str:
    said = []
    for name in (plain(each, 40) for each in names[1:5]):
        logs = [math.log(float(record["value"])) for record in records if record["run"] == name]
        if logs:
            said.append(f"{three_digits(math.exp(sum(logs) / len(logs)))} in {name}")
    return f"Cost of a call as a multiple of {plain(names[0], 40)}, geometric mean: {', '.join(said)}"
