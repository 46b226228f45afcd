"""The runs that lie under one directory, newest first. Only run.json of each is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from perbyte.errors import StoreError
from perbyte.store.files import RUN_FILE
from perbyte.store.state import read_state


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line about a run. `cells` counts stored figures; `problem` is not empty where it cannot be read."""

    path: Path
    run_id: str = ""
    started_at: str = ""
    study: str = ""
    origin: str = ""
    cpu_model: str = ""
    cells: int = 0
    planned: int = 0
    failures: int = 0
    complete: bool = False
    measuring_s: float = 0.0
    problem: str = ""


def runs(home: Path) -> list[RunSummary]:
    """List the runs directly under `home`, newest first; those that cannot be read stand last.

    A missing `home` has no runs. Raises StoreError when it cannot be listed.
    """
    try:
        places = [place for place in home.iterdir() if (place / RUN_FILE).exists()] if home.is_dir() else []
    except OSError as error:
        raise StoreError(f"cannot list {home}: {error.strerror}", hint="check its permissions") from error
    found = [_summary(place) for place in places]
    found.sort(key=lambda summary: (not summary.problem, summary.started_at, summary.path.name), reverse=True)
    return found


def latest(home: Path) -> Path | None:
    """Return the newest readable run under `home`, or None."""
    return next((summary.path for summary in runs(home) if not summary.problem), None)


def _summary(place: Path) -> RunSummary:
    try:
        state = read_state(place)
    except StoreError as error:
        return RunSummary(path=place, problem=str(error))
    conditions = state.conditions
    return RunSummary(
        path=place,
        run_id=conditions.run_id,
        started_at=conditions.started_at,
        study=conditions.study,
        origin=conditions.origin,
        cpu_model=conditions.machine.cpu_model,
        cells=state.figures,
        planned=len(conditions.plan),
        failures=len(state.failures),
        complete=state.complete,
        measuring_s=state.measuring_s,
    )
