"""Listings of `openssl speed` as people post them: with prose, marks, what children print, and keys of all kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from perbyte.app.importing import read_openssl
from perbyte.errors import UsageError
from perbyte.exchange import decode, make_run, read_listings
from perbyte.exchange.openssl_command import command_in, hides_instructions
from perbyte.model import Run

HEAD = """OpenSSL 1.1.1w  11 Sep 2023
built on: Wed Sep 13 19:21:33 2023 UTC
options: bn(64,64)
compiler: gcc
"""
SIZES = """The 'numbers' are in 1000s of bytes per second processed.
type             16 bytes     64 bytes    256 bytes
"""
CBC = "aes-256-cbc     800000.00k   900000.00k   950000.00k\n"
GCM = "aes-256-gcm      97000.77k   171000.15k   202000.39k\n"


def runs(text: str) -> list[Run]:
    return [make_run(listing, name="x") for listing in read_listings(text, "x")]


def rates(run: Run) -> dict[tuple[str, str, int], float]:
    """Bytes per second by algorithm, operation and size; operations per second of keys."""
    return {
        (cell.cell.algorithm, cell.cell.operation, cell.cell.size_bytes): round(
            (1 if cell.cell.contract == "pk/1" else cell.cell.size_bytes) / cell.ns_per_call * 1e9
        )
        for cell in run.cells
    }


def test_keys_of_several_processes_are_divided_as_rows_are():
    (run,) = runs(
        "Forked child 0\nForked child 1\nGot: +F2:2:2048:700.000000:26000.000000 from 0\n"
        "version: 3.0.15\n                  sign    verify    sign/s verify/s\n"
        "rsa 2048 bits 0.000714s 0.000019s   1400.0  52000.0\n"
    )
    assert rates(run) == {("rsa-2048", "sign", 36): 700, ("rsa-2048", "verify", 36): 26000}


@pytest.mark.parametrize(
    "between",
    ["now with the longer key:\n", "\n", "# a warning of the program\n", "```\n", "Doing more tomorrow.\n"],
)
def test_rows_below_prose_belong_to_the_last_heading(between: str):
    (run,) = runs(HEAD + SIZES + CBC + between + CBC.replace("256", "128") + between + GCM)
    assert len(rates(run)) == 9
    assert not run.conditions.input["missing"]


def test_prose_before_the_first_row_does_not_part_it_from_its_heading():
    (run,) = runs(
        SIZES + "\nopenssl speed aes-128-cbc (below EVP):\naes-128 cbc  105000.34k  112000.42k  114000.10k\n"
    )
    assert rates(run)["aes-128-cbc", "encrypt", 16] == 105000340


def test_remarks_behind_a_row_and_marks_around_it_are_left_out():
    noted = CBC.replace("950000.00k", "950000.00k   <- with AES-NI")
    assert len(rates(runs(HEAD + SIZES + noted)[0])) == 3
    assert len(rates(runs(HEAD + SIZES + f"**{CBC.strip()}**\n")[0])) == 3
    with pytest.raises(UsageError, match="cut off"):
        runs(HEAD + SIZES + CBC.replace("   950000.00k", "   (the rest was lost)"))


def test_a_row_without_any_heading_is_named():
    with pytest.raises(UsageError, match="line 5: a row without a heading"):
        runs(HEAD + CBC)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("$ openssl speed -evp aes-256-cbc", ["-evp", "aes-256-cbc"]),
        ("root@router:~# openssl speed -multi 4 -evp aes-128-gcm", ["-multi", "4", "-evp", "aes-128-gcm"]),
        ("[user@host dir]$ taskset -c 1 openssl speed -elapsed rsa2048", ["-elapsed", "rsa2048"]),
        ("C:\\ssl>apps\\openssl.exe speed -evp aes-128-ctr", ["-evp", "aes-128-ctr"]),
        ("# openssl speed -multi $(nproc) aes-256-cbc", ["-multi", "$count", "aes-256-cbc"]),
        ("openssl speed -evp aes-256-cbc -decrypt", ["-evp", "aes-256-cbc", "-decrypt"]),
        ("openssl speed -evp aes-256-cbc, and once more with -decrypt", ["-evp", "aes-256-cbc"]),
        ("openssl speed rsa2048 and then with -multi 8", ["rsa2048"]),
        ("I ran openssl speed -evp aes-256-cbc -decrypt", None),
        ("One core first; below the same with openssl speed -multi 8 -evp aes-256-cbc", None),
        ("openssl speed gives these figures with -multi 8", []),
    ],
)
def test_commands_that_were_typed_are_believed_and_sentences_are_not(line: str, words: list[str] | None):
    assert command_in(line) == ([] if words is None else ["openssl", "speed", *words])


def test_a_sentence_that_mentions_multi_divides_nothing_and_a_count_that_is_not_said_gives_no_cell():
    prose = "One core first; below with openssl speed -multi 8 -evp aes-256-cbc\n\n"
    assert rates(runs(prose + HEAD + SIZES + CBC)[0])["aes-256-cbc", "encrypt", 16] == 800_000_000
    typed = "$ openssl speed -multi 8 -evp aes-256-cbc\n"
    assert rates(runs(typed + HEAD + SIZES + CBC)[0])["aes-256-cbc", "encrypt", 16] == 100_000_000
    (run,) = runs("$ openssl speed -multi $(nproc) -evp aes-256-cbc\n" + HEAD + SIZES + CBC)
    assert not run.cells
    assert "how many is not said" in run.conditions.input["remarks"][0]


def test_instructions_that_the_environment_hid_are_no_full_tier():
    typed = '$ OPENSSL_ia32cap="~0x200000200000000" openssl speed -evp aes-256-gcm\n'
    assert {cell.cell.cpu for cell in runs(typed + HEAD + SIZES + GCM)[0].cells} == {"masked"}
    assert {cell.cell.cpu for cell in runs("export OPENSSL_armcap=0\n" + HEAD + SIZES + GCM)[0].cells} == {
        "masked"
    }
    (run,) = runs("with OPENSSL_ia32cap=0:0 this is slower\n" + HEAD + SIZES + GCM)
    assert {cell.cell.cpu for cell in run.cells} == {"full"}
    assert any("hidden" in remark for remark in run.conditions.input["remarks"])
    assert hides_instructions("CPUINFO: OPENSSL_ia32cap=0x7ffaf3bfffebffff:0x18c05fdef3bfa7eb") == ""


def test_numbers_that_are_no_figures_do_not_matter():
    text = "Serial: 0100000000000000000\n" + HEAD + SIZES + CBC
    assert len(rates(runs(decode(text.encode(), "x"))[0])) == 3
    with pytest.raises(UsageError, match="thousand digits"):
        decode(b"9" * 1000, "x")
    with pytest.raises(UsageError, match="sizes is cut off"):
        runs(HEAD + SIZES.replace("256", "9" * 400) + CBC)


KEYS = """version: 3.5.0
                              sign    verify    sign/s verify/s
 256 bits ecdsa (nistp256)   0.0000s   0.0001s  43330.2  14220.4
 256 bits ecdsa (brainpoolP256r1)   0.0005s   0.0005s   2000.0   2100.0
 253 bits EdDSA (Ed25519)   0.0000s   0.0001s  26300.0  10302.7
                              op      op/s
 253 bits ecdh (X25519)   0.0000s  31810.1
 521 bits ecdh (nistp521)   0.0003s   3200.0
                               keygen    encaps    decaps keygens/s  encaps/s  decaps/s
                 ML-KEM-768 0.000024s 0.000017s 0.000026s   41000.0   59000.0   38000.0
                    X25519 0.000024s 0.000017s 0.000026s   41000.0   59000.0   38000.0
                               keygen     signs    verify keygens/s    sign/s  verify/s
                  ML-DSA-65 0.000080s 0.000300s 0.000080s   12500.0    3300.0   12500.0
"""


def test_keys_of_curves_kems_and_signatures_are_cells():
    (run,) = runs(KEYS)
    assert rates(run) == {
        ("ecdsa-p256", "sign", 20): 43330,
        ("ecdsa-p256", "verify", 20): 14220,
        ("ecdsa-brainpoolp256r1", "sign", 20): 2000,
        ("ecdsa-brainpoolp256r1", "verify", 20): 2100,
        ("ed25519", "sign", 20): 26300,
        ("ed25519", "verify", 20): 10303,
        ("x25519", "derive", 32): 31810,
        ("ecdh-p521", "derive", 32): 3200,
        ("ml-kem-768", "keygen", 32): 41000,
        ("ml-kem-768", "encapsulate", 32): 59000,
        ("ml-kem-768", "decapsulate", 32): 38000,
        ("ml-dsa-65", "keygen", 32): 12500,
        ("ml-dsa-65", "sign", 32): 3300,
        ("ml-dsa-65", "verify", 32): 12500,
    }
    remarks = run.conditions.input["remarks"]
    assert len(remarks) == 3  # the key agreement as a KEM, which is another call
    assert all("X25519" in remark for remark in remarks)


def test_bits_alone_name_a_curve_only_where_there_is_one():
    (run,) = runs(
        "+F4:3:256:40000.000000:14000.000000\n+F4:5:521:2500.000000:1600.000000\n+F6:0:253:Ed25519:26000.000000:10000.000000\n"
    )
    assert {cell.cell.algorithm for cell in run.cells} == {"ecdsa-p521", "ed25519"}
    assert "which curve of 256 bits" in run.conditions.input["remarks"][0]


def test_the_row_evp_is_named_by_the_children_or_the_command():
    row = CBC.replace("aes-256-cbc", "evp        ")
    children = "Forked child 0\nGot: +H:16:64:256 from 0\nGot: +F:22:aes-256-cbc:1.00:2.00:3.00 from 0\n"
    assert ("aes-256-cbc", "encrypt", 16) in rates(runs(children + "OpenSSL 1.0.2g  1 Mar 2016\n" + row)[0])
    assert ("aes-256-cbc", "encrypt", 16) in rates(
        runs("$ openssl speed -evp aes-256-cbc\n" + SIZES + row)[0]
    )
    (run,) = runs(SIZES + row)
    assert not run.cells


def test_what_children_print_between_is_progress():
    text = (
        "Forked child 0\n+DTP:1024:private:rsa:1\n+R1:3744:1024:1.00\n"
        "+DT:aes-256-cbc:3:16\n+R:9382290:aes-256-cbc:3.0\n"
        "Got: +F2:1:1024:3744.000000:66099.000000 from 0\nversion: 3.0.19\n"
        "                  sign    verify    sign/s verify/s\nrsa 1024 bits 0.000267s 0.000015s   3744.0  66099.0\n"
    )
    assert rates(runs(text)[0])["rsa-1024", "sign", 36] == 3744


def test_libressl_kept_the_calls_of_old_versions():
    (run,) = runs(HEAD.replace("OpenSSL 1.1.1w  11 Sep 2023", "LibreSSL 3.3.6") + SIZES + GCM)
    assert {(cell.cell.runner, cell.cell.contract) for cell in run.cells} == {("libressl", "stream/1")}


def test_hmac_and_cmac_name_what_is_inside():
    text = (
        HEAD
        + SIZES
        + CBC.replace("aes-256-cbc", "hmac(sha512)")
        + CBC.replace("aes-256-cbc", "cmac(aes-128-cbc)")
    )
    assert {name for name, _, _ in rates(runs(text)[0])} == {"hmac-sha-512", "aes-128-cmac"}


def test_a_listing_that_is_unknown_costs_only_itself(tmp_path: Path):
    (tmp_path / "x.txt").write_text(
        HEAD + SIZES + CBC.replace("aes-256-cbc", "sha7       ") + HEAD + SIZES + CBC
    )
    (run,) = read_openssl([tmp_path / "x.txt"], None, None, "", join=False, partial=False)
    assert len(run.cells) == 3
    assert any("line 1" in remark and "sha7" in remark for remark in run.conditions.input["remarks"])


def test_a_speed_that_no_processor_has_is_no_figure():
    (run,) = runs(HEAD + SIZES + CBC.replace("950000.00k", "22000000.00k"))
    assert not run.cells
    assert "CPU time is counted wrongly" in run.conditions.input["remarks"][0]


def test_words_that_name_the_processor_and_the_version_are_taken():
    (run,) = runs("CPU Model: Example CPU 7\nOpenSSL version: 1.1.1k\n" + SIZES + CBC)
    assert run.conditions.machine.cpu_model == "Example CPU 7"
    assert run.conditions.identities[0].library_version == "1.1.1k"


def test_a_command_that_measures_otherwise_begins_another_listing():
    between = "$ openssl speed -evp aes-256-cbc -decrypt\n"
    first, second = runs("$ openssl speed -evp aes-256-cbc\n" + HEAD + SIZES + CBC + between + CBC)
    assert {operation for _, operation, _ in rates(first)} == {"encrypt"}
    assert {operation for _, operation, _ in rates(second)} == {"decrypt"}
    assert second.conditions.identities[0].library_version == "1.1.1w"
    (run,) = runs(
        SIZES + CBC + "$ openssl speed -evp aes-256-gcm (with AES-NI)\n" + GCM.replace("gcm", "ctr")
    )
    assert len(rates(run)) == 6


def test_keys_of_more_primes_are_not_those_of_two():
    table = "                  sign    verify    sign/s verify/s\nrsa 2048 bits 0.000934s 0.000036s   1070.3  27899.1\n"
    three, two = runs(
        f"# ./openssl speed -primes 3 rsa2048\n{table}\n# ./openssl speed -primes 2 rsa2048\n{table}"
    )
    assert not three.cells
    assert len(two.cells) == 2


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_which_call_of_gcm_was_timed_is_asked_for_with_every_key(bits: int):
    table = f"type 16 bytes 64 bytes\nAES-{bits}-GCM 87073.19k 348064.22k\n"
    [untold] = runs(table)
    assert not untold.cells
    assert "depends on the version" in untold.conditions.input["remarks"][0]
    [told] = runs(f"OpenSSL 1.1.1w\n{table}")
    assert {cell for cell, _, _ in rates(told)} == {f"aes-{bits}-gcm"}


@pytest.mark.parametrize(
    "text",
    [
        "OpenSSL 3.0.2\ntype\t16 bytes\t64 bytes\nsha256\t21000.12k\t55000.34k\n",
        "OpenSSL 3.0.2\ntype\u00a0 16\u00a0bytes  64 bytes\nsha256\u00a0 21000.12k 55000.34k\n",
        "OpenSSL 3.0.2\n| type | 16 bytes | 64 bytes |\n| --- | --- | --- |\n| **sha256** | 21000.12k | 55000.34k |\n",
        "> OpenSSL 3.0.2\n> type  16 bytes  64 bytes\n> sha256  21000.12k  55000.34k\n",
    ],
)
def test_what_a_web_page_makes_of_columns_is_read(text: str):
    (run,) = runs(decode(text.encode(), "x"))
    assert rates(run) == {("sha-256", "digest", 16): 21000120, ("sha-256", "digest", 64): 55000340}


@pytest.mark.parametrize(("heading", "row"), [("\n 256 bytes", ""), (" 256 bytes", "\n")])
def test_a_figure_that_was_wrapped_off_its_row_is_not_lost_in_silence(heading: str, row: str):
    with pytest.raises(UsageError, match="line 3"):
        runs(f"OpenSSL 3.0.2\ntype 16 bytes 64 bytes{heading}\nsha256 21000.12k 55000.34k{row} 110000.56k\n")
