from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from made_runs import HOSTILE, hostile_run, made_cells, made_figure, made_run, made_study, usual_run

from perbyte.errors import UsageError
from perbyte.model import Cell, Run
from perbyte.report import charts, theme
from perbyte.report.costs import cost_over_size, cost_rows, models_of
from perbyte.report.gallery import pictures
from perbyte.report.inline import inline_svg
from perbyte.report.savefig import as_specification, as_svg, save_figure
from perbyte.report.studycharts import operations_of, published_against_today
from perbyte.report.units import number
from perbyte.stats.quantity import Unit, read

DRAWN: dict[str, Callable[[Run], Any]] = {
    "bars": charts.bars,
    "by_library": charts.by_library,
    "acceleration": charts.acceleration,
    "everything": charts.everything,
    "cost": cost_over_size,
    "published": lambda run: published_against_today(run, made_study(run)),
}


def texts(svg: str) -> list[str]:
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [" ".join(element.itertext()) for element in found]


def described(svg: str) -> list[str]:
    return [
        element.attrib["aria-label"]
        for element in ElementTree.fromstring(svg).iter()
        if element.get("role") == "graphics-symbol" and element.tag.endswith("}path")
    ]


def placed(svg: str) -> tuple[dict[str, tuple[float, float]], list[tuple[str, float, float]]]:
    """Where texts stand and where described marks begin, in the coordinates of the whole figure."""
    where: dict[str, tuple[float, float]] = {}
    marks: list[tuple[str, float, float]] = []

    def walk(element: ElementTree.Element, x: float, y: float) -> None:
        if moved := re.match(r"translate\(([-0-9.e]+),([-0-9.e]+)\)", element.get("transform", "")):
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag.endswith("}text"):
            where[" ".join(element.itertext())] = (x, y)
        if element.tag.endswith("}path") and element.get("role") == "graphics-symbol":
            start = re.match(r"M([-0-9.e]+),([-0-9.e]+)", element.get("d", ""))
            assert start is not None
            marks.append((element.attrib["aria-label"], x + float(start[1]), y + float(start[2])))
        for child in element:
            walk(child, x, y)

    walk(ElementTree.fromstring(svg), 0.0, 0.0)
    return where, marks


def test_a_missing_panel_does_not_shift_the_others() -> None:
    run = made_run(
        tuple(
            one
            for one in made_cells(sizes=(16, 512))
            if not (
                one.cell.algorithm.startswith("aes") and one.cell.cpu == "full" and one.cell.size_bytes == 512
            )
            and not (one.cell.algorithm.startswith("des") and one.cell.size_bytes == 16)
        )
    )
    where, marks = placed(as_svg(charts.bars(run)))
    assert len(marks) == 5 * 4 * 2 - 4 - 4
    for said, x, y in marks:
        title = said.split(" in ")[0]
        others = [abs(where[other][1] - y) for other in where if other.split(" (")[0].endswith("-ecb")]
        assert abs(where[title][1] - y) == min(others), said
        size = re.search("encrypt (.* B):", said)
        assert size is not None
        nearer, farther = ("16 B", "512 B") if size[1] == "16 B" else ("512 B", "16 B")
        middle = (where["16 B"][0] + where["512 B"][0]) / 2
        assert (x < middle) == (nearer == "16 B"), (said, farther)


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_names_its_unit_and_draws_intervals(name: str) -> None:
    specification = as_specification(DRAWN[name](usual_run()))
    text = json.dumps(specification)
    assert '"title": "cycles/byte"' in text
    assert '"field": "low"' in text
    assert '"field": "high"' in text
    assert specification["title"]["text"][0]
    assert any("interval" in line for line in specification["title"]["subtitle"])


@pytest.mark.parametrize("name", DRAWN)
def test_every_mark_can_be_read_without_seeing_it(name: str) -> None:
    marks = described(as_svg(DRAWN[name](usual_run())))
    assert marks
    assert all("cycles/byte" in mark for mark in marks)


def test_everything_draws_every_figure_once() -> None:
    run = usual_run()
    marks = described(as_svg(charts.everything(run)))
    assert len(marks) == len(run.cells)
    figure = run.cells[0]
    reading = read(figure, Unit.CYCLES_PER_BYTE)
    assert reading is not None
    wanted = f"{number(reading.value, reading.half_width)} cycles/byte"
    assert sum(wanted in mark for mark in marks) >= 1


def test_acceleration_says_the_factor_it_draws() -> None:
    cells = [
        made_figure(Cell("a", "aes-128-ecb", "encrypt", size, "stream/1", cpu), cycles)
        for size, cpu, cycles in (
            (16, "full", 100.0),
            (16, "soft", 250.0),
            (512, "full", 400.0),
            (512, "soft", 4000.0),
        )
    ]
    shown = texts(as_svg(charts.acceleration(made_run(tuple(cells)))))
    assert {"2.50×", "10.0×"} <= set(shown)
    assert any("2.5 to 10.0 times as fast" in text for text in shown)


def test_acceleration_needs_both_tiers() -> None:
    run = made_run((made_figure(Cell("a", "aes", "encrypt", 16, "stream/1")),))
    with pytest.raises(UsageError, match="both with and without"):
        charts.acceleration(run)


def test_bars_take_the_sizes_and_the_operation_asked_for() -> None:
    shown = texts(as_svg(charts.bars(usual_run(), sizes=[32, 512], operation="decrypt")))
    assert {"32 B", "512 B"} <= set(shown)
    assert "10 MB" not in shown
    with pytest.raises(UsageError):
        charts.bars(usual_run(), operation="sign")


def test_a_run_without_figures_cannot_be_drawn() -> None:
    with pytest.raises(UsageError, match="nothing to draw"):
        charts.bars(made_run(()))
    assert pictures(made_run(())) == ()


def test_contracts_are_never_mixed_in_a_chart() -> None:
    cells = [
        made_figure(Cell(name, "aes", "encrypt", 16, contract))
        for contract in ("stream/1", "message/1")
        for name in "ab"
    ]
    for contract in ("stream/1", "message/1"):
        marks = described(as_svg(charts.bars(made_run(tuple(cells)), contract=contract)))
        assert len(marks) == 2


def test_long_lists_are_shortened_and_say_so() -> None:
    run = made_run(made_cells(60, sizes=tuple(16 * 2**step for step in range(9)), libraries=("alphassl",)))
    text = " ".join(texts(as_svg(charts.everything(run))))
    assert "24 of 61 algorithms are shown" in text
    assert "6 of 9 sizes are shown" in text


def test_series_differ_by_more_than_colour() -> None:
    look = theme.series([f"library {number}" for number in range(16)])
    assert len(set(map(str, look.values()))) == 16
    first = list(look.values())[:8]
    assert len({colour for colour, _, _ in first}) == len({shape for _, shape, _ in first}) == 8
    assert len({str(dash) for _, _, dash in first}) == 8


def luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_and_marks_stand_out_on_either_ground() -> None:
    dark = theme.ON_DARK
    for ink in (theme.INK, theme.QUIET):
        assert contrast(ink, theme.PAPER) >= 4.5
        assert contrast(dark[ink], dark[theme.PAPER]) >= 4.5
    for colour in theme.SERIES:
        assert contrast(dark[colour], dark[theme.PAPER]) >= 3
    assert contrast(theme.BLUE, theme.MUTED) >= 2  # the fastest bar stands out in a grey print
    order = [luminance(colour) for colour in theme.SEQUENCE]
    assert order == sorted(order, reverse=True)


def test_dark_figures_use_the_dark_colours_only() -> None:
    light, dark = (
        json.dumps(as_specification(charts.bars(usual_run()), dark=dark)) for dark in (False, True)
    )
    assert theme.PAPER in light
    assert not any(f'"{colour}"' in dark for colour in theme.ON_DARK)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf", ".html", ".json"])
def test_a_figure_is_saved_in_the_form_its_name_asks_for(tmp_path: Path, suffix: str) -> None:
    path = save_figure(charts.bars(usual_run()), tmp_path / f"figure{suffix}")
    start = path.read_bytes()[: 10**6 if suffix == ".json" else 400]
    assert {
        ".svg": b"<svg",
        ".png": b"\x89PNG",
        ".pdf": b"%PDF",
        ".html": b"<!DOCTYPE html>",
        ".json": b"$schema",
    }[suffix] in start
    if suffix == ".html":
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<(script|link)[^>]+(src|href)=", text)


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'\.gif'"):
        save_figure(charts.bars(usual_run()), tmp_path / "figure.gif")


def test_cost_model_is_the_one_the_run_was_made_with() -> None:
    run = usual_run()
    rows = {row[:3]: row for row in cost_rows(run)}
    aes = rows["aes-128-ecb (soft)", "alphassl", "encrypt"]
    assert aes[5].startswith("60 ±")
    assert aes[6].startswith("11.0")
    assert len(models_of(run)) == len(
        {(c.cell.runner, c.cell.algorithm, c.cell.cpu, c.cell.operation) for c in run.cells}
    )


def test_setup_stands_beside_the_model() -> None:
    cells = [
        made_figure(Cell("a", "aes", "encrypt", size, "message/1"), 50.0 + 2 * size)
        for size in (16, 64, 1024)
    ]
    cells.append(made_figure(Cell("a", "aes", "setup", 0, "setup/1"), 321.0))
    (row,) = cost_rows(made_run(tuple(cells)))
    assert row[4] == "321.0"


def test_published_pairs_carry_both_figures() -> None:
    run = usual_run()
    study = made_study(run)
    assert operations_of(run, study) == ("encrypt", "decrypt")
    marks = described(as_svg(published_against_today(run, study, operation="decrypt")))
    of_today = [mark for mark in marks if "times as fast as published" in mark]
    assert (
        len(marks) == 2 * len(of_today) == 2 * sum(figure.cell.operation == "decrypt" for figure in run.cells)
    )
    published = study.published[-1]
    assert any(f"published {published.printed} cycles/byte" in mark for mark in marks)


def test_names_of_a_study_are_used() -> None:
    shown = texts(as_svg(charts.bars(usual_run(), names={("aes-128-ecb", "full"): "AES-NI"})))
    assert "AES-NI" in shown


def test_hostile_names_stay_text() -> None:
    run = hostile_run()
    for picture in pictures(run):
        svg = as_svg(picture.chart)
        assert "<script" not in svg
        page = inline_svg(svg, HOSTILE[0])
        assert "<script" not in page
        assert "<img" not in page
        ElementTree.fromstring(page)


def test_inline_keeps_shapes_and_text_only() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" onload="x()" viewBox="0 0 1 1"><script>x()</script>'
        '<a href="javascript:x()"><text>a</text></a><style>*{}</style><foreignObject/><image href="http://e.invalid"/>'
        '<path role="graphics-symbol" aria-label="&lt;b&gt; &quot;q&quot;" d="M0,0" onclick="x()" style="x"/>'
        "<text>&lt;script&gt;</text></svg>"
    )
    assert inline_svg(svg, 'a "title"') == (
        '<svg role="img" aria-label="a &quot;title&quot;" focusable="false" viewBox="0 0 1 1">'
        '<path d="M0,0" data-tip="&lt;b&gt; &quot;q&quot;"></path><text>&lt;script&gt;</text></svg>'
    )
