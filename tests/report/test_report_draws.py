"""Quantiles of calls that vary at random, the same in every form of a report; a median and no narrow mean."""

from __future__ import annotations

import csv
import io
import math

from made_pages import render_report
from made_runs import made_figure, made_run

from perbyte.model import Cell, Doubt, Estimate, Quantile, Warning
from perbyte.report.beside import draws_listing
from perbyte.report.export import to_csv, to_json
from perbyte.report.printed import render_table

CELL = Cell("alphassl", "rsa-2048", "keygen", 32, "draw/1")
TOLD = (
    Quantile(0.1, Estimate(9e7, 0.0, 1.21e8)),
    Quantile(0.5, Estimate(2e8, 1.7e8, 2.4e8)),
    Quantile(0.99, Estimate(8.123e8, 7e8, math.inf)),
)
DRAWN = made_figure(
    CELL,
    2e8,
    relative=0.2,
    quantiles=TOLD,
    epoch_cycles=(),
    epoch_ns=(),
    warnings=(Warning(Doubt.DRAWN, "each call needs a random number of tries"),),
)
RUN = made_run((DRAWN, made_figure(Cell("alphassl", "rsa-2048", "sign", 32, "pk/1"), 2e6)))


def test_a_row_tells_each_quantile_and_which_end_is_open() -> None:
    heads, (row,) = draws_listing(RUN).shown
    assert row[:7] == ("rsa-2048", "keygen", "–", "draw/1", "alphassl", "400", "10⁶ cycles")
    known = {head.text: text for head, text in zip(heads[7:], row[7:], strict=True) if text != "–"}
    assert known == {"10 %": "90.0 (? to 121)", "50 %": "200 (170 to 240)", "99 %": "812 (700 to ?)"}


def test_the_table_marks_them_and_has_the_quantiles_below() -> None:
    shown = render_table(RUN, width=110)
    assert "±20%d" in shown
    assert "d of single calls the median is given" in shown
    assert "Single calls: what a share" in shown
    assert "200 (170 to 240)" in shown
    assert "cycles per byte · draw/1" not in shown


def test_json_and_csv_hold_them() -> None:
    cells = to_json(RUN)["cells"]
    assert cells[1]["quantiles"] == []
    assert cells[0]["quantiles"][2] == {"share": 0.99, "value": 8.123e8, "low": 7e8, "high": None}
    assert cells[0]["quantiles"][0]["low"] is None
    rows = list(csv.DictReader(io.StringIO(to_csv(RUN))))
    assert rows[0]["quantiles"] == "0.1=9e+07; 0.5=2e+08; 0.99=8.123e+08"
    assert rows[1]["quantiles"] == ""


def test_the_page_has_a_table_of_them_where_there_are_any() -> None:
    page = render_report(RUN)
    assert "Single calls: what a share" in page
    assert "812 (700 to ?)" in page
    assert "Single calls: what a share" not in render_report(made_run(RUN.cells[1:]))
