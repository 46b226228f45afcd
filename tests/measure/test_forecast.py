"""What is told of a run's time beforehand, and what earlier runs on the machine say about it."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from fake_scripts import row

from perbyte.measure.forecast import (
    MOST_NAMES,
    START_S,
    Forecast,
    Pace,
    foresee,
    kind_of,
    recall_pace,
    row_of,
)
from perbyte.measure.reach import MOST_EPOCHS
from perbyte.model import Cell, Policy

ASK = "*/aes-128-ecb@16+contract=message"
TWO = [{"name": name, "operations": [row(layout=0.05)]} for name in ("alpha", "beta")]
CELL = Cell("alpha", "aes-128-ecb", "encrypt", 16, "message/1", "full")


def test_a_plan_says_beforehand_how_long_it_takes(lab):
    surveyed = lab.survey(*TWO)
    plan = lab.plan(surveyed, ASK)
    processes = {cell.process for cell in plan.everything}
    seen = foresee(plan, Policy(epochs=5, budget_s=60.0), surveyed.specs)
    assert seen.starts_s == pytest.approx(5 * len(processes) * START_S)
    assert 0 < seen.least_s < 5.0
    assert seen.fits
    assert seen.wall_s == seen.most_s == seen.starts_s + 60.0, "nothing is known of the precision yet"
    many = foresee(plan, Policy(epochs=1000, budget_s=2.0), surveyed.specs)
    assert many.least_s == pytest.approx(200 * seen.least_s, rel=0.1)
    assert not many.fits
    tight = foresee(plan, Policy(epochs=5, budget_s=2.0), surveyed.specs, Pace(starts_s={"alpha": 2.0}))
    assert not tight.fits, "starts that are not free count"
    assert dataclasses.replace(tight, budget_s=tight.enough_s).fits
    assert tight.most_s == pytest.approx(tight.sure * (tight.starts_s + tight.least_s))
    assert "more than the budget of 2 s" in str(many)


def test_what_the_last_runs_took_is_believed(lab):
    surveyed = lab.survey(*TWO)
    plan = lab.plan(surveyed, ASK)
    pace = Pace(
        starts_s={"alpha": 0.5, "beta": 0.25}, cell_s=0.2, epochs={row_of(cell): 9.0 for cell in plan.cells}
    )
    policy = Policy(epochs=5, budget_s=60.0, precision=0.01)
    seen = foresee(plan, policy, surveyed.specs, pace)
    starts = sum(pace.starts_s[runner] for runner, _, _ in {cell.process for cell in plan.everything})
    assert seen.starts_s == pytest.approx(5 * starts)
    assert seen.likely_s == pytest.approx(9 * len(plan.everything) * 0.2 + 4 * starts, rel=0.05)
    assert seen.wall_s == pytest.approx(seen.starts_s + seen.likely_s)
    assert "by earlier runs of these cells" in str(seen)
    assert seen.most_s == seen.starts_s + 60.0
    fine = foresee(plan, Policy(epochs=5, budget_s=60.0, precision=0.001), surveyed.specs, pace)
    assert fine.wall_s == fine.most_s, "a hundred times as many epochs: the budget ends them"
    dear = Pace(dear_s={row_of(plan.cells[0]): 3.0})
    assert foresee(plan, policy, surveyed.specs, dear).least_s > 15.0


def test_one_call_that_outlasts_the_budget_is_named(lab):
    surveyed = lab.survey(*TWO)
    plan = lab.plan(surveyed, "alpha/aes-128-ecb@16,4GiB+contract=message")
    seen = foresee(plan, Policy(budget_s=5.0), surveyed.specs)
    [(cell, took)] = seen.alone
    assert cell.size_bytes == 4 << 30
    assert took > 5.0
    assert not seen.fits
    assert foresee(plan, Policy(budget_s=500.0), surveyed.specs).fits


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (Forecast(0.1, 2.0, 20.0), "2 to 20 s, as soon as all are precise"),
        (
            Forecast(3.0, 2.0, 20.0),
            "5 to 23 s, as soon as all are precise, 3 s of them to start processes",
        ),
        (
            Forecast(0.0, 2.0, 20.0, 9.0),
            "about 9 s by earlier runs of these cells, 20 s at the most",
        ),
        (Forecast(0.0, 30.0, 20.0), "about 30 s, more than the budget of 20 s"),
    ],
)
def test_the_forecast_is_told_in_words(seen, message):
    assert str(seen) == message


def test_a_run_tells_the_next_one_what_it_took(lab, tmp_path):
    pace = recall_pace(0, tmp_path / "pace.json")
    done = lab.run(*TWO, ask=ASK, epochs=3, max_epochs=3, pace=pace)
    again = recall_pace(0, tmp_path / "pace.json")
    assert again == pace
    assert set(again.starts_s) == {"alpha", "beta"}
    assert min(again.starts_s.values()) > 0
    assert 0 < again.cell_s < done.outcome.measuring_s
    policy = done.measurement.policy
    widest = max(figure.relative_half_width for figure in done.outcome.cells)
    needed = min(3 * (widest / policy.precision) ** 2, MOST_EPOCHS)
    assert again.needed(done.plan.cells, policy.precision) == pytest.approx(needed)


def test_half_widths_shrink_with_the_root_of_the_epochs():
    pace, other = Pace(), dataclasses.replace(CELL, size_bytes=512)
    pace.note(
        starts_s={},
        cells_s={CELL: 0.01, other: 0.01},
        rest_s=0.0,
        epochs={CELL: 6.0, other: 2.0},
        precision=0.01,
    )
    assert pace.needed([CELL, other], 0.01) == 6.0, "the slower one decides"
    assert pace.needed([other], 0.01) == 2.0
    assert pace.needed([CELL], 0.0025) == pytest.approx(16 * 6.0)
    strange = [dataclasses.replace(CELL, runner=name) for name in ("beta", "gamma")]
    assert pace.needed([CELL, strange[0]], 0.01) == 6.0
    assert pace.needed([CELL, *strange], 0.01) is None, "too few of them are known"


def test_what_a_command_takes_after_its_run_is_remembered_by_its_kind(tmp_path):
    file = tmp_path / "pace.json"
    kind = kind_of("kompara-2020", ("study", "run", "kompara-2020", "--budget", "20s"))
    assert kind == "kompara-2020"
    assert kind_of("", ("measure", "x", "--leak", "--report=a.html")) == "cells --report --leak"
    recall_pace(0, file).note_after(kind, 5.0)
    assert recall_pace(0, file).after_s == {kind: 5.0}
    file.write_text(json.dumps({k: v for k, v in json.loads(file.read_text()).items() if k != "after_s"}))
    assert recall_pace(0, file).after_s == {}, "a file of before is no nonsense"


def test_what_is_remembered_is_bounded_and_nonsense_is_not_believed(tmp_path):
    file = tmp_path / "pace.json"
    pace = recall_pace(0, file)
    for number in range(8):
        named = {f"runner-{number}-{index}": 0.1 for index in range(MOST_NAMES // 4)}
        pace.note(starts_s=named, cells_s={CELL: 0.01}, rest_s=0.0, epochs={CELL: 5.0}, precision=0.0025)
    known = recall_pace(0, file)
    assert set(known.epochs) == {row_of(CELL)}
    assert len(known.starts_s) == MOST_NAMES
    content = json.loads(file.read_text())
    for bad in (
        {"starts": {"a": -1}},
        {"starts": {"a": math.inf}},
        {"epochs": {"a": math.nan}},
        {"epochs": [1]},
        {"processor": "another"},
        {"cell": "x"},
    ):
        file.write_text(json.dumps(content | bad))
        assert recall_pace(0, file).epochs == {}, bad
    file.write_text("[" * 5000)
    assert recall_pace(0, file).epochs == {}


def test_what_others_take_and_what_came_before_make_a_budget_unfit(lab):
    surveyed = lab.survey(*TWO)
    plan = lab.plan(surveyed, ASK)
    policy = Policy(epochs=3, budget_s=20.0)
    alone, crowded = (foresee(plan, policy, surveyed.specs, None, crowd) for crowd in (1.0, 5.0))
    assert crowded.least_s > alone.least_s
    assert alone.fits
    late = dataclasses.replace(alone, before_s=26.0)
    assert not late.fits
    assert late.enough_s > 20.0
