"""Pages and charts of made runs, as the commands put them together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from perbyte.model import Run
from perbyte.report import costcharts, html, pages, pictures, ratiocharts, runcharts
from perbyte.report.charts import Chart
from perbyte.report.grid import compare_runs, run_grids
from perbyte.report.runview import RunView
from perbyte.stats.quantity import Unit
from perbyte.studies.history import History
from perbyte.studies.model import Judgement, Study


def view_of(run: Run, study: Study | None = None, unit: Unit | None = None) -> RunView:
    """The view of a run, with a study that made no claims where one is given."""
    judgement = Judgement(study, run.conditions.run_id, ()) if study else None
    view = RunView(run, judgement=judgement)
    if unit:
        view.grids = run_grids(run, unit)
    return view


def draw(name: str, run: Run, study: Study | None = None, unit: Unit | None = None) -> Chart | None:
    """One chart of a run by the name of its function; None where it has no data."""
    view = view_of(run, study, unit)
    if name == "operations":
        return ratiocharts.operations(view)
    if name == "published":
        return ratiocharts.published(view, ratiocharts.published_operations(view)[0])
    if not view.points:
        return None
    points = view.points[0]
    if name == "acceleration":
        accelerated = runcharts.factors_of(points)
        return runcharts.acceleration(view, points, next(iter(accelerated))) if accelerated else None
    draw_named = getattr(runcharts, name, None) or getattr(costcharts, name)
    chart: Chart | None = draw_named(view, points)
    return chart


def render_report(run: Run, **given: Any) -> str:
    return html.render(pages.run_page(run, **given))


def write_report(run: Run, path: Path, **given: Any) -> Path:
    return html.write(pages.run_page(run, **given), path)


def render_side_page(runs: Sequence[Run], *, names: Sequence[str] | None = None) -> str:
    return html.render(pages.comparison_page(runs, names=names))


def write_side_by_side(runs: Sequence[Run], path: Path, *, names: Sequence[str] | None = None) -> Path:
    return html.write(pages.comparison_page(runs, names=names), path)


def side_pictures(runs: Sequence[Run]) -> tuple[pictures.Picture, ...]:
    return pictures.comparison_pictures(compare_runs(runs, pages.run_names(runs)))


def render_history(history: History) -> str:
    return html.render(pages.history_page(history))


def write_history(history: History, path: Path) -> Path:
    return html.write(pages.history_page(history), path)


def texts(svg: str) -> list[str]:
    """The texts of a drawing."""
    text_elements = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [" ".join(element.itertext()) for element in text_elements]
