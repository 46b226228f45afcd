"""The chart of what a data rate takes: all algorithms and libraries of a run on one axis, in cores."""

from __future__ import annotations

import altair as alt

from perbyte.model.text import plain
from perbyte.report import charts, theme
from perbyte.report.card import RATES
from perbyte.report.charts import Chart, finished
from perbyte.report.rate import rate_text
from perbyte.report.runcharts import accelerated_alone
from perbyte.report.runview import Points
from perbyte.report.wording import number, size_label

_MOST = 24  # rows, the cheapest


def at_a_rate(points: Points, *, narrow: bool = False) -> Chart | None:
    """Draw what 10 GB/s take in cores: all algorithms and libraries on one axis, at the largest size.

    None where there is but one algorithm, or no data.
    """
    operation = points.operations[0]
    here = [dict(record) for record in points.records if record["operation"] == operation and record["ns"]]
    here, left = accelerated_alone(here)
    largest = max((int(record["size_bytes"]) for record in here), default=0)
    here = sorted(
        (record for record in here if record["size_bytes"] == largest), key=lambda record: float(record["ns"])
    )
    names = list(dict.fromkeys(record["series"] for record in here))
    if len(names) < 2 or not largest:
        return None
    shown, rate = here[:_MOST], RATES[-1]
    for record in shown:
        times = rate / largest * 1e-9 * record["ns"] / record["value"]
        if points.unit.more_is_better:
            times = rate / largest * 1e-9 * record["ns"] * record["value"]
            record["low"], record["high"] = 1 / record["high"], 1 / record["low"]
        cores = rate / largest * 1e-9 * record["ns"]
        record |= {
            "row": f"{record['series']}, {record['library']}",
            "low": record["low"] * times,
            "high": record["high"] * times,
            "value": cores,
            "cores": f"{number(cores, cores / 50)} cores",
        }
        record["described"] += f"; {record['cores']} at {rate_text(rate)}"
    colours = alt.Scale(domain=names, range=list(theme.SERIES[: len(names)]))
    chart = charts.bars(
        shown,
        y=("row", [record["row"] for record in shown]),
        unit=f"cores at {rate_text(rate)}",
        text="cores",
        colour=alt.Color("series:N", title=None, scale=colours)
        if len(names) <= len(theme.SERIES)
        else alt.value(theme.BLUE),
        narrow=narrow,
    )
    first, other = shown[0], next((record for record in here if record["series"] != here[0]["series"]), None)
    title = f"{rate_text(rate)} take {first['cores']} by {first['row']}"
    if other and "cores" in other:
        title += f", {other['cores']} by {other['row']}"
    more = [f"{len(shown)} of {len(here)} rows are shown"] if len(shown) < len(here) else []
    texts = [
        f"cores to {operation} {size_label(largest)} a call, contract {plain(points.contract, 30)}; less is better",
        "; ".join([*left, *more, "one call after the other on cores of this kind; nothing else is in it"]),
    ]
    return finished(chart, title, texts, narrow=narrow)
