"""`perbyte study new`: from a table of figures to a study that can be read, judged and measured."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from perbyte.errors import DataFileError, UsageError
from perbyte.report.studyview import skeleton_lines
from perbyte.studies import judge_in_print, read_study
from perbyte.studies.skeleton import About, draw, read_figures, write_study

TABLE = """\
library,algorithm,operation,size_bytes,value,unit
LibX,AES-128-CTR,encrypt,1024,0.9,cycles/byte
LibX,AES-128-CTR,encrypt,64,2.25,cycles/byte
LibX,ChaCha20,encrypt,1024,1.5,cycles/byte
LibX,ChaCha20,encrypt,64,5.0,cycles/byte
LibX,Frobnicate,encrypt,1024,4.9,cycles/byte
LibX,ChaCha20,encrypt,1024,1.51,cycles/byte
"""
ABOUT = About('A "short" note', "Jane Doe", 2024, "J. Doe, 2024.", "Which is faster?", "a laptop", 3e9)


RUNNERS = {"OpenSSL": "openssl", "Crypto++": "cryptopp", "openssl": "openssl"}


def written(place: Path, files: dict[str, str]) -> Path:
    place.mkdir()
    for name, text in files.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def test_a_skeleton_is_a_study(tmp_path: Path) -> None:
    study = read_study(written(tmp_path / "doe-2024", draw(ABOUT, read_figures(TABLE))))
    assert (study.title, study.year, study.machines[0].clock_hz) == ('A "short" note', 2024, 3e9)
    assert [figure.printed for figure in study.published] == ["0.9", "2.25", "1.5", "5.0", "4.9", "1.51"]
    assert len({figure.id for figure in study.published}) == 6
    assert study.selectors() == (
        "*/aes-128-ctr/{encrypt}@64,1024+contract=stream/1",
        "*/chacha20/{encrypt}@64,1024+contract=stream/1",
    )
    (unknown,) = [figure for figure in study.published if not figure.cell]
    assert (unknown.algorithm, "by hand" in unknown.note) == ("Frobnicate", True)
    assert {verdict.claim.id: str(verdict.outcome) for verdict in judge_in_print(study).verdicts} == {
        "order": "not testable",
        "first": "reproduced",
    }


def test_names_of_machines_may_have_any_letters(tmp_path: Path) -> None:
    """Escapes of JSON in two halves (a letter beyond U+FFFF) are not TOML."""
    figures = read_figures(TABLE, machine="\U0001f5a5 zu Hause")
    study = read_study(written(tmp_path / "doe-2024", draw(ABOUT, figures)))
    assert [machine.id for machine in study.machines] == ["\U0001f5a5 zu Hause"]


def test_given_cells_and_machines_are_kept() -> None:
    head = "algorithm,operation,size_bytes,value,unit,machine,cell\n"
    table = head + "Rijndael,encrypt,16,1.0,cycles/byte,old,openssl/aes-128-ecb/encrypt@16\n"
    (figure,) = read_figures(table).figures
    assert (figure["machine"], figure["cell"]) == ("old", "openssl/aes-128-ecb/encrypt@16")


def test_the_contract_is_the_usual_one_and_others_are_named(tmp_path: Path) -> None:
    table = (
        "algorithm,operation,size_bytes,value,unit\n"
        "aes-128-gcm,seal,1024,1.0,cycles/byte\naes-256-gcm,seal,1024,1.2,cycles/byte\n"
        "sha-256,digest,1024,2.9,cycles/byte\nx25519,derive,0,90000,cycles/call\n"
    )
    about = About("A note", "Jane Doe", 2024, "J. Doe, 2024.", "Which is faster?")
    study = read_study(written(tmp_path / "doe-2024", draw(about, read_figures(table))))
    assert study.contract == "message/1"
    assert study.selectors() == (
        "*/aes-128-gcm/{seal}@1024+contract=message/1",
        "*/aes-256-gcm/{seal}@1024+contract=message/1",
        "*/sha-256/{digest}@1024+contract=oneshot/1",
        "*/x25519/{derive}@0+contract=pk/1",
    )
    assert study.published[3].cell == "*/x25519/derive@0+contract=pk/1"


def test_an_operation_that_an_algorithm_lacks_has_no_cell_and_is_told() -> None:
    (figure,) = read_figures("algorithm,operation,value,unit\nsha-256,squeeze,2.9,cycles/byte\n").figures
    assert (figure["cell"], figure["note"]) == ("", "sha-256 has digest: fill in the cell by hand")


@pytest.mark.parametrize(
    ("algorithm", "written", "meant"),
    [
        ("aes-128-gcm", "encrypt", "seal"),
        ("aes-128-gcm", "Decryption", "open"),
        ("aes-128-cbc", "enc", "encrypt"),
        ("sha-256", "hash", "digest"),
        ("hmac-sha-256", "auth", "mac"),
        ("ml-kem-768", "encaps", "encapsulate"),
        ("ml-kem-768", "dec", "decapsulate"),
        ("ml-kem-768", "keypair", "keygen"),
        ("ed25519", "signing", "sign"),
        ("x25519", "DH", "derive"),
    ],
)
def test_operations_are_those_of_the_kind(algorithm: str, written: str, meant: str) -> None:
    (figure,) = read_figures(f"algorithm,operation,value,unit\n{algorithm},{written},2.9,cpb\n").figures
    assert figure["cell"] == f"*/{algorithm}/{meant}@0"


@pytest.mark.parametrize(
    ("library", "runner"),
    [
        ("OpenSSL", "openssl"),
        ("OpenSSL 3.0.10", "openssl"),
        ("openssl v1.1.1w", "openssl"),
        ("Crypto++ 8.9", "cryptopp"),
    ],
)
def test_the_library_of_a_figure_is_kept(library: str, runner: str) -> None:
    head = "library,algorithm,operation,value,unit\n"
    (figure,) = read_figures(f"{head}{library},sha-256,digest,2.9,cpb\n", runners=RUNNERS).figures
    assert figure["cell"] == f"{runner}/sha-256/digest@0"
    assert figure["library"] == library


def test_a_figure_may_end_in_k_as_openssl_prints_it() -> None:
    head = "algorithm,operation,size_bytes,value,unit\n"
    (figure,) = read_figures(f"{head}sha-256,digest,8192,469893.12k,1000 bytes/s\n").figures
    assert figure["value"] == "469893.12"
    with pytest.raises(DataFileError, match="line 2: value: '5k' is not a number"):  # of thousand calls?
        read_figures(f"{head}sha-256,digest,16,5k,ops/s\n")


def test_another_library_stands_for_none(tmp_path: Path) -> None:
    """An author's own code is no faster or slower by what somebody else's does."""
    table = read_figures(TABLE, runners=RUNNERS)
    assert {figure["cell"] for figure in table.figures} == {""}
    assert table.figures[0]["note"] == "no runner calls LibX: fill in the cell by hand"
    with pytest.raises(UsageError, match=r"no figure has a cell of today \(no runner calls LibX") as caught:
        draw(ABOUT, table)
    assert "leave the column `library` out" in str(caught.value.hint)


def test_a_mode_with_a_contract_of_its_own_is_not_measured_under_another(tmp_path: Path) -> None:
    """XTS is no endless message: asked for under stream/1, every library would have lacked it."""
    table = read_figures(
        "library,algorithm,operation,size_bytes,value,unit\nOpenSSL 3.0,AES-128-XTS,encrypt,4096,50,Gb/s\n"
        "OpenSSL 3.0,AES-128-CBC,encrypt,4096,12,Gb/s\nOpenSSL 3.0,AES-128-GCM,encrypt,4096,48,Gb/s\n",
        runners=RUNNERS,
    )
    study = read_study(written(tmp_path / "doe-2024", draw(replace(ABOUT, contract="stream"), table)))
    assert study.contract == "stream/1"
    assert study.selectors() == (
        "openssl/aes-128-xts/{encrypt}@4096+contract=message/1",
        "openssl/aes-128-cbc/{encrypt}@4096+contract=stream/1",
        "openssl/aes-128-gcm/{seal}@4096+contract=message/1",
    )
    assert [str(figure.unit) for figure in study.published] == ["Gbit/s"] * 3


def test_machines_keep_their_names_and_clocks(tmp_path: Path) -> None:
    table = read_figures(
        "machine,clock_ghz,algorithm,operation,size_bytes,value,unit\nCore A,4.2,aes-128-ctr,encrypt,1024,5,GB/s\n"
        "Core B,,aes-128-ctr,encrypt,1024,4,GB/s\n"
    )
    study = read_study(written(tmp_path / "doe-2024", draw(ABOUT, table)))
    assert [(machine.name, machine.clock_hz) for machine in study.machines] == [
        ("Core A", 4.2e9),
        ("Core B", None),
    ]


def test_the_claims_drawn_are_what_the_table_shows(tmp_path: Path) -> None:
    """The first row need not be the fastest one; where the table has no winner nobody is called one."""
    table = (
        "algorithm,operation,size_bytes,value,unit\nChaCha20,encrypt,64,5,cpb\naes-128-ctr,encrypt,64,2,cpb\n"
    )
    study = read_study(written(tmp_path / "a-2024", draw(ABOUT, read_figures(table))))
    claims = {claim.id: (claim.about, claim.says) for claim in study.claims}
    assert claims["first"] == ("table", "aes-128-ctr is the fastest.")
    assert claims["order"][0] == "question"
    more = table + "ChaCha20,encrypt,1024,1,cpb\naes-128-ctr,encrypt,1024,2,cpb\n"
    study = read_study(written(tmp_path / "b-2024", draw(ABOUT, read_figures(more))))
    assert [claim.id for claim in study.claims] == ["order"]


def test_algorithms_of_two_kinds_do_not_compete() -> None:
    rows = "x25519,keygen,119875,cycles\nx25519,dh,114972,cycles\ned25519,keygen,124406,cycles\n"
    files = draw(ABOUT, read_figures("algorithm,operation,value,unit\n" + rows))
    assert 'id = "first"' not in files["claims.toml"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("sha-256,digest,64,many,cpb", "figures.csv: line 3: value: 'many' is not a number"),
        ("sha-256,digest,64,2.9,Gigs", "figures.csv: line 3: unit: no unit 'Gigs'"),
        ("sha-256,digest,64,2.9,gb/s", "figures.csv: line 3: unit: 'gb/s' may mean bits or bytes"),
        ("sha-256,digest,64 B,2.9,cpb", "figures.csv: line 3: size_bytes: '64 B' is not a whole number"),
    ],
)
def test_an_error_is_told_in_the_users_own_file_and_line(row: str, message: str) -> None:
    table = f"algorithm,operation,size_bytes,value,unit\nsha-256,digest,64,2.9,cpb\n{row}\n"
    with pytest.raises(DataFileError, match=re.escape(message)):
        read_figures(table, place="figures.csv")


def test_a_failure_leaves_nothing_behind_and_can_be_tried_again(tmp_path: Path) -> None:
    files = draw(ABOUT, read_figures(TABLE))
    with pytest.raises(DataFileError):
        write_study(tmp_path / "my" / "doe-2024", files | {"NOTES.md": ""})
    assert list((tmp_path / "my").iterdir()) == []
    study = write_study(tmp_path / "my" / "doe-2024", files)
    assert study.path == tmp_path / "my" / "doe-2024"
    assert [path.name for path in (tmp_path / "my").iterdir()] == ["doe-2024"]


def test_what_has_no_cell_is_told_once(tmp_path: Path) -> None:
    rows = "".join(f"Frobnicate,encrypt,{size},2.9,cpb\n" for size in (16, 64, 256))
    table = f"algorithm,operation,size_bytes,value,unit\nsha-256,digest,64,2.9,cpb\n{rows}"
    study = write_study(tmp_path / "doe-2024", draw(ABOUT, read_figures(table)))
    lines = [line for line in skeleton_lines(study.path, study) if "no cell" in line]
    assert lines == [
        "  no cell: Frobnicate, encrypt (3 figures): the catalogue does not know this name: fill in the cell by hand"
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("algorithm,operation,value\nAES,encrypt,1\n", "no column 'unit'"),
        ("algorithm,operation,value,unit\n", "no figures"),
    ],
)
def test_a_table_that_lacks_what_is_needed_is_refused(table: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_figures(table)


def test_a_table_of_unknown_names_is_refused() -> None:
    figures = read_figures("algorithm,operation,value,unit\nFrobnicate,encrypt,1,cycles/byte\n")
    with pytest.raises(UsageError, match=r"no figure has a cell of today .the catalogue does not know"):
        draw(ABOUT, figures)
