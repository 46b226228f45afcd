"""What is written is read back equal, wherever the run lies by then."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from older import make_older

from perbyte.errors import IncompatibleRuns, StoreError
from perbyte.model import Audit, Estimate, Interval, Quantile
from perbyte.store import RunWriter, bursts, open_run, stored_run
from perbyte.store.tables import bursts_of, figures_of, read_table


def test_every_value_comes_back(finished, specimens):
    run = open_run(finished(figures=specimens.figures))
    assert run.conditions == specimens.conditions(identities=(specimens.identity(),))
    assert run.cells == (specimens.figure(0), specimens.figure(1))
    assert run.calibrations == (specimens.calibration(1), specimens.calibration(2))
    assert run.failures == (specimens.failure(),)
    assert run.noise_floor == specimens.floor()
    assert (run.complete, run.measuring_s) == (True, 12.5)


def test_every_burst_comes_back_in_order(finished, specimens):
    expected = [specimens.burst(k, epoch=e, round=1 + k // 7, n=8) for e in (1, 2) for k in range(14)]
    place = finished()
    assert list(bursts(place)) == expected
    address = specimens.cell(3).address
    assert list(bursts(place, address)) == [b for b in expected if b.cell.address == address]
    assert list(bursts(place, "no/such/cell@1+contract=x/1")) == []


def test_what_was_seen_from_outside_comes_back(tmp_path, specimens):
    audit = Audit(specimens.cell(0), 1, [10.0], [math.inf], [11.0], [1.0], [3e9], [0.0], children=2)
    writer = RunWriter.create(tmp_path / "run")
    writer.begin(specimens.conditions())
    writer.audited(audit)
    assert stored_run(tmp_path / "run").audits == (audit,)
    writer.epoch_done(1)
    assert stored_run(tmp_path / "run").audits == (audit,)


def test_figures_without_cycles_and_without_bounds_come_back(tmp_path, specimens):
    odd = specimens.figure(
        cycles_per_call=None, epoch_cycles=(), interval=Interval(0.0, math.inf), warnings=()
    )
    with RunWriter.create(tmp_path / "run") as writer:
        writer.begin(specimens.conditions())
        writer.finish((odd,), None, 0.0, True)
    assert open_run(tmp_path / "run").cells == (odd,)


def test_quantiles_come_back_and_older_files_have_none(tmp_path, specimens):
    told = (Quantile(0.5, Estimate(2.0, 1.0, 3.0)), Quantile(0.99, Estimate(9.0, 5.0, math.inf)))
    drawn, plain = specimens.figure(quantiles=told), specimens.figure(1)
    with RunWriter.create(tmp_path / "run") as writer:
        writer.begin(specimens.conditions())
        writer.finish((drawn, plain), None, 0.0, True)
    assert open_run(tmp_path / "run").cells == (drawn, plain)
    place = make_older(tmp_path / "run") / "cells.parquet"
    table = pq.read_table(place)
    older = table.drop_columns([name for name in table.column_names if name.startswith("quantile_")])
    pq.write_table(older, place)
    assert figures_of(read_table(place, "cells")) == (replace(drawn, quantiles=()), plain)


def test_older_files_do_not_say_what_forks_took(tmp_path, specimens):
    bursts, figure = [specimens.burst(k, round=k) for k in range(4)], specimens.figure(forks=12)
    assert {burst.forked for burst in bursts} == {True, False}
    with RunWriter.create(tmp_path / "run") as writer:
        writer.begin(specimens.conditions())
        for burst in bursts:
            writer.measured(burst)
        writer.finish((figure,), None, 0.0, True)
    assert open_run(tmp_path / "run").cells == (figure,)
    assert [burst.forked for burst in stored_run(tmp_path / "run").bursts] == [b.forked for b in bursts]
    make_older(tmp_path / "run")
    for place, column in (
        (tmp_path / "run" / "cells.parquet", "forks"),
        (next((tmp_path / "run").glob("samples-*.parquet")), "forked"),
    ):
        pq.write_table(pq.read_table(place).drop_columns([column]), place)
    assert figures_of(read_table(tmp_path / "run" / "cells.parquet", "cells")) == (replace(figure, forks=0),)
    older = read_table(place, "samples")
    assert [burst.forked for _, burst in bursts_of(older)] == [False] * len(bursts)


def test_numbers_that_json_lacks_come_back(tmp_path, specimens):
    odd = specimens.calibration(contention_floor=math.inf, selfcheck={"imul": -math.inf})
    writer = RunWriter.create(tmp_path / "run")
    writer.begin(specimens.conditions())
    writer.calibrated(odd)
    assert open_run(tmp_path / "run").calibrations == (odd,)
    writer.epoch_done(1)
    assert open_run(tmp_path / "run").calibrations == (odd,)


def test_stray_bytes_of_a_runner_can_be_kept(tmp_path, specimens):
    stray = b"\xff crashed".decode("utf-8", "surrogateescape")
    writer = RunWriter.create(tmp_path / "run")
    writer.begin(specimens.conditions())
    writer.failed(replace(specimens.failure(), message=stray))
    assert open_run(tmp_path / "run").failures[0].message == "? crashed"


def test_a_run_can_be_moved_and_given_by_its_file(finished, tmp_path):
    place = finished()
    before = open_run(place)
    moved = tmp_path / "elsewhere" / "copy"
    shutil.copytree(place, moved)
    shutil.rmtree(place)
    after = open_run(moved / "run.json")
    assert after == replace(before, path=moved)
    for file in moved.iterdir():
        assert str(place).encode() not in file.read_bytes()


def test_a_run_under_way_can_be_read(tmp_path, specimens):
    writer = RunWriter.create(tmp_path / "run")
    writer.begin(specimens.conditions())
    writer.identified(specimens.identity())
    for epoch in (1, 2, 3):
        writer.calibrated(specimens.calibration(epoch))
        for k in range(20):
            writer.measured(specimens.burst(0, epoch=epoch, round=k))
            assert len(list(bursts(tmp_path / "run"))) == (epoch - 1) * 20 + k + 1
        if epoch < 3:
            writer.epoch_done(epoch)
    run = open_run(tmp_path / "run")
    assert not run.complete
    assert [figure.cell for figure in run.cells] == [specimens.cell(0)]
    assert (run.cells[0].epochs, run.cells[0].samples) == (3, 300)
    assert run.cells[0].library == "OpenSSL"


def test_figures_are_made_anew_when_bursts_came_after_them(finished, specimens):
    place = finished(figures=specimens.figures)
    writer = RunWriter.resume(place)
    writer.begin(specimens.conditions())
    assert open_run(place).cells == specimens.figures
    writer.measured(specimens.burst(0, epoch=1, round=9))
    writer.close()
    run = open_run(place)
    assert not run.complete
    assert len(run.cells) == 7


def test_a_resumed_run_goes_on(tmp_path, specimens):
    place = tmp_path / "run"
    writer = RunWriter.create(place)
    writer.begin(specimens.conditions())
    writer.calibrated(specimens.calibration(1))
    writer.measured(specimens.burst(1))
    writer.close()
    with RunWriter.resume(place) as writer:
        later = replace(specimens.conditions().policy, budget_s=99.0)
        writer.begin(specimens.conditions(run_id="r-2", started_at="later", policy=later, plan=("z/z/z@1",)))
        writer.measured(specimens.burst(2))
        writer.finish((), None, 1.0, True)
    stored = stored_run(place)
    conditions = stored.conditions
    assert stored.bursts == (specimens.burst(1), specimens.burst(2))
    assert (stored.calibrations, stored.failures) == ((specimens.calibration(1),), ())
    assert (conditions.run_id, conditions.policy.budget_s) == ("r-1", 99.0)
    assert conditions.plan == (*specimens.conditions().plan, "z/z/z@1")
    assert json.loads((place / "run.json").read_text())["continued"][0]["started_at"] == "later"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"catalogue_version": "c2"}, "catalogue_version"),
        ({"input": {}}, "input"),
        ({"machine": {"cpu_model": "Other CPU"}}, "machine.cpu_model"),
        ({"policy": {"seed": 8}}, "policy.seed"),
    ],
)
def test_a_run_does_not_go_on_under_other_conditions(tmp_path, specimens, changes, field):
    known = specimens.conditions()
    with RunWriter.create(tmp_path / "run") as writer:
        writer.begin(known)
    changed = replace(
        known,
        **{
            name: replace(getattr(known, name), **value) if name in ("machine", "policy") else value
            for name, value in changes.items()
        },
    )
    with RunWriter.resume(tmp_path / "run") as writer, pytest.raises(IncompatibleRuns) as caught:
        writer.begin(changed)
    assert caught.value.fields == (field,)


def test_another_library_cannot_slip_into_a_run(tmp_path, specimens):
    writer = RunWriter.create(tmp_path / "run")
    writer.begin(specimens.conditions())
    writer.identified(specimens.identity())
    writer.identified(specimens.identity())
    with pytest.raises(IncompatibleRuns, match="object_sha256"):
        writer.identified(specimens.identity(object_sha256="cd" * 32))
    assert open_run(tmp_path / "run").conditions.identities == (specimens.identity(),)


def test_two_writers_do_not_meet_in_one_run(tmp_path, specimens):
    first = RunWriter.create(tmp_path / "run")
    first.begin(specimens.conditions())
    with pytest.raises(StoreError, match="another process"):
        RunWriter.resume(tmp_path / "run")
    with pytest.raises(StoreError, match="another process"):
        RunWriter.create(tmp_path / "run", overwrite=True)
    first.close()
    RunWriter.resume(tmp_path / "run").close()


def test_creating_never_destroys_by_accident(finished, tmp_path, specimens):
    place = finished()
    (place / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="already holds a run"):
        RunWriter.create(place)
    assert open_run(place).complete
    with RunWriter.create(place, overwrite=True) as writer:
        writer.begin(specimens.conditions(run_id="new"))
    assert (open_run(place).conditions.run_id, list(bursts(place))) == ("new", [])
    assert (place / "notes.txt").read_text() == "mine"
    other = tmp_path / "home"
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(StoreError, match="holds no run"):
            RunWriter.create(other, overwrite=overwrite)
    assert (other / "thesis.tex").read_text() == "mine"


def test_a_writer_killed_before_it_began_leaves_room(tmp_path, specimens):
    RunWriter.create(tmp_path / "run").close()
    with RunWriter.create(tmp_path / "run") as writer:
        writer.begin(specimens.conditions())
    assert open_run(tmp_path / "run").cells == ()


def test_a_closed_or_unbegun_writer_says_so(tmp_path, specimens):
    writer = RunWriter.create(tmp_path / "run")
    with pytest.raises(StoreError, match="not begun"):
        writer.measured(specimens.burst())
    writer.begin(specimens.conditions())
    writer.close()
    with pytest.raises(StoreError, match="closed"):
        writer.measured(specimens.burst())


def test_bursts_that_cannot_be_stored_are_refused_at_once(tmp_path, specimens):
    writer = RunWriter.create(tmp_path / "run")
    writer.begin(specimens.conditions())
    for broken in (
        replace(specimens.burst(), ticks=[2**63] * 5),
        replace(specimens.burst(), calls=2**70),
        replace(specimens.burst(), calls=0),
    ):
        with pytest.raises(StoreError, match="cannot be kept"):
            writer.measured(broken)
    writer.measured(specimens.burst())
    writer.epoch_done(1)
    assert list(bursts(tmp_path / "run")) == [specimens.burst()]


def test_importing_the_store_loads_nothing_heavy():
    code = (
        "import sys, perbyte.store; "
        "assert not {'pyarrow', 'duckdb', 'msgspec', 'numpy', 'scipy'} & set(sys.modules); "
        "from perbyte.store import RunWriter, open_run, runs; "
        "assert not {'pyarrow', 'duckdb', 'numpy', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
