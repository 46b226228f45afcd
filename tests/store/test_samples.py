"""Files of samples: complete, small, opened by numpy alone, and refused where they are not what they should be."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from perbyte.errors import StoreError
from perbyte.model.sample import COUNTERS
from perbyte.store.samples import columns_of, copy_in, last_seq, read_columns, write_samples


@pytest.fixture
def taken(specimens):
    """Bursts with and without cycles and cores, one without samples, numbers up to the ends of 64 bits."""
    bursts = [specimens.burst(k, n=k) for k in range(12)]
    bursts[3] = replace(bursts[3], core=[1, 2, 3], piece_bytes=4096)
    bursts[4] = replace(bursts[4], start=[2**63 - 1, -(2**63), 0, 5], cycles=[])
    return list(enumerate(bursts, 17))


@pytest.fixture
def place(tmp_path, taken):
    place = tmp_path / "samples-00000017.npz"
    write_samples(place, taken, 40, b'{"a":1}')
    return place


def rewritten(place, **columns):
    """The archive with some members replaced."""
    with zipfile.ZipFile(place) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, column in columns.items():
        stream = io.BytesIO()
        np.save(stream, column)
        members[f"{name}.npy"] = stream.getvalue()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_all_that_was_taken_comes_back(place, taken):
    assert list(read_columns(place).bursts()) == taken
    assert (last_seq(place), copy_in(place)) == (40, b'{"a":1}')


def test_of_one_cell_only_its_bursts_come(place, taken):
    address = taken[3][1].cell.address
    wanted = [(number, burst) for number, burst in taken if burst.cell.address == address]
    assert len(wanted) == 2
    assert list(read_columns(place, address).bursts()) == wanted
    assert list(read_columns(place, "no/such/cell").bursts()) == []


def test_numpy_alone_reads_it(place, taken):
    with np.load(place) as columns:
        starts = np.cumsum(columns["start_steps"], dtype=np.int64)
        assert starts.tolist() == [start for _, burst in taken for start in burst.start]
        assert columns["flags"].dtype == np.int8
        assert columns["burst_samples"].tolist() == [len(burst) for _, burst in taken]


def test_the_same_samples_are_the_same_bytes(place, taken, tmp_path):
    write_samples(tmp_path / "again.npz", taken, 40, b'{"a":1}')
    assert (tmp_path / "again.npz").read_bytes() == place.read_bytes()


def test_samples_like_those_of_a_core_weigh_five_bytes_each(tmp_path, specimens):
    """Ticks that vary by a few quanta about a cell's own, a clock and a probe that vary by less."""
    draw = np.random.default_rng(1)
    numbered = []
    for k in range(2000):
        start = np.cumsum(draw.integers(26_000, 30_000, 10)) + k * 1_000_000
        ticks = 20_000 + 1000 * (k % 7) + 26 * draw.integers(0, 12, 10)
        probes = [4264 + 26 * draw.integers(0, 3, 10) for _ in range(4)]
        names = ("start", "ticks", *COUNTERS[2:6])
        columns = dict(zip(names, (column.tolist() for column in (start, ticks, *probes)), strict=True))
        numbered.append((k, replace(specimens.burst(k % 7, n=10), cycles=[], **columns)))
    write_samples(tmp_path / "samples.npz", numbered, 2000, b"")
    assert (tmp_path / "samples.npz").stat().st_size < 5 * 20_000


@pytest.mark.parametrize(
    "columns",
    [
        {"ticks": np.zeros(3, np.int64)},
        {"ticks": np.zeros(66, np.float64)},
        {"ticks": np.zeros((66, 1), np.int64)},
        {"burst_cell": np.full(12, 9, np.int8)},
        {"burst_cell": np.full(12, -1, np.int8)},
        {"burst_calls": np.zeros(12, np.int8)},
        {"burst_samples": np.full(12, -1, np.int8)},
        {"burst_samples": np.full(12, 2**62, np.int64)},
        {"burst_epoch": np.zeros(11, np.int8)},
        {"burst_has_core": np.ones(12, np.int8)},
        {"core": np.array([{}], object)},
    ],
)
def test_columns_that_do_not_fit_are_refused(place, columns):
    rewritten(place, **columns)
    with pytest.raises(StoreError, match="damaged") as caught:
        read_columns(place)
    assert "perbyte recover" in caught.value.hint


def test_what_claims_to_be_huge_is_refused_before_it_is_unpacked(place):
    rewritten(place, ticks=np.zeros(20_000_000, np.int64))
    with pytest.raises(StoreError, match="claims"):
        read_columns(place)
    with pytest.raises(StoreError, match="claims"):
        last_seq(place)
    assert copy_in(place) == b""


def test_a_header_that_lies_about_its_length_takes_no_memory(place):
    with zipfile.ZipFile(place) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    stream = io.BytesIO()
    header = {"descr": "<i8", "fortran_order": False, "shape": (2**50,)}
    np.lib.format.write_array_header_1_0(stream, header)
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in (members | {"ticks.npy": stream.getvalue()}).items():
            archive.writestr(name, content)
    with pytest.raises(StoreError, match="ticks is not a column"):
        read_columns(place)


def test_columns_of_bursts_are_the_bursts(taken):
    assert list(columns_of(taken).bursts()) == taken
