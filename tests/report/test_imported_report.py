"""What is shown of runs without cycles: units that suit them, and nothing that nobody knows."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from made_pages import draw, render_report
from made_runs import imported, made_figure, made_run, usual_run

from perbyte.model import Cell, Doubt, Warning
from perbyte.report.facts import clock_observed, condition_facts, condition_lines, library_names, tick_rate
from perbyte.report.findings import certainty
from perbyte.report.grid import Column, run_grids
from perbyte.report.printed import render_table
from perbyte.report.runview import RunView
from perbyte.report.saving import as_specification
from perbyte.report.sections import cell_rows
from perbyte.stats.quantity import Unit, read

MD5 = [Cell("openssl", "md5", "digest", size, "oneshot/1") for size in (16, 8192)]
RSA = [Cell("openssl", "rsa-2048", operation, 36, "pk/1") for operation in ("sign", "verify")]
DSA = [Cell("openssl", "dsa-2048", operation, 20, "pk/1") for operation in ("sign", "verify")]
SETUP = [Cell("openssl", "aes-128-cbc", "setup", 0, "setup/1")]


def listing() -> list[Cell]:
    return [*MD5, *RSA, *DSA, *SETUP]


def test_a_listing_starts_in_the_units_that_suit_it() -> None:
    run = imported(tuple(made_figure(cell, None, ns=1000.0) for cell in listing()))
    assert {table.contract: table.unit for table in run_grids(run)} == {
        "oneshot/1": Unit.MEGABYTES_PER_SECOND,
        "pk/1": Unit.CALLS_PER_SECOND,
        "setup/1": Unit.NS_PER_CALL,
    }


def test_cycles_go_before_everything_else() -> None:
    run = made_run(tuple(made_figure(cell) for cell in listing()))
    assert {table.contract: table.unit for table in run_grids(run)} == {
        "oneshot/1": Unit.CYCLES_PER_BYTE,
        "pk/1": Unit.CYCLES_PER_CALL,
        "setup/1": Unit.CYCLES_PER_CALL,
    }


def test_a_digest_that_is_signed_is_no_data() -> None:
    figure = made_figure(RSA[0], 900_000.0, ns=400_000.0, relative=0.01)
    assert read(figure, Unit.CYCLES_PER_BYTE) is None
    assert read(figure, Unit.MEGABYTES_PER_SECOND) is None
    rate = read(figure, Unit.CALLS_PER_SECOND)
    assert rate is not None
    assert rate.value == pytest.approx(2500.0)
    assert rate.low == pytest.approx(2500.0 / 1.01)
    assert rate.high == pytest.approx(2500.0 / 0.99)


def test_digests_of_several_lengths_share_a_column_unless_a_row_has_two() -> None:
    (table,) = run_grids(made_run(tuple(made_figure(cell) for cell in (*RSA, *DSA))))
    assert table.columns == (Column("sign", 0), Column("verify", 0))
    assert all(entry.figure for row in table.rows for entry in row.entries)
    longer = replace(RSA[0], size_bytes=64)
    (table,) = run_grids(made_run(tuple(made_figure(cell) for cell in (*RSA, longer))))
    assert table.columns == (Column("sign", 36), Column("sign", 64), Column("verify", 36))


def test_only_units_that_there_are_can_be_chosen() -> None:
    text = render_report(imported((made_figure(MD5[0], None, ns=100.0),)))
    options = re.findall(r"<option[^>]*>([^<]+)</option>", text)
    assert options == ["MB/s", "GB/s", "ns/call", "calls/s"]
    assert '<span class="unit">MB/s</span>; one value each, no interval is known' in text


def test_the_terminal_says_once_that_no_interval_is_known() -> None:
    shown = render_table(imported(tuple(made_figure(cell, None, ns=2000.0) for cell in RSA)), width=80)
    assert "\ncalls (operations) per second · pk/1 · one value each, no interval known\n" in shown
    assert "►" not in shown, "nothing is ranked"
    assert "500,000" in shown
    for word in ("±", "~", "requested", "seed", "of measuring"):
        assert word not in shown
    assert "imported from listing.txt" in shown


def test_nothing_is_said_of_samples_policy_and_noise() -> None:
    run = imported((made_figure(MD5[0], None, ns=100.0),))
    (row,) = cell_rows(run)["rows"]
    assert row[-4:] == [(None, "–"), (None, "–"), "unknown", ["", ""]]
    headings = {heading: dict(facts) for heading, facts in condition_facts(run)}
    assert set(headings) == {"Machine", "Where it is from"}
    assert headings["Where it is from"] == {"input": "source: listing.txt", "origin": "imported"}
    assert "load before" not in headings["Machine"]
    assert len(certainty(run)) == 1
    subtitle = " ".join(as_specification(draw("bars", run))["title"]["subtitle"])
    assert "no interval is known" in subtitle
    assert "highlighted" not in subtitle
    assert "thin lines" not in subtitle


def test_the_clock_is_what_figures_show_and_ticks_what_processes_counted() -> None:
    cells = tuple(
        made_figure(replace(MD5[0], runner=name), 1000.0, ns=1000.0 / rate)
        for name, rate in (("a", 2.4), ("b", 2.5), ("c", 2.9))
    )
    run = made_run(cells)
    assert clock_observed(run) == "2.500 GHz (2.400 to 2.900)"
    assert tick_rate(run) == "2.4000 GHz"
    machine = dict(condition_facts(run)[0][1])
    assert machine["clock observed"] == clock_observed(run)
    assert machine["tick counter"] == "2.4000 GHz"
    assert "2.500 GHz (2.400 to 2.900) observed" in condition_lines(run)[0]
    assert clock_observed(made_run(cells[:1])) == "2.400 GHz"
    blind = imported(cells)
    assert (clock_observed(blind), tick_rate(blind)) == ("", "")


def test_no_version_of_a_library_is_cut() -> None:
    version = "hashes 2.4.0, ciphers 2.4.0, curves 2.4.0, node 20.20.2"
    run = made_run((replace(made_figure(MD5[0], 1000.0), library="noble", library_version=version),))
    assert f"noble {version}" in library_names(run)


def test_sentences_of_figures_hold_for_throughput_too() -> None:
    run = usual_run()
    by_cost, by_rate = (
        [
            as_specification(draw(name, run, unit=unit))["title"]["text"]
            for name in ("acceleration", "by_library")
        ]
        for unit in (None, Unit.MEGABYTES_PER_SECOND)
    )
    assert by_cost == by_rate


def test_a_warning_is_said_where_it_is_marked() -> None:
    wide = Warning(Doubt.IMPRECISE, "the interval is ±3 %, wider")
    cells = tuple(
        made_figure(
            replace(MD5[0], runner=name),
            warnings=(
                Warning(Doubt.NOISY_EPOCH, f"too few clean samples in epoch {number}, which is left out"),
                wide,
            ),
        )
        for number, name in enumerate("abc")
    )
    lines = render_table(made_run(cells), width=100).splitlines()
    assert "w: too few clean samples in epoch 0, which is left out (and 2 more like it)" in lines
    assert not [line for line in lines if line.startswith("w: the interval")]


@pytest.mark.parametrize("width", range(60, 100, 3))
def test_a_number_keeps_its_unit_on_the_line(width: int) -> None:
    shown = render_table(usual_run(), width=width)
    assert not re.search(r"[0-9]\n +(s|%|GHz)\b", shown)
    assert "12.5 s of measuring" in re.sub(r"\s+", " ", shown)


def test_the_contract_is_told_in_the_catalogues_words() -> None:
    assert "One timed call (endless message): The next size bytes" in render_report(usual_run())
    unknown = made_figure(replace(MD5[0], contract="unheard-of/7"))
    assert "One timed call" not in render_report(made_run((unknown,)))


def test_shares_of_few_cells_are_not_rounded_away() -> None:
    cells = [made_figure(replace(MD5[0], size_bytes=16 * step)) for step in range(1, 401)]
    cells[0] = replace(cells[0], quality="noisy")
    sentences = " ".join(certainty(made_run(tuple(cells))))
    assert "1 (<1%) with too few clean samples" in sentences
    assert "399 (>99%) clean" in sentences


def test_no_model_is_fitted_to_what_has_no_interval() -> None:
    cells = tuple(made_figure(replace(MD5[0], size_bytes=size), 50.0 + 5.0 * size) for size in (16, 64, 1024))
    assert len(RunView(made_run(cells)).costs) == 1
    assert RunView(imported(cells)).costs == ()
    signed = tuple(made_figure(replace(RSA[0], size_bytes=size), 9e5 + size) for size in (20, 36, 64))
    assert RunView(made_run(signed)).costs == ()  # digests of three lengths are no sizes


def test_a_chart_of_another_programs_figures_says_what_it_leaves_out() -> None:
    cells = [replace(MD5[0], size_bytes=size) for size in (16, 1024, 8192)]
    chart = draw("bars", imported(tuple(made_figure(cell, None, ns=1000.0) for cell in cells)))
    subtitle = " ".join(as_specification(chart)["title"]["subtitle"])
    assert "2 of 3 sizes are shown, the tables have all" in subtitle
