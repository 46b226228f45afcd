"""An atlas gives back what went in, says what it cannot read, and keeps names and paths out."""

from __future__ import annotations

import json
import resource
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from perbyte.atlas import add, open_atlas, pack, pull, query, read_run
from perbyte.atlas.adding import bring, read_incoming
from perbyte.atlas.identity import HIDDEN, without_identities
from perbyte.atlas.reading import read_state, read_stored, verify
from perbyte.errors import NoSuchRun, StoreError, UsageError
from perbyte.model import Machine
from perbyte.model.naming import machine_name, profile_name, slug
from perbyte.store import open_run, stored_run
from perbyte.store import verify as verify_run
from perbyte.store.state import read_state as state_of

SQL = (
    "SELECT run, count(*), sum(ticks), sum(calls) FROM samples GROUP BY ALL ORDER BY ALL",
    "SELECT run, machine, address, cycles_per_call, warnings FROM cells ORDER BY ALL",
    "SELECT * FROM runs ORDER BY ALL",
)


@pytest.fixture(params=["directory", "store"])
def url(request, tmp_path, monkeypatch):
    """A directory, and a store behind a URL that is no directory of this machine."""
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    if request.param == "directory":
        yield str(tmp_path / "atlas")
        return
    fsspec = pytest.importorskip("fsspec")

    yield f"memory://{tmp_path.name}/atlas"
    fsspec.filesystem("memory").store.clear()


def two_machines(finished) -> list[Path]:
    return [
        finished("one", run_id="r-1"),
        finished("two", run_id="r-2", machine=Machine(cpu_model="Other CPU", cpu_flags=("avx2",), cores=4)),
        finished("three", run_id="r-3"),
    ]


def test_a_run_comes_back_as_it_went_in(finished, url, tmp_path):
    paths = two_machines(finished)
    added = add(url, paths[:2])
    added_later = add(url, paths)
    assert (len(added.new), len(added_later.new), len(added_later.known)) == (2, 1, 2)
    atlas = open_atlas(url)
    keys = [atlas.find(name).key for name in ("r-1", "r-2", "r-3")]
    made = pull(atlas, keys, tmp_path / "pulled")
    for path, back, key in zip(paths, made, keys, strict=True):
        before, after = open_run(path), open_run(back)
        assert not verify_run(back).damaged
        assert after.cells == before.cells == read_run(atlas, key).cells
        assert after.noise_floor == before.noise_floor
        assert after.calibrations == before.calibrations
        assert stored_run(back).bursts == stored_run(path).bursts == read_stored(atlas, key).bursts
        assert after.conditions.machine == before.conditions.machine
    with pytest.raises(StoreError, match="there already"):
        pull(atlas, keys, tmp_path / "pulled")


def test_a_run_without_samples_keeps_its_figures_and_gets_them_when_it_is_added_again(
    finished, url, tmp_path
):
    path = finished("one", run_id="r-1")
    assert len(add(url, [path], with_samples=False).new) == 1
    atlas = open_atlas(url)
    (key,) = atlas.runs
    state = read_state(atlas, key)
    assert (atlas.runs[key].samples, state.audits, verify(atlas)) == (0, [], [])
    assert state.calibrations == state_of(path).calibrations
    assert read_run(atlas, key).cells == open_run(path).cells
    (back,) = pull(atlas, [key], tmp_path / "pulled")
    assert open_run(back).cells == open_run(path).cells
    assert not verify_run(back).damaged
    assert len(add(url, [path]).new) == 1
    assert len(add(url, [path], with_samples=False).known) == 1, "samples make no way for none"
    assert read_stored(open_atlas(url), key).bursts == stored_run(path).bursts


def test_an_atlas_of_many_machines_opens_few_files_at_once(finished, tmp_path):
    run = read_incoming(finished("one", run_id="r-1"))
    url = str(tmp_path / "atlas")
    machines = [f"made-{number:02d}" for number in range(40)]
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    here = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (here + 30, most))
    try:
        place = open_atlas(url, create=True).place
        bring(place, (replace(run, row=msgspec.structs.replace(run.row, machine=name)) for name in machines))
        pack(url)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, most))
    atlas = open_atlas(url)
    assert [*atlas.machines()] == machines
    assert verify(atlas) == []
    assert query(atlas, "SELECT count(*), count(DISTINCT machine) FROM samples")[1] == [(40 * 224, 40)]


def test_packing_changes_no_answer_and_leaves_few_files(finished, url):
    for path in two_machines(finished):
        add(url, [path])
    before = [query(open_atlas(url), sql) for sql in SQL]
    counts = pack(url)
    assert counts == (9, 6)
    atlas = open_atlas(url)
    assert [query(atlas, sql) for sql in SQL] == before
    assert len(atlas.segments) == 1
    assert verify(atlas) == []


def test_a_run_that_went_on_takes_the_place_of_what_was_there(finished, url, specimens):
    path = finished("one", run_id="r-1")
    add(url, [path, finished("two", run_id="r-2")])
    assert query(open_atlas(url), "SELECT count(*) FROM samples")[1] == [(2 * 224,)]
    from perbyte.store import RunWriter

    with RunWriter.resume(path) as writer:
        writer.measured(specimens.burst(1, epoch=3, n=8))
        writer.finish((specimens.figure(0),), None, 13.0, True)
    for _ in range(2):  # before and after packing
        assert len(add(url, [path]).new) <= 1
        rows = query(
            open_atlas(url),
            "SELECT run_id, count(*) FROM samples JOIN runs USING (run) GROUP BY ALL ORDER BY 1",
        )
        assert rows[1] == [("r-1", 232), ("r-2", 224)]
        assert query(open_atlas(url), "SELECT count(*) FROM cells")[1] == [(1 + 7,)]
        pack(url)


def test_two_that_pack_at_once_lose_nothing(finished, tmp_path, monkeypatch):
    """The second begins before the first has ended; what was added between the two stays too."""
    url = str(tmp_path / "atlas")
    paths = two_machines(finished)
    add(url, paths[:1])
    add(url, paths[1:2])
    from perbyte.atlas import adding

    stale = open_atlas(url)
    kept = tmp_path / "kept"
    shutil.copytree(url, kept)
    pack(url)
    add(url, paths[2:])
    shutil.copytree(kept, url, dirs_exist_ok=True)  # the files that the second still reads
    monkeypatch.setattr(adding, "open_atlas", lambda _: stale)
    pack(url)
    monkeypatch.undo()
    atlas = open_atlas(url)
    assert {run.run for run in atlas.runs.values()} == {"r-1", "r-2", "r-3"}
    assert query(atlas, "SELECT count(*), count(DISTINCT run) FROM samples")[1] == [(3 * 224, 3)]
    assert verify(atlas) == []


def test_identities_stay_at_home(finished, specimens, url, tmp_path, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "annas-laptop.example.org")
    monkeypatch.setattr("getpass.getuser", lambda: "anna")
    place = finished(
        run_id="r-1",
        command=(
            *(
                "measure",
                "openssl/aes-*-ctr",
                "--out",
                "anna-secret",
                "--budget",
                "5s",
                "--input=../diary.txt",
            ),
            *("~/keys", "anna", "--epochs", "2", "--quiet", "openssl/*"),
        ),
        identities=(
            specimens.identity(
                runner="other", flags="-O2 -I/opt/anna/include", object_path="/srv/anna/lib/libcrypto.so"
            ),
        ),
        input={"path": "/srv/anna/diary.txt", "size_bytes": 5, "sha256": "cd"},
    )
    state = state_of(place)
    state.failures = [
        replace(specimens.failure(), message="annas-laptop: /srv/anna/x/runner died, see ./log/y or ~/z")
    ]
    state.continued = [
        {"command": ["measure", "--resume", "/srv/anna/x"], "started_at": "2025", "load_before": [1]}
    ]
    clean = without_identities(state)
    text = msgspec.json.encode(clean).decode()
    assert "anna" not in text
    assert "diary" not in text
    assert "/srv" not in text
    assert clean.conditions.command == (
        *("measure", "openssl/aes-*-ctr", "--out", HIDDEN, "--budget", "5s", f"--input={HIDDEN}"),
        *(HIDDEN, HIDDEN, "--epochs", "2", "--quiet", "openssl/*"),
    )
    assert clean.conditions.input == {"size_bytes": 5, "sha256": "cd"}
    assert clean.conditions.plan == state.conditions.plan
    assert clean.conditions.machine == state.conditions.machine
    add(url, [place])
    atlas = open_atlas(url)
    (key,) = atlas.runs
    assert "anna" not in msgspec.json.encode(read_state(atlas, key)).decode()
    add(url, [place], keep_identities=True)
    assert b"/srv/anna/diary.txt" in msgspec.json.encode(read_state(open_atlas(url), key))


def test_machines_are_named_by_what_they_are():
    machine = Machine(cpu_model="Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", cores=4, kernel="6.1")
    assert profile_name(machine).startswith("intel-xeon-platinum-8375c-")
    assert profile_name(machine) == profile_name(replace(machine, kernel="6.2", microcode="0x1"))
    assert profile_name(machine) != profile_name(replace(machine, cores=8))
    assert slug("../../etc") == "etc"
    assert slug("\x1b[2J") == "2j"


def test_a_run_says_how_its_machine_is_called_and_unknown_machines_are_apart(finished):
    known = open_run(finished()).conditions
    assert machine_name(known) == profile_name(known.machine), "a run that was made before there were labels"
    known = replace(known, machine=replace(known.machine, label="one-of-ours"))
    assert machine_name(known) == "one-of-ours"
    odd = replace(known, machine=replace(known.machine, label="../../etc"))
    assert machine_name(odd) == profile_name(known.machine)
    first, second = (replace(known, machine=Machine(), run_id=name) for name in ("a", "b"))
    assert machine_name(first).startswith("unknown-")
    assert machine_name(first) != machine_name(second), "nobody knows that two listings are of one machine"


@pytest.mark.parametrize("name", ["../x", "A b", "x/y", "", "-", "x" * 100])
def test_a_name_that_is_none_is_refused(finished, tmp_path, name):
    if name:
        with pytest.raises(UsageError, match="not a valid name of a machine"):
            add(str(tmp_path / "atlas"), [finished()], machine=name)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('*')",
        "COPY runs TO 'out.csv'",
        "CREATE TABLE x AS SELECT 1",
        "SET memory_limit = '1TB'",
        "SELECT 1; SELECT 2",
        "INSTALL httpfs",
        "ATTACH 'x.db'",
        "",
    ],
)
def test_a_query_reads_the_atlas_and_nothing_else(finished, tmp_path, sql):
    url = str(tmp_path / "atlas")
    add(url, [finished(run_id="r-1")])
    with pytest.raises(UsageError):
        query(open_atlas(url), sql)
    assert query(open_atlas(url), "DESCRIBE cells")[1]


def test_a_directory_that_is_no_atlas_is_left_alone(finished, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="not empty"):
        add(str(tmp_path / "full"), [finished()])
    with pytest.raises(NoSuchRun, match="no atlas"):
        open_atlas(str(tmp_path / "none"))
    assert [place.name for place in (tmp_path / "full").iterdir()] == ["thesis.txt"]


def test_a_damaged_run_costs_itself_only(finished, tmp_path):
    bad = finished("bad")
    (bad / "run.json").write_text("{")
    done = add(str(tmp_path / "atlas"), [bad, finished("good", run_id="r-2"), tmp_path / "missing"])
    assert len(done.new) == 1
    assert [path.name for path, _ in done.refused] == ["bad", "missing"]


def test_an_interrupted_run_is_added_with_the_figures_its_samples_give(finished, tmp_path, specimens):
    from perbyte.store import RunWriter

    place = tmp_path / "cut"
    with RunWriter.create(place) as writer:
        writer.begin(specimens.conditions(run_id="r-9"))
        writer.identified(specimens.identity())
        writer.calibrated(specimens.calibration(1))
        for k in range(14):
            writer.measured(specimens.burst(k, n=8))
    url = str(tmp_path / "atlas")
    add(url, [place])
    atlas = open_atlas(url)
    (back,) = pull(atlas, list(atlas.runs), tmp_path / "pulled")
    assert open_run(back).cells == open_run(place).cells
    assert open_run(back).cells
    assert stored_run(back).bursts == stored_run(place).bursts
    assert not open_run(back).complete


def _segment(url: str) -> tuple[Path, dict]:
    (place,) = (Path(url) / "index").iterdir()
    return place, json.loads(place.read_text())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda seg: seg["files"][0].update(machine="../../../etc"), "regex"),
        (lambda seg: seg["files"][0].update(library="a/../../b"), "regex"),
        (lambda seg: seg.update(token="20250101T000000000000-00000000"), "calls itself"),
        (lambda seg: seg.update(schema=2), "schema"),
        (lambda seg: seg["runs"][0].update(run="../x"), "regex"),
        (lambda seg: seg["runs"][0].update(run="a\n"), "regex"),
        (lambda seg: seg["runs"][0].update(cpu_model="x" * 1000), "length"),
        (lambda seg: seg["files"][0].update(table="secrets"), "Invalid"),
        (lambda seg: seg["files"][0].update(bytes=-1), ">= 0"),
    ],
)
def test_a_hostile_index_names_no_file_outside(finished, tmp_path, change, message):
    url = str(tmp_path / "atlas")
    add(url, [finished(run_id="r-1")])
    place, segment = _segment(url)
    change(segment)
    place.write_text(json.dumps(segment))
    atlas = open_atlas(url)
    assert atlas.runs == {}
    assert message in atlas.problems[0]


def test_links_are_not_followed(finished, tmp_path):
    url = str(tmp_path / "atlas")
    add(url, [finished(run_id="r-1")])
    (target,) = Path(url, "cells").rglob("*.parquet")
    outside = tmp_path / "outside.parquet"
    target.rename(outside)
    target.symlink_to(outside)
    atlas = open_atlas(url)
    with pytest.raises(StoreError, match="link"):
        query(atlas, "SELECT count(*) FROM cells")
    target.unlink()
    folder = target.parent
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    outside.rename(tmp_path / "elsewhere" / target.name)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="link"):
        read_run(atlas, next(iter(atlas.runs)))
    assert len(verify(atlas)) == 1


def test_a_link_in_the_index_is_said(finished, tmp_path):
    url = str(tmp_path / "atlas")
    add(url, [finished(run_id="r-1")])
    place, _ = _segment(url)
    place.rename(tmp_path / "segment.json")
    place.symlink_to(tmp_path / "segment.json")
    atlas = open_atlas(url)
    assert atlas.runs == {}
    assert "link" in atlas.problems[0]


def test_what_was_changed_or_cut_is_found(finished, tmp_path):
    url = str(tmp_path / "atlas")
    add(url, [finished(run_id="r-1")])
    atlas = open_atlas(url)
    for place in Path(url).rglob("*.parquet"):
        whole = place.read_bytes()
        place.write_bytes(whole[:-1])
        with pytest.raises(StoreError):
            query(atlas, "SELECT count(*) FROM cells, samples"), read_state(atlas, next(iter(atlas.runs)))
        assert len(verify(atlas)) >= 1
        place.write_bytes(whole[:40] + bytes([whole[40] ^ 255]) + whole[41:])
        assert len(verify(atlas)) >= 1
        place.write_bytes(whole)
    assert verify(atlas) == []


def test_a_newer_atlas_is_refused_with_a_way_out(tmp_path):
    (tmp_path / "atlas.json").write_text('{"perbyte_atlas": 2}')
    with pytest.raises(StoreError, match="version 2") as refused:
        open_atlas(str(tmp_path))
    assert "update" in refused.value.hint
    (tmp_path / "atlas.json").write_text("[" * 4000)
    with pytest.raises(StoreError, match="damaged"):
        open_atlas(str(tmp_path))
