"""Words without a number: one table for all studies, held against the claims, the page and both ways of writing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripted_studies import write_study

from perbyte import places
from perbyte.datafile import Problem
from perbyte.errors import DataFileError
from perbyte.report.studyview import claims_page
from perbyte.studies import read_study, studies
from perbyte.studies.claims.ratios import RatioClaim
from perbyte.studies.words import meaning, misread, read_as, spoken, unread, words

CLAIM = '[[claims]]\nid = "c"\nsays = "s"\nplace = "p"\n'
SIDES = (
    'form = "ratio"\nnumerator = { group = "mid" }\ndenominator = { group = "fast" }\n'
    'by = ["runner", "operation", "size_bytes"]\n'
)
GROUPS = 'by = ["runner", "operation", "size_bytes"]'
RANK = f'form = "rank"\ncandidates = "group"\nfirst = "fast"\n{GROUPS}'
TREND = 'form = "trend"\nnumerator = { group = "mid" }\nby = ["runner", "operation"]\n'


def test_the_page_has_the_table_as_it_is() -> None:
    page = (places.data_dir("studies").parent / "docs" / "claims.md").read_text(encoding="utf-8")
    rows = dict(
        re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", page.split("## Words")[1].split("## ")[0], re.MULTILINE)
    )
    assert rows.pop("words") == "stand for"
    assert rows == {", ".join((word.word, *word.also)): word.said for word in words()}


@pytest.mark.parametrize(
    ("body", "fits"),
    [
        ('words = ["much"]\n' + SIDES + "low = 1.5", True),
        ('words = ["by far"]\n' + SIDES + "high = 0.667", True),
        ('words = ["much"]\n' + SIDES + "low = 1.4", False),
        ('words = ["much"]\n' + SIDES + "low = 1.5\nhigh = 3", False),
        ('words = ["slightly"]\n' + SIDES + "low = 1\nhigh = 1.2", True),
        ('words = ["slightly"]\n' + SIDES + "low = 1", False),
        ('words = ["the same"]\n' + SIDES + "within_percent = 5", True),
        ('words = ["the same"]\n' + SIDES + "within_percent = 6", False),
        ('words = ["about the same"]\n' + TREND + "within_percent = 10", True),
        ('words = ["a great deal"]\nnegate = true\n' + TREND + "within_percent = 100", True),
        ('words = ["a great deal"]\n' + TREND + "within_percent = 100", False),
        ('words = ["mostly", "faster"]\nquantifier = "most"\n' + SIDES + "low = 1", True),
        ('words = ["mostly"]\n' + SIDES + "low = 1", False),
        ('words = ["always"]\n' + SIDES + "low = 1", True),
        ('words = ["the fastest"]\n' + RANK, True),
        ('words = ["much"]\n' + RANK, False),
    ],
)  # fmt: skip
def test_a_claim_has_the_limits_of_its_words(tmp_path: Path, body: str, fits: bool) -> None:
    place = write_study(tmp_path, claims=CLAIM + body)
    if fits:
        (claim,) = read_study(place).claims
        assert read_as(claim).startswith(f"'{claim.words[0].capitalize()}': {meaning(claim.words[0]).said}.")
        assert f"- Reading: {read_as(claim)}" in claims_page(read_study(place))
    else:
        with pytest.raises(DataFileError, match=r"stands for .* and the claim has other limits"):
            read_study(place)


def test_a_word_that_the_table_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="there is no word 'enormously'"):
        read_study(write_study(tmp_path, claims=CLAIM + 'words = ["enormously"]\n' + SIDES + "low = 1"))
    with pytest.raises(Problem, match="there is no word"):
        meaning("hugely")


@pytest.mark.parametrize(
    ("says", "rest", "refused"),
    [
        ("It is much faster.", SIDES + "low = 1.5", "says 'much' and does not name the word"),
        ("It is much faster.", 'words = ["much"]\n' + SIDES + "low = 1.5", ""),
        ("It is much faster.", 'figures_set = ["much"]\nreading = "The table."\n' + SIDES + "low = 3", ""),
        ("It is much faster.", 'figures_set = ["much"]\n' + SIDES + "low = 3", "and not which"),
        ("It is faster.", 'figures_set = ["hugely"]\nreading = "r"\n' + SIDES + "low = 3", "there is no word"),
        ("At a CLEAR disadvantage.", SIDES + "low = 1.1", "says 'clear'"),
        ("By far.", 'words = ["far"]\n' + SIDES + "low = 1.5", "says 'by far'"),
        ("Not significantly.", 'words = ["not significantly"]\n' + TREND + "within_percent = 20", ""),
        ("Not significantly.", 'words = ["not significantly"]\n' + TREND + "within_percent = 10", "less than 20 %"),
        ("Not much.", 'words = ["not much"]\n' + SIDES + "high = 1.5", ""),
        ("Not much.", 'words = ["not much"]\n' + SIDES + "low = 0.667", ""),
        ("Not much.", 'words = ["not much"]\n' + SIDES + "low = 1.5", "less than 50 %"),
        ("Not much.", 'words = ["not much"]\n' + SIDES + "low = 0.9\nhigh = 1.5", "less than 50 %"),
        ("Not the same.", 'words = ["not the same"]\n' + SIDES + "low = 1.05", "not at most 5 %"),
        ("They farther differ.", SIDES + "low = 1.1", ""),
        ("It is mostly faster.", SIDES + "low = 1", "says 'mostly', which stands for more than half"),
        ("It is mostly faster.", 'quantifier = "most"\n' + SIDES + "low = 1", ""),
        ("It is always faster.", SIDES + "low = 1", ""),
        ("It is always faster.", 'quantifier = "most"\n' + SIDES + "low = 1", "stands for every group"),
        ("It may be faster.", SIDES + "low = 1", "stands for at least one group"),
        ("The most used is faster.", 'other_sense = ["most"]\n' + SIDES + "low = 1", ""),
        ("The first is faster.", 'other_sense = ["most"]\n' + SIDES + "low = 1", "does not say 'most'"),
        ("They mostly differ.", 'form = "significant"\ntest = "mann-whitney"', "stands for more than half"),
        ("It is faster above all.", SIDES + "low = 1", "what the claim's reading says"),
        ("It is nearly as fast.", 'reading = "Ten %."\n' + SIDES + "low = 0.9", ""),
        ("It is nearly as fast.", SIDES + "low = 0.9", "says 'nearly'"),
        ("They differ significantly.", 'form = "significant"\ntest = "mann-whitney"', ""),
        ("Much was said.", 'form = "out_of_reach"\nwhy = "w"', ""),
    ],
)  # fmt: skip
def test_a_word_of_degree_in_the_text_is_decided_by_the_table(
    tmp_path: Path, says: str, rest: str, refused: str
) -> None:
    place = write_study(tmp_path, claims=f'[[claims]]\nid = "c"\nsays = "{says}"\nplace = "p"\n{rest}')
    if refused:
        with pytest.raises(DataFileError, match=re.escape(refused)):
            read_study(place)
    else:
        assert read_study(place).claims[0].says == says


def test_what_a_denied_word_stands_for_is_in_the_reading(tmp_path: Path) -> None:
    body = 'words = ["not clearly"]\nreading = "Here."\n' + SIDES + "high = 1.2"
    (claim,) = read_study(write_study(tmp_path, claims=CLAIM + body)).claims
    assert read_as(claim) == "'Not clearly': less than 20 %."


def test_no_claim_says_a_word_that_nothing_decides() -> None:
    claims = [claim for study in studies() for claim in study.claims if claim.judged]
    assert [(claim.id, unread(claim)) for claim in claims if unread(claim)] == []
    assert [(claim.id, misread(claim)) for claim in claims if misread(claim)] == []
    assert sum(len(spoken(claim)) for claim in claims) > 150
    assert sum(len(claim.words) for claim in claims) > 60
    assert all(claim.reading for claim in claims if claim.figures_set)


def test_a_bare_comparative_with_another_limit_has_a_reading() -> None:
    comparative = re.compile(r"\b(?:faster|slower|fastest|slowest)\b")
    bare = [
        claim
        for study in studies()
        for claim in study.claims
        if comparative.search(claim.says) and isinstance(claim, RatioClaim)
        if not any(meaning(word).of_degree for word in spoken(claim))
    ]
    assert len(bare) > 8
    assert [claim.id for claim in bare if not meaning("faster").fits(claim) and not claim.reading] == []
