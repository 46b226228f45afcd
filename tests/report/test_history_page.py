"""Then and now as figure, page and section: every point is there, told apart, with its numbers and its gaps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from made_pages import render_history, render_report, write_history
from made_runs import HOSTILE, hostile_run, made_figure, made_judgement, made_run, usual_run
from test_html import Page

from perbyte.model import Cell, Machine, Quality, Run
from perbyte.report.history import CYCLES, MEGABITS, history_chart, points_listing
from perbyte.report.pictures import history_pictures
from perbyte.report.saving import as_specification, as_svg, save_chart
from perbyte.report.wording import three_digits
from perbyte.studies.history import History, Means, load_history

MEASURED = {  # made-up: runner, algorithm, contract, tier: cycles per byte
    ("openssl", "md5", "oneshot/1", "full"): 5.0,
    ("jca-sun", "md5", "oneshot/1", "full"): 8.0,
    ("openssl", "aes-128-ecb", "stream/1", "full"): 0.5,
    ("openssl", "aes-128-ecb", "stream/1", "soft"): 10.0,
    ("nettle", "aes-128-ecb", "stream/1", "soft"): 12.0,
    ("openssl", "des-cbc", "stream/1", "full"): 40.0,
}


def measured_run() -> Run:
    cells = tuple(
        made_figure(
            Cell(runner, algorithm, "digest" if algorithm == "md5" else "encrypt", 8192, contract, cpu),
            cost * 8192,
            quality=Quality.NOISY if runner == "jca-sun" else Quality.GOOD,
        )
        for (runner, algorithm, contract, cpu), cost in MEASURED.items()
    )
    run = made_run(cells)
    machine = Machine(cpu_model="Imaginary CPU 9000", cpu_flags=("aes", "sse2"))
    return replace(
        run, conditions=replace(run.conditions, machine=machine, started_at="2026-02-03T00:00:00Z")
    )


@pytest.fixture(scope="module")
def history() -> History:
    return load_history([measured_run()])


@pytest.fixture(scope="module")
def page(history: History) -> Page:
    return Page(render_history(history))


def marks(svg: str) -> list[tuple[str, dict[str, str]]]:
    return [
        (element.attrib["aria-label"], element.attrib)
        for element in ElementTree.fromstring(svg).iter()
        if element.get("role") == "graphics-symbol" and element.tag.endswith("}path")
    ]


@pytest.mark.parametrize("unit", [CYCLES, MEGABITS])
def test_every_point_of_common_lines_is_drawn_once(history: History, unit: str) -> None:
    drawn = marks(as_svg(history_chart(history, unit)))
    common = [line for line in history.lines if line.common]
    wanted = [
        point
        for line in common
        for point in history.of(line)
        if (point.cycles_per_byte if unit == CYCLES else point.megabits_per_second)
    ]
    assert len(drawn) == len(wanted)
    assert all(unit in label for label, _ in drawn)
    assert sum("measured 2026" in label for label, _ in drawn) == sum(point.measured for point in wanted) == 5


def test_published_is_hollow_measured_is_filled_and_shapes_tell_means(history: History) -> None:
    shapes: dict[str, set[str]] = {}
    for label, look in marks(as_svg(history_chart(history, CYCLES))):
        hollow = look["fill"] in ("#ffffff", "transparent")
        assert hollow == ("published" in label), label
        assert look["stroke"] != "#ffffff"
        means = label.rsplit(", ", 1)[1]
        shapes.setdefault(means, set()).add(look["d"])
    assert len(shapes) == 3
    assert len(set.union(*shapes.values())) == 3  # one outline each, and no two the same


def test_the_figure_names_its_unit_and_how_to_read_it(history: History) -> None:
    specification = as_specification(history_chart(history, CYCLES))
    text = json.dumps(specification)
    assert f'"title": "{CYCLES}"' in text
    assert '"type": "log"' in text
    subtitle = " ".join(specification["title"]["subtitle"])
    assert "hollow: published" in subtitle
    assert "Imaginary CPU 9000" in subtitle
    assert "have no figure in this unit" in subtitle  # the SPARC's clock is not known


def gain(history: History, name: str) -> float:
    """Cycles of the best of the first published year over those measured here, of an algorithm alone."""
    [line] = [line for line in history.lines if line.name == name]
    native = [
        point for point in history.of(line) if point.cycles_per_byte and point.means is not Means.VIRTUAL
    ]
    year = min(point.year for point in native if not point.measured)
    first = min(point.cycles_per_byte.value for point in native if point.year == year)
    return first / min(point.cycles_per_byte.value for point in native if point.measured)


def test_the_title_says_what_the_points_say(history: History) -> None:
    title = " ".join(as_specification(history_chart(history, CYCLES))["title"]["text"])
    low, middle, high = sorted(gain(history, name) for name in ("MD5", "DES", "AES-128 in ECB"))
    assert f"needs {three_digits(middle)} times fewer cycles" in title
    assert f"({three_digits(low)} to {three_digits(high)})" in title
    assert "3 algorithms" in title
    assert "fewer" not in " ".join(as_specification(history_chart(load_history()))["title"]["text"])


def test_three_digits() -> None:
    assert [three_digits(x) for x in (0.677, 15319.2, 4.829, 1409.0, 100.0, 99.96)] == [
        "0.677",
        "15,300",
        "4.83",
        "1,410",
        "100",
        "100.0",
    ]


def test_nothing_to_draw_is_said() -> None:
    empty = replace(load_history(), points=())
    assert history_chart(empty) is None
    assert history_pictures(empty) == ()
    assert "There is nothing to draw." in render_history(empty)


def test_the_table_holds_every_point_with_its_gap(history: History) -> None:
    _, rows = points_listing(history).shown
    assert len(rows) == len(history.points)
    texts = [" | ".join(row) for row in rows]
    (sparc,) = [text for text in texts if text.startswith("MD5 ") and "SPARC" in text]
    assert "no cycles: the clock is not published" in sparc
    (kompara,) = [
        text for text in texts if "AES-128 in ECB" in text and "kompara" in text and "instr" in text
    ]
    assert "no throughput" in kompara
    (java,) = [text for text in texts if "Java VM" in text and "measured" in text]
    assert "noisy" in java
    (core2,) = [text for text in texts if text.startswith("MD5 ") and "Core 2" in text]
    assert "printed as 4141 ms" in core2
    (soft,) = [
        text for text in texts if text.startswith("AES-128 in ECB") and "measured" in text and "soft" in text
    ]
    assert "the best of 2" in soft


def test_explanations_stand_beside_their_numbers(page: Page) -> None:
    text = page.text
    assert "Clock rates" in text
    assert "49.2 22.5 2.19" in text  # MD5, Alpha to Pentium 4: throughput, clock, work per cycle
    assert "AES instructions" in text
    assert "10.0 → 0.500" in text  # soft to full, made up
    assert "Not shown here:" in text
    assert "today's machine has no sha_ni or sha2" in text
    assert "RC4 is in none of these runs" in text


def test_what_was_left_out_and_the_sources_are_listed(page: Page) -> None:
    text = page.text
    assert (
        "no library of today corresponds to it (Clock Controlled, Linear Congruential, Kaliski-Robshaw)"
        in text
    )
    for name in ("roe-1994", "siedlecki-java", "openssl-speed-2013", "coretti-2019", "kompara-2020"):
        assert name in text
    assert "Fast Software Encryption" in text
    assert "perbyte report --history" in text


def test_without_runs_the_page_says_so() -> None:
    text = Page(render_history(load_history())).text
    assert "Nothing was measured for this page" in text
    assert "No algorithm was both published and measured." in text


def test_a_study_report_has_it_as_a_section(history: History) -> None:
    run = usual_run()
    shown = Page(render_report(run, judgement=made_judgement(run), history=history))
    ids = [attrs["id"] for tag, attrs in shown.elements if tag == "section" and attrs.get("id")]
    assert ids.index("results") < ids.index("history") < ids.index("cells")
    assert ("a", {"href": "#history"}) in shown.elements
    assert "What explains the jumps" in shown.text
    without = Page(render_report(run, judgement=made_judgement(run)))
    assert ("a", {"href": "#history"}) not in without.elements


def test_a_hostile_run_does_nothing() -> None:
    run = measured_run()
    cells = tuple(replace(cell, library=HOSTILE[0], library_version=HOSTILE[5]) for cell in run.cells)
    machine = replace(run.conditions.machine, cpu_model=HOSTILE[0] + HOSTILE[1])
    conditions = replace(run.conditions, run_id=HOSTILE[0], machine=machine)
    shown = Page(
        render_history(load_history([replace(run, cells=cells, conditions=conditions), hostile_run()]))
    )
    assert len([tag for tag, _ in shown.elements if tag == "script"]) == 1
    assert not [tag for tag, _ in shown.elements if tag == "img"]
    assert "<script>window.pwned=1</script>" in shown.text


def test_files_are_written(history: History, tmp_path: Path) -> None:
    assert write_history(history, tmp_path / "history.html").stat().st_size < 2e6
    for name in ("history.svg", "history.png", "history.pdf"):
        (first, *_) = history_pictures(history)
        assert save_chart(first.chart, tmp_path / name).stat().st_size > 5000
