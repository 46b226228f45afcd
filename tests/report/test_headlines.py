"""The headline of a chart: who is ahead, and where nobody is."""

from __future__ import annotations

from made_pages import draw, texts
from made_runs import (
    made_figure,
    made_run,
    tiers,
)

from perbyte.model import Cell, Quality
from perbyte.report.findings import found
from perbyte.report.runcharts import bars, by_library
from perbyte.report.runview import RunView
from perbyte.report.saving import as_svg


def test_no_title_names_a_winner_whose_figure_is_in_doubt() -> None:
    cells = [
        made_figure(Cell(name, "bcrypt", "hash", 16, "password/1"), cost, relative=0.05, quality=quality)
        for name, cost, quality in (("a", 100.0, Quality.NOISY), ("b", 101.0, Quality.NOISY))
    ]
    view = RunView(made_run(tuple(cells)))
    labels = " ".join(texts(as_svg(bars(view, view.points[0]))))
    assert "cannot be told" in labels
    assert "is the fastest" not in labels.replace("Who is the fastest", "")


def test_no_headline_comes_from_software_that_the_processor_has_instructions_for() -> None:
    view = RunView(tiers())
    title = " ".join(texts(as_svg(bars(view, view.points[0]))))
    assert "a is the fastest, alone or tied, in 4 of 4 comparisons (seal)" in title
    assert not any("(soft)" in text for text in texts(as_svg(bars(view, view.points[0])))), (
        "on no common axis"
    )
    assert "the tables have the rows without as well" in title
    labels = " ".join(texts(as_svg(by_library(view, view.points[0]))))
    assert "Without the processor's own instructions" not in labels
    assert "is shown with them, the tables have both" in labels
    assert "(soft)" not in labels
    everything = " ".join(texts(as_svg(draw("everything", tiers()))))
    assert "chacha20-poly1305 in b" in everything
    assert not any("(soft)" in line for line in found(view) if line.startswith(("From", "Fastest")))
    assert "a in 4 of 4 comparisons" in " ".join(found(view))


def test_parameter_sets_and_operations_are_no_race() -> None:
    cells = tuple(
        made_figure(Cell("a", f"ml-kem-{strength}", operation, 0, "pk/1"), strength * cost)
        for strength in (512, 768, 1024)
        for operation, cost in (("keygen", 50.0), ("encapsulate", 60.0))
    )
    view = RunView(made_run(cells))
    words = texts(as_svg(bars(view, view.points[0])))
    title = next(text for text in words if text.startswith("From "))
    assert title == "From ml-kem-512, keygen: 25,600 to ml-kem-1024, encapsulate: 61,440 cycles/call"
    assert not any("the fastest" in text for text in words)


def test_a_headline_says_of_how_many_where_not_all_were_measured_at_that_size() -> None:
    cells = [
        ("aes-128-cbc", 16, 160.0),
        ("des-cbc", 16, 800.0),
        ("des-cbc", 4096, 2e5),
        ("rc2-cbc", 4096, 3e5),
    ]
    view = RunView(
        made_run(
            tuple(
                made_figure(Cell("a", name, "encrypt", size, "stream/1"), cost) for name, size, cost in cells
            )
        )
    )
    title = " ".join(texts(as_svg(by_library(view, view.points[0]))))
    assert "at 4 KiB, of the 2 measured there" in title
