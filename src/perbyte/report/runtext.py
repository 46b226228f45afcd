"""A run as `show` and `measure` print it: the table, and what is asked for beside its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perbyte.model import Run
from perbyte.report.behaviour import render_behaviour
from perbyte.report.beside import limits_listing, rate_json, rate_listing, render_beyond, scaling_json
from perbyte.report.export import to_json
from perbyte.report.grid import compare_runs
from perbyte.report.handshakes import handshakes_listing
from perbyte.report.leaktext import render_of_run
from perbyte.report.lines import render_listing
from perbyte.report.listing import records
from perbyte.report.placement import render_placements
from perbyte.report.text import render_comparison, render_table
from perbyte.stats.quantity import Unit


@dataclass(frozen=True, slots=True)
class RunExtras:
    """What is shown beside the figures; `rate` in bytes per second."""

    rate: float | None = None
    limits: bool = False
    count: bool = False
    memory: bool = False
    leak: bool = False
    places: bool = False


def run_json(run: Run, beside: RunExtras) -> dict[str, Any]:
    """The run for programs; counts, memory, leaks and places are in it wherever they were measured."""
    document = to_json(run)
    document |= {"rate": rate_json(run.cells, beside.rate)} if beside.rate else {}
    document |= {"handshakes": records(shaken)} if (shaken := handshakes_listing(run)) else {}
    document |= {"limits": records(limits_listing(run.cells))} if beside.limits else {}
    return document | ({"scaling": scaled} if (scaled := scaling_json(run.cells)) else {})


def render_run(run: Run, unit: str | None, beside: RunExtras) -> str:
    """The table as text, and below it what several cores do and what was asked for."""
    parts = [
        render_table(run, unit=Unit(unit) if unit else None),
        render_beyond(run.cells),
        render_listing(shaken) if (shaken := handshakes_listing(run)) else "",
        render_listing(rate_listing(run.cells, beside.rate)) if beside.rate else "",
        render_listing(limits_listing(run.cells)) if beside.limits else "",
        render_behaviour(run, count=beside.count, memory=beside.memory)
        if beside.count or beside.memory
        else "",
        render_of_run(run.leaks) if beside.leak else "",
        render_placements(run.placements) if beside.places else "",
    ]
    return "\n".join(filter(None, parts))


def render_side_by_side(runs: Mapping[str, Run]) -> str:
    """Several runs as text, a column for each name; one alone as it is."""
    opened = list(runs.values())
    if len(opened) == 1:
        return render_table(opened[0])
    return render_comparison(compare_runs(opened, list(runs)), opened[0].noise_floor)
