"""docs/cores.md beside the runs of atlas/ and the documents that it quotes."""

from __future__ import annotations

import re
import runpy
import sys

import pytest
from documents import ROOT

from perbyte.atlas import open_atlas
from perbyte.atlas.reading import verify

LIMIT_BYTES = 300_000

sys.path.insert(0, str(ROOT / "bench"))
try:
    cores = runpy.run_path(str(ROOT / "bench" / "cores.py"))
finally:
    sys.path.remove(str(ROOT / "bench"))
PAGE = cores["PAGE"].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def atlas():
    return open_atlas(str(cores["ATLAS"]))


def test_the_page_has_the_figures_of_the_runs(atlas):
    assert cores["made_page"](PAGE, cores["cores"](atlas)) == PAGE, "python bench/cores.py"


def test_the_page_has_every_table_once():
    names = [part[2] for part in cores["MARKED"].finditer(PAGE)]
    assert sorted(names) == ["behind", "costs", "earlier", "gains", "machines", "sources", "wrong"]


def test_the_runs_are_whole_small_and_of_no_person(atlas):
    assert verify(atlas) == []
    for key, row in atlas.runs.items():
        segment = atlas.homes[key]
        assert len(segment.runs) == 1, f"{key}: added alone, so that it can be taken out"
        assert sum(file.bytes for file in segment.files) < LIMIT_BYTES, key
        assert row.complete, key
        assert row.samples == 0, key
        assert row.microcode, key


@pytest.mark.parametrize(
    ("document", "cell", "value", "words"),
    [(source["document"], *figure) for source in cores["CONTENT"]["earlier"] for figure in source["figures"]],
)
def test_an_earlier_figure_is_in_its_document(document, cell, value, words):
    text = " ".join((ROOT / document).read_text(encoding="utf-8").split())
    assert words in text, cell
    assert re.search(rf"(?<![\d.]){re.escape(value)}(?![\d.]*\d)", words), cell
