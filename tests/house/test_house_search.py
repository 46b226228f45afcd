"""What a search of the site finds first: the page for users that speaks of it, not a decision by the alphabet."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SITE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "site" / "conf.py"))


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("baseline", "docs/try"),
        ("fleet", "docs/fleet"),
        ("baselines", None),
        ("profile", "docs/advise"),
        ("criterion", "docs/benchmark-files"),
    ],
)
def test_the_page_that_one_wants_comes_first(word, page):
    pages = SITE["scores"]()
    scored = {name: of["score"] + of["words"][word] for name, of in pages.items() if word in of["words"]}
    assert (max(scored, key=scored.get) if scored else None) == page


def test_a_page_has_an_excerpt_where_it_cannot_be_fetched():
    pages = SITE["scores"]()
    lacking = [name for name, of in pages.items() if not of["about"] and name.startswith("docs/")]
    assert lacking == []
