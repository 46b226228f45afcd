"""A run written as the tool's table and read again is the same, as far as such a table can say it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perbyte.errors import UsageError
from perbyte.exchange import make_run, read_listings, write_table
from perbyte.model import Cell, CellFigure, Failure, Interval, Quality, Run


@pytest.fixture
def measured(listing_text):
    """A factory: a run of ours with the given cells, at 100 ns a call and more."""

    def make(
        *cells: Cell, library: str = "OpenSSL", version: str = "3.0.22", failed: tuple[Cell, ...] = ()
    ) -> Run:
        figures = tuple(
            CellFigure(
                cell=cell,
                library=library,
                library_version=version,
                cycles_per_call=300.0,
                ns_per_call=100.0 + 7 * number,
                interval=Interval(299.0, 301.0),
                samples=100,
                clean_samples=90,
                epochs=3,
                epoch_cycles=(300.0,) * 3,
                epoch_ns=(100.0,) * 3,
                calls_per_sample=10,
                quality=Quality.GOOD,
                cycle_source="probe",
            )
            for number, cell in enumerate(cells)
        )
        conditions = make_run(read_listings(listing_text("openssl-1.1.1g.txt"), "x")[0], name="x").conditions
        conditions = replace(conditions, origin="measured", identities=())
        failures = tuple(Failure("unsupported", cell.runner, "no", address=cell.address) for cell in failed)
        return Run(path=None, conditions=conditions, cells=figures, failures=failures)

    return make


def imported(text: str) -> list[Run]:
    return [make_run(listing, name="again") for listing in read_listings(text, "again")]


def content(runs: list[Run]) -> dict[Cell, float]:
    return {cell.cell: cell.ns_per_call for run in runs for cell in run.cells}


@pytest.mark.parametrize(
    "name",
    [
        "three-machines.txt",
        "openssl-0.9.8zh.txt",
        "openssl-1.1.1g.txt",
        "openssl-3.0.22.txt",
        "openssl-3.6.3.txt",
    ],
)
def test_an_imported_listing_comes_out_as_it_went_in(listing_text, name):
    for listing in read_listings(listing_text(name), name):
        first = make_run(listing, name="first")
        table = write_table(first)
        curves = [
            cell
            for cell in content([first])
            if cell.algorithm in ("x25519", "ed25519") or cell.operation == "keygen"
        ]
        assert table.left_out == tuple(cell.address for cell in curves)
        again = imported(table.text)
        ours, theirs = content([first]), content(again)
        ours = {cell: ns for cell, ns in ours.items() if cell not in curves}
        assert set(ours) == set(theirs)
        for cell, ns in ours.items():
            assert theirs[cell] == pytest.approx(ns, rel=2e-3 if cell.contract == "pk/1" else 1e-6), (
                cell.address
            )
        gaps = {failure.address for run in again for failure in run.failures}
        assert gaps == {failure.address for failure in first.failures}
        assert {each_cell.library_version for run in again for each_cell in run.cells} == {listing.version}


def test_the_throughput_table_is_the_tool_s_own_to_the_byte(listing_text):
    text = listing_text("openssl-3.0.22.txt")
    table = text[text.index("The 'numbers'") :]
    assert table in write_table(imported(text)[0]).text


def test_a_measured_run_becomes_a_table(measured):
    cells = [Cell("openssl", "aes-128-cbc", "encrypt", size, "stream/1") for size in (16, 8192)]
    hashes = [Cell("openssl", "sha-256", "digest", size, "oneshot/1") for size in (16, 8192)]
    keys = [Cell("openssl", "rsa-2048", operation, 36, "pk/1") for operation in ("sign", "verify")]
    run = measured(*cells, *hashes, *keys)
    table = write_table(run)
    assert table.left_out == ()
    lines = table.text.splitlines()
    assert "type             16 bytes   8192 bytes" in lines
    assert any(line.startswith("aes-128-cbc     160000.00k") for line in lines)
    assert any(line.startswith("rsa 2048 bits 0.000000s") for line in lines)
    again = content(imported(table.text))
    assert again == pytest.approx(content([run]), rel=1e-6)


def test_a_table_names_the_processor_and_the_importer_reads_it(measured):
    run = measured(
        Cell("openssl", "sha-256", "digest", 16, "oneshot/1"),
        Cell("nettle", "sha-256", "digest", 16, "oneshot/1"),
    )
    machine = replace(run.conditions.machine, cpu_model="Imaginary CPU 9000 @ 3.00GHz")
    table = write_table(replace(run, conditions=replace(run.conditions, machine=machine)))
    assert table.text.count("model name: Imaginary CPU 9000 @ 3.00GHz\n") == 2
    assert {again.conditions.machine.cpu_model for again in imported(table.text)} == {
        "Imaginary CPU 9000 @ 3.00GHz"
    }


def test_what_does_not_fit_is_named(measured):
    fits = Cell("openssl", "md5", "digest", 64, "oneshot/1")
    others = [
        Cell("openssl", "aes-128-cbc", "decrypt", 64, "stream/1"),
        Cell("openssl", "aes-128-cbc", "encrypt", 64, "message/1"),
        Cell("openssl", "aes-128-cbc", "setup", 0, "setup/1"),
        Cell("openssl", "aes-128-gcm", "seal", 64, "message/1"),
    ]
    table = write_table(measured(fits, *others))
    assert set(table.left_out) == {cell.address for cell in others}
    assert set(content(imported(table.text))) == {fits}


def test_rows_of_other_sizes_get_a_heading_of_their_own(measured):
    cells = [
        Cell("openssl", "md5", "digest", 64, "oneshot/1"),
        Cell("openssl", "sha-1", "digest", 64, "oneshot/1"),
        Cell("openssl", "sha-256", "digest", 1_000_000, "oneshot/1"),
    ]
    table = write_table(measured(*cells))
    assert table.text.count("\ntype ") == 2
    runs = imported(table.text)
    assert len(runs) == 1
    assert set(content(runs)) == set(cells)
    assert not runs[0].failures


def test_runners_and_tiers_become_listings_of_their_own(measured):
    cells = [
        Cell("openssl", "md5", "digest", 64, "oneshot/1"),
        Cell("openssl", "md5", "digest", 64, "oneshot/1", "soft"),
        Cell("openssl-lowlevel", "md5", "digest", 64, "oneshot/1"),
    ]
    runs = imported(write_table(measured(*cells)).text)
    assert [set(content([run])) for run in runs] == [{cell} for cell in cells]
    nettle = Cell("nettle", "twofish-128-cbc", "encrypt", 64, "stream/1")
    (run,) = imported(write_table(measured(nettle, library="Nettle", version="3.8.1")).text)
    assert set(content([run])) == {nettle}
    assert run.cells[0].library == "Nettle"
    assert run.cells[0].library_version == "3.8.1"


def test_cells_that_failed_are_the_tool_s_zeros(measured):
    good = Cell("openssl", "md5", "digest", 64, "oneshot/1")
    failed = Cell("openssl", "md2", "digest", 64, "oneshot/1")
    table = write_table(measured(good, failed=(failed,)))
    assert "md2                  0.00 " in table.text
    (run,) = imported(table.text)
    assert [failure.address for failure in run.failures] == [failed.address]


def test_a_run_without_anything_that_fits_gives_no_table(measured):
    table = write_table(measured(Cell("openssl", "aes-128-cbc", "setup", 0, "setup/1")))
    assert table.text == ""
    assert len(table.left_out) == 1


def test_slow_rows_are_written_in_bytes_as_the_tool_does(measured):
    cell = Cell("openssl", "md5", "digest", 16, "oneshot/1")
    run = measured(cell)
    run = replace(run, cells=(replace(run.cells[0], ns_per_call=16e9 / 5000),))
    table = write_table(run)
    assert "     5000.00 " in table.text
    assert content(imported(table.text))[cell] == pytest.approx(16e9 / 5000)


def test_a_listing_of_too_many_sizes_is_refused():
    sizes = range(16, 20_017)
    lines = ["version: 3.0.19", "The 'numbers' are in 1000s of bytes per second processed."]
    lines += [
        f"type {' '.join(f'{size} bytes' for size in sizes)}",
        f"sha256 {' '.join('1.00k' for _ in sizes)}",
    ]
    [listing] = read_listings("\n".join(lines), "x")
    with pytest.raises(UsageError, match="20,001 results, more than the 20,000") as refused:
        make_run(listing, name="x")
    assert "into parts" in refused.value.hint
