"""The paragraph for a paper, and lines of CSV that tell where they are from."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from made_runs import imported, made_cells, made_run, usual_run

from perbyte.model import Doubt, Warning
from perbyte.report.export import to_csv
from perbyte.report.methods import methods


def test_the_paragraph_says_what_a_repeater_needs():
    run = usual_run()
    conditions = replace(run.conditions, perbyte_commit="0123456789ab")
    text = methods(replace(run, conditions=conditions))
    for word in (
        "Perbyte 0.0-test (commit 0123456789ab) on 2001-02-03",
        "Imaginary CPU 9000",
        "virtualised (kvm)",
        "kernel 6.0-test",
        "AlphaSSL 1.2.3-made-up",
        "compiled with cc 1.0 -O2",
        f"Each of {len(run.cells)} cells",
        "drawn from the seed 7",
        "95% confidence interval was within ±0.25%",
        "samples",
        "differ by up to 0.15%",
        "perbyte measure '*/aes-*'",
    ):
        assert word in " ".join(text.split()), word
    clean, taken = (sum(getattr(cell, name) for cell in run.cells) for name in ("clean_samples", "samples"))
    assert f"{clean:,} of {taken:,}" in text


def test_the_paragraph_tells_which_figures_come_about_otherwise():
    doubts = (Warning(Doubt.PIECES, "", (0.1, 4096, 16384)),), (Warning(Doubt.LONG, "", (0.02,)),)
    cells = made_cells()
    run = made_run([replace(cell, warnings=own) for cell, own in zip(cells, (*doubts, ()), strict=False)])
    text = methods(run)
    assert "of 1 cell the line through the costs of pieces of two lengths" in text
    assert "of 1 cell the lower quartile of single calls" in text
    assert "2 ms of untimed calls" in text
    policy = replace(run.conditions.policy, warm_us=0.0)
    assert "untimed" not in methods(replace(run, conditions=replace(run.conditions, policy=policy)))


def test_the_paragraph_says_what_is_taken_of_the_processes():
    cells = made_cells()
    assert "is the median over processes" in methods(made_run(cells))
    forked = [replace(cell, forks=40) for cell in cells]
    assert "is the midmean over processes" in methods(made_run(forked))
    mixed = " ".join(methods(made_run([forked[0], *cells[1:]])).split())
    assert "the midmean (of 1 cell whose bursts forks took) or median (of the others) over processes" in mixed


def test_what_is_not_known_is_not_said():
    text = methods(made_run(made_cells()))
    assert "commit" not in text
    assert "microcode" not in text
    assert "None" not in text


def test_an_imported_run_was_not_measured():
    run = imported(made_cells())
    assert "measured nothing" in methods(run)


def test_a_line_of_csv_tells_its_interval_per_byte_and_its_run():
    run = made_run(made_cells())
    line = next(csv.DictReader(io.StringIO(to_csv(run))))
    figure = run.cells[0]
    size = figure.cell.size_bytes
    assert float(line["cycles_per_byte_low"]) == pytest.approx(figure.interval.low / size)
    assert float(line["cycles_per_byte_high"]) == pytest.approx(figure.interval.high / size)
    assert float(line["megabytes_per_second_low"]) < float(line["megabytes_per_second"])
    assert (line["run"], line["seed"], line["machine"]) == ("made-up-run", "7", "Imaginary CPU 9000")
    assert float(line["noise_floor"]) == 0.0015


def test_the_paragraph_says_when_measuring_ended_and_how_long_it_took():
    """The promised processes run over any budget: a run of 143 s for a budget of 20 s."""
    run = usual_run()
    policy = replace(run.conditions.policy, budget_s=20.0, epochs=5)
    run = replace(run, conditions=replace(run.conditions, policy=policy), measuring_s=143.0)
    paragraph = " ".join(methods(replace(run, complete=True)).split())
    assert "5 processes a cell were planned" in paragraph
    assert "or a budget of 20 s of measuring was spent. Measuring took 143 s." in paragraph
    assert "Measuring took 143 s, until the run was interrupted." in methods(replace(run, complete=False))
