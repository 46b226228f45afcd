"""`perbyte report`: runs as one file for people, the history as a page, or charts for a paper."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte import extras
from perbyte.cli.options import note
from perbyte.cli.terminal import print_listing
from perbyte.errors import EXIT_FINE, EnvironmentLacking, UsageError
from perbyte.model import Run
from perbyte.report.listing import from_records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perbyte.model import Run
    from perbyte.report.pictures import Picture
    from perbyte.studies import Judgement


HELP = "help"


@click.command("report")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN...]")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="HTML file.  [report.html]")
@click.option(
    "--history",
    is_flag=True,
    help="Write the history of all studies since 1994, with RUNs.  [newest run of each study]",
)
@click.option(
    "--atlas",
    "of_atlas",
    is_flag=True,
    help="Write the machines of an atlas; RUN is its place.  [the user's own]",
)
@click.option(
    "--chart",
    "charts",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write the chart NAME as NAME.svg, .png or .pdf; 'help' lists the names.",
)
def command(
    runs: tuple[Path, ...], output: Path | None, history: bool, of_atlas: bool, charts: tuple[Path, ...]
) -> int:
    """Write RUN (default: the newest) as one self-contained HTML file.

    Several RUNs are shown side by side, with a column for each. Ratios are to the first.

    \b
      perbyte report -o report.html
      perbyte report results/monday --chart bars.svg --chart cost.pdf
      perbyte report results/server results/laptop -o machines.html
      perbyte report --history -o history.html --chart history.svg
      perbyte report --atlas -o atlas.html
    """
    from perbyte.app.run_names import find_runs, newest
    from perbyte.store import open_run

    extras.require("report", "A page or a chart")
    if history and of_atlas:
        raise UsageError("--history and --atlas are two pages", hint="write one after the other")
    if of_atlas:
        return _atlas(runs, output, charts)
    if history:
        return _history(runs, output, charts)
    opened = [open_run(place) for place in find_runs(runs) or [newest()]]
    if len(opened) > 1:
        return _side_by_side(opened, output, charts)

    if charts:
        pictures = pictures_of(opened[0])
        deliver_charts(pictures, charts)
    if output or not charts:
        note(f"report: {write_html(opened[0], output or Path('report.html'))}")
    return EXIT_FINE


def _history(runs: Sequence[Path], output: Path | None, charts: Sequence[Path]) -> int:
    from perbyte.app.judging import newest_of_studies
    from perbyte.app.run_names import find_runs
    from perbyte.report.html import write
    from perbyte.report.pages import history_page
    from perbyte.report.pictures import history_pictures
    from perbyte.store import open_run
    from perbyte.studies.history import load_history

    places = find_runs(runs) or newest_of_studies()
    if not places:
        note("no run of a study yet: published figures only (perbyte study run kompara-2020 makes one)")
    history = load_history([open_run(place) for place in places])
    if charts:
        pictures = {picture.name: picture for picture in history_pictures(history)}
        deliver_charts(pictures, charts)
    if output or not charts:
        target = output or Path("history.html")
        note(f"report: {written(target, lambda part: write(history_page(history), part))}")
    return EXIT_FINE


def _atlas(urls: Sequence[Path], output: Path | None, charts: Sequence[Path]) -> int:
    from perbyte.cli.atlas import opened
    from perbyte.report.atlas import atlas_page, atlas_pictures
    from perbyte.report.html import write

    if len(urls) > 1:
        raise UsageError("an atlas is one place", hint="perbyte report --atlas PLACE")
    atlas = opened(str(urls[0]).replace(":/", "://", 1) if urls else None)  # a Path has made one slash of two
    page, overview = atlas_page(atlas)
    if charts:
        deliver_charts({picture.name: picture for picture in atlas_pictures(overview)}, charts)
    if output or not charts:
        note(f"report: {written(output or Path('atlas.html'), lambda part: write(page, part))}")
    return EXIT_FINE


def _side_by_side(runs: Sequence[Run], output: Path | None, charts: Sequence[Path]) -> int:
    from perbyte.report.grid import compare_runs
    from perbyte.report.html import write
    from perbyte.report.pages import comparison_page, run_names
    from perbyte.report.pictures import comparison_pictures

    if charts:
        grids = compare_runs(runs, run_names(runs))
        pictures = {picture.name: picture for picture in comparison_pictures(grids)}
        deliver_charts(pictures, charts)
    if output or not charts:
        target = output or Path("report.html")
        note(f"report: {written(target, lambda part: write(comparison_page(runs), part))}")
    return EXIT_FINE


def write_html(run: Run, path: Path, judgement: Judgement | None = None) -> Path:
    """Write the report. Raises EnvironmentLacking when the file cannot be written."""
    from perbyte.app.judging import history_of, judgement_of
    from perbyte.report.html import write
    from perbyte.report.pages import run_page

    notes: list[str] = []
    if judgement is None:
        judgement, text = judgement_of(run)
        notes.append(text)
    history = None
    if judgement is not None:
        history, text = history_of(run)
        notes.append(text)
    told = tuple(text for text in notes if text)
    page = run_page(run, judgement=judgement, history=history, notes=told)
    return written(path, lambda part: write(page, part))


def written(path: Path, write: Callable[[Path], object]) -> Path:
    """Let `write` make a file beside `path`, and give it that name when it is whole; returns `path`.

    A directory that is missing is made, which is said. Raises EnvironmentLacking when the file cannot be written; what
    was there before stays.
    """
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True)
            note(f"directory made: {path.parent}")
        write(part)
        part.replace(path)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise EnvironmentLacking(
            f"{path} cannot be written: {error.strerror}",
            hint="free some space, or choose another place"
            if full
            else "look at the disk and the permissions",
        ) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return path


def pictures_of(run: Run, judgement: Judgement | None = None) -> dict[str, Picture]:
    """All charts of a run by name, those of its study among them."""
    from perbyte.app.judging import judgement_of
    from perbyte.report.pictures import run_pictures
    from perbyte.report.runview import RunView

    view = RunView(run, judgement=judgement or judgement_of(run)[0])
    return {picture.name: picture for picture in run_pictures(view)}


def deliver_charts(pictures: Mapping[str, Picture], charts: Sequence[Path]) -> None:
    """Write the charts that are asked for, or print which there are where one of them is called `help`.

    Raises what `write_chart` raises.
    """
    if any(chart.stem == HELP for chart in charts):
        rows = [{"chart": name, "shows": picture.heading} for name, picture in pictures.items()]
        print_listing(from_records(rows, "shows"))
        return
    for chart in charts:
        note(f"chart: {write_chart(pictures, chart)}")


def check_chart(path: Path, names: Collection[str]) -> None:
    """Raise UsageError if `path`'s suffix is no chart's, or its name is none of `names`."""
    from perbyte.report.pictures import SUFFIXES

    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"'{path}': a chart's file ends in {', '.join(SUFFIXES)}",
            hint="e.g. --chart bars.svg; --chart help lists those there are",
        )
    if not names:
        raise UsageError("there is nothing to draw")
    if path.stem not in names:
        raise UsageError(f"no chart is called '{path.stem}'", hint=f"there are: {', '.join(names)}")


def write_chart(pictures: Mapping[str, Picture], path: Path) -> Path:
    """Write the chart that `path`'s name chooses, in the format that its suffix chooses.

    Raises UsageError for another suffix, an unknown name or where there are no charts, EnvironmentLacking when
    the file cannot be written.
    """
    from perbyte.report.pictures import save_chart

    check_chart(path, pictures)
    picture = pictures[path.stem]
    return written(path, lambda part: save_chart(picture.chart, part))


def write_charts(run: Run, directory: Path, judgement: Judgement | None = None) -> list[Path]:
    """Write every chart as SVG into `directory`, which is made. Raises EnvironmentLacking."""
    with contextlib.suppress(OSError):  # what is wrong with it is told by the first chart
        directory.mkdir(parents=True, exist_ok=True)
    pictures = pictures_of(run, judgement)
    return [write_chart(pictures, directory / f"{name}.svg") for name in pictures]
