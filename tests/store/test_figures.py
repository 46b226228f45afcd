"""Figures are computed once and stored with what they are of; they are believed for nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from older import make_older

from perbyte.errors import StoreError
from perbyte.model import Doubt, Failure
from perbyte.stats import run_figures
from perbyte.store import RunWriter, bursts, merge, open_run, stored_run, verify
from perbyte.store.figures import digest_of, read_figures, unlike
from perbyte.store.reader import figures_of_stored


def change(place, name, **changes):
    content = json.loads((place / name).read_text())
    (place / name).write_text(json.dumps(content | changes))


def damage(place):
    return {finding.name: finding.detail for finding in verify(place).damaged}


def counted(monkeypatch):
    """How often figures are computed."""
    calls = []

    def computing(*arguments, **options):
        calls.append(1)
        return make(*arguments, **options)

    make = run_figures.make_run_figures
    monkeypatch.setattr(run_figures, "make_run_figures", computing)
    return calls


def test_a_view_reads_the_figures_and_anew_computes_them(finished, monkeypatch, specimens):
    place = finished(figures=specimens.figures)
    calls = counted(monkeypatch)
    assert open_run(place).cells == specimens.figures
    assert not calls
    computed = open_run(place, anew=True).cells
    assert len(calls) == 1
    assert computed == figures_of_stored(stored_run(place)).cells != specimens.figures
    assert open_run(place).cells == specimens.figures, "a view changes nothing"


def test_they_name_their_samples_and_rules(finished):
    place = finished()
    figures = read_figures(place)
    assert figures.samples == digest_of(place.glob("samples-*"))
    assert figures.rules == run_figures.RULES


def test_figures_of_other_samples_are_not_believed(finished, specimens):
    place, other = finished(figures=specimens.figures), finished("other", run_id="r-2")
    first = sorted(place.glob("samples-*"))[0]
    second = sorted(place.glob("samples-*"))[1]
    for change_samples in (
        lambda: first.write_bytes(second.read_bytes()),
        second.unlink,
        lambda: (place / "samples-00009999.npz").write_bytes((other / first.name).read_bytes()),
    ):
        change_samples()
        cells = open_run(place).cells
        assert specimens.figure(0) not in cells
        assert cells == figures_of_stored(stored_run(place)).cells


@pytest.mark.parametrize("changes", [{"run_id": "r-9"}, {"seq": 3}, {"rules": 77}, {"samples": "00" * 32}])
def test_figures_that_run_json_does_not_speak_of_are_not_believed(finished, specimens, changes):
    place = finished(figures=specimens.figures)
    change(place, "figures.json", **changes)
    assert open_run(place).cells == figures_of_stored(stored_run(place)).cells
    assert damage(place).keys() == {"figures.json"}


def test_verify_compares_them_with_what_the_samples_give(finished):
    place = finished()
    assert not damage(place)
    right = read_figures(place)
    content = json.loads((place / "figures.json").read_text())
    for part, value in (
        ("ns_per_call", 1.0),
        ("quality", "long"),
        ("warnings", [{"kind": "noisy", "text": "x"}]),
        ("library", "x"),
        ("clean_samples", 3),
    ):
        forged = json.loads(json.dumps(content))
        forged["cells"][1][part] = value
        (place / "figures.json").write_text(json.dumps(forged))
        (place / "manifest.json").unlink(missing_ok=True)  # whoever forges figures writes the manifest anew
        assert f"{right.cells[1].cell.address}: {part}" in damage(place)["figures.json"]
    del content["cells"][0]
    (place / "figures.json").write_text(json.dumps(content))
    assert "not stored" in damage(place)["figures.json"]


def test_older_rules_are_said_by_each_figure_and_not_compared(finished, specimens, monkeypatch):
    place = finished(figures=specimens.figures)
    monkeypatch.setattr(run_figures, "RULES", run_figures.RULES + 1)
    for figure, stored in zip(open_run(place).cells, specimens.figures, strict=True):
        assert figure.warnings[-1].kind is Doubt.OLDER_RULES
        assert "--anew" in figure.warnings[-1].text
        assert replace(figure, warnings=figure.warnings[:-1]) == stored
    assert not any(w.kind is Doubt.OLDER_RULES for c in open_run(place, anew=True).cells for w in c.warnings)
    verdict = verify(place)
    assert not verdict.damaged
    assert any("other rules" in note for note in verdict.notes)


def test_a_run_of_an_older_version_is_read_as_before(finished, tmp_path, specimens):
    place = finished()
    before, taken = open_run(place), list(bursts(place))
    make_older(place)
    after = open_run(place)
    assert list(bursts(place)) == taken
    assert not verify(place).damaged
    for figure, stored in zip(after.cells, before.cells, strict=True):
        assert replace(figure, warnings=figure.warnings[:-1]) == stored
        assert figure.warnings[-1].kind is Doubt.OLDER_RULES
    assert open_run(place, anew=True).cells == before.cells
    with RunWriter.resume(place) as writer:
        writer.begin(specimens.conditions())
        writer.measured(specimens.burst(0, epoch=3))
        writer.finish(before.cells, None, 13.0, True)
    assert list(bursts(place)) == [*taken, specimens.burst(0, epoch=3)]
    assert not (place / "cells.parquet").exists()
    assert {file.suffix for file in place.glob("samples-*")} == {".parquet", ".npz"}
    other = finished("other", run_id="r-2")
    assert len(merge([place, other], tmp_path / "both").cells) == len(before.cells)


def test_a_run_without_samples_keeps_the_figures_that_came_with_it(tmp_path, specimens):
    place = tmp_path / "run"
    with RunWriter.create(place) as writer:
        writer.begin(specimens.conditions(origin="imported"))
        writer.finish(specimens.figures, None, 0.0, True)
    assert open_run(place, anew=True).cells == specimens.figures
    assert not verify(place).damaged


def test_what_computing_refused_does_not_change_what_is_computed_again(tmp_path, specimens):
    """A cell without a usable sample is a failure of the run; others are computed as they were beside it."""
    place = tmp_path / "run"
    with RunWriter.create(place) as writer:
        writer.begin(specimens.conditions())
        writer.calibrated(specimens.calibration(1))
        for k in range(14):
            writer.measured(specimens.burst(k, n=8))
        poor = specimens.burst(5, n=2, cell=specimens.cell(9))
        writer.measured(replace(poor, flags=[16, 16]))
        made = figures_of_stored(stored_run(place))
        assert [failure.kind for failure in made.failures] == ["refused"]
        for failure in made.failures:
            writer.failed(failure)
        writer.finish(made.cells, made.noise_floor, 1.0, True, made.failures)
    assert not verify(place).damaged
    run = open_run(place, anew=True)
    assert (run.cells, run.failures) == (made.cells, made.failures)
    assert isinstance(run.failures[0], Failure)


def test_differences_too_small_to_mean_anything_are_none(specimens):
    figure = specimens.figure()
    nearby = replace(figure, ns_per_call=np.nextafter(figure.ns_per_call, np.inf).item())
    assert not unlike([figure], [nearby])
    assert unlike([figure], [replace(figure, ns_per_call=figure.ns_per_call * 1.0001)])
    assert unlike([figure], []) == [f"{figure.cell.address}: its samples give none"]


def test_the_file_must_be_there_and_of_this_version(finished):
    place = finished()
    change(place, "figures.json", schema=2)
    with pytest.raises(StoreError, match="schema 2"):
        open_run(place)
    (place / "figures.json").unlink()
    with pytest.raises(StoreError, match=r"figures\.json"):
        open_run(place)
    assert "figures.json" in damage(place)
