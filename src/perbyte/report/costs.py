"""The cost of a call by its size: fitted models of a run, as rows of a table and as a figure.

Fitting is the business of `perbyte.stats.cost`; here it is asked for wherever a cell was measured at three sizes or
more. A model that does not describe its cells is not drawn; that it does not, and by how much, is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt

from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure, Run
from perbyte.report import theme
from perbyte.report.panels import (
    Chart,
    chosen,
    coloured,
    finished,
    first_series,
    inlined,
    logarithmic,
    subtitle,
)
from perbyte.report.points import Names, Points
from perbyte.report.units import number, percent, plain
from perbyte.stats.cost import CostModel, fit_cost
from perbyte.stats.quantity import Unit, data_bytes

_STEPS = 32
_BEYOND = 2  # how far below the smallest figure a model's line is drawn: a bent one can fall to nothing
_STRAIGHT = 0.05  # a model that is further off somewhere is not quoted in a title
_USELESS = 0.10  # and one that is further off than this is neither drawn nor given
COLUMNS = (
    "algorithm",
    "library",
    "operation",
    "contract",
    "setup",
    "per message",
    "per byte",
    "furthest off",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """A fitted model and the cell it stands for (its size is that of the largest call measured)."""

    cell: Cell
    model: CostModel


def models_of(run: Run) -> tuple[Cost, ...]:
    """Fit every operation that was measured at three sizes or more.

    Figures that are not positive are left out, and so are those whose interval nobody knows: half-widths of their model
    would be made of nothing.
    """
    by_call: dict[tuple[str, str, str, str, str], list[CellFigure]] = {}
    setups: dict[tuple[str, str, str], CellFigure] = {}
    for figure in run.cells:
        cell = figure.cell
        if cell.twin or not figure.interval.known or not 0 < figure.per_call < math.inf:
            continue
        if not data_bytes(cell):
            setups[(cell.runner, cell.algorithm, cell.cpu)] = figure
        else:
            key = (cell.runner, cell.algorithm, cell.cpu, cell.operation, cell.contract)
            by_call.setdefault(key, []).append(figure)
    found = []
    for key, figures in by_call.items():
        model = fit_cost(figures, setup=setups.get(key[:3]))
        if model is not None:
            found.append(Cost(max((one.cell for one in figures), key=lambda cell: cell.size_bytes), model))
    return tuple(found)


def cost_rows(run: Run, names: Names | None = None) -> list[tuple[str, ...]]:
    """The models as text, under `COLUMNS`; costs in cycles (or ns, which is then said)."""
    rows: list[tuple[str, ...]] = []
    for cost in models_of(run):
        cell, model = cost.cell, cost.model
        unit = "" if model.unit == "cycles" else " ns"
        halves = (model.per_message_interval.half_width, model.per_byte_interval.half_width)
        if model.worst_residual > _USELESS:
            fitted = ("no straight line", "–")
        else:
            fitted = (
                f"{number(model.per_message, halves[0])} ± {number(halves[0], halves[0])}{unit}",
                f"{number(model.per_byte, halves[1])} ± {number(halves[1], halves[1])}{unit}",
            )
        title = cell.algorithm if cell.cpu == "full" else f"{cell.algorithm} ({cell.cpu})"
        rows.append(
            (
                plain((names or {}).get((cell.algorithm, cell.cpu), title), 60),
                plain(cell.runner, 40),
                plain(cell.operation, 24),
                plain(cell.contract, 30),
                "–" if model.setup is None else number(model.setup, model.setup / 1000) + unit,
                *fitted,
                percent(model.worst_residual),
            )
        )
    return rows


def cost_over_size(
    run: Run,
    *,
    contract: str | None = None,
    operation: str | None = None,
    names: Names | None = None,
    points: Points | None = None,
) -> Chart:
    """Draw cycles per byte over size, measured and as the model has it, one panel per algorithm.

    Without `operation`, the first. Raises UsageError where nothing was measured at three sizes or more.
    """
    points = chosen(run, contract, Unit.CYCLES_PER_BYTE, names, points)
    operation = plain(operation, 24) if operation else points.operations[0]
    models = {
        (cost.cell.algorithm, cost.cell.cpu, plain(cost.cell.runner, 24)): cost.model
        for cost in models_of(run)
        if cost.cell.contract == points.contract and plain(cost.cell.operation, 24) == operation
    }
    mine = [
        record
        for record in points.records
        if record["operation"] == operation
        and (record["algorithm"], record["tier"], record["library"]) in models
        and (models[record["algorithm"], record["tier"], record["library"]].unit == "cycles")
    ]
    if not mine or points.unit is not Unit.CYCLES_PER_BYTE:
        raise UsageError(
            "no cell of this run was measured at three sizes or more", way_out="measure with --size"
        )
    series, mine, rest = first_series(points, mine)
    records = [record for one in mine for record in [{**_explained(one, models), "kind": "measured"}]]
    records += _lines(mine, models)
    look = theme.series(points.libraries)
    x = alt.X(
        "size_bytes:Q",
        title="bytes per call",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=list(points.sizes), format="~s", labelOverlap="greedy"),
    )
    y = alt.Y("value:Q", title=points.unit.value, **logarithmic(one["value"] for one in records))
    base = alt.Chart().encode(x=x, color=coloured("library", look))
    domain = list(look)
    line = (
        base.transform_filter(alt.datum.kind == "model")
        .mark_line(strokeWidth=1.5, aria=False)
        .encode(
            y=y,
            strokeDash=alt.StrokeDash(
                "library:N",
                title="library",
                scale=alt.Scale(domain=domain, range=[one[2] for one in look.values()]),
            ),
        )
    )
    measured = base.transform_filter(alt.datum.kind == "measured")
    point = measured.mark_point(size=34, filled=True).encode(
        y=y,
        shape=alt.Shape(
            "library:N",
            title="library",
            scale=alt.Scale(domain=domain, range=[one[1] for one in look.values()]),
        ),
        description="described:N",
        tooltip=[alt.Tooltip("described:N", title=" ")],
    )
    whisker = measured.mark_rule(aria=False).encode(y="low:Q", y2="high:Q")
    wide = 3 if len(series) > 2 else len(series)
    panels = (
        alt.layer(line, whisker, point)
        .properties(width=960 // wide - 40, height=150)
        .facet(
            facet=alt.Facet("series:N", sort=series, header=alt.Header(title=None)),
            columns=wide,
            data=inlined(records),
        )
        .properties(spacing=32)
    )
    note = "points: measured; lines: the model, cycles = per message + per byte × size"
    return finished(panels, _title(models, mine, operation), subtitle(run, points, note, *rest))


def _explained(record: dict[str, Any], models: Mapping[tuple[str, str, str], CostModel]) -> dict[str, Any]:
    model = models[record["algorithm"], record["tier"], record["library"]]
    if model.worst_residual > _USELESS:
        said = f"no straight line over size: the best is off by {percent(model.worst_residual)}"
        return {**record, "described": f"{record['described']}; {said}"}
    half_message, half_byte = model.per_message_interval.half_width, model.per_byte_interval.half_width
    setup = f"setup {number(model.setup, model.setup / 1000)} + " if model.setup is not None else ""
    said = (
        f"model: {setup}{number(model.per_message, half_message)} per message + "
        f"{number(model.per_byte, half_byte)} per byte, off by {percent(model.worst_residual)} at most"
    )
    return {**record, "described": f"{record['described']}; {said}"}


def _lines(
    records: list[dict[str, Any]], models: Mapping[tuple[str, str, str], CostModel]
) -> list[dict[str, Any]]:
    drawn = []
    least = min(float(one["value"]) for one in records)
    for key in dict.fromkeys(
        (one["algorithm"], one["tier"], one["library"], one["series"]) for one in records
    ):
        model = models[key[:3]]
        if model.worst_residual > _USELESS:
            continue
        low, high = math.log(model.sizes[0]), math.log(model.sizes[-1])
        for step in range(_STEPS + 1):
            size = math.exp(low + (high - low) * step / _STEPS)
            value = model.at(size) / size  # type: ignore[arg-type]
            if value > least / _BEYOND:
                drawn.append(
                    {"kind": "model", "series": key[3], "library": key[2], "size_bytes": size, "value": value}
                )
    return drawn


def _title(
    models: Mapping[tuple[str, str, str], CostModel], records: list[dict[str, Any]], operation: str
) -> str:
    drawn = [
        models[key]
        for key in dict.fromkeys((one["algorithm"], one["tier"], one["library"]) for one in records)
    ]
    straight = [model for model in drawn if model.worst_residual <= _STRAIGHT]
    if not straight:
        nearest = percent(min(model.worst_residual for model in drawn))
        return f"No straight line describes these costs: the nearest is off by {nearest} ({operation})"
    fixed = sorted(max(model.per_message, 0.0) for model in straight)
    span = number(fixed[0], 1) if len(fixed) == 1 else f"{number(fixed[0], 1)} to {number(fixed[-1], 1)}"
    rest = len(drawn) - len(straight)
    bent = f"; {rest} of {len(drawn)} are no straight line" if rest else ""
    return f"A call costs {span} cycles before its first byte ({operation}{bent})"
