"""Writing reports and figures of a run, with its study's verdicts where it belongs to one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.model import Run

if TYPE_CHECKING:
    from perbyte.report.gallery import Picture
    from perbyte.studies import Judgement

FIGURE_KINDS = ("svg", "png", "pdf", "html", "json")


def judgement_of(run: Run) -> Judgement | None:
    """Judge the claims of the study that `run` repeats; None when it repeats none, or one unknown here."""
    from perbyte.studies import find, judge

    if not run.conditions.study:
        return None
    try:
        return judge(find(run.conditions.study), run)
    except UsageError:
        return None


def write_html(run: Run, path: Path, judgement: Judgement | None = None) -> Path:
    """Write the report. Raises EnvironmentLacking when the file cannot be written."""
    from perbyte.report.html import write_report

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_report(run, path, judgement=judgement or judgement_of(run))
    except OSError as error:
        raise EnvironmentLacking(f"the report cannot be written to {path}: {error.strerror}") from None


def pictures_of(run: Run, judgement: Judgement | None = None) -> dict[str, Picture]:
    """All figures of a run by name, those of its study first."""
    from perbyte.report.gallery import pictures
    from perbyte.report.studypage import names_of, study_pictures

    judgement = judgement or judgement_of(run)
    found = list(study_pictures(run, judgement)) if judgement else []
    found += pictures(run, names=names_of(judgement.study) if judgement else None)
    return {picture.name: picture for picture in found}


def write_figure(run: Run, path: Path) -> Path:
    """Write the figure that `path`'s name chooses, in the format that its suffix chooses.

    A name that is no figure's gets the first figure. Raises UsageError for another suffix or a run without figures.
    """
    from perbyte.report.savefig import save_figure

    if path.suffix.lstrip(".") not in FIGURE_KINDS:
        raise UsageError(
            f"'{path}': a figure ends in .{', .'.join(FIGURE_KINDS)}", way_out="e.g. --figure overview.svg"
        )
    found = pictures_of(run)
    if not found:
        raise UsageError("this run has nothing to draw")
    if path.stem not in found and len(found) > 1 and path.stem == "help":
        raise UsageError("figures of this run", way_out=", ".join(found))
    picture = found.get(path.stem) or next(iter(found.values()))
    save_figure(picture.chart, path)
    return path


def write_figures(run: Run, directory: Path, judgement: Judgement | None = None) -> list[Path]:
    """Write every figure as SVG into `directory`."""
    from perbyte.report.savefig import save_figure

    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, picture in pictures_of(run, judgement).items():
        place = directory / f"{name}.svg"
        save_figure(picture.chart, place)
        written.append(place)
    return written
