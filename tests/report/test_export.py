from __future__ import annotations

import csv
import io
import json
import math

import pytest
from made_runs import hostile_run, made_figure, made_run, usual_run

from perbyte.model import Cell, Doubt, Interval, Warning
from perbyte.model.text import plain
from perbyte.report.export import CELL_FIELDS, SCHEMA_VERSION, to_csv, to_json

PROMISED = [
    *(
        "address",
        "runner",
        "library",
        "library_version",
        "algorithm",
        "operation",
        "contract",
        "cpu",
        "size_bytes",
    ),
    *(
        "cycles_per_byte",
        "cycles_per_call",
        "ns_per_call",
        "megabytes_per_second",
        "interval_low",
        "interval_high",
    ),
    *("interval_level", "samples", "clean_samples", "epochs", "quality", "cycle_source", "warnings"),
]


def test_the_promised_fields_are_there_under_their_names() -> None:
    made = to_json(usual_run())
    assert made["schema_version"] == SCHEMA_VERSION == 1
    assert set(made) == {"schema_version", "run", "cells", "bindings"}
    for cell in made["cells"]:
        assert list(cell) == list(CELL_FIELDS)
        assert list(cell)[: len(PROMISED)] == PROMISED


def test_floats_keep_their_full_precision() -> None:
    figure = made_figure(Cell("a", "aes", "encrypt", 16, "stream/1"), 100.0 / 3)
    (cell,) = json.loads(json.dumps(to_json(made_run((figure,)))))["cells"]
    assert cell["cycles_per_call"] == figure.cycles_per_call
    assert cell["cycles_per_byte"] == figure.cycles_per_byte
    assert (cell["interval_low"], cell["interval_high"]) == (figure.interval.low, figure.interval.high)
    assert cell["interval_unit"] == "cycles"


def test_conditions_and_failures_travel_along() -> None:
    run = usual_run()
    made = to_json(run)["run"]
    assert made["id"] == run.conditions.run_id
    assert made["machine"]["cpu_model"] == "Imaginary CPU 9000"
    assert made["policy"]["seed"] == run.conditions.policy.seed
    assert len(made["failures"]) == len(run.failures)
    assert made["noise_floor"]["relative"] == run.noise_floor.relative  # type: ignore[union-attr]
    assert made["complete"] is True


def test_no_value_breaks_the_json() -> None:
    text = json.dumps(to_json(hostile_run()), allow_nan=False)
    cells = json.loads(text)["cells"]
    assert cells[-1]["ns_per_call"] is None
    assert cells[-1]["cycles_per_call"] is None
    assert cells[-1]["interval_unit"] == "ns"


def test_csv_reads_back() -> None:
    run = usual_run()
    rows = list(csv.DictReader(io.StringIO(to_csv(run), newline="")))
    assert len(rows) == len(run.cells)
    for row, figure in zip(rows, run.cells, strict=True):
        assert row["address"] == figure.cell.address
        assert math.isclose(float(row["cycles_per_byte"]), figure.cycles_per_byte or 0.0, rel_tol=0)


def test_csv_keeps_hostile_text_inside_its_field() -> None:
    run = hostile_run()
    rows = list(csv.DictReader(io.StringIO(to_csv(run), newline="")))
    assert [row["library"].removeprefix("'") for row in rows] == [
        plain(figure.library, 4000) for figure in run.cells
    ]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\u200b=1", "|x", "＝1"])
def test_csv_holds_no_formula(name: str) -> None:
    figure = made_figure(
        Cell(name, "aes", "encrypt", 16, "stream/1"),
        100.0,
        library=name,
        warnings=(Warning(Doubt.OTHER, name),),
    )
    (row,) = csv.DictReader(io.StringIO(to_csv(made_run((figure,))), newline=""))
    assert {row["runner"], row["library"], row["warnings"]} == {f"'{plain(name)}"}
    assert not [value for value in row.values() if value.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert float(row["cycles_per_call"]) == 100.0


def test_an_interval_that_nobody_knows_is_null() -> None:
    unknown = Interval(0.0, math.inf, dominated_by="unknown")
    figure = made_figure(Cell("a", "aes", "encrypt", 16, "stream/1"), None, interval=unknown)
    (cell,) = json.loads(json.dumps(to_json(made_run((figure,))), allow_nan=False))["cells"]
    assert (cell["interval_low"], cell["interval_high"]) == (None, None)
    assert cell["ns_per_call"] == figure.ns_per_call
    (row,) = csv.DictReader(io.StringIO(to_csv(made_run((figure,))), newline=""))
    assert (row["interval_low"], row["interval_high"], row["interval_dominated_by"]) == ("", "", "unknown")
