"""A run held against the claims of its study, and set beside all studies."""

from __future__ import annotations

from pathlib import Path

from perbyte import places
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Run
from perbyte.store import runs
from perbyte.studies.history import History, load_history
from perbyte.studies.judge import judge
from perbyte.studies.load import find
from perbyte.studies.model import Judgement


def judgement_of(run: Run) -> tuple[Judgement | None, str]:
    """Judge the claims of the study that `run` repeats, or say why they are not judged.

    Both are empty for a run that repeats none. A study that is unknown or broken here costs the claims, not the report.
    """
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
    try:
        return load_history([run]), ""
    except PerbyteError as error:
        return None, f"The history cannot be shown: {error}"


def newest_of_studies() -> list[Path]:
    """The newest run of each study in the home of runs; an interrupted one only where no other is there."""
    paths: dict[str, Path] = {}
    stored = [
        summary
        for summary in runs(places.runs_home())
        if summary.study and summary.cells and not summary.problem
    ]
    for summary in sorted(
        stored, key=lambda summary: not summary.complete
    ):  # stable: newest first among equals
        paths.setdefault(summary.study, summary.path)
    return list(paths.values())
