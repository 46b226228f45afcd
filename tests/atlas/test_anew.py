"""Analysis over all runs: another policy, claims over machines; in one process as in many."""

from __future__ import annotations

import pytest

from perbyte.atlas import add, open_atlas, query
from perbyte.atlas.anew import judge_over, refigure, what_is_apart
from perbyte.atlas.index import RunRow
from perbyte.errors import UsageError
from perbyte.store import open_run
from perbyte.studies import find, studies
from perbyte.studies.judge import published_run


@pytest.fixture
def atlas(finished, tmp_path):
    url = str(tmp_path / "atlas")
    add(url, [finished(f"run-{k}", run_id=f"r-{k}") for k in range(11)])
    return open_atlas(url)


def test_many_processes_give_what_one_gives_bit_for_bit(atlas, tmp_path):
    pytest.importorskip("distributed")
    from perbyte.fleet.spread import spread

    changes = {"clock_tolerance": 0.5, "level": 0.9}
    refigured = refigure(atlas, changes, tmp_path / "one.parquet")
    with spread(2, None) as over:
        two = refigure(atlas, changes, tmp_path / "two.parquet", over)
    assert refigured == two
    assert refigured.runs == 11
    assert refigured.cells > 0
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_the_same_policy_gives_the_figures_that_samples_give_and_another_one_others(atlas, tmp_path):
    import pyarrow.parquet as pq

    same = refigure(atlas, {}, tmp_path / "same.parquet")
    other = refigure(atlas, {"level": 0.5, "precision": 0.5}, tmp_path / "other.parquet")
    assert same.problems == other.problems == []
    same_table, other_table = (
        pq.read_table(tmp_path / "same.parquet"),
        pq.read_table(tmp_path / "other.parquet"),
    )
    assert same_table.column("address").to_pylist() == other_table.column("address").to_pylist()
    assert set(other_table.column("interval_level").to_pylist()) == {0.5}
    assert same_table.column("run").to_pylist()[0] == sorted(atlas.runs)[0]
    wide, narrow = (
        sum(table["interval_high"].to_numpy()) - sum(table["interval_low"].to_numpy())
        for table in (same_table, other_table)
    )
    assert narrow < wide


def test_a_claim_over_machines_says_where_it_holds(tmp_path, specimens):
    """Machines that ran a study: what each would answer alone, in one sentence each claim."""
    from perbyte.store import RunWriter
    from perbyte.studies import judge

    url, name = str(tmp_path / "atlas"), "kompara-2020"
    study = find(name)
    printed = published_run(study)
    for machine in ("a", "b"):
        place = tmp_path / machine
        with RunWriter.create(place) as writer:
            writer.begin(specimens.conditions(run_id=f"r-{machine}", study=name))
            writer.finish(printed.cells, None, 1.0, True)
        add(url, [place], machine=machine)
    atlas = open_atlas(url)
    told = {judged.claim: judged for judged in judge_over(atlas, name)}
    alone = {
        verdict.claim.id: verdict.outcome.value for verdict in judge(study, open_run(tmp_path / "a")).verdicts
    }
    assert {claim: judged.outcomes for claim, judged in told.items()} == {
        claim: {"a": outcome, "b": outcome} for claim, outcome in alone.items()
    }
    held = next(judged for judged in told.values() if set(judged.outcomes.values()) == {"reproduced"})
    assert held.sentence == "reproduced on 2 of 2 machines"
    with pytest.raises(UsageError, match="no run of this atlas"):
        judge_over(atlas, next(each_study.name for each_study in studies() if each_study.name != name))
    assert query(atlas, "SELECT count(*) FROM samples")[1] == [(0,)]


def test_what_machines_have_in_common_is_named():
    def row(name: str, *features: str, vendor: str = "V") -> RunRow:
        return RunRow(run="r", machine=name, digest="0" * 64, features=features, cpu_vendor=vendor)

    rows = {
        each_row.machine: each_row
        for each_row in (row("a", "aes", "avx2"), row("b", "aes"), row("c", "avx2"), row("d"))
    }
    lost = {"a": "reproduced", "b": "reproduced", "c": "not reproduced", "d": "not reproduced"}
    assert what_is_apart(lost, rows) == "which have no aes instructions"
    assert what_is_apart(lost | {"c": "reproduced"}, rows) == ""
    assert what_is_apart({"a": "not reproduced", "d": "inconclusive"}, rows) == ""
    vendors = {each_row.machine: each_row for each_row in (row("a", vendor="X"), row("b", vendor="Y"))}
    assert what_is_apart({"a": "reproduced", "b": "not reproduced"}, vendors) == "whose CPU vendor is Y"
