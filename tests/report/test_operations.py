"""One operation over the other: the ratio, its interval from shared epochs, and the published ratio beside it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from made_pages import draw, render_report, view_of
from made_runs import hostile_run, made_figure, made_judgement, made_run, usual_run
from msgspec import structs
from test_html import Page

from perbyte.model import Cell, CellFigure, Interval, Run
from perbyte.report.pictures import run_pictures
from perbyte.report.runview import RunView, names_of
from perbyte.report.saving import as_specification, as_svg
from perbyte.report.sections import ratio_rows
from perbyte.report.studyview import published_ratio_rows
from perbyte.stats.compare import compare
from perbyte.stats.quantity import Unit
from perbyte.studies import find
from perbyte.studies.model import CellGroup, Judgement, PublishedFigure, Study


def figure(operation: str, cycles: float, *, algorithm: str = "aes-128-cbc", **how: Any) -> CellFigure:
    cell = Cell(how.pop("runner", "openssl"), algorithm, operation, 1000, "message/1", how.pop("cpu", "full"))
    epochs = tuple(cycles * (1 + part) for part in how.pop("epochs", (-0.01, 0.0, 0.01)))
    return made_figure(cell, cycles, relative=0.02, epoch_cycles=epochs, **how)


def a_run() -> Run:
    return made_run(
        (
            figure("encrypt", 4000.0),
            figure("decrypt", 1000.0),
            figure("encrypt", 3000.0, algorithm="rc2-cbc"),
            figure("decrypt", 1500.0, algorithm="rc2-cbc", epochs=(0.01, 0.0, -0.01)),
            figure("encrypt", 2000.0, cpu="soft"),
            figure("encrypt", 500.0, runner="other"),
        )
    )


def study_of(*published: PublishedFigure) -> Study:
    made = made_judgement(usual_run()).study
    return structs.replace(made, published=published, groups=())


def published(value: float, above: str, below: str, algorithm: str = "aes-128-cbc") -> PublishedFigure:
    cells = " over ".join(
        f"openssl/{algorithm}/{operation}@1000+contract=message/1" for operation in (above, below)
    )
    return PublishedFigure(
        id=f"p-{value}",
        place="table 1",
        machine="old",
        library="OpenSSL",
        algorithm=algorithm,
        operation=f"{above} over {below}",
        size_bytes=1000,
        printed=str(value),
        unit=Unit.RATIO,
        cell=cells,
    )


def test_ratios_are_those_of_the_same_cell_in_both_directions() -> None:
    document = {ratio.above.cell.algorithm: ratio for ratio in RunView(a_run()).ratios}
    assert set(document) == {"aes-128-cbc", "rc2-cbc"}  # the others have one direction only
    aes, rc2 = document["aes-128-cbc"], document["rc2-cbc"]
    assert aes.comparison.ratio.value == pytest.approx(4.0)
    assert rc2.comparison.ratio.value == pytest.approx(2.0)
    assert aes.comparison.ratio.known


def test_the_interval_comes_from_shared_epochs() -> None:
    """Epochs that drift alike leave the ratio where it is; those that drift apart widen it."""
    aes, rc2 = RunView(a_run()).ratios
    assert aes.comparison.dominated_by == "noise floor", "shared epochs leave nothing else"
    assert rc2.comparison.ratio.half_width > 0.02
    expected = compare(rc2.below, rc2.above, a_run().noise_floor)
    assert rc2.comparison == expected


def test_rows_say_what_is_known() -> None:
    rows = ratio_rows(RunView(a_run()))
    assert rows[0][:6] == (
        "aes-128-cbc (full)",
        "openssl",
        "message/1",
        "1000 B",
        "encrypt over decrypt",
        "4.000",
    )
    unknown = Interval(0.0, math.inf, dominated_by="unknown")
    blind = [
        replace(cell, interval=unknown, epoch_cycles=(cell.epoch_cycles[0],), epoch_ns=(cell.epoch_ns[0],))
        for cell in a_run().cells[:2]
    ]
    (row,) = ratio_rows(RunView(made_run(tuple(blind))))
    assert row[5:7] == ("4.00", "not known")
    equal = (figure("encrypt", 1000.0, epochs=(0.01, 0.0, -0.01)), figure("decrypt", 1001.0))
    (row,) = ratio_rows(RunView(made_run(equal)))
    assert row[-1] == "close: they differ by less than 6.1%"


def test_published_ratios_stand_beside_todays() -> None:
    study = study_of(
        published(2.338, "encrypt", "decrypt"),
        published(0.5, "decrypt", "encrypt", "rc2-cbc"),
        published(1.0, "encrypt", "decrypt", "des-cbc"),
    )
    aes, rc2, des = published_ratio_rows(view_of(a_run(), study))
    assert aes[2:4] == ("2.338", "4.000")
    assert float(rc2[3]) == pytest.approx(0.5, abs=0.01)
    assert re.fullmatch(r"0\.4\d to 0\.5\d", rc2[4])
    assert des[3:] == ("–", "–", "")


def test_the_figure_turns_published_ratios_into_its_direction() -> None:
    study = study_of(published(2.338, "encrypt", "decrypt"), published(0.5, "decrypt", "encrypt", "rc2-cbc"))
    chart = draw("operations", a_run(), study)
    specification = as_specification(chart)
    title = " ".join(specification["title"]["text"])
    assert title == "Encrypt costs 2.00 (rc2-cbc) to 4.00 (aes-128-cbc (full)) times what decrypt costs"
    marks = re.findall(r'aria-label="([^"]*)" role="graphics-symbol"', as_svg(chart))
    assert sum("published" in mark for mark in marks) == 2
    assert sum("over decrypt: " in mark for mark in marks) == 2
    values = re.findall(r'\\"hollow\\": true, \\"value\\": ([0-9.]+)', str(specification).replace('"', '\\"'))
    assert sorted(map(float, values)) == [2.0, 2.338]


def test_a_run_in_one_direction_has_no_such_figure() -> None:
    assert draw("operations", made_run((figure("encrypt", 10.0),))) is None
    assert (
        "One operation over the other" not in Page(render_report(made_run((figure("encrypt", 10.0),)))).text
    )


def test_hostile_figures_have_no_ratio_and_break_nothing() -> None:
    run = hostile_run()
    turned = [
        replace(cell, cell=replace(cell.cell, operation=name))
        for cell in run.cells
        for name in ("encrypt", "decrypt")
    ]
    for ratio in RunView(made_run(tuple(turned))).ratios:
        assert 0 < ratio.comparison.ratio.value < math.inf
    render_report(made_run(tuple(turned)))


def test_the_study_of_2019_shows_its_ratios() -> None:
    study = find("coretti-2019")
    cells = [
        made_figure(Cell("openssl", f"aes-128-{mode}", operation, 100_000_000, "stream/1"), cycles * 1e8)
        for mode, pair in (("cbc", (2.4, 1.0)), ("ecb", (0.5, 0.5)))
        for operation, cycles in zip(("encrypt", "decrypt"), pair, strict=True)
    ]
    run = made_run(tuple(cells))
    judgement = Judgement(study, run.conditions.run_id, ())
    assert "ratios" in {picture.name for picture in run_pictures(RunView(run, judgement=judgement))}
    text = Page(render_report(run, judgement=judgement)).text
    assert "AES CBC, encrypt over decrypt, 102096027 B section 3, example of output 2.338246 2.4" in text
    assert text.count("Ratio of two operations: published and today") == 1
    assert "One operation over the other" in text  # the table of all ratios, once
    assert len(published_ratio_rows(view_of(run, study))) == 5


def test_a_name_that_two_groups_share_is_nobodys() -> None:
    study = study_of()
    selector = "{}/aes-128-cbc/encrypt@16+contract=message/1"
    groups = (
        CellGroup("a", "AES (EVP)", (selector.format("openssl"),)),
        CellGroup("b", "AES (low level)", (selector.format("openssl-lowlevel"),)),
        CellGroup("c", "RC2", ("openssl/rc2-cbc/encrypt@16+contract=message/1",)),
    )
    assert names_of(structs.replace(study, groups=groups)) == {("rc2-cbc", "full"): "RC2"}
