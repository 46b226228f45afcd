"""Charts of what work costs in other terms: a call over its size, with the fitted model, and a data rate in cores.

None mixes contracts. A chart without data is None.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import altair as alt

from perbyte.model.text import plain
from perbyte.report import charts, theme
from perbyte.report.beside import rate_text
from perbyte.report.card import RATES
from perbyte.report.charts import Chart, finished
from perbyte.report.many import Chosen
from perbyte.report.runcharts import subtitle_of
from perbyte.report.runview import FittedCost, Points, RunView
from perbyte.report.wording import number, percent, size_label
from perbyte.stats.quantity import Unit

_MOST = 24  # rows, the cheapest
_STEPS = 32
_BEYOND = 2  # how far below the smallest figure a model's line is drawn: a bent one can fall to nothing
_STRAIGHT = 0.05  # a model that is further off somewhere is not quoted in a title
USELESS = 0.10  # and one that is further off than this is neither drawn nor given


def cost_over_size(view: RunView, points: Points, *, narrow: bool = False) -> Chart | None:
    """Draw cycles per byte over size, measured and as the model has it, one panel per algorithm."""
    operation = points.operations[0]
    models = {
        (cost.cell.algorithm, cost.cell.cpu, plain(cost.cell.runner, 24)): cost
        for cost in view.costs
        if cost.cell.contract == points.contract
        and plain(cost.cell.operation, 24) == operation
        and cost.model.unit == "cycles"
    }
    own = [
        record
        for record in points.records
        if record["operation"] == operation
        and (record["algorithm"], record["tier"], record["library"]) in models
    ]
    if not own or points.unit is not Unit.CYCLES_PER_BYTE:
        return None
    chosen = Chosen(points, own)
    chosen.leading_libraries()
    series = chosen.first_series()
    own = chosen.records
    drawn = {key: models[key] for key in dict.fromkeys(map(_model_key, own))}
    records = [_explained(record, models[_model_key(record)]) for record in own]
    least = min(float(record["value"]) for record in own)
    for record in {_model_key(record): record for record in own}.values():
        records += _model_line(models[_model_key(record)], record, least)
    look = theme.series(chosen.libraries)
    # sizes as people write them: `16 B`, `1 KiB`
    names = json.dumps({str(size): size_label(size) for size in points.sizes})
    axis = alt.Axis(
        values=list(points.sizes), labelExpr=f"({names})[datum.value]", labelOverlap="greedy", labelFlush=True
    )
    scale = alt.Scale(type="log", nice=False)
    x = alt.X("size_bytes:Q", title="bytes per call", scale=scale, axis=axis)
    y = alt.Y("value:Q", title=points.unit.value, **charts.logarithmic(record["value"] for record in records))
    base = alt.Chart().encode(x=x, color=charts.styled(alt.Color, "library", look))
    dash = charts.styled(alt.StrokeDash, "library", look)
    line = base.mark_line(strokeWidth=1.5, aria=False).encode(y=y, strokeDash=dash)
    shape = charts.styled(alt.Shape, "library", look)
    point = base.mark_point(size=34, filled=True).encode(
        y=y, shape=shape, description="described:N", tooltip=charts.tooltip()
    )
    whisker = base.mark_rule(aria=False).encode(y="low:Q", y2="high:Q")
    measured = alt.datum.kind == "measured"
    layers = [
        line.transform_filter(alt.datum.kind == "model"),
        whisker.transform_filter(measured),
        point.transform_filter(measured),
    ]
    note = "points: measured; lines: the model, cycles = per message + per byte × size"
    panels = charts.curves(layers, records, panels=("series", series), narrow=narrow)
    subtitle = subtitle_of(view, points, note, *chosen.told("series", "libraries"))
    return finished(panels, _cost_title(drawn, operation), subtitle, narrow=narrow)


def at_a_rate(points: Points, *, narrow: bool = False) -> Chart | None:
    """Draw what 10 GB/s take in cores: all algorithms and libraries on one axis, at the largest size.

    None where there is but one algorithm, or no data.
    """
    operation = points.operations[0]
    timed = (record for record in points.records if record["operation"] == operation and record["ns"])
    chosen = Chosen(points, timed)
    chosen.accelerated()
    largest = max(chosen.values("size_bytes"), default=0)
    chosen.keep("size_bytes", [largest])
    here = sorted(chosen.records, key=lambda record: float(record["ns"]))
    names = list(dict.fromkeys(record["series"] for record in here))
    if len(names) < 2 or not largest:
        return None
    shown, rate = here[:_MOST], RATES[-1]
    at = rate_text(rate)
    for record in shown:
        cores = rate / largest * 1e-9 * record["ns"]
        low, high, times = record["low"], record["high"], cores / record["value"]
        if points.unit.more_is_better:
            low, high, times = 1 / high, 1 / low, cores * record["value"]
        record |= {
            "row": f"{record['series']}, {record['library']}",
            "low": low * times,
            "high": high * times,
            "value": cores,
            "cores": f"{number(cores, cores / 50)} cores",
        }
        record["described"] += f"; {record['cores']} at {at}"
    colour = alt.value(theme.BLUE)
    if len(names) <= len(theme.SERIES):
        scale = alt.Scale(domain=names, range=list(theme.SERIES[: len(names)]))
        colour = alt.Color("series:N", title=None, scale=scale)
    chart = charts.bars(
        shown,
        y=("row", [record["row"] for record in shown]),
        unit=f"cores at {at}",
        text="cores",
        colour=colour,
        narrow=narrow,
    )
    first, other = shown[0], next((record for record in here if record["series"] != here[0]["series"]), None)
    title = f"{at} take {first['cores']} by {first['row']}"
    if other and "cores" in other:
        title += f", {other['cores']} by {other['row']}"
    more = [f"{len(shown)} of {len(here)} rows are shown"] if len(shown) < len(here) else []
    alone = "one call after the other on cores of this kind; nothing else is in it"
    texts = [
        f"cores to {operation} {size_label(largest)} a call, contract {plain(points.contract, 30)}; less is better",
        "; ".join([*chosen.told("tiers"), *more, alone]),
    ]
    return finished(chart, title, texts, narrow=narrow)


def _model_key(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record["algorithm"], record["tier"], record["library"]


def _explained(record: dict[str, Any], cost: FittedCost) -> dict[str, Any]:
    model = cost.model
    half_message, half_byte = model.per_message_interval.half_width, model.per_byte_interval.half_width
    setup = f"setup {number(model.setup, model.setup / 1000)} + " if model.setup is not None else ""
    remark = (
        f"model: {setup}{number(model.per_message, half_message)} per message + "
        f"{number(model.per_byte, half_byte)} per byte, off by {percent(model.worst_residual)} at most"
    )
    if model.worst_residual > USELESS:
        remark = f"no straight line over size: the best is off by {percent(model.worst_residual)}"
    return {**record, "described": f"{record['described']}; {remark}", "kind": "measured"}


def _model_line(cost: FittedCost, record: Mapping[str, Any], least: float) -> list[dict[str, Any]]:
    model = cost.model
    if model.worst_residual > USELESS:
        return []
    low, high = math.log(model.sizes[0]), math.log(model.sizes[-1])
    shared = {"kind": "model", "series": record["series"], "library": record["library"]}
    drawn = []
    for step in range(_STEPS + 1):
        size = math.exp(low + (high - low) * step / _STEPS)
        value = model.at(size) / size  # type: ignore[arg-type]
        if value > least / _BEYOND:
            drawn.append({**shared, "size_bytes": size, "value": value})
    return drawn


def _cost_title(drawn: Mapping[Any, FittedCost], operation: str) -> str:
    models = [cost.model for cost in drawn.values()]
    straight = [model for model in models if model.worst_residual <= _STRAIGHT]
    if not straight:
        nearest = percent(min(model.worst_residual for model in models))
        return f"No straight line describes these costs: the nearest is off by {nearest} ({operation})"
    rest = len(models) - len(straight)
    bent = f"; {rest} of {len(models)} are no straight line" if rest else ""
    if all(model.per_message_interval.low <= 0 for model in straight):
        return f"At these sizes no cost of a call before its first byte can be told ({operation}{bent})"
    fixed = sorted(max(model.per_message, 0.0) for model in straight)
    span = number(fixed[0], 1) if len(fixed) == 1 else f"{number(fixed[0], 1)} to {number(fixed[-1], 1)}"
    return f"A call costs {span} cycles before its first byte ({operation}{bent})"
