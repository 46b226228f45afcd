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
from perbyte.studies.words import meaning, read_as, words

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
    assert rows == {", ".join((one.word, *one.also)): one.said for one in words()}


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


NAMED = (
    "much faster",
    "much longer",
    "slightly",
    "clearly",
    "noticeably",
    "by far",
    "several times",
    "a great deal",
)


def test_claims_that_say_such_a_word_take_its_limit_or_that_of_a_printed_figure() -> None:
    bare = [
        claim.id
        for study in studies()
        for claim in study.claims
        if any(word in claim.says for word in NAMED)
        and not claim.words
        and "print" not in claim.reading
        and type(claim).__name__ in ("Ratio", "Trend")
    ]
    assert bare == []
    used = [word for study in studies() for claim in study.claims for word in claim.words]
    assert len(used) > 30
