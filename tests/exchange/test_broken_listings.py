"""What is no listing, or not all of one, is refused with the line and a hint; never half imported in silence."""

from __future__ import annotations

import contextlib
import random
import time

import pytest

from perbyte.errors import UsageError
from perbyte.exchange import decode, make_run, read_listings, read_text
from perbyte.exchange.listing import LIMIT_BYTES

WHOLE = """The 'numbers' are in 1000s of bytes per second processed.
type             16 bytes     64 bytes    256 bytes
md5              12417.01k    46684.50k   124867.03k
aes-128 cbc      31511.00k    32004.58k    32108.83k
                  sign    verify    sign/s verify/s
rsa  512 bits 0.001097s 0.000084s    911.5  11875.8
rsa 1024 bits 0.005097s 0.000251s    196.2   3984.1
"""
MACHINE_READABLE = "+H:16:64\n+F:3:md5:100.00:200.00\n+F2:0:512:911.500000:11875.800000\n"


def complaint(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read_listings(text, "listing.txt")
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("broken", "line", "what"),
    [
        (WHOLE.replace("   124867.03k", ""), 3, "2 figures"),
        (WHOLE.replace("12417.01k    46684.50k   124867.03k", "12417.01k    46684.50k   1248"), 3, "cut off"),
        (WHOLE.replace("0.000251s    196.2   3984.1", "0.000251s    196.2"), 7, "cut off"),
        (WHOLE.replace("rsa 1024 bits 0.005097s 0.000251s    196.2   3984.1", "rsa 1024 bi"), 7, "cut off"),
        (WHOLE.replace("   256 bytes", "   256 by"), 2, "sizes is cut off"),
        (WHOLE.replace("46684.50k", "46684.50"), 3, "lost its 'k'"),
        ("".join(WHOLE.splitlines(keepends=True)[:2]), 2, "no row follows"),
        ("".join(WHOLE.splitlines(keepends=True)[:1]), 1, "ends before its table"),
        ("".join(WHOLE.splitlines(keepends=True)[:5]), 5, "no row follows"),
        (WHOLE.splitlines(keepends=True)[0][:30], 1, "ends before its table"),
        ("Doing md5 for 3s on 16 size blocks: 100 md5's in 3.00s\n", 1, "progress lines only"),
        (MACHINE_READABLE.replace("200.00", "200"), 2, "2 figures for 2 sizes"),
        (MACHINE_READABLE.replace(":200.00", ""), 2, "1 figures for 2 sizes"),
        (MACHINE_READABLE.replace("+H:16:64\n", ""), 1, "without a line of sizes"),
        (MACHINE_READABLE.replace("+H:16:64", "+H:16:"), 1, "sizes is cut off"),
        (MACHINE_READABLE.replace(".800000", ".8"), 3, "cut off"),
        ("+H:16:64\n", 1, "no row follows"),
    ],
)
def test_what_is_missing_is_named_with_its_line(broken, line, what):
    error = complaint(broken)
    assert f"listing.txt, line {line}: " in str(error)
    assert what in str(error)
    assert error.exit_code == 2


def test_a_file_cut_anywhere_never_gives_a_wrong_figure():
    """Cut at every byte: an error, or a listing whose figures are among those of the whole one."""
    whole = figures(read_listings(WHOLE, "whole"))
    refused = 0
    for end in range(len(WHOLE) - 1):
        try:
            this_figures = figures(read_listings(WHOLE[:end], "cut"))
        except UsageError:
            refused += 1
            continue
        assert this_figures <= whole, WHOLE[:end][-60:]
    assert refused > len(WHOLE) * 0.85  # the rest are cuts between rows, which nothing tells


def test_a_machine_readable_file_cut_anywhere_never_gives_a_wrong_figure():
    whole = figures(read_listings(MACHINE_READABLE, "whole"))
    for end in range(len(MACHINE_READABLE) - 1):
        try:
            this_figures = figures(read_listings(MACHINE_READABLE[:end], "cut"))
        except UsageError:
            continue
        assert this_figures <= whole, MACHINE_READABLE[:end]


def figures(listings) -> set[tuple[str, float]]:
    runs = [make_run(listing, name="x") for listing in listings]
    return {(cell.cell.address, cell.ns_per_call) for run in runs for cell in run.cells}


def test_partial_takes_what_is_whole_and_says_that_it_is_not_all():
    cut = WHOLE[: WHOLE.index("32108.83k") + 4]
    (listing,) = read_listings(cut, "listing.txt", partial=True)
    run = make_run(listing, name="part")
    assert {cell.cell.algorithm for cell in run.cells} == {"md5"}
    assert not run.complete
    assert any("line 4" in remark for remark in run.conditions.input["missing"])


def test_partial_reads_progress_lines_of_a_run_that_was_stopped():
    text = (
        "Doing md5 for 3s on 16 size blocks: 3000 md5's in 3.00s\n"
        "Doing md5 for 3s on 64 size blocks: 1500 md5's in 3.00s\nDoing md5 for 3s on 256 size blocks: "
    )
    (listing,) = read_listings(text, "stopped", partial=True)
    run = make_run(listing, name="part")
    assert {cell.cell.size_bytes: cell.ns_per_call for cell in run.cells} == {16: 1e6, 64: 2e6}
    assert not run.complete


def test_partial_does_not_make_a_listing_of_nothing():
    with pytest.raises(UsageError, match="no row to import"):
        read_listings("\n".join(WHOLE.splitlines()[:2]) + "\n", "listing.txt", partial=True)


@pytest.mark.parametrize(
    "text", ["Dear all,\nthe numbers are good.\n", "{}", "name,value\nmd5,1.00\n", "sha1  12.00k 13.00k\n"]
)
def test_what_is_no_listing_is_called_so(text):
    assert "is not a listing of openssl speed" in str(complaint(text))


def test_two_forms_in_one_text_are_told_apart_by_their_lines():
    error = complaint(WHOLE + MACHINE_READABLE)
    assert "line 8 is of the -mr form" in str(error)
    assert "line 1 begins a plain listing" in str(error)


def test_noise_is_never_a_listing():
    letters = "0123456789. k+FHs:\nabtype bytes rsa"
    random.seed(5)
    for _ in range(300):
        text = "".join(random.choice(letters) for _ in range(200))
        try:
            listings = read_listings(text, "noise", partial=random.random() < 0.5)
        except UsageError:
            continue
        for listing in listings:
            make_run(listing, name="noise")


def test_a_listing_of_thousands_of_rows_does_not_take_minutes():
    head, row = WHOLE.splitlines(keepends=True)[1:3]
    started = time.monotonic()
    listings = read_listings(head + row * 20_000 + "a" * 100_000 + "\n", "big")
    assert len(listings[0].rows) == 20_000
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\x7fELF\x02\x01\x00\x00", "binary"),
        (bytes(range(128, 256)) * 40, "binary"),
        (b"x" * (LIMIT_BYTES + 1), "more than 10 MB"),
        (b"\xff\xfea", "binary"),
    ],
)
def test_files_that_hold_no_text_are_refused(content, what):
    with pytest.raises(UsageError, match=what) as caught:
        decode(content, "file")
    assert caught.value.hint


def test_what_other_systems_do_to_a_text_file_does_no_harm():
    for content in (
        WHOLE.encode("utf-16"),
        b"\xef\xbb\xbf" + WHOLE.encode(),
        WHOLE.replace("\n", "\r\n").encode(),
        WHOLE.replace("md5 ", "\x1b[1mmd5\x1b[0m ").encode(),
    ):
        assert figures(read_listings(decode(content, "file"), "file")) == figures(
            read_listings(WHOLE, "whole")
        )


def test_a_missing_file_a_directory_and_a_huge_file_are_told_apart(tmp_path):
    with pytest.raises(UsageError, match="there is no file"):
        read_text(tmp_path / "nothing.txt")
    with pytest.raises(UsageError, match="is not a file"):
        read_text(tmp_path)
    huge = tmp_path / "huge.txt"
    with huge.open("wb") as file:
        file.truncate(50 * 10**9)  # sparse: nothing of it may be read into memory
    with pytest.raises(UsageError, match="more than 10 MB"):
        read_text(huge)


@pytest.mark.parametrize(
    "line",
    [
        "+R:100:md5:0.9800k",  # a damaged time
        "+H:\u00b2:64",  # superscripts are digits, but no numbers
        "+F\u00b2:0:512:1.000000:2.000000",
        "type             " + "9" * 30 + " bytes",
        "Doing md5 for 3s on " + "9" * 5000 + " size blocks: 100 md5's in 3.00s",
    ],
)
def test_what_fuzzing_found_is_an_error_or_left_out(line):
    text = f"{line}\n{MACHINE_READABLE}+DT:md5:3:16\n{line}\n"
    with contextlib.suppress(UsageError):
        for listing in read_listings(decode(text.encode(), "x"), "x", partial=True):
            make_run(listing, name="x")
