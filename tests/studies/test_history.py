"""Then and now: conversions, what stands for a machine, what is left out, and explanations that have their numbers."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
from msgspec import structs
from scripted_studies import figure_of, scripted_run, write_study

from perbyte.errors import DataFileError
from perbyte.model import Cell, CellFigure, Interval, Machine, Run
from perbyte.studies import studies
from perbyte.studies.history import History, HistoryPoint, Means, jump, load_history, read_history

MACHINES = """
[[machines]]
id = "slow"
name = "a slow box"
"""
HISTORY = """
virtual = ["vm-*"]

[[lines]]
id = "aes"
name = "AES"
kind = "block cipher"
algorithms = ["aes-128-ecb"]
common = true

[[lines]]
id = "des"
name = "DES"
kind = "block cipher"
algorithms = ["des-ecb"]

[[lines]]
id = "md5"
name = "MD5"
kind = "hash"
algorithms = ["md5"]

[[machines]]
study = "made-up"
machine = "box"
has = ["aes"]

[[explanations]]
id = "why"
title = "Why"
text = "Because."

[[explanations.steps]]
from = "made-up/d64"
to = "today/des"

[[explanations.steps]]
from = "today/md5"
to = "today/md5+runner=vm-*"

[[explanations.steps]]
from = "today/aes+cpu=soft"
to = "today/aes+cpu=full"
needs = ["aes"]
"""
PUBLISHED = """\
id,place,machine,library,algorithm,operation,size_bytes,value,unit,calls,available,cell,note
a16,table,box,One,AES,encrypt,16,2.5,cycles/byte,1,yes,one/aes-128-ecb/encrypt@16,
asoft,table,box,One,AES,encrypt,16,20,cycles/byte,1,yes,one/aes-128-ecb/encrypt@16+cpu=soft,
d8,table,slow,,DES,encrypt,8,0.8,Mbit/s,1,yes,one/des-ecb/encrypt@8,
d64,table,box,One,DES,encrypt,64,8,Mbit/s,1,yes,one/des-ecb/encrypt@64,
e64,table,box,Two,DES,encrypt,64,16,Mbit/s,1,yes,two/des-ecb/encrypt@64,
k64,table,slow,One,DES,encrypt,64,500,1000 bytes/s,1,yes,one/des-ecb/encrypt@64,
m128,table,box,,MD5,digest,128,512,ms,1000000,yes,vm-sun/md5/digest@128+contract=oneshot/1,
m64,table,box,,MD5,digest,6400000,0.064,s,1,yes,*/md5/digest@64+contract=oneshot/1,
back,table,box,One,AES,decrypt,16,2.5,cycles/byte,1,yes,one/aes-128-ecb/decrypt@16,
half,table,box,One,AES,encrypt,16,2,ratio,1,yes,one/aes-128-ecb/encrypt@16 over one/aes-128-ecb/decrypt@16,
none,table,box,One,AES,encrypt,16,0.00,cycles/byte,1,no,one/aes-128-ecb/encrypt@16,
lost,table,box,One,Lost,encrypt,16,2,cycles/byte,1,yes,,
cam,table,box,One,Camellia,encrypt,16,2,cycles/byte,1,yes,one/camellia-128-ecb/encrypt@16,
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    from scripted_studies import STUDY

    write_study(tmp_path, study=STUDY.replace("[[cells]]", f"{MACHINES}\n[[cells]]", 1), published=PUBLISHED)
    (tmp_path / "history.toml").write_text(HISTORY, encoding="utf-8")
    return tmp_path


def made(
    *figures: CellFigure, flags: tuple[str, ...] = ("aes",), year: str = "2026", name: str = "new box"
) -> Run:
    run = scripted_run()
    conditions = dataclasses.replace(
        run.conditions,
        started_at=f"{year}-05-01T00:00:00Z" if year else "",
        machine=Machine(cpu_model=name, cpu_flags=flags),
        run_id="run-1",
    )
    return dataclasses.replace(run, conditions=conditions, cells=figures)


def by_id(history: History) -> dict[str, HistoryPoint]:
    return {point.id.removeprefix("made-up/"): point for point in history.points}


def test_published_units_become_cycles_and_throughput_where_the_source_allows(directory: Path) -> None:
    points = by_id(load_history(directory=directory))
    best = points["e64"]  # 16 Mbit/s at 1 GHz: 62.5 cycles a bit
    assert best.cycles_per_byte is not None
    assert best.cycles_per_byte.value == pytest.approx(500)
    assert best.megabits_per_second is not None
    assert best.megabits_per_second.value == pytest.approx(16)
    assert (best.gap, best.has_interval, best.printed) == ("", False, "16 Mbit/s")
    blind = points["k64"]  # 500 kB/s on a machine without a clock
    assert blind.cycles_per_byte is None
    assert "no cycles" in blind.gap
    assert blind.megabits_per_second is not None
    assert blind.megabits_per_second.value == pytest.approx(4)
    many = points["m128"]  # 512 ms for a million messages of 128 bytes: 4 ns and 4 cycles a byte
    assert many.cycles_per_byte is not None
    assert many.megabits_per_second is not None
    assert many.cycles_per_byte.value == pytest.approx(4)
    assert many.megabits_per_second.value == pytest.approx(2000)
    point = points["m64"]  # 64 ms for 6.4 MB: 10 cycles a byte
    assert point.cycles_per_byte is not None
    assert point.cycles_per_byte.value == pytest.approx(10)
    printed = points["a16"]  # cycles on a machine whose clock is known give throughput as well
    assert printed.megabits_per_second is not None
    assert printed.megabits_per_second.value == pytest.approx(8e3 / 2.5)


def test_without_a_clock_cycles_stay_cycles(directory: Path) -> None:
    (study,) = studies(directory)
    machines = tuple(structs.replace(machine, clock_hz=None) for machine in study.machines)
    history = load_history(studies=[structs.replace(study, machines=machines)], directory=directory)
    point = by_id(history)["a16"]
    assert point.megabits_per_second is None
    assert "no throughput" in point.gap
    assert point.cycles_per_byte is not None


def test_the_fastest_at_the_longest_message_stands_for_a_machine(directory: Path) -> None:
    history = load_history(directory=directory)
    (line,) = [line for line in history.lines if line.id == "des"]
    assert {(point.machine, point.id, point.among) for point in history.of(line)} == {
        ("a box", "made-up/e64", 2),
        ("a slow box", "made-up/k64", 2),  # of two programs: one is printed without a name, at 8 bytes
    }


def test_what_the_code_could_use_is_told_apart(directory: Path) -> None:
    points = by_id(load_history(directory=directory))
    assert (points["a16"].means, points["asoft"].means) == (Means.INSTRUCTIONS, Means.SOFTWARE)
    assert (points["m128"].means, points["m64"].means) == (Means.VIRTUAL, Means.SOFTWARE)
    cells = [
        figure_of(Cell("one", "aes-128-ecb", "encrypt", 512, "stream/1", cpu), cost)
        for cpu, cost in (("full", 1.0), ("soft", 10.0))
    ]
    with_them = [
        point for point in load_history([made(*cells)], directory=directory).points if point.measured
    ]
    assert {(point.means, point.cpu) for point in with_them} == {
        (Means.INSTRUCTIONS, "full"),
        (Means.SOFTWARE, "soft"),
    }
    without = [
        point
        for point in load_history([made(*cells, flags=())], directory=directory).points
        if point.measured
    ]
    assert [(point.means, point.cpu, point.among) for point in without] == [(Means.SOFTWARE, "full", 2)]


def test_measured_points_keep_their_interval_year_and_clock(directory: Path) -> None:
    figure = figure_of(Cell("one", "des-ecb", "encrypt", 512, "stream/1"), 40.0, 0.01, ghz=2.5)
    (point,) = [point for point in load_history([made(figure)], directory=directory).points if point.measured]
    assert (point.year, point.machine, point.source, point.quality) == (2026, "new box", "run-1", "good")
    assert point.cycles_per_byte is not None
    assert point.megabits_per_second is not None
    assert (point.cycles_per_byte.low, point.cycles_per_byte.high) == pytest.approx((39.6, 40.4))
    assert point.megabits_per_second.value == pytest.approx(500)
    assert point.megabits_per_second.low == pytest.approx(500 / 1.01)
    assert point.clock_hz == pytest.approx(2.5e9)
    assert point.has_interval


def test_imported_and_broken_figures(directory: Path) -> None:
    cell = Cell("one", "des-ecb", "encrypt", 512, "stream/1")
    unknown = Interval(0.0, math.inf, dominated_by="unknown")
    imported = dataclasses.replace(figure_of(cell, 40.0, cycles=False), interval=unknown)
    (point,) = [
        point for point in load_history([made(imported)], directory=directory).points if point.measured
    ]
    assert (point.has_interval, point.cycles_per_byte) == (False, None)
    assert point.megabits_per_second is not None
    assert point.megabits_per_second.low == point.megabits_per_second.high == pytest.approx(400)
    undated = load_history([made(imported, year="")], directory=directory)
    assert not [point for point in undated.points if point.measured]
    assert ("run-1", 1) in [(loss.source, loss.count) for loss in undated.left_out]
    for year in ("9999", "0000", "now!", "２０２６"):
        assert not [
            point
            for point in load_history([made(imported, year=year)], directory=directory).points
            if point.measured
        ]
    broken = [
        dataclasses.replace(imported, ns_per_call=value) for value in (math.nan, math.inf, 0.0, -1.0)
    ] + [
        dataclasses.replace(
            figure_of(cell, 40.0), cycles_per_call=math.nan, cell=dataclasses.replace(cell, runner="x")
        )
    ]
    (point,) = [
        point for point in load_history([made(*broken)], directory=directory).points if point.measured
    ]
    assert point.cycles_per_byte is None


def test_no_published_figure_is_left_out_silently(directory: Path) -> None:
    history = load_history(directory=directory)
    assert history.converted + sum(loss.count for loss in history.left_out) == PUBLISHED.count("\n") - 1
    reasons = {loss.names[0]: loss.why for loss in history.left_out}
    assert reasons["Lost"] == "no library of today corresponds to it"
    assert reasons["Camellia"] == "its algorithm has no line"
    assert len(history.left_out) == 5


def test_explanations_carry_the_numbers_of_their_points(directory: Path) -> None:
    cells = (
        figure_of(Cell("one", "des-ecb", "encrypt", 512, "stream/1"), 50.0, ghz=4.0),
        figure_of(Cell("one", "md5", "digest", 64, "oneshot/1"), 5.0, ghz=4.0),
        figure_of(Cell("vm-sun", "md5", "digest", 64, "oneshot/1"), 10.0, ghz=4.0),
        figure_of(Cell("one", "aes-128-ecb", "encrypt", 512, "stream/1"), 1.0, ghz=4.0),
    )
    (explained,) = load_history([made(*cells)], directory=directory).explained
    des, md5 = explained.jumps
    assert des.work is not None
    assert des.faster is not None
    assert (des.work.value, des.clock, des.faster.value) == pytest.approx((20, 4, 80))
    assert des.work.low < 20 < des.work.high
    assert md5.work is not None
    assert (md5.work.value, md5.after.runner) == (pytest.approx(0.5), "vm-sun")
    assert explained.missing == ("AES (tier soft) is in none of these runs",)
    (lacking,) = load_history([made(*cells, flags=("sse2",))], directory=directory).explained
    assert lacking.missing == ("today's machine has no aes",)


def test_published_figures_alone_make_a_history(directory: Path) -> None:
    history = load_history(directory=directory)
    assert history.runs == ()
    assert not [point for point in history.points if point.measured]
    (explained,) = history.explained
    assert explained.jumps == ()
    assert "MD5 is in none of these runs" in explained.missing


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('algorithms = ["md5"]', 'algorithms = ["md6"]', "there is no algorithm 'md6'"),
        ('algorithms = ["md5"]', 'algorithms = ["des-ecb"]', "algorithm des-ecb: duplicate"),
        ('id = "md5"', 'id = "des"', r"\[\[lines\]\] des: duplicate"),
        ('"today/md5"', '"today/sha"', "there is no line 'sha'"),
        ('"today/md5"', '"md5"', "is not a point"),
        ('"made-up/d64"', '"made-up/d64+cpu=soft"', "is not a point"),
        ('"made-up/d64"', '"made-up/nothing"', "which is not a point"),
        ('"made-up/d64"', '"made-up/back"', "which is not a point"),
        ("common = true", "common = 1", "must be true or false"),
        ('title = "Why"', 'title = "Why"\ncolour = "red"', "unknown key"),
    ],
)
def test_a_wrong_history_file_is_refused(directory: Path, old: str, new: str, message: str) -> None:
    (directory / "history.toml").write_text(HISTORY.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataFileError, match=message):
        load_history(directory=directory)


def test_words_without_numbers_are_refused(directory: Path) -> None:
    text = HISTORY[: HISTORY.index("[[explanations.steps]]")]
    (directory / "history.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError, match="steps: is missing"):
        read_history(directory)


# Perbyte's own file.


def test_the_studies_meet_on_common_lines() -> None:
    history = load_history()
    years = {line.id: {point.year for point in history.of(line)} for line in history.lines}
    assert years["md5"] >= {1994, 2009, 2013}
    assert years["des"] >= {1994, 2013, 2020}
    assert years["aes-128-ecb"] >= {1999, 2010, 2019, 2020}
    assert years["sha-256"] >= {2009, 2013, 2020, 2023}
    assert years["sha3-256"] >= {2023}
    wanted = {"md5", "sha-1", "des", "3des", "blowfish", "rc4", "rc5-32-12", "sha-256", "aes-128-cbc"}
    assert wanted <= {line.id for line in history.lines if line.common}
    total = sum(len(study.published) for study in history.studies)
    assert history.converted + sum(loss.count for loss in history.left_out) == total


def test_known_conversions_of_the_sources() -> None:
    points = {point.id: point for point in load_history().points}

    def cycles(name: str) -> float:
        point = points[name]
        assert point.cycles_per_byte is not None
        return point.cycles_per_byte.value

    assert cycles("roe-1994/alpha-3000-md5") == pytest.approx(133e6 * 8 / 60.02e6)
    assert cycles("openssl-speed-2013/pentium-4-md5-8192") == pytest.approx(2992.53e6 / 369262.31e3)
    assert cycles("siedlecki-java/md5-512") == pytest.approx(4141e-3 * 2e9 / 512e6)
    assert cycles("kompara-2020/openssl-aes-ni-encrypt-10mb") == 0.677
    assert points["kompara-2020/openssl-aes-ni-encrypt-10mb"].megabits_per_second is None
    assert points["roe-1994/sparc-slc-md5"].cycles_per_byte is None
    assert cycles("gladman-1999/encrypt-rijndael") == 374 / 16
    assert cycles("blake3-2020/arm1176-blake3-1048576") == pytest.approx(28.472482593226896)
    coretti = points["coretti-2019/aes-ecb-encrypt"]
    assert coretti.cycles_per_byte is None
    assert coretti.megabits_per_second is not None
    assert coretti.megabits_per_second.value == pytest.approx(102096027 * 8 / 0.031195 / 1e6)


def test_what_is_said_of_published_points_is_what_they_show() -> None:
    """The sentences of history.toml claim directions; these are those that published figures alone decide."""
    explained = {story.explanation.id: story.jumps for story in load_history().explained}
    md5, sha = explained["clock"][:2]
    for digest in (md5, sha):
        assert digest.clock is not None
        assert digest.work is not None
        assert digest.faster is not None
        assert digest.faster.value == pytest.approx(digest.clock * digest.work.value)
    assert md5.clock == pytest.approx(22.5, abs=0.1)
    assert md5.clock > md5.work.value  # most of what was gained  # type: ignore[union-attr]
    to_xeon, to_atom, ripemd = (jump.work.value for jump in explained["long-pipelines"] if jump.work)
    assert to_xeon < 1 < min(to_atom, ripemd)
    gains = [jump.faster.value for jump in explained["bytes"] if jump.faster]
    assert max(gains[:2]) < 0.7 * min(gains[2:])
    assert explained["64-bit"][0].faster.value < 1  # type: ignore[union-attr]
    assert explained["aes-instructions"][0].work.value > 10  # type: ignore[union-attr]
    assert explained["chaining"][0].faster.value > 3  # type: ignore[union-attr]
    assert explained["program"][0].work.value > 10  # type: ignore[union-attr]


def test_a_jump_between_points_without_a_common_unit_says_nothing() -> None:
    points = {point.id: point for point in load_history().points}
    gain = jump(points["kompara-2020/openssl-aes-ni-encrypt-10mb"], points["coretti-2019/aes-ecb-encrypt"])
    assert (gain.faster, gain.clock, gain.work) == (None, None, None)
