"""`perbyte report`: runs as one file for people, the history as a page, or charts for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte.cli.options import note
from perbyte.errors import EXIT_FINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perbyte.model import Run


@click.command("report")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN...]")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="HTML file.  [report.html]")
@click.option(
    "--history",
    is_flag=True,
    help="The history: all studies since 1994, with the points of RUNs.  [the newest run of each study]",
)
@click.option(
    "--figure",
    "figures",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write a figure: NAME.svg, .png or .pdf; NAME chooses which; 'help' alone lists them.",
)
def command(runs: tuple[Path, ...], output: Path | None, history: bool, figures: tuple[Path, ...]) -> int:
    """Write RUN (the newest one without it) as one self-contained HTML file.

    Several RUNs stand side by side, machine by machine, a column each; ratios are to the first.

    \b
      perbyte report -o report.html
      perbyte report results/monday --figure bars.svg --figure cost.pdf
      perbyte report results/server results/laptop -o machines.html
      perbyte report --history -o history.html --figure history.svg
    """
    from perbyte.cli.run_names import find_run
    from perbyte.store import open_run

    if history:
        return _history(runs, output, figures)
    opened = [open_run(find_run(place)) for place in runs or (None,)]
    if len(opened) > 1:
        return _side_by_side(opened, output, figures)
    from perbyte.cli.reporting import deliver_figures, pictures_of, write_html

    if figures:
        found = pictures_of(opened[0])
        deliver_figures(found, figures)
    if output or not figures:
        note(f"report: {write_html(opened[0], output or Path('report.html'))}")
    return EXIT_FINE


def _history(runs: Sequence[Path], output: Path | None, figures: Sequence[Path]) -> int:
    from perbyte.cli.reporting import deliver_figures, newest_of_studies, written
    from perbyte.cli.run_names import find_run
    from perbyte.report.html import write
    from perbyte.report.pages import history_page
    from perbyte.report.pictures import history_pictures
    from perbyte.store import open_run
    from perbyte.studies.history import load_history

    places = [find_run(place) for place in runs] or newest_of_studies()
    if not places:
        note("no run of a study yet: published figures only (perbyte study run kompara-2020 makes one)")
    history = load_history([open_run(place) for place in places])
    if figures:
        found = {picture.name: picture for picture in history_pictures(history)}
        deliver_figures(found, figures)
    if output or not figures:
        target = output or Path("history.html")
        note(f"report: {written(target, lambda: write(history_page(history), target))}")
    return EXIT_FINE


def _side_by_side(runs: Sequence[Run], output: Path | None, figures: Sequence[Path]) -> int:
    from perbyte.cli.reporting import deliver_figures, written
    from perbyte.report.grid import compare_runs
    from perbyte.report.html import write
    from perbyte.report.pages import comparison_page, run_names
    from perbyte.report.pictures import comparison_pictures

    if figures:
        grids = compare_runs(runs, run_names(runs))
        found = {picture.name: picture for picture in comparison_pictures(grids)}
        deliver_figures(found, figures)
    if output or not figures:
        target = output or Path("report.html")
        note(f"report: {written(target, lambda: write(comparison_page(runs), target))}")
    return EXIT_FINE
