"""Estimates in another unit, bursts with other samples, values as JSON has them."""

from __future__ import annotations

import dataclasses
import json
import math

from perbyte.model import Burst, Cell, Estimate
from perbyte.model.sample import COLUMNS
from perbyte.model.text import json_ready


def burst() -> Burst:
    columns = {name: [k, k + 10] for k, name in enumerate(COLUMNS)}
    return Burst(Cell("fake", "full", "sha-256", "digest", "stream/1", 64), 0, 1, 8, **columns)


def test_an_estimate_is_scaled_with_its_ends():
    assert Estimate(2.0, 1.0, 3.0).scaled(10) == Estimate(20.0, 10.0, 30.0)
    assert Estimate(2.0, 1.0, 3.0).scaled(per=1e6) == Estimate(2.0 / 1e6, 1.0 / 1e6, 3.0 / 1e6)
    assert math.isinf(Estimate(2.0, 0.0, math.inf).scaled(10).high)


def test_the_columns_are_all_arrays_of_a_burst():
    arrays = {field.name for field in dataclasses.fields(Burst) if field.type == "list[int]"}
    assert set(COLUMNS) == arrays


def test_a_burst_is_mapped_column_by_column():
    before = burst()
    after = before.map(lambda name: getattr(before, name)[1:])
    assert [getattr(after, name) for name in COLUMNS] == [[k + 10] for k in range(len(COLUMNS))]
    assert (after.cell, after.calls) == (before.cell, before.calls)


def test_json_has_no_number_that_is_not_finite():
    told = json_ready({"ratio": Estimate(1.0, math.nan, math.inf), 2: (1, "a", None, True)})
    assert json.loads(json.dumps(told, allow_nan=False)) == {
        "ratio": {"value": 1.0, "low": None, "high": None},
        "2": [1, "a", None, True],
    }
