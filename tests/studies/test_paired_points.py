"""Published figures beside today's: units, clocks, globs, ratios, and figures that nothing stands for."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scripted_studies import PUBLISHED, STUDY, Overrides, scripted_run, write_study

from perbyte.errors import UsageError
from perbyte.model import Estimate, Quality
from perbyte.stats.across import ACROSS_RUNS
from perbyte.stats.quantity import Unit
from perbyte.studies import PairedPoint, paired, published_run, read_study
from perbyte.studies.model import PublishedFigure, published_cycles_per_byte, published_ns

MORE = PUBLISHED + "\n".join(
    [
        "g,table,box,One,Slow over Fast,encrypt,16,20,ratio,1,yes,"
        "one/des-ecb/encrypt@16 over one/aes-128-ecb/encrypt@16,",
        "h,table,box,One,Fast,encrypt,64,4,ms,1000,yes,one/aes-128-ecb/encrypt@16,",
        "i,table,box,One,Fast,encrypt,,5000,operations/s,1,yes,one/aes-128-ecb/encrypt@16,",
        "j,table,box,One,Fast,encrypt,16,0.25,s,1,yes,one/aes-128-ecb/encrypt@16,",
        "k,table,box,One,Lost,encrypt,16,3,cycles/byte,1,yes,,nobody has it",
        "l,table,box,One,Fast,encrypt,16,1000,1000 bytes/s,1,yes,one/aes-128-ecb/encrypt@16,",
        "",
    ]
)


def points(tmp_path: Path, overrides: Overrides | None = None) -> dict[str, list[PairedPoint]]:
    by_claim: dict[str, list[PairedPoint]] = {}
    study = read_study(write_study(tmp_path, published=MORE))
    for point in paired(study, scripted_run(overrides)):
        by_claim.setdefault(point.published.id, []).append(point)
    return by_claim


def test_cycles_are_compared_as_they_are(tmp_path: Path) -> None:
    (point,) = points(tmp_path)["a"]
    assert point.today is not None
    assert (point.today.value, point.today.low, point.today.high) == pytest.approx((2.0, 1.998, 2.002))
    assert point.ratio == pytest.approx(1.25)
    assert point.addresses == ("one/aes-128-ecb/encrypt@16+contract=stream/1",)
    assert point.library == "Library one 1.0"


def test_a_glob_is_paired_with_every_library_that_has_it(tmp_path: Path) -> None:
    paired = points(tmp_path, {"md5/one": 5.0, "md5/three": 10.0})["f"]
    assert [point.addresses[0].split("/")[0] for point in paired] == ["one", "three"]
    # 5 cycles a byte at 2 GHz are 2.5 ns a byte, 3200 Mbit/s; printed are 100 Mbit/s, 80 ns and 80 cycles at 1 GHz
    assert paired[0].today is not None
    assert paired[0].today.value == pytest.approx(3200)
    assert paired[0].today.low < 3200 < paired[0].today.high
    assert paired[0].ratio == pytest.approx(32)


def test_ratios_stand_for_two_cells(tmp_path: Path) -> None:
    (point,) = points(tmp_path)["g"]
    assert point.today is not None
    assert point.today.value == pytest.approx(20.5)
    assert point.today.low == pytest.approx(20.5 * math.exp(-math.hypot(0.001, 0.001)), rel=1e-6)
    assert point.ratio == pytest.approx(20.5 / 20)
    assert len(point.addresses) == 2


def test_times_and_rates_are_put_into_the_printed_unit(tmp_path: Path) -> None:
    paired = points(tmp_path)
    # a call of 16 bytes takes 32 cycles, 16 ns
    by_id = {id: paired[id][0].today for id in "hijl"}
    assert all(by_id.values())
    values = {id: point.value for id, point in by_id.items() if point}
    assert values["h"] == pytest.approx(16e-6 * 4 * 1000)  # 64 bytes a message, 1000 messages
    assert values["i"] == pytest.approx(1e9 / 16)
    assert values["j"] == pytest.approx(16e-9)
    assert values["l"] == pytest.approx(16 / 16e-9 / 1000)
    assert paired["l"][0].ratio == pytest.approx(1000)


def test_what_has_no_counterpart_stays_in_the_list(tmp_path: Path) -> None:
    paired = points(tmp_path, {"one/des*": None, "one/slow/*": None})
    assert [point.today for point in paired["k"]] == [None]
    assert [point.today for point in paired["c"]] == [None]
    assert [point.today for point in paired["g"]] == [None]
    assert paired["e"][0].ratio is None
    assert set(paired) == set("abcdefghijkl")


def test_published_units() -> None:
    def figure(unit: Unit, value: float, size: int = 100, calls: int = 1) -> PublishedFigure:
        cell = "a over b" if unit == Unit.RATIO else ""
        return PublishedFigure(
            id="x",
            place="p",
            machine="m",
            algorithm="a",
            operation="o",
            size_bytes=size,
            printed=str(value),
            unit=unit,
            calls=calls,
            cell=cell,
        )

    assert published_ns(figure(Unit.KILOBYTES_PER_SECOND, 1000)) == pytest.approx(1e5)
    assert published_ns(figure(Unit.MEGABITS_PER_SECOND, 8)) == pytest.approx(1e5)
    assert published_ns(figure(Unit.MILLISECONDS, 500, calls=1000)) == pytest.approx(5e5)
    assert published_ns(figure(Unit.SECONDS_PER_OPERATION, 0.5)) == pytest.approx(5e8)
    assert published_ns(figure(Unit.OPERATIONS_PER_SECOND, 4)) == pytest.approx(2.5e8)
    assert published_ns(figure(Unit.RATIO, 4)) is None
    assert published_ns(figure(Unit.CYCLES_PER_BYTE, 4)) is None
    assert published_cycles_per_byte(figure(Unit.MEGABITS_PER_SECOND, 8), 2e9) == pytest.approx(2000)
    assert published_cycles_per_byte(figure(Unit.MEGABITS_PER_SECOND, 8), None) is None
    assert published_cycles_per_byte(figure(Unit.CYCLES_PER_BYTE, 4), None) == 4


def test_the_printed_figures_make_a_run(tmp_path: Path) -> None:
    run = published_run(read_study(write_study(tmp_path, published=MORE)))
    by_address = {figure.cell.address: figure for figure in run.cells}
    assert run.conditions.origin == "published"
    assert by_address["one/camellia-128-ecb/encrypt@16+contract=stream/1"].cycles_per_byte == 11
    md5 = by_address["published/md5/digest@64+contract=oneshot/1"]
    assert (md5.cycles_per_call, md5.ns_per_call) == (None, pytest.approx(64 * 80))
    assert not [address for address in by_address if address.startswith("two/")]


def test_how_many_times_faster_today_is() -> None:
    def ratio(unit: Unit, then: float, today: float) -> float | None:
        cell = "a over b" if unit == Unit.RATIO else ""
        published = PublishedFigure(
            id="x", place="p", machine="m", algorithm="a", operation="o", printed=str(then), unit=unit, cell=cell
        )  # fmt: skip
        return PairedPoint(published, today=Estimate(today, today, today)).ratio

    assert ratio(Unit.CYCLES_PER_BYTE, 10, 5) == 2.0
    assert ratio(Unit.MILLISECONDS, 5, 10) == 0.5
    assert ratio(Unit.MEGABITS_PER_SECOND, 10, 5) == 0.5
    assert ratio(Unit.OPERATIONS_PER_SECOND, 5, 10) == 2.0
    assert ratio(Unit.RATIO, 5, 10) == 2.0, "simply today over then"
    assert ratio(Unit.CYCLES_PER_BYTE, 10, 0) is None
    assert ratio(Unit.CYCLES_PER_BYTE, 10, -1) is None


def test_a_ratio_of_two_runs_is_no_surer_than_runs_are(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, published=MORE))
    exact = {"width": 0.0, "spread": 0.0, "floor": 0.0, "epochs": 2}
    whole = scripted_run(**exact)  # type: ignore[arg-type]
    slow = scripted_run({"*/fast/*": None}, **exact)  # type: ignore[arg-type]
    fast = scripted_run({"*/slow/*": None}, **exact)  # type: ignore[arg-type]
    (of_g,) = (point for point in paired(study, whole) if point.published.id == "g")
    (two,) = (point for point in paired(study, [slow, fast]) if point.published.id == "g")
    assert of_g.today is not None
    assert two.today is not None
    assert (of_g.today.value, of_g.today.low, of_g.today.high) == (20.5, 20.5, 20.5)
    ends = (20.5 / (1 + ACROSS_RUNS), 20.5 * (1 + ACROSS_RUNS))
    assert (two.today.low, two.today.high) == pytest.approx(ends)


TIMES = (
    PUBLISHED.splitlines()[0]
    + """
a,t,box,,Fast,encrypt,64,4,ms,1000,yes,one/aes-128-ecb/encrypt@16,
b,t,box,One,Fast,encrypt,16,99,cycles/byte,1,yes,one/aes-128-ecb/encrypt@16,the second one
c,t,box,One,Mid,encrypt,16,5,ratio,1,yes,one/camellia-128-ecb/encrypt@16 over one/aes-128-ecb/encrypt@16,
d,t,box,One,Slow,encrypt,,250,operations/s,1,yes,one/des-ecb/encrypt@16,
e,t,box,One,Mid,encrypt,16,0,cycles/byte,1,no,one/camellia-128-ecb/encrypt@16,
f,t,other,One,Fast,encrypt,16,7,cycles/byte,1,yes,one/aes-128-ecb/encrypt@16,
"""
)
OTHER = STUDY.replace("[[cells]]", '[[machines]]\nid = "other"\nname = "another box"\n\n[[cells]]', 1)


def test_times_are_printed_for_the_bytes_of_the_cell(tmp_path: Path) -> None:
    run = published_run(read_study(write_study(tmp_path, study=OTHER, published=TIMES)))
    fast, slow = run.cells
    assert (fast.ns_per_call, fast.cycles_per_call) == (pytest.approx(1000.0), None)  # 4 us for 64 bytes
    assert (fast.epoch_ns, fast.epoch_cycles) == (pytest.approx((1000.0,)), ())
    assert (fast.interval.low, fast.interval.high) == (fast.ns_per_call, fast.ns_per_call)
    assert (fast.library, fast.quality, fast.epochs) == ("as printed", Quality.GOOD, 1)
    assert (slow.library, slow.ns_per_call) == ("One", pytest.approx(4e6)), "for calls without data as it is"


def test_a_printed_run_is_that_of_one_machine(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, study=OTHER, published=TIMES))
    first, other = published_run(study).conditions, published_run(study, "other")
    assert (first.machine.cpu_model, first.machine.clock_hz_nominal) == ("a box", 1e9)
    assert published_run(study, "box").conditions == first
    assert (other.conditions.machine.cpu_model, other.conditions.machine.clock_hz_nominal) == (
        "another box",
        0.0,
    )
    (figure,) = other.cells
    assert (figure.cycles_per_call, figure.epoch_cycles, figure.ns_per_call) == (112.0, (112.0,), 112.0)
    assert (first.study, first.started_at) == ("made-up", "2001")
    with pytest.raises(UsageError, match="made-up has no machine 'none'") as caught:
        published_run(study, "none")
    assert caught.value.hint == "there are: box, other"


def test_cycles_of_a_call_are_those_of_the_printed_bytes(tmp_path: Path) -> None:
    row = "m,table,box,One,Fast,encrypt,64,200,cycles/call,1,yes,one/aes-128-ecb/encrypt@16,a block of 64 bytes\n"
    study = read_study(write_study(tmp_path, published=MORE + row))
    (point,) = (pair for pair in paired(study, scripted_run()) if pair.published.id == "m")
    assert point.today is not None
    # a call of 16 bytes takes 32 cycles; 64 bytes are four of them
    assert point.today.value == pytest.approx(128)
    assert point.ratio == pytest.approx(200 / 128)
