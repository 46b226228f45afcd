from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest
from made_pages import draw, texts, view_of
from made_runs import (
    HOSTILE,
    hostile_run,
    made_cells,
    made_figure,
    made_judgement,
    made_run,
    made_study,
    tiers,
    usual_run,
)

from perbyte.errors import UsageError
from perbyte.model import Cell, NoiseFloor, Run
from perbyte.report import charts, theme
from perbyte.report.costcharts import at_a_rate
from perbyte.report.html import inline_svg
from perbyte.report.pictures import run_pictures
from perbyte.report.ratiocharts import published, published_operations
from perbyte.report.runcharts import bars
from perbyte.report.runview import RunView
from perbyte.report.saving import as_specification, as_svg, save_chart
from perbyte.report.sections import cost_rows
from perbyte.report.wording import number
from perbyte.stats.quantity import Unit, read

DRAWN = ("bars", "by_library", "acceleration", "everything", "cost_over_size", "published")


def drawn(name: str, run: Run) -> Any:
    chart = draw(name, run, made_study(run) if name == "published" else None)
    assert chart is not None
    return chart


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
            cell
            for cell in made_cells(sizes=(16, 512))
            if not (
                cell.cell.algorithm.startswith("aes")
                and cell.cell.cpu == "full"
                and cell.cell.size_bytes == 512
            )
            and not (cell.cell.algorithm.startswith("des") and cell.cell.size_bytes == 16)
        )
    )
    where, marks = placed(as_svg(draw("bars", run)))
    assert len(marks) == 4 * 4 * 2 - 4 - 4, "software rows of AES stand in another chart"
    for labels, x, y in marks:
        title = labels.split(" in ")[0]
        above = {other: y - where[other][1] for other in where if other.split(" (")[0].endswith("-ecb")}
        nearest = min((far, other) for other, far in above.items() if far > 0)
        assert nearest[1] == title, (labels, "the nearest heading above a bar is its algorithm")
        size = re.search("encrypt (.* B):", labels)
        assert size is not None
        nearer, farther = ("16 B", "512 B") if size[1] == "16 B" else ("512 B", "16 B")
        middle = (where["16 B"][0] + where["512 B"][0]) / 2
        assert (x < middle) == (nearer == "16 B"), (labels, farther)


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_names_its_unit_and_draws_intervals(name: str) -> None:
    specification = as_specification(drawn(name, usual_run()))
    text = json.dumps(specification)
    assert '"title": "cycles/byte"' in text
    assert '"field": "low"' in text
    assert '"field": "high"' in text
    assert specification["title"]["text"][0]
    assert any("interval" in line for line in specification["title"]["subtitle"])


@pytest.mark.parametrize("name", DRAWN)
def test_every_mark_can_be_read_without_seeing_it(name: str) -> None:
    marks = described(as_svg(drawn(name, usual_run())))
    assert marks
    assert all("cycles/byte" in mark for mark in marks)


def test_everything_draws_every_figure_once() -> None:
    run = usual_run()
    marks = described(as_svg(draw("everything", run)))
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
    shown = texts(as_svg(draw("acceleration", made_run(tuple(cells)))))
    assert {"2.50×", "10.0×"} <= set(shown)
    assert any("2.5 to 10.0 times as fast" in text for text in shown)


def test_a_chart_without_data_is_none() -> None:
    run = made_run((made_figure(Cell("a", "aes", "encrypt", 16, "stream/1")),))
    assert draw("acceleration", run) is None
    assert draw("cost_over_size", run) is None
    assert draw("operations", run) is None
    assert draw("bars", made_run(())) is None
    assert run_pictures(RunView(made_run(()))) == ()


def test_bars_show_the_first_operation_at_the_smallest_and_the_largest_size() -> None:
    shown = texts(as_svg(drawn("bars", usual_run())))
    assert {"16 B", "10 MB"} <= set(shown)
    assert "512 B" not in shown
    assert any("(encrypt)" in text for text in shown)


def test_bars_show_encrypting_with_and_without_a_tag_in_one_picture() -> None:
    cells = [
        made_figure(Cell(runner, algorithm, operation, 16, "message/1"))
        for algorithm, operations in (("aes-xts", ("encrypt", "decrypt")), ("aes-gcm", ("seal", "open")))
        for operation in operations
        for runner in "ab"
    ]
    chart = drawn("bars", made_run(tuple(cells)))
    shown = texts(as_svg(chart))
    assert {"aes-xts", "aes-gcm"} <= set(shown)
    assert len(described(as_svg(chart))) == 4


def test_no_label_lies_over_another() -> None:
    """Algorithms are headings above their libraries, on the same axis and set off to the left of nothing."""
    where, _ = placed(as_svg(drawn("bars", usual_run())))
    labels = [
        name for name in where if name.split(" (")[0].endswith("-ecb") or name in ("alphassl", "gammalib")
    ]
    rows = sorted(round(where[name][1]) for name in labels)
    assert len(set(rows)) == len(rows)
    assert all(later - earlier >= 12 for earlier, later in itertools.pairwise(rows))


def test_a_narrow_chart_has_its_panels_below_each_other() -> None:
    view = RunView(usual_run())
    wide, narrow = (as_svg(bars(view, view.points[0], narrow=narrow)) for narrow in (False, True))
    size = [
        [float(part) for part in re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg).groups()]  # type: ignore[union-attr]
        for svg in (wide, narrow)
    ]
    assert size[0][0] > 1000 > 450 > size[1][0]
    assert size[1][1] > size[0][1]
    assert len(described(wide)) == len(described(narrow))


def test_figures_far_apart_stand_on_a_logarithmic_axis_with_their_numbers() -> None:
    """On an axis from zero the small ones would be a pixel wide."""
    cells = [
        made_figure(Cell(name, kind, "sign", 32, "message/1"), cycles)
        for kind, cost in (("ed25519", 30_000.0), ("slh-dsa", 3e8))
        for name, cycles in (("a", cost), ("b", 1.5 * cost))
    ]
    view = RunView(made_run(tuple(cells)))
    svg = as_svg(bars(view, view.points[0]))
    _, marks = placed(svg)
    left = sorted(x for _, x, _ in marks)
    assert left[1] - left[0] > 8
    assert len(described(svg)) == 4
    assert any("fastest of its algorithm" in text for text in texts(svg))
    wide, few = (as_specification(bars(view, view.points[0])), as_specification(drawn("bars", usual_run())))
    assert '"log"' in json.dumps(wide)
    assert '"log"' not in json.dumps(few)


def test_contracts_are_never_mixed_in_a_chart() -> None:
    cells = [
        made_figure(Cell(name, "aes", "encrypt", 16, contract))
        for contract in ("stream/1", "message/1")
        for name in "ab"
    ]
    view = RunView(made_run(tuple(cells)))
    assert {points.contract for points in view.points} == {"stream/1", "message/1"}
    for points in view.points:
        assert len(described(as_svg(bars(view, points)))) == 2


def test_long_lists_are_shortened_and_say_so() -> None:
    run = made_run(made_cells(60, sizes=tuple(16 * 2**step for step in range(9)), libraries=("alphassl",)))
    text = " ".join(texts(as_svg(draw("everything", run))))
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


def contrast(colour: str, other: str) -> float:
    low, high = sorted((luminance(colour), luminance(other)))
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


def test_every_colour_of_a_figure_has_one_for_a_dark_page() -> None:
    colours = {*re.findall("#[0-9a-f]{6}", json.dumps(as_specification(draw("bars", usual_run()))))}
    assert theme.PAPER in colours
    assert colours <= {*theme.ON_DARK}


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf", ".html", ".json"])
def test_a_figure_is_saved_in_the_form_its_name_asks_for(tmp_path: Path, suffix: str) -> None:
    path = save_chart(draw("bars", usual_run()), tmp_path / f"figure{suffix}")
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
        save_chart(draw("bars", usual_run()), tmp_path / "figure.gif")


def test_cost_model_is_the_one_the_run_was_made_with() -> None:
    run = usual_run()
    rows = {row[:3]: row for row in cost_rows(RunView(run))}
    aes = rows["aes-128-ecb (soft)", "alphassl", "encrypt"]
    assert aes[5].startswith("60 ±")
    assert aes[6].startswith("11.0")
    assert len(RunView(run).costs) == len(
        {(c.cell.runner, c.cell.algorithm, c.cell.cpu, c.cell.operation) for c in run.cells}
    )


def test_setup_stands_beside_the_model() -> None:
    cells = [
        made_figure(Cell("a", "aes", "encrypt", size, "message/1"), 50.0 + 2 * size)
        for size in (16, 64, 1024)
    ]
    cells.append(made_figure(Cell("a", "aes", "setup", 0, "setup/1"), 321.0))
    (row,) = cost_rows(RunView(made_run(tuple(cells))))
    assert row[4] == "321.0"


def test_published_pairs_carry_both_figures() -> None:
    run = usual_run()
    study = made_study(run)
    view = view_of(run, study)
    assert published_operations(view) == ("encrypt", "decrypt")
    marks = described(as_svg(published(view, "decrypt")))
    of_today = [mark for mark in marks if "times as fast as published" in mark]
    assert (
        len(marks) == 2 * len(of_today) == 2 * sum(figure.cell.operation == "decrypt" for figure in run.cells)
    )
    last = study.published[-1]
    assert any(f"published {last.printed} cycles/byte" in mark for mark in marks)


def test_names_of_a_study_are_used() -> None:
    run = usual_run()
    view = RunView(run, judgement=made_judgement(run))
    assert "AES-NI" in texts(as_svg(bars(view, view.points[0])))


def test_hostile_names_stay_text() -> None:
    run = hostile_run()
    for picture in run_pictures(RunView(run)):
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


def test_colour_and_sign_say_where_a_figure_stands() -> None:
    def cell(name: str, algorithm: str) -> Cell:
        return Cell(name, algorithm, "hash", 16, "password/1")

    cells = (
        made_figure(cell("a", "sure"), 100.0),
        made_figure(cell("b", "sure"), 150.0),
        made_figure(cell("a", "tied"), 100.0),
        made_figure(cell("b", "tied"), 100.1),
        made_figure(cell("a", "open"), 100.0, relative=0.05),
        made_figure(cell("b", "open"), 102.0, relative=0.05),
    )
    view = RunView(made_run(cells, noise_floor=NoiseFloor(0.001, ())))
    svg = as_svg(bars(view, view.points[0]))
    for colour in (theme.BLUE, theme.SKY, theme.GREY, theme.MUTED):
        assert f'fill="{colour}"' in svg
    words = texts(svg)
    assert sum(label.startswith("► ") for label in words) == 2, "a figure and the legend"
    assert sum(label.startswith("= ") for label in words) == 3
    assert sum(label.startswith("? ") for label in words) == 3
    assert (
        "a is the fastest, alone or tied, in 2 of 3 comparisons; in 1 it is not known who is (hash)"
        in " ".join(words)
    )


def test_an_interval_that_reaches_beyond_the_axis_ends_in_an_arrow() -> None:
    cells = tuple(
        made_figure(Cell(name, kind, "encrypt", 16, "message/1"), cost, relative=width)
        for kind, cost in (("fast", 100.0), ("slow", 100_000.0))
        for name, width in (("a", 0.01), ("b", 0.01 if kind == "slow" else 1.62))
    )
    specification = as_specification(draw("everything", made_run(cells)))
    marks = json.dumps(specification)
    assert "triangle-left" in marks, "the lower end of ±162 % lies beyond the axis"
    calm = made_run(tuple(cell for cell in cells if cell.interval.high < 2 * cell.per_call))
    assert json.dumps(as_specification(draw("everything", calm))).count('"shape": "triangle-left"') == 0


def test_what_a_rate_takes_sets_all_ciphers_on_one_axis() -> None:
    (points,) = RunView(tiers()).points
    chart = at_a_rate(points)
    assert chart is not None
    words = texts(as_svg(chart))
    assert any(label.startswith("10 GB/s take ") and "by aes-128-gcm (full), a" in label for label in words)
    assert not any("(soft)" in label for label in words)
    rows = [label for label in words if label.endswith((", a", ", b"))]
    large = [record for record in points.records if not record["soft"] and record["size_bytes"] == 4096]
    costs = {f"{label['series']}, {label['library']}": label["ns"] for label in large}
    assert [row for row in rows if row in costs] == sorted(costs, key=lambda name: costs[name]), (
        "cheapest first"
    )
    signed = made_run((made_figure(Cell("a", "ed25519", "sign", 32, "pk/1")),))
    assert at_a_rate(RunView(signed).points[0]) is None, "nothing signed has a rate"


def test_bars_of_public_keys_show_every_operation_each_on_its_own_axis() -> None:
    cells = tuple(
        made_figure(Cell(library, algorithm, operation, 32, "pk/1"), cycles)
        for library in "ab"
        for algorithm, operation, cycles in (
            ("ed25519", "sign", 1e5),
            ("ed25519", "verify", 3e5),
            ("x25519", "derive", 1e4),
        )
    )
    view = RunView(made_run(cells))
    _, marks = placed(as_svg(bars(view, view.points[0])))
    assert len(marks) == len(cells)
    words = texts(as_svg(bars(view, view.points[0])))
    assert {"sign", "verify", "derive"} <= set(words)
    assert words.count("cycles/call") == 3, "an axis for each"


def test_each_size_of_the_bars_has_its_own_axis() -> None:
    view = RunView(tiers())
    assert texts(as_svg(bars(view, view.points[0]))).count("cycles/byte") == 2


@pytest.mark.parametrize(("high", "cut"), [(210.0, False), (300.0, True)])
def test_a_bar_has_an_arrow_only_where_its_interval_leaves_the_axis(high: float, cut: bool) -> None:
    record = {"name": "a", "value": 100.0, "low": 90.0, "high": high, "described": "a"}
    chart = charts.bars([record], y=("name", ["a"]), unit="ns", colour=alt.value(theme.BLUE))
    assert ("triangle-right" in json.dumps(chart.to_dict())) is cut
