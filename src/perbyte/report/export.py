"""Runs and comparisons as JSON and CSV, for other programs: every field named, full precision, nothing rounded.

Field names are a promise: they may be added to, never renamed without a new `schema_version`. JSON passes text
on as it is; who prints it must escape it. In CSV, text that a spreadsheet would take for a formula gets an apostrophe
in front. NaN and infinities become null, so that the JSON is valid, and so do both ends of an interval that nobody
knows.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from perbyte import exchange
from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure, Interval, NoiseFloor, Quality, Quantile, Run
from perbyte.model.text import csv_text, json_ready
from perbyte.report.behaviour import COUNT_FIELDS, behaviours_json
from perbyte.report.beside import bindings_listing
from perbyte.report.grid import Entry, Grid, run_grids
from perbyte.report.leaktext import figures_json, verdict_text, worst_of
from perbyte.report.listing import records
from perbyte.stats.quantity import Unit, read
from perbyte.stats.standing import Lead

SCHEMA_VERSION = 1
_WITH_ENDS = (
    ("cycles_per_byte", Unit.CYCLES_PER_BYTE),
    ("ns_per_call", Unit.NS_PER_CALL),
    ("megabytes_per_second", Unit.MEGABYTES_PER_SECOND),
)
CSV_FIELDS = (
    *(f"{name}_{end}" for name, _ in _WITH_ENDS for end in ("low", "high")),
    *("run", "started_at", "machine", "seed", "noise_floor", "perbyte_version", "perbyte_commit"),
)
"""What a line of CSV has beside the fields of JSON, so that lines of several runs can stand in one table."""
LEAK_FIELDS = ("leak", "leak_bound", "leak_said")


def to_json(run: Run) -> dict[str, Any]:
    """Give `run` as an object of JSON types: `schema_version`, `run` (conditions, failures), `cells`, `bindings`;
    `behaviour` where something was counted, `leaks` where times were looked at for what they tell of secrets, `places`
    where places in memory were drawn.

    `quantiles` are those of single calls, where they vary at random; empty else.
    `interval_*` is on cycles per call, or on nanoseconds per call where `interval_unit` says `ns`.
    """
    conditions, standings = run.conditions, _standings(run)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            "id": conditions.run_id,
            "path": str(run.path) if run.path else None,
            "complete": run.complete,
            "measuring_s": json_ready(run.measuring_s),
            "noise_floor": json_ready(run.noise_floor),
            **{
                field.name: json_ready(getattr(conditions, field.name))
                for field in dataclasses.fields(conditions)
                if field.name != "run_id"
            },
            "failures": json_ready(run.failures),
        },
        "cells": [cell_record(figure, standings.get(figure.cell)) for figure in run.cells],
        "bindings": records(bindings_listing(run)),
        **({"behaviour": json_ready(behaviours_json(run))} if run.behaviours else {}),
        **({"leaks": figures_json(run.leaks)} if run.leaks else {}),
        **({"places": json_ready([each.record() for each in run.placements])} if run.placements else {}),
    }


def to_csv(run: Run) -> str:
    """Give the cells of `run` as CSV (RFC 4180, with a heading); warnings are joined by semicolons.
    Where something was counted, its columns stand last, and behind them what has to be told first of leaks.

    Names come from whoever wrote the run; one that begins like a formula is led by an apostrophe.
    """
    counted = {behaviour.cell: behaviour.record() for behaviour in run.behaviours}
    leaks = {
        leak.cell: worst_of([other for other in run.leaks if other.cell == leak.cell]) for leak in run.leaks
    }
    fields = (*CELL_FIELDS, *CSV_FIELDS, *(COUNT_FIELDS if counted else ()), *(LEAK_FIELDS if leaks else ()))
    conditions, standings = run.conditions, _standings(run)
    of_run = {
        "run": conditions.run_id,
        "started_at": conditions.started_at,
        "machine": conditions.machine.cpu_model,
        "seed": conditions.policy.seed,
        "noise_floor": json_ready(run.noise_floor.relative) if run.noise_floor else None,
        "perbyte_version": conditions.perbyte_version,
        "perbyte_commit": conditions.perbyte_commit,
    }
    rows = []
    for figure in run.cells:
        record = cell_record(figure, standings.get(figure.cell)) | _ends(figure) | of_run
        record["warnings"] = "; ".join(record["warnings"])
        known = [entry for entry in record["quantiles"] if entry["value"] is not None]
        record["quantiles"] = "; ".join(f"{entry['share']:g}={entry['value']:g}" for entry in known)
        record |= counted.get(figure.cell, {})
        if told := leaks.get(figure.cell):
            record |= zip(
                LEAK_FIELDS, (told.verdict, json_ready(told.bound), verdict_text(told)), strict=True
            )
        rows.append(record)
    return csv_text(fields, rows)


def _ends(figure: CellFigure) -> dict[str, Any]:
    """The ends of the interval in the units that people compare in."""
    ends: dict[str, Any] = {}
    for name, unit in _WITH_ENDS:
        reading = read(figure, unit)
        low, high = (reading.low, reading.high) if reading and reading.known else (None, None)
        ends |= {f"{name}_low": low, f"{name}_high": high}
    return ends


def _standings(run: Run) -> dict[Cell, str]:
    """What tables mark: `fastest`, `tied` or `unknown` (may be the fastest), of cells that are compared with others."""
    return {
        entry.figure.cell: entry.lead.value
        for grid in run_grids(run)
        for entry in grid.entries
        if entry.figure and entry.lead is not Lead.NONE
    }


def cell_record(figure: CellFigure, standing: str | None = None) -> dict[str, Any]:
    """Give one figure under the names of `CELL_FIELDS`; sizes in bytes, what is not known is None."""
    cell = figure.cell
    return {
        "address": cell.address,
        "runner": cell.runner,
        "library": figure.library,
        "library_version": figure.library_version,
        **_work(cell),
        "cycles_per_byte": json_ready(figure.cycles_per_byte),
        **_costs(figure),
        "interval_low": json_ready(figure.interval.low) if figure.interval.known else None,
        "interval_high": json_ready(figure.interval.high) if figure.interval.known else None,
        "interval_level": figure.interval.level,
        "samples": figure.samples,
        "clean_samples": figure.clean_samples,
        "epochs": figure.epochs,
        "quality": str(figure.quality),
        "cycle_source": figure.cycle_source,
        "warnings": [warning.text for warning in figure.warnings],
        "twin": cell.twin,
        "state": cell.state,
        "interval_unit": "ns" if figure.cycles_per_call is None else "cycles",
        "interval_dominated_by": figure.interval.dominated_by,
        "standing": standing,
        "quantiles": [quantile_record(quantile) for quantile in figure.quantiles],
    }


def _work(cell: Cell) -> dict[str, Any]:
    names = ("algorithm", "operation", "contract", "cpu", "size_bytes")
    return {name: getattr(cell, name) for name in names}


def _costs(figure: CellFigure | None) -> dict[str, Any]:
    names = ("cycles_per_call", "ns_per_call", "megabytes_per_second")
    return {name: json_ready(getattr(figure, name, None)) for name in names}


_NO_CELL = Cell("", "", "", 0, "")
_NOTHING = CellFigure(_NO_CELL, "", "", None, 0.0, Interval(0, 0), 0, 0, 0, (), (), 0, Quality.GOOD, "")
CELL_FIELDS = tuple(cell_record(_NOTHING))


def quantile_record(quantile: Quantile) -> dict[str, Any]:
    """Give a quantile of single calls, in the unit of the figure's interval; an end that is not known is None."""
    estimate = quantile.estimate
    return {
        "share": quantile.share,
        "value": json_ready(estimate.value),
        "low": estimate.low or None,
        "high": json_ready(estimate.high),
    }


def comparison_json(grids: Sequence[Grid], noise: NoiseFloor | None) -> dict[str, Any]:
    """Give a comparison as JSON types, the same for two sides and for many; what is not known is None."""
    names = [column.side for column in grids[0].columns] if grids else []
    return {
        "schema_version": SCHEMA_VERSION,
        "sides": names,
        "noise_floor": json_ready(noise.relative) if noise else None,
        "rows": [
            {
                **_work(row.cell),
                "figures": [_compared(entry, name) for entry, name in zip(row.entries, names, strict=True)],
            }
            for grid in grids
            for row in grid.rows
        ],
    }


def comparison_csv(grids: Sequence[Grid]) -> str:
    """Give a comparison as CSV: a line for each row and side, under the names of the JSON."""
    rows = [row | figure for row in comparison_json(grids, None)["rows"] for figure in row.pop("figures")]
    return csv_text(rows[0], rows) if rows else ""


def _compared(entry: Entry, name: str) -> dict[str, Any]:
    figure, comparison = entry.figure, entry.comparison
    ratio = comparison.ratio if comparison else None
    return {
        "side": name,
        "address": figure.cell.address if figure else None,
        "failed": entry.failure.kind if entry.failure else None,
        **_costs(figure),
        "ratio": json_ready(ratio.value) if ratio else None,
        "interval_low": json_ready(ratio.low) if ratio else None,
        "interval_high": json_ready(ratio.high) if ratio else None,
        "tie": comparison.tie if comparison else None,
        "answer": comparison.answer.value if comparison else None,
        "direction": comparison.direction.value if comparison else None,
        "quality": str(figure.quality) if figure else None,
        "reason": comparison.reason if comparison else None,
    }


def exported(run: Run, form: str) -> tuple[str, str]:
    """The text of a run in a format, and what is left out there. Raises UsageError where no figure fits."""
    match form:
        case "openssl-speed":
            return _table(run)
        case "csv":
            return to_csv(run), ""
        case "benchfmt":
            return exchange.to_benchfmt(run), ""
        case "bencher":
            document: Any = exchange.to_bencher(run)
        case "github-action-benchmark":
            document = exchange.to_action(run)
        case _:
            document = to_json(run)
    return json.dumps(document, indent=1, allow_nan=False) + "\n", ""


def _table(run: Run) -> tuple[str, str]:
    table = exchange.write_table(run)
    if not table.text:
        raise UsageError(
            "this run has no figure that a table of openssl speed can hold",
            hint="it holds: ciphers stream/1 (encrypt), hashes oneshot/1, MACs message/1, RSA and DSA pk/1",
        )
    if not table.left_out:
        return table.text, ""
    cells = f"{len(table.left_out)} cells"
    return table.text, f"{cells} do not fit such a table and are left out: {table.left_out[0]} ..."
