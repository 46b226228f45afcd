"""The statistics of a paper, against SciPy called by hand on the same epoch figures."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scripted_studies import STUDY, scripted_run, write_study

from perbyte.model import Run
from perbyte.studies import judge, read_study
from perbyte.studies.model import Statistics


def scattered_run(epochs: int = 6) -> Run:
    """A run whose epoch figures overlap between the groups."""
    generator = np.random.default_rng(5)
    run = scripted_run({"*/fast/*": 10.0, "*/mid/*": 10.1, "*/slow/*": 10.4})
    cells = []
    for figure in run.cells:
        centre = figure.cycles_per_call or 0.0
        values = tuple(float(value) for value in centre * (1 + generator.normal(0, 0.02, epochs)))
        cells.append(replace(figure, epoch_cycles=values, epochs=epochs))
    return replace(run, cells=tuple(cells))


def computed(tmp_path: Path, run: Run, study: str = STUDY) -> Statistics:
    statistics = judge(read_study(write_study(tmp_path, study=study)), run).statistics
    assert statistics is not None
    return statistics


def test_every_group_agrees_with_scipy_to_1e_12(tmp_path: Path) -> None:
    run = scattered_run()
    statistics = computed(tmp_path, run)
    assert len(statistics.groups) == 2 * 2 * 3
    by_group = {"Fast": "aes-128-ecb", "Mid": "camellia-128-ecb", "Slow": "des-ecb"}
    for group in statistics.groups:
        key = dict(group.group)
        values = {
            label: [
                value / figure.cell.size_bytes
                for figure in run.cells
                for value in figure.epoch_cycles
                if (figure.cell.runner, figure.cell.operation, figure.cell.size_bytes, figure.cell.algorithm)
                == (key["runner"], key["operation"], key["size_bytes"], algorithm)
            ]
            for label, algorithm in by_group.items()
        }
        assert group.members == ("Fast", "Mid", "Slow")
        assert group.counts == (6, 6, 6)
        whole = scipy_stats.kruskal(*values.values())
        assert group.h == pytest.approx(whole.statistic, rel=1e-12)
        assert group.p == pytest.approx(whole.pvalue, rel=1e-12)
        assert [(pair.first, pair.second) for pair in group.pairs] == [
            ("Fast", "Mid"),
            ("Fast", "Slow"),
            ("Mid", "Slow"),
        ]
        for pair in group.pairs:
            a, b = np.array(values[pair.first]), np.array(values[pair.second])
            test = scipy_stats.mannwhitneyu(a, b, alternative="two-sided")
            assert pair.u == pytest.approx(test.statistic, rel=1e-12)
            assert pair.p == pytest.approx(test.pvalue, rel=1e-12)
            assert pair.p_corrected == pytest.approx(min(1.0, 3 * test.pvalue), rel=1e-12)
            pooled = math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
            assert pair.cohen_d == pytest.approx((b.mean() - a.mean()) / pooled, rel=1e-12)
            above = sum(float(y > x) - float(y < x) for x in a for y in b)
            assert pair.cliff_delta == pytest.approx(above / (len(a) * len(b)), rel=1e-12)


def test_ratios_carry_the_noise_floor(tmp_path: Path) -> None:
    group = computed(tmp_path, scripted_run(width=0.01, floor=0.02)).groups[0]
    pair = group.pairs[0]
    assert pair.ratio == pytest.approx((5.5, 5.5 / 1.02, 5.5 * 1.02))
    assert pair.ratio_decides
    equal = computed(tmp_path, scripted_run({"*": 10.0}, width=0.01, floor=0.02)).groups[0].pairs[0]
    assert not equal.ratio_decides


def test_cells_without_epochs_are_left_out_and_the_plan_is_kept(tmp_path: Path) -> None:
    assert computed(tmp_path, scripted_run(epochs=1)).groups == ()
    without_mid = computed(tmp_path, scripted_run({"*/mid/*": None})).groups
    assert {group.members for group in without_mid} == {("Fast", "Slow")}
    new_only = STUDY.replace('where = { kind = ["new", "old"] }', 'where = { kind = "new" }')
    assert {group.members for group in computed(tmp_path, scripted_run(), new_only).groups} == {
        ("Fast", "Mid")
    }


def test_a_study_without_a_plan_has_no_statistics(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, study=STUDY.split("[statistics]")[0]))
    assert judge(study, scripted_run()).statistics is None


def test_the_notes_say_what_went_in_and_what_p_values_are_worth(tmp_path: Path) -> None:
    remarks = " ".join(computed(tmp_path, scripted_run()).notes)
    assert "Every test is run on epoch figures (3 per cell)" in remarks
    assert "A p-value shrinks with the number of values put in" in remarks
    assert "With 3 epochs the Mann-Whitney test has few arrangements" in remarks
    many = " ".join(computed(tmp_path, scripted_run(epochs=6, floor=None)).notes)
    assert "few arrangements" not in many
    assert "The run has no A/A pair" in many


def test_without_cycles_the_tests_run_on_nanoseconds(tmp_path: Path) -> None:
    in_cycles = computed(tmp_path, scripted_run()).groups
    in_ns = computed(tmp_path, scripted_run(cycles=False)).groups
    assert [group.h for group in in_ns] == pytest.approx([group.h for group in in_cycles])
