"""`perbyte report` as it is typed: a run, several, the history, charts, and runs of studies unknown here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from made_runs import made_figure, made_run, usual_run
from test_history_page import measured_run
from test_html import Page

from perbyte import places
from perbyte.cli.group import commands
from perbyte.errors import EnvironmentLacking, PerbyteError, UsageError
from perbyte.model import Cell, Run
from perbyte.report import saving
from perbyte.report.pages import write_run_page
from perbyte.report.pictures import pictures_of, write_charts
from perbyte.store import RunWriter
from perbyte.studies.judge import newest_of_studies


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return places.runs_home()


def stored(run: Run, place: Path, *, study: str = "", started: str = "", complete: bool = True) -> Path:
    conditions = replace(
        run.conditions,
        run_id=place.name,
        study=study or run.conditions.study,
        started_at=started or run.conditions.started_at,
    )
    with RunWriter.create(place) as writer:
        writer.begin(conditions)
        for failure in run.failures:
            writer.failed(failure)
        writer.finish(run.cells, run.noise_floor, run.measuring_s, complete)
    return place


def perbyte(*words: object) -> Result:
    return CliRunner().invoke(commands, [str(word) for word in words], standalone_mode=False)


@pytest.fixture
def a_run(home: Path) -> Callable[..., Path]:
    def make(name: str = "one", run: Run | None = None, **how: object) -> Path:
        return stored(run or measured_run(), home / name, **how)  # type: ignore[arg-type]

    return make


def test_a_chart_is_drawn_once_for_the_page_and_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    draw = saving.vl_convert.vegalite_to_svg

    def counted(specification: str, **options: object) -> str:
        drawn.append(specification)
        return draw(specification, **options)

    monkeypatch.setattr(saving.vl_convert, "vegalite_to_svg", counted)
    saving._svg.cache_clear()
    run = usual_run()
    write_run_page(run, tmp_path / "report.html")
    for_page = len(drawn)
    files = write_charts(pictures_of(run), tmp_path / "charts")
    assert for_page >= len(files) > 2
    assert len(drawn) == for_page
    assert all(file.read_text(encoding="utf-8").startswith("<svg") for file in files)


def test_a_run_becomes_one_file(a_run: Callable[..., Path], tmp_path: Path) -> None:
    result = perbyte("report", a_run(), "-o", "deep/down/report.html")
    assert result.exception is None, result.output
    assert "6 cells measured" in Page((tmp_path / "deep/down/report.html").read_text()).text


def test_a_study_unknown_here_is_said_and_costs_no_report(a_run: Callable[..., Path], tmp_path: Path) -> None:
    result = perbyte("report", a_run(study="tomorrow-2031"), "-o", "report.html")
    assert result.exception is None
    text = Page((tmp_path / "report.html").read_text()).text
    assert "made for the study 'tomorrow-2031', which is not known here" in text
    assert "6 cells measured" in text


def test_a_broken_study_costs_no_report(
    a_run: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from perbyte.studies import load

    broken = tmp_path / "rooms" / "kompara-2020"
    broken.mkdir(parents=True)
    (broken / "study.toml").write_text("title = ", encoding="utf-8")
    monkeypatch.setattr(load, "_folders", lambda directory: [broken])
    result = perbyte("report", a_run(study="kompara-2020"), "-o", "report.html")
    assert result.exception is None
    assert "The study 'kompara-2020' cannot be read here" in Page((tmp_path / "report.html").read_text()).text


def test_a_study_run_shows_its_claims_and_load_history(a_run: Callable[..., Path], tmp_path: Path) -> None:
    result = perbyte("report", a_run(study="kompara-2020"), "-o", "report.html")
    assert result.exception is None
    page = Page((tmp_path / "report.html").read_text())
    ids = {attrs["id"] for tag, attrs in page.elements if tag == "section" and attrs.get("id")}
    assert {"claims", "history"} <= ids
    assert "which is not known here" not in page.text


def test_several_runs_stand_side_by_side(a_run: Callable[..., Path], tmp_path: Path) -> None:
    runs = a_run("one"), a_run("two")
    result = perbyte("report", *runs, "-o", "both.html", "--chart", "side-by-side.svg")
    assert result.exception is None
    text = Page((tmp_path / "both.html").read_text()).text
    assert "2 runs compared: one, two" in text
    assert re.search(r"\d of which it is not known which costs less", text)
    assert (tmp_path / "side-by-side.svg").read_text().startswith("<svg")


def test_runs_without_a_common_cell_have_no_figure(a_run: Callable[..., Path]) -> None:
    other = made_run((made_figure(Cell("x", "rc4", "encrypt", 16, "stream/1"), 64.0),))
    result = perbyte("report", a_run("one"), a_run("two", other), "--chart", "side-by-side.svg")
    assert isinstance(result.exception, UsageError)


def test_the_history_of_given_runs(a_run: Callable[..., Path], tmp_path: Path) -> None:
    run = a_run("given")
    result = perbyte(
        "report",
        "--history",
        run,
        "-o",
        "h.html",
        "--chart",
        "history.svg",
        "--chart",
        "history-throughput.png",
    )
    assert result.exception is None, result.output
    text = Page((tmp_path / "h.html").read_text()).text
    assert "Run given, Imaginary CPU 9000" in text
    assert "cycles/byte" in (tmp_path / "history.svg").read_text()
    assert (tmp_path / "history-throughput.png").read_bytes().startswith(b"\x89PNG")


def test_the_history_takes_the_newest_run_of_each_study(a_run: Callable[..., Path], home: Path) -> None:
    a_run("old", study="kompara-2020", started="2026-01-01T00:00:00Z")
    a_run("new", study="kompara-2020", started="2026-03-01T00:00:00Z")
    a_run("broken-off", study="kompara-2020", started="2026-04-01T00:00:00Z", complete=False)
    a_run("other", study="roe-1994", started="2026-02-01T00:00:00Z", complete=False)
    a_run("free", started="2026-05-01T00:00:00Z")
    assert [place.name for place in newest_of_studies()] == ["new", "other"]
    result = perbyte("report", "--history")
    assert result.exception is None
    text = Page(Path("history.html").read_text()).text
    assert "Run new," in text
    assert "Run other," in text


def test_without_any_run_the_history_is_that_of_print(home: Path) -> None:
    result = perbyte("report", "--history")
    assert result.exception is None
    assert "published figures only" in result.output
    assert "Nothing was measured for this page" in Page(Path("history.html").read_text()).text


def test_charts_are_listed_and_wrong_ones_refused(a_run: Callable[..., Path]) -> None:
    run = a_run("one", usual_run())
    for word in ("help", "help.svg"):
        listed = perbyte("report", run, "--chart", word, "--chart", "bars.svg")
        assert listed.exception is None
        lines = listed.output.splitlines()
        assert lines[0].split() == ["chart", "shows"]
        assert {"bars", "everything"} <= {line.split()[0] for line in lines[1:]}
    of_history = perbyte("report", "--history", "--chart", "help").output.splitlines()
    assert [line.split()[0] for line in of_history if line.startswith("history")] == [
        "history",
        "history-throughput",
    ]
    assert not list(Path().glob("*.svg")), "who asks for the list gets the list"
    assert isinstance(perbyte("report", run, "--chart", "bars.bmp").exception, UsageError)
    assert not Path("report.html").exists()  # charts alone were asked for


@pytest.mark.parametrize(
    "words", [("report",), ("report", "--history", "nowhere"), ("report", "nowhere", "one")]
)
def test_what_is_no_run_is_an_error_with_a_way_out(home: Path, words: tuple[str, ...]) -> None:
    result = perbyte(*words)
    assert isinstance(result.exception, PerbyteError)
    assert not isinstance(result.exception, EnvironmentLacking) or result.exception.hint


def test_a_file_that_cannot_be_written_is_an_error(a_run: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for words in (
        ("report", a_run("one"), "-o", "file/report.html"),
        ("report", a_run("two"), "--chart", "file/bars.svg"),
        ("report", "--history", "-o", "file/history.html"),
    ):
        assert isinstance(perbyte(*words).exception, EnvironmentLacking)
