"""A broken study is refused with file, key and hint; a good one says what is to be measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from scripted_studies import CLAIM, PUBLISHED, STUDY, write_study

from perbyte.errors import DataFileError, PerbyteError, UsageError
from perbyte.model import Policy
from perbyte.studies import find, read_study, studies
from perbyte.studies.claims.availability import Provided

FORM = '[[claims]]\nid = "c"\nsays = "s"\nplace = "p"\n'


def refused(tmp_path: Path, **files: str) -> tuple[str, str]:
    with pytest.raises(DataFileError) as caught:
        read_study(write_study(tmp_path, **files))
    return str(caught.value), caught.value.hint or ""


def test_a_study_is_found_by_its_folder(tmp_path: Path) -> None:
    write_study(tmp_path)
    study = find("made-up", tmp_path)
    assert (study.name, study.year, len(study.published), len(study.claims)) == ("made-up", 2001, 6, 1)
    assert [study.name for study in studies(tmp_path)] == ["made-up"]
    with pytest.raises(UsageError, match="there is no study 'made-upp'") as caught:
        find("made-upp", tmp_path)
    assert caught.value.hint == "did you mean 'made-up'?"


def test_selectors_carry_the_contract_and_the_quick_variant_its_own(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path))
    assert study.selectors()[0] == "{one,two}/aes-128-ecb/{encrypt,decrypt}@16,32,512+contract=stream/1"
    assert study.selectors()[-1] == "*/md5/digest@64+contract=oneshot/1"
    assert study.selectors(quick=True) == (
        "{one,two}/aes-128-ecb/{encrypt,decrypt}@16,32+contract=stream/1",
        "{one,two}/camellia-128-ecb/{encrypt,decrypt}@16,32+contract=stream/1",
        "*/md5/digest@64+contract=oneshot/1",
    )


def test_policies_are_laid_over_each_other(tmp_path: Path) -> None:
    text = STUDY + "\n[policy]\nbudget_s = 20\nlooks = [1, 3]\n\n[quick]\nepochs = 2\n"
    study = read_study(write_study(tmp_path, study=text))
    full, quick = study.measuring_policy(), study.measuring_policy(quick=True)
    assert (full.budget_s, full.looks, full.epochs) == (20.0, (1, 3), Policy().epochs)
    assert (quick.budget_s, quick.looks, quick.epochs) == (20.0, (1, 3), 2)


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ('title = "A', 'titel = "A', "made-up/study.toml: titel: unknown key", "did you mean 'title'?"),
        ("year = 2001", "year = -1", "year: must be a whole number of 0 or more, and is -1", ""),
        ('authors = ["Nobody"]', "authors = []", "authors: must not be empty", ""),
        ('language = "English"', 'language = ""', "language: must not be empty", ""),
        ("year = 2001", "year = 2001\nzzz = 1", "study.toml: zzz: unknown key", "there are:"),
        (
            'contract = "stream/1"',
            'contract = "steam/1"',
            "there is no contract 'steam/1'",
            "did you mean 'stream/1'?",
        ),
        ("aes-128-ecb", "ase-128-ecb", "[[cells]] fast: selectors: selector", ""),
        (
            "@16,32,512",
            "",
            "[[cells]] fast: selectors: selector '{one,two}/aes-128-ecb/{encrypt,decrypt}",
            "add them: @16,8192",
        ),
        (
            "@16,32,512",
            "@16,32,500",
            "500 bytes are no multiple of 16, which aes-128-ecb needs",
            "choose another size",
        ),
        (
            "{encrypt,decrypt}@",
            "{encrypt,open}@",
            "aes-128-ecb has no operation 'open'",
            "it has encrypt and decrypt",
        ),
        (
            'name = "mid"',
            'name = "fast"',
            "study.toml: [[cells]] fast: duplicate",
            "give each its own",
        ),
        (
            'tags = { kind = "old" }',
            'tags = { runner = "old" }',
            "tags: 'runner' is a dimension of its own",
            "choose another",
        ),
        (
            'tags = { kind = "old" }',
            "tags = { kind = 3 }",
            "[[cells]] slow: tags: kind: must be a text, and is 3",
            "",
        ),
        (
            "clock_hz = 1.0e9",
            "clock_hz = -3",
            "[[machines]] box: clock_hz: must be a number above 0, and is -3",
            "",
        ),
        ('why = "Somehow."', "", "[[assumptions]] Something.: why: is missing", ""),
        (
            'compare = "group"',
            'compare = "grp"',
            "[statistics]: there is no dimension 'grp'",
            "did you mean 'group'?",
        ),
        (
            'compare = "group"',
            'compare = "group"\nalpha = 5',
            "statistics: alpha: unknown key",
            "there are: compare",
        ),
        ('compare = "group"', "compare = ", "study.toml: Invalid value", "TOML syntax"),
    ],
)
def test_broken_study_files(tmp_path: Path, old: str, new: str, message: str, hint: str) -> None:
    assert old in STUDY
    told, way = refused(tmp_path, study=STUDY.replace(old, new, 1))
    assert message in told
    assert hint in way


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[policy]\nbudgets = 3", "policy: budgets: unknown key"),
        ("[policy]\nepochs = 2.5", "policy: epochs: must be a whole number, and is 2.5"),
        ('[quick]\nbudget_s = "much"', "quick: budget_s: must be a number, and is 'much'"),
    ],
)
def test_broken_policies(tmp_path: Path, line: str, message: str) -> None:
    assert message in refused(tmp_path, study=f"{STUDY}\n{line}\n")[0]


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            "id,place",
            "id,spot",
            "made-up/published.csv: line 1: wrong columns",
            "they are: id,place",
        ),
        (
            "encrypt,16,2.5,",
            "encrypt,16,2,5,",
            "line 2: 14 columns instead of 13",
            "decimal commas as points",
        ),
        (
            "encrypt,16,2.5,",
            'encrypt,16,"2,5",',
            "line 2: value: '2,5' is not a number",
            "decimal commas as points",
        ),
        (
            "encrypt,16,2.5,",
            "encrypt,16,0.00,",
            "line 2: value: '0.00' is not a figure above 0",
            "say available = no",
        ),
        ("encrypt,16,2.5,", "encrypt,16,nan,", "line 2: value: 'nan' is not a figure above 0", ""),
        ("16,2.5,cycles/byte", "16,2.5,cpb", "line 2: unit: there is no 'cpb'", "there are: 1000 bytes/s,"),
        ("16,2.5,", "16B,2.5,", "line 2: size_bytes: '16B' is not a whole number", ""),
        (
            "a,table,box",
            "a,table,bxo",
            "line 2: machine: there is no 'bxo' in study.toml",
            "did you mean 'box'?",
        ),
        ("b,table,box", "a,table,box", "published.csv: id a: duplicate", ""),
        ("1,no,two", "1,never,two", "line 6: available: there is no 'never'", "no, yes"),
        (
            "one/des-ecb/decrypt@16",
            "one/des-ecb/decrypt",
            "line 5: cell: selector 'one/des-ecb/decrypt",
            "add them",
        ),
        (
            "one/des-ecb/decrypt@16",
            "one/des-ecb/decrypt@16 over one/des-ecb/encrypt@16",
            "line 5: cell: a ratio needs two cells",
            "CELL over CELL",
        ),
    ],
)
def test_broken_figures(tmp_path: Path, old: str, new: str, message: str, hint: str) -> None:
    assert old in PUBLISHED
    told, way = refused(tmp_path, published=PUBLISHED.replace(old, new, 1))
    assert message in told
    assert hint in way


@pytest.mark.parametrize(
    ("claims", "message", "hint"),
    [
        ("", "made-up/claims.toml: there are no [[claims]]", "at least one"),
        (FORM + 'form = "quickest"', "[[claims]] c: form: there is no 'quickest'", "there are: clusters, "),
        (
            FORM + 'form = "ratoi"',
            "form: there is no 'ratoi'",
            "did you mean 'ratio'?",
        ),
        (FORM + 'form = "out_of_reach"', "[[claims]] c: why: is missing", "add `why = ...`"),
        (
            FORM + 'form = "out_of_reach"\nwhy = "x"\nwho = 1',
            "[[claims]] c: who: unknown key",
            "did you mean 'why'?",
        ),
        (
            FORM + 'form = "out_of_reach"\nwhy = "x"\nquantifier = "few"',
            "quantifier: there is no 'few'",
            "every, most, some",
        ),
        (CLAIM + CLAIM, "claims.toml: [[claims]] any: duplicate", ""),
        (
            FORM + 'form = "rank"\ncandidates = "grp"\nfirst = "fast"',
            "candidates: there is no dimension 'grp'",
            "did you mean 'group'?",
        ),
        (
            FORM + 'form = "rank"\ncandidates = "group"\nfirst = "fats"',
            "first: no cell of the study has group = 'fats'",
            "did you mean 'fast'?",
        ),
        (
            FORM + 'form = "provided"\nwhere = { size_bytes = 17 }',
            "where: no cell of the study has size_bytes = 17",
            "there are: 16, 32, 512, 64",
        ),
        (
            FORM + 'form = "provided"\nwhere = { size_bytes = [[1]] }',
            "where: size_bytes: must be a whole number or a text, and is [1]",
            "",
        ),
        (FORM + 'form = "provided"\nwhere = "all"', "where: must be a table, and is 'all'", ""),
        (
            FORM + 'form = "ratio"\nwithin_percent = "five"',
            "within_percent: must be a number, and is 'five'",
            "",
        ),
        (
            FORM + 'form = "ratio"\nnumerator = {}\ndenominator = {}\naggregate = "sum"',
            "aggregate: there is no 'sum'",
            "there are: each, max, mean, min",
        ),
        (
            FORM + 'form = "rank"\ncandidates = "group"',
            "[[claims]] c: first: the form 'rank' needs one of first, last, order",
            "",
        ),
        (
            FORM + 'form = "ratio"\nnumerator = {}\ndenominator = {}',
            "a ratio needs low, high or within_percent",
            "",
        ),
        (
            FORM + 'form = "trend"\nsmallest = 16\nwithin_percent = 3',
            "a trend needs one of rises, smallest",
            "",
        ),
        (FORM.replace('says = "s"\n', "") + 'form = "provided"', "says: is missing", ""),
    ],
)
def test_broken_claims(tmp_path: Path, claims: str, message: str, hint: str) -> None:
    told, way = refused(tmp_path, claims=claims)
    assert message in told
    assert hint in way


def test_a_value_behind_a_glob_is_not_refused(tmp_path: Path) -> None:
    claim = FORM + 'form = "provided"\nwhere = { group = "any", runner = "whoever" }'
    (read,) = read_study(write_study(tmp_path, claims=claim)).claims
    assert isinstance(read, Provided)
    assert read.where == {"group": "any", "runner": "whoever"}


@pytest.mark.parametrize("name", ["study.toml", "published.csv", "claims.toml", "NOTES.md"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_study(tmp_path)
    (folder / name).unlink()
    with pytest.raises(DataFileError, match=rf"{name} is missing in ") as caught:
        read_study(folder)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["study.toml", "published.csv", "claims.toml", "NOTES.md"])
def test_a_file_of_other_bytes_is_named(tmp_path: Path, name: str) -> None:
    folder = write_study(tmp_path)
    (folder / name).write_bytes(b"\xff\xfe\x00title")
    with pytest.raises(PerbyteError, match=name):
        read_study(folder)


def test_empty_notes_are_refused(tmp_path: Path) -> None:
    message, way = refused(tmp_path, notes=" \n")
    assert "NOTES.md: is empty" in message
    assert "what cannot be repeated" in way


def test_ones_own_studies_lie_anywhere_and_a_broken_one_costs_itself_only(tmp_path, monkeypatch):
    from perbyte import places
    from perbyte.errors import DataFileWarning
    from perbyte.studies import find, studies

    own, broken = tmp_path / "roe-1994", tmp_path / "broken-2030"
    shutil.copytree(places.data_dir("studies") / "roe-1994", own)
    file = own / "study.toml"
    title = next(line for line in file.read_text().splitlines() if line.startswith("title"))
    file.write_text(file.read_text().replace(title, 'title = "My own Roe"'))
    broken.mkdir()
    (broken / "study.toml").write_text('titel = "what"\n')
    monkeypatch.setenv("PERBYTE_STUDIES", str(tmp_path))
    with pytest.warns(DataFileWarning, match="study 'broken-2030' is left out: .*titel: unknown key"):
        names = {study.name: study.title for study in studies()}
    assert names["roe-1994"] == "My own Roe", "one's own come first"
    assert "kompara-2020" in names
    assert "broken-2030" not in names
    with pytest.raises(DataFileError, match="titel: unknown key") as raised:
        find("broken-2030")
    assert raised.value.hint == "did you mean 'title'?"
