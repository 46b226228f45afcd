"""Published figures beside today's: units, clocks, globs, ratios, and figures that nothing stands for."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scripted_studies import PUBLISHED, Overrides, scripted_run, write_study

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
    found: dict[str, list[PairedPoint]] = {}
    study = read_study(write_study(tmp_path, published=MORE))
    for point in paired(study, scripted_run(overrides)):
        found.setdefault(point.published.id, []).append(point)
    return found


def test_cycles_are_compared_as_they_are(tmp_path: Path) -> None:
    (point,) = points(tmp_path)["a"]
    assert point.today is not None
    assert (point.today.value, point.today.low, point.today.high) == pytest.approx((2.0, 1.998, 2.002))
    assert point.ratio == pytest.approx(1.25)
    assert point.addresses == ("one/aes-128-ecb/encrypt@16+contract=stream/1",)
    assert point.library == "Library one 1.0"


def test_a_glob_is_paired_with_every_library_that_has_it(tmp_path: Path) -> None:
    found = points(tmp_path, {"md5/one": 5.0, "md5/three": 10.0})["f"]
    assert [point.addresses[0].split("/")[0] for point in found] == ["one", "three"]
    # 5 cycles a byte at 2 GHz are 2.5 ns a byte, 3200 Mbit/s; printed are 100 Mbit/s, 80 ns and 80 cycles at 1 GHz
    assert found[0].today is not None
    assert found[0].today.value == pytest.approx(3200)
    assert found[0].today.low < 3200 < found[0].today.high
    assert found[0].ratio == pytest.approx(32)


def test_ratios_stand_for_two_cells(tmp_path: Path) -> None:
    (point,) = points(tmp_path)["g"]
    assert point.today is not None
    assert point.today.value == pytest.approx(20.5)
    assert point.today.low == pytest.approx(20.5 * math.exp(-math.hypot(0.001, 0.001)), rel=1e-6)
    assert point.ratio == pytest.approx(20.5 / 20)
    assert len(point.addresses) == 2


def test_times_and_rates_are_put_into_the_printed_unit(tmp_path: Path) -> None:
    found = points(tmp_path)
    # a call of 16 bytes takes 32 cycles, 16 ns
    by_id = {id: found[id][0].today for id in "hijl"}
    assert all(by_id.values())
    values = {id: one.value for id, one in by_id.items() if one}
    assert values["h"] == pytest.approx(16e-6 * 4 * 1000)  # 64 bytes a message, 1000 messages
    assert values["i"] == pytest.approx(1e9 / 16)
    assert values["j"] == pytest.approx(16e-9)
    assert values["l"] == pytest.approx(16 / 16e-9 / 1000)
    assert found["l"][0].ratio == pytest.approx(1000)


def test_what_has_no_counterpart_stays_in_the_list(tmp_path: Path) -> None:
    found = points(tmp_path, {"one/des*": None, "one/slow/*": None})
    assert [point.today for point in found["k"]] == [None]
    assert [point.today for point in found["c"]] == [None]
    assert [point.today for point in found["g"]] == [None]
    assert found["e"][0].ratio is None
    assert set(found) == set("abcdefghijkl")


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
