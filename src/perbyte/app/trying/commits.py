"""The present program beside that of a commit, which commit it was that changed it, and the history of commits.

Each comparison is of two programs in turn, on this machine. A commit in between counts as changed when it is more than
half of the way, by its interval; what cannot be told ends the search with what is left. In the directory of a history,
`history.jsonl` has an entry for each commit, `atlas` the runs.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perbyte import extras
from perbyte.app.runs import find_run
from perbyte.app.trying.clock import Clock
from perbyte.app.trying.trial import InTurn, NoFigure, Trial
from perbyte.errors import PerbyteError, StoreError
from perbyte.model import Run
from perbyte.runners import RunnerSpec
from perbyte.stats.trials import BaselineChange, changes
from perbyte.trial.commits import Commit, Repository, repository_of

ENTRIES = "history.jsonl"


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A commit that was looked at: `word` is `changed`, `not yet` or `not known`.

    `change` is what was seen beside the old program; without it, `why` it cannot be measured.
    """

    commit: Commit
    word: str
    change: BaselineChange | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The end of a search: `first` to `last` are the `count` commits that may have changed it.

    Of a single one, `change` is what was seen beside the commit before it, where that was measured.
    """

    first: Commit
    last: Commit
    count: int
    change: BaselineChange | None = None


def compare_with_commit(
    trial: Trial,
    name: str,
    hear: Callable[[InTurn], None],
    hear_step: Callable[[SearchStep | Candidates], None] | None,
) -> tuple[InTurn, Repository, Commit]:
    """Compare with the commit `name`, and look for the one that changed it where `hear_step` takes what is found.

    `hear` is told of the comparison before the search. Raises NoFigure, and UsageError for a commit that is not there
    or lacks the files.
    """
    repository = repository_of(trial.request.files)
    old = repository.commit(name)
    behind = repository.after(old)
    place = Path(tempfile.mkdtemp(prefix="perbyte-since-"))
    search = Search(trial, repository, place)
    try:
        spec, before = trial.build()[0], search.built(old)
        run = trial.in_turn(spec, before)
        changed = trial.changed(run, spec, before, f"since {old.short} {old.subject}")
        hear(changed)
        followed = clearest(changed.changes)
        if followed and len(behind) > 1 and hear_step:
            trial.listener.say(f"bisecting {len(behind)} commits")
            for step in search.find(old, before, behind, followed):
                hear_step(step)
    finally:
        shutil.rmtree(place, ignore_errors=True)
        search.forget()
    return changed, repository, old


class Search:
    """Programs of commits, each built once, and the search among them."""

    def __init__(self, trial: Trial, repository: Repository, place: Path) -> None:
        self.trial, self.repository, self.place = trial, repository, place
        self.made: dict[str, RunnerSpec] = {}

    def built(self, commit: Commit) -> RunnerSpec:
        """The program of `commit`. Raises PerbyteError where it cannot be built."""
        if commit.name not in self.made:
            home = self.place / commit.name[:16]  # paths of one length: they move a program's stack
            home.mkdir()
            files = self.repository.lay_out(commit, home, self.trial.request.files)
            name = f"{self.trial.request.title}-{commit.short}"
            own = replace(self.trial, request=replace(self.trial.request, files=files, name=name))
            self.made[commit.name] = own.build()[0]
        return self.made[commit.name]

    def forget(self) -> None:
        """Remove the programs: nothing of theirs is asked for again."""
        for spec in self.made.values():
            shutil.rmtree(spec.here, ignore_errors=True)

    def find(
        self, old: Commit, base: RunnerSpec, behind: Sequence[Commit], followed: BaselineChange
    ) -> Iterator[SearchStep | Candidates]:
        """Look which of the commits `behind` `old` changed the row of `followed`; the last item is the answer."""
        good, bad = 0, len(behind)  # of [old, *behind]: not changed yet, changed
        every = [old, *behind]
        while bad - good > 1:
            middle = (good + bad) // 2
            step = self._judged(every[middle], base, followed)
            yield step
            if step.word == "not known":
                yield Candidates(every[good + 1], every[bad], bad - good)
                return
            good, bad = (good, middle) if step.word == "changed" else (middle, bad)
        culprit, parent = every[bad], every[good]
        change = None
        if parent is not old or culprit is not every[-1]:
            change = self._beside(culprit, parent, followed)
        yield Candidates(culprit, culprit, 1, change)

    def _judged(self, commit: Commit, base: RunnerSpec, followed: BaselineChange) -> SearchStep:
        try:
            seen = self._row(self.built(commit), base, followed)
        except (PerbyteError, NoFigure) as error:
            return SearchStep(commit, "not known", None, str(error))
        half = math.sqrt(followed.comparison.ratio.value)
        low, high = seen.comparison.ratio.low, seen.comparison.ratio.high
        if low <= half <= high:
            return SearchStep(commit, "not known", seen)
        beyond = seen.comparison.ratio.value > half
        return SearchStep(commit, "changed" if beyond == (half > 1) else "not yet", seen)

    def _beside(self, culprit: Commit, parent: Commit, followed: BaselineChange) -> BaselineChange | None:
        try:
            return self._row(self.built(culprit), self.built(parent), followed)
        except (PerbyteError, NoFigure):
            return None

    def _row(self, spec: RunnerSpec, base: RunnerSpec, followed: BaselineChange) -> BaselineChange:
        request = replace(self.trial.request, name=spec.name)
        clock = Clock(self.trial.clock.budget_s)
        trial = replace(
            self.trial,
            request=request,
            clock=clock,
            listener=self.trial.listener.hushed(),
            hear_first=None,
        )
        for change in changes(trial.in_turn(spec, base), spec.name, base.name):
            if change.row == followed.row:
                return change
        raise NoFigure(1)


def clearest(changed: Sequence[BaselineChange]) -> BaselineChange | None:
    """The row that changed most among those that are known to have changed."""
    sure = [change for change in changed if change.word in ("slower", "faster")]
    return max(sure, key=lambda change: abs(math.log(change.comparison.ratio.value)), default=None)


def add_entry(
    place: Path, repository: Repository, trial: Trial, changed: InTurn, old: Commit
) -> list[dict[str, Any]]:
    """Add what became of the present program since `old`; give all entries, the oldest commit first.

    A commit that is there already is replaced. The run is added to the atlas of the history where the extra is
    installed. Raises StoreError where the directory cannot be written.
    """
    here, run = repository.commit("HEAD"), changed.run
    entry = {
        "function": trial.request.title,
        "algorithm": trial.request.algorithm.id,
        "commit": here.short + ("+" if repository.changed(trial.request.files) else ""),
        "subject": here.subject,
        "committed": repository.time(here),
        "against": old.short,
        "at": run.conditions.started_at,
        "machine": run.conditions.machine.cpu_model,
        "run": run.conditions.run_id,
        "rows": [_row(run, changed.name, change) for change in changed.changes],
    }
    same = ("commit", "function")
    try:
        place.mkdir(parents=True, exist_ok=True)
        entries = [other for other in read_entries(place) if any(other[key] != entry[key] for key in same)]
        entries.append(entry)
        entries.sort(key=lambda each: each.get("committed", 0))
        lines = "".join(json.dumps(each, sort_keys=True) + "\n" for each in entries)
        (place / ENTRIES).write_text(lines, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error}") from error
    if extras.has("atlas"):
        from perbyte.atlas import add

        add(str(place / "atlas"), [find_run(run.conditions.run_id)])
    return entries


def read_entries(place: Path) -> list[dict[str, Any]]:
    """The entries of a history, oldest first. A line that was cut off is left out."""
    file = place / ENTRIES
    entries = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and {"commit", "function", "rows"} <= set(entry):
            entries.append(entry)
    return entries


def _row(run: Run, name: str, change: BaselineChange) -> dict[str, Any]:
    figure = next(
        figure
        for figure in run.cells
        if (figure.cell.runner, figure.cell.operation, figure.cell.contract, figure.cell.size_bytes)
        == (name, *change.row)
    )
    size, ratio = change.size_bytes or 1, change.comparison.ratio
    return {
        "operation": change.operation,
        "contract": change.contract,
        "size_bytes": change.size_bytes,
        "unit": "cycles/byte" if figure.cycles_per_call is not None else "ns/byte",
        "cost": figure.per_call / size,
        "low": figure.interval.low / size,
        "high": figure.interval.high / size,
        "verdict": change.word,
        "ratio": ratio.value,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
    }
