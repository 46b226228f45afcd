"""Writing reports and figures of a run, with its study's verdicts where it belongs to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.cli.columns import Table, print_table
from perbyte.cli.options import note
from perbyte.errors import EnvironmentLacking, PerbyteError, UsageError
from perbyte.model import Run

if TYPE_CHECKING:
    from perbyte.report.pictures import Picture
    from perbyte.studies import Judgement
    from perbyte.studies.history import History

HELP = "help"


def judgement_of(run: Run) -> tuple[Judgement | None, str]:
    """Judge the claims of the study that `run` repeats, or say why they are not judged.

    Both are empty for a run that repeats none. A study that is unknown or broken here costs the claims, not the report.
    """
    from perbyte.studies import find, judge

    name = run.conditions.study
    if not name:
        return None, ""
    try:
        study = find(name)
    except UsageError:
        return None, f"This run was made for the study '{name}', which is not known here: no claim is judged."
    except PerbyteError as error:
        return None, f"The study '{name}' cannot be read here: no claim is judged. {error}"
    try:
        return judge(study, run), ""
    except PerbyteError as error:
        return None, f"The claims of '{name}' cannot be judged: {error}"


def history_of(run: Run) -> tuple[History | None, str]:
    """Set `run` beside all studies, or say why that cannot be done."""
    from perbyte.studies.history import load_history

    try:
        return load_history([run]), ""
    except PerbyteError as error:
        return None, f"The history cannot be shown: {error}"


def write_html(run: Run, path: Path, judgement: Judgement | None = None) -> Path:
    """Write the report. Raises EnvironmentLacking when the file cannot be written."""
    from perbyte.report.html import write
    from perbyte.report.pages import run_page

    notes: list[str] = []
    if judgement is None:
        judgement, said = judgement_of(run)
        notes.append(said)
    history = None
    if judgement is not None:
        history, said = history_of(run)
        notes.append(said)
    told = tuple(said for said in notes if said)
    page = run_page(run, judgement=judgement, history=history, notes=told)
    return written(path, lambda: write(page, path))


def written(path: Path, write: Callable[[], Path]) -> Path:
    """Make room for `path` and write it. Raises EnvironmentLacking when that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write()
    except OSError as error:
        raise EnvironmentLacking(f"the report cannot be written to {path}: {error.strerror}") from None


def newest_of_studies() -> list[Path]:
    """The newest run of each study in the home of runs; an interrupted one only where no other is there."""
    from perbyte import places
    from perbyte.store import runs

    found: dict[str, Path] = {}
    stored = [one for one in runs(places.runs_home()) if one.study and one.cells and not one.problem]
    for one in sorted(stored, key=lambda one: not one.complete):  # stable: newest first among equals
        found.setdefault(one.study, one.path)
    return list(found.values())


def pictures_of(run: Run, judgement: Judgement | None = None) -> dict[str, Picture]:
    """All charts of a run by name, those of its study among them."""
    from perbyte.report.pictures import run_pictures
    from perbyte.report.runview import RunView

    view = RunView(run, judgement=judgement or judgement_of(run)[0])
    return {picture.name: picture for picture in run_pictures(view)}


def deliver_figures(pictures: Mapping[str, Picture], figures: Sequence[Path]) -> None:
    """Write the figures that are asked for, or print which there are where one of them is called `help`.

    Raises what `write_figure` raises.
    """
    if any(figure.stem == HELP for figure in figures):
        rows = [{"figure": name, "shows": picture.heading} for name, picture in pictures.items()]
        print_table(Table(rows, "shows"))
        return
    for figure in figures:
        note(f"figure: {write_figure(pictures, figure)}")


def write_figure(pictures: Mapping[str, Picture], path: Path) -> Path:
    """Write the figure that `path`'s name chooses, in the format that its suffix chooses.

    Raises UsageError for another suffix, an unknown name or where there are no figures, EnvironmentLacking when
    the file cannot be written.
    """
    from perbyte.report.savefig import SUFFIXES, save_figure

    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"'{path}': a chart's file ends in {', '.join(SUFFIXES)}",
            hint="e.g. --figure bars.svg; --figure help lists those there are",
        )
    if not pictures:
        raise UsageError("there is nothing to draw")
    if path.stem not in pictures:
        raise UsageError(f"no figure is called '{path.stem}'", hint=f"there are: {', '.join(pictures)}")
    picture = pictures[path.stem]
    return written(path, lambda: save_figure(picture.chart, path))


def write_figures(run: Run, directory: Path, judgement: Judgement | None = None) -> list[Path]:
    """Write every figure as SVG into `directory`."""
    from perbyte.report.savefig import save_figure

    directory.mkdir(parents=True, exist_ok=True)
    found = []
    for name, picture in pictures_of(run, judgement).items():
        place = directory / f"{name}.svg"
        save_figure(picture.chart, place)
        found.append(place)
    return found
