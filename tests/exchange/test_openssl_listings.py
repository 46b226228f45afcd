"""Listings of many versions: every figure arrives, under the name of the call that was really timed."""

from __future__ import annotations

import csv
import math

import pytest

from perbyte import places
from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.exchange import join_listings, make_run, read_listings
from perbyte.exchange.openssl_run import RowMeaning, _tables, mean_row, parse_version
from perbyte.model import Cell, Quality, parse_address

HEAD = "type             16 bytes     64 bytes\n"


def runs_of(text: str, **options):
    return [
        make_run(listing, name="listing", source="test") for listing in read_listings(text, "test", **options)
    ]


def rate(run, cell: Cell) -> float:
    """Bytes per second."""
    figure = run.figure(cell)
    assert figure is not None, cell.address
    return cell.size_bytes / figure.ns_per_call * 1e9


def cell_of(row: dict[str, str]) -> Cell:
    address = row["cell"]
    return parse_address(address if "+contract=" in address else f"{address}+contract=stream/1")


@pytest.fixture(scope="module")
def published() -> list[dict[str, str]]:
    with (places.data_dir("studies") / "openssl-speed-2013" / "published.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("place", "machine"), list(enumerate(["pentium-4", "dual-xeon", "atom-n270"])))
def test_the_three_listings_hold_what_the_study_published(listing_text, published, place, machine):
    run = runs_of(listing_text("three-machines.txt"))[place]
    rows = [row for row in published if row["machine"] == machine]
    throughput = [row for row in rows if row["unit"] == "1000 bytes/s"]
    assert len(throughput) == 135
    by_meaning = {(c.cell.algorithm, c.cell.operation, c.cell.size_bytes): c for c in run.cells}
    absent = {parse_address(failure.address) for failure in run.failures}
    gaps = {(cell.algorithm, cell.operation, cell.size_bytes) for cell in absent}
    for row in throughput:
        cell = cell_of(row)
        key = (cell.algorithm, cell.operation, cell.size_bytes)
        if float(row["value"]) == 0:
            assert key in gaps
            assert key not in by_meaning
        else:
            figure = by_meaning[key]
            assert figure.megabytes_per_second == pytest.approx(float(row["value"]) / 1e3)
            assert figure.cell.contract == cell.contract
    for row in rows:
        if row["unit"] == "operations/s":
            cell = cell_of(row)
            size = 36 if cell.algorithm.startswith("rsa") else 20
            figure = by_meaning[cell.algorithm, cell.operation, size]
            assert 1e9 / figure.ns_per_call == pytest.approx(float(row["value"]), rel=6e-3)
    assert len(run.cells) + len(run.failures) == 135 + 14
    assert all(failure.kind == "absent" for failure in run.failures)
    assert run.complete


def test_the_printed_form_with_more_digits_counts(listing_text):
    first = runs_of(listing_text("three-machines.txt"))[0]
    by_cell = {(c.cell.algorithm, c.cell.operation): c.ns_per_call for c in first.cells}
    assert by_cell["rsa-4096", "sign"] == pytest.approx(0.207341e9, rel=1e-12)  # not 1 / 4.8
    assert by_cell["rsa-512", "verify"] == pytest.approx(1e9 / 11875.8, rel=1e-12)  # not 0.000084


def test_an_imported_figure_claims_nothing_that_was_not_printed(listing_text):
    run = runs_of(listing_text("openssl-0.9.8zh.txt"))[0]
    figure = run.cells[0]
    assert run.conditions.origin == "imported"
    assert figure.cycles_per_call is None
    assert figure.cycle_source == "none"
    assert not figure.interval.known
    assert (figure.interval.low, figure.interval.high) == (0.0, math.inf)
    assert (figure.samples, figure.clean_samples) == (0, 0)
    assert figure.quality is Quality.IMPRECISE
    assert any("interval" in warning.text for warning in figure.warnings)
    assert run.conditions.protocol_version == 0
    assert run.noise_floor is None


def test_rows_below_evp_are_not_taken_for_evp(listing_text):
    old = runs_of(listing_text("openssl-0.9.8zh.txt"))[0]
    assert {cell.cell.runner for cell in old.cells} == {"openssl-lowlevel"}
    assert {cell.cell.algorithm for cell in old.cells} == {"aes-256-cbc"}
    evp = runs_of(listing_text("openssl-1.1.1g.txt"))[0]
    assert {cell.cell.runner for cell in evp.cells} == {"openssl"}
    assert evp.cells[0].library_version == "1.1.1g"
    assert len(evp.cells) == 6


def test_progress_lines_tell_the_calls(listing_text):
    old = runs_of(listing_text("openssl-0.9.8zh.txt"))[0]
    assert old.cells[0].calls_per_sample == 19706632
    new = runs_of(listing_text("openssl-3.0.22-mr.txt"))[0]
    assert {c.calls_per_sample > 0 for c in new.cells if c.cell.contract != "pk/1"} == {True}


def test_what_3_0_prints_is_read_whole(listing_text):
    run = runs_of(listing_text("openssl-3.0.22.txt"))[0]
    assert len(run.cells) == 6 * 6 + 4
    md5 = Cell("openssl", "md5", "digest", 16384, "oneshot/1")
    assert rate(run, md5) == pytest.approx(755725.21e3)
    assert rate(run, Cell("openssl", "blowfish-cbc", "encrypt", 16, "stream/1")) == pytest.approx(113252.52e3)
    assert rate(run, Cell("openssl", "hmac-md5", "mac", 64, "message/1")) == pytest.approx(172961.81e3)
    identity = run.conditions.identities[0]
    assert identity.library_version == "3.0.22"
    assert identity.compiler.startswith("gcc -fPIC")
    assert identity.cpu_features == "OPENSSL_ia32cap=0xfffa3203078bffff:0x405fc6f1bf07ab"


def test_the_wide_tables_of_3_6_keep_what_they_have_more_as_remarks(listing_text):
    run = runs_of(listing_text("openssl-3.6.3.txt"))[0]
    algorithms = {c.cell.algorithm for c in run.cells}
    rows = {"md2", "mdc2", "idea-cbc", "rc5-32-12-cbc", "aes-128-cbc"}
    assert algorithms == rows | {"rsa-2048", "dsa-2048", "x25519", "ed25519"}
    sign = run.figure(Cell("openssl", "rsa-2048", "sign", 36, "pk/1"))
    assert sign is not None
    assert 1e9 / sign.ns_per_call == pytest.approx(4157.6, rel=3e-3)
    remarks = " ".join(run.conditions.input["remarks"])
    for name in ("encrypt", "decrypt", "rsa2048, encaps"):
        assert name in remarks


@pytest.mark.parametrize("name", ["openssl-3.0.22-mr.txt", "openssl-3.6.3-mr.txt"])
def test_machine_readable_lines_say_the_same(listing_text, name):
    run = runs_of(listing_text(name))[0]
    sizes = {c.cell.size_bytes for c in run.cells if c.cell.algorithm == "aes-128-cbc"}
    assert sizes == ({1024} if "3.6" in name else {16, 64, 256, 1024, 8192, 16384})
    for figure in run.cells:
        if figure.cell.contract == "pk/1":
            assert 1e3 < figure.ns_per_call < 1e6  # operations per second read as seconds would be far off
    line = next(line for line in listing_text(name).split("\n") if ":aes-128-cbc:" in line and line[1] == "F")
    last = max(sizes)
    cell = Cell("openssl", "aes-128-cbc", "encrypt", last, "stream/1")
    assert rate(run, cell) == pytest.approx(float(line.rsplit(":", 1)[1]))


def test_seconds_of_the_old_machine_readable_form_are_told_from_rates():
    old = "+H:16\n+F:3:md5:1000000.00\n+F2:0:512:0.001000:0.000100\n+F3:1:1024:0.002000:0.004000\n"
    new = "+H:16\n+F:3:md5:1000000.00\n+F2:0:512:1000.000000:10000.000000\n+F3:1:1024:500.000000:250.000000\n"
    for text in (old, new):
        times = {(c.cell.algorithm, c.cell.operation): c.ns_per_call for c in runs_of(text)[0].cells}
        assert times["rsa-512", "sign"] == pytest.approx(1e6)
        assert times["rsa-512", "verify"] == pytest.approx(1e5)
        assert times["dsa-1024", "verify"] == pytest.approx(4e6)


def test_keys_alone_are_told_by_magnitude_or_not_at_all():
    assert runs_of("+F3:1:1024:0.000200:0.000300\n")[0].cells[0].ns_per_call == pytest.approx(2e5)
    assert runs_of("+F3:1:1024:500.000000:250.000000\n")[0].cells[0].ns_per_call == pytest.approx(2e6)
    with pytest.raises(UsageError, match="seconds or operations per second"):
        runs_of("+F3:1:1024:0.800000:1.300000\n")


def test_several_processes_are_divided_by_their_number(listing_text):
    run = runs_of(listing_text("openssl-3.0.22-multi.txt"))[0]
    (figure,) = run.cells
    assert figure.cell == Cell("openssl", "md5", "digest", 64, "oneshot/1")
    assert rate(run, figure.cell) == pytest.approx(255134.53e3 / 2)
    assert any("2 processes" in warning.text for warning in figure.warnings)


@pytest.mark.parametrize(
    ("version", "contract"),
    [
        ("1.1.1w", "stream/1"),
        ("3.0.15", "stream/1"),
        ("3.0.16", "rekey/1"),
        ("3.3.1", "stream/1"),
        ("3.4.0", "stream/1"),
        ("3.4.1", "rekey/1"),
        ("3.5.0", "rekey/1"),
        ("4.0.3", "rekey/1"),
    ],
)
def test_gcm_means_the_call_of_its_version(version, contract):
    text = f"OpenSSL {version} 1 Jan 2025\n{HEAD}AES-128-GCM     863579.61k   2625060.89k\n"
    assert {c.cell.contract for c in runs_of(text)[0].cells} == {contract}


def test_gcm_without_a_version_is_left_to_a_remark():
    run = runs_of(f"{HEAD}aes-128-gcm     863579.61k   2625060.89k\nmd5  100.00k 200.00k\n")[0]
    assert {c.cell.algorithm for c in run.cells} == {"md5"}
    assert "depends on the version" in run.conditions.input["remarks"][0]
    assert "863579.61k" in run.conditions.input["remarks"][0]


def test_an_unknown_row_is_kept_in_words():
    run = runs_of(f"{HEAD}ghash            1000.00k     2000.00k\nmd5               100.00k      200.00k\n")[
        0
    ]
    assert len(run.cells) == 2
    (remark,) = run.conditions.input["remarks"]
    assert "line 2: ghash" in remark
    assert "1000.00k" in remark


def test_a_figure_without_k_is_in_bytes_per_second():
    run = runs_of(f"{HEAD}md5                9876.00        20.00k\n")[0]
    assert rate(run, Cell("openssl", "md5", "digest", 16, "oneshot/1")) == pytest.approx(9876)
    assert rate(run, Cell("openssl", "md5", "digest", 64, "oneshot/1")) == pytest.approx(20_000)


def test_zero_is_absent_and_nonsense_is_refused():
    run = runs_of(f"{HEAD}md5                0.00         0.00\nsha1               -124.63k        20.00k\n")[
        0
    ]
    kinds = {parse_address(f.address).algorithm: f.kind for f in run.failures}
    assert kinds == {"md5": "absent", "sha-1": "refused"}
    assert len(run.cells) == 1


def test_a_row_that_repeats_another_is_remarked():
    run = runs_of(f"version: 3.0.22\n{HEAD}aes-128-cbc   100.00k 200.00k\nAES-128-CBC   110.00k 210.00k\n")[0]
    assert len(run.cells) == 2
    assert sum("stands on line 3 already" in remark for remark in run.conditions.input["remarks"]) == 2


def test_a_masked_cpu_is_not_called_full():
    text = f"version: 3.0.22\nCPUINFO: OPENSSL_ia32cap=0x1:0x2 env:~0x200\n{HEAD}md5  100.00k 200.00k\n"
    assert {c.cell.cpu for c in runs_of(text)[0].cells} == {"masked"}


def test_the_command_line_tells_the_direction_and_the_clock():
    text = f"$ openssl speed -elapsed -decrypt -evp aes-128-cbc\n{HEAD}aes-128-cbc  100.00k 200.00k\n"
    run = runs_of(text)[0]
    assert {c.cell.operation for c in run.cells} == {"decrypt"}
    assert run.conditions.command[:2] == ("openssl", "speed")
    assert any("wall-clock" in remark for remark in run.conditions.input["remarks"])


def test_other_libraries_with_the_same_tool_keep_their_name():
    run = runs_of(f"LibreSSL 2.8.3\n{HEAD}aes-128 cbc  100.00k 200.00k\nmd5  100.00k 200.00k\n")[0]
    assert {c.library for c in run.cells} == {"LibreSSL"}
    assert {c.cell.runner for c in run.cells} == {"libressl", "libressl-lowlevel"}


def test_quotation_marks_indents_and_prose_around_a_table_do_not_matter():
    table = f"The 'numbers' are in 1000s of bytes per second processed.\n{HEAD}md5   100.00k 200.00k\n"
    quoted = "".join(f"> {line}\n" for line in table.splitlines())
    for text in (
        table,
        quoted,
        f"Look at this from 2013, it took 3.00 s:\n\n{table}\nreal    0m3.010s\nThat was 1.5\n",
    ):
        assert len(runs_of(text)[0].cells) == 2


def test_listings_can_be_joined_when_they_belong_together():
    table = "version: 3.0.22\n{head}{row}  100.00k 200.00k\n"
    text = table.format(head=HEAD, row="md5") + table.format(head=HEAD, row="sha1")
    listings = read_listings(text, "test")
    assert len(listings) == 2
    run = make_run(join_listings(listings), name="joined")
    assert {c.cell.algorithm for c in run.cells} == {"md5", "sha-1"}
    other = read_listings(f"version: 1.1.1\n{HEAD}sha256 100.00k 200.00k\n", "test")
    with pytest.raises(UsageError, match=r"different versions \(3\.0\.22, 1\.1\.1\)"):
        join_listings([*listings, *other])


def test_every_name_in_the_table_means_an_algorithm_and_a_call_it_can_have():
    catalogue = load()
    names = [*_tables()["below_evp"], *_tables()["evp"], *_tables()["changed"]]
    for name in names:
        meaning = mean_row(name, (3, 0, 22), (16,))
        assert isinstance(meaning, RowMeaning), name
        algorithm = catalogue.algorithms[meaning.algorithm]
        assert meaning.operation in algorithm.operations
        assert algorithm.kind in catalogue.contracts[meaning.contract].kinds
    for kind in _tables()["keys"]:
        assert any(name.startswith(f"{kind}-") for name in catalogue.algorithms)


@pytest.mark.parametrize(
    ("name", "version", "runner"),
    [
        ("rc4", "1.1.1w", "openssl-lowlevel"),
        ("rc4", "3.0.22", "openssl"),
        ("md5", "1.0.2u", "openssl"),
        ("md5", "1.1.1w", "openssl-lowlevel"),
        ("sha256", "0.9.8k", "openssl-lowlevel"),
        ("aes-128-cbc", "1.1.1w", "openssl"),
        ("aes-128 cbc", "", "openssl-lowlevel"),
    ],
)
def test_the_version_decides_which_call_a_name_meant(name, version, runner):
    meaning = mean_row(name, parse_version(version), (16,))
    assert isinstance(meaning, RowMeaning)
    assert meaning.runner == runner


def test_a_hash_is_no_row_of_unknown_kind_and_a_key_no_row_at_all():
    assert isinstance(mean_row("evp", (), (16,)), str)
    assert isinstance(mean_row("rsa2048", (), (16,)), str)
