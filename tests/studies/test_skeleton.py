"""`perbyte study new`: from a table of figures to a study that can be read, judged and measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from perbyte.errors import UsageError
from perbyte.studies import judge_in_print, read_study
from perbyte.studies.skeleton import About, draw, read_figures

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
    (figure,) = read_figures(table)
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
    (figure,) = read_figures("algorithm,operation,value,unit\nsha-256,hash,2.9,cycles/byte\n")
    assert (figure["cell"], figure["note"]) == ("", "sha-256 has digest: fill in the cell by hand")


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
    with pytest.raises(UsageError, match="knows none of these"):
        draw(ABOUT, figures)
