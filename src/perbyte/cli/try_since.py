"""`perbyte try --since COMMIT`: the present program beside that of a commit, and which commit it was that changed it.

Each comparison is of two programs in turn, on this machine, as that of --baseline. A commit in between counts as
changed when it is more than half of the way, by its interval; what cannot be told ends the search with what is left.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.app.trying.clock import Clock
from perbyte.cli.options import note
from perbyte.cli.try_told import change_words
from perbyte.cli.try_trial import NoFigure, Trial
from perbyte.errors import PerbyteError

if TYPE_CHECKING:
    from perbyte.runners import RunnerSpec
    from perbyte.trial.commits import Commit, Repository
    from perbyte.trial.kept import BaselineChange


@dataclass(frozen=True, slots=True)
class Since:
    """What `--since` asks: the commit, and the directory of the history or None."""

    commit: str
    history: Path | None = None


def try_since(trial: Trial, asked: Since) -> int:
    """Compare with the commit, look for the one that changed it, add to the history; the exit code of --baseline.

    Raises UsageError for a commit that is not there or lacks the files.
    """
    from perbyte.trial.commits import repository_of
    from perbyte.trial.kept import changes

    repository = repository_of(trial.asked.files)
    old = repository.commit(asked.commit)
    behind = repository.after(old)
    place = Path(tempfile.mkdtemp(prefix="perbyte-since-"))
    search = _Search(trial, repository, place)
    try:
        spec, before = trial.build()[0], search.built(old)
        try:
            run = trial.in_turn(spec, before)
        except NoFigure as error:
            return error.code
        quiet = trial.as_json or trial.markdown
        changed = changes(run, spec.name, before.name)
        code = trial.tell_changes(run, spec, before, f"since {old.short} {old.subject}")
        followed = _clearest(changed)
        if followed and len(behind) > 1 and not quiet:
            search.find(old, before, behind, followed)
    finally:
        shutil.rmtree(place, ignore_errors=True)
        search.forget()
    if asked.history:
        from perbyte.cli.try_history import add_entry

        add_entry(asked.history, repository, trial, run, spec, old, changed)
    return code


class _Search:
    """Programs of commits, each built once, and the search among them."""

    def __init__(self, trial: Trial, repository: Repository, place: Path) -> None:
        self.trial, self.repository, self.place = trial, repository, place
        self.made: dict[str, RunnerSpec] = {}

    def built(self, commit: Commit) -> RunnerSpec:
        """The program of `commit`. Raises PerbyteError where it cannot be built."""
        if commit.name not in self.made:
            home = self.place / commit.name[:16]  # paths of one length: they move a program's stack
            home.mkdir()
            files = self.repository.lay_out(commit, home, self.trial.asked.files)
            name = f"{self.trial.asked.title}-{commit.short}"
            own = replace(self.trial, asked=replace(self.trial.asked, files=files, name=name))
            self.made[commit.name] = own.build()[0]
        return self.made[commit.name]

    def forget(self) -> None:
        """Remove the programs: nothing of theirs is asked for again."""
        for spec in self.made.values():
            shutil.rmtree(spec.here, ignore_errors=True)

    def find(self, old: Commit, base: RunnerSpec, behind: list[Commit], followed: BaselineChange) -> None:
        """Say which of the commits `behind` `old` changed the row that `followed` is of, as far as can be told."""
        good, bad = 0, len(behind)  # of [old, *behind]: not changed yet, changed
        every = [old, *behind]
        note(f"bisecting {len(behind)} commits", quiet=self.trial.quiet)
        while bad - good > 1:
            middle = (good + bad) // 2
            word, text = self._judged(every[middle], base, followed)
            print(f"  {every[middle].short} {text} · {every[middle].subject}", flush=True)
            if word == "not known":
                print(f"one of {bad - good} commits: {every[good + 1].short} to {every[bad].short}")
                return
            good, bad = (good, middle) if word == "changed" else (middle, bad)
        culprit, parent = every[bad], every[good]
        text = "" if parent is old and culprit is every[-1] else self._beside(culprit, parent, followed)
        print(f"changed by {culprit.short} {culprit.subject}{text}")

    def _judged(self, commit: Commit, base: RunnerSpec, followed: BaselineChange) -> tuple[str, str]:
        """`changed`, `not yet` or `not known`, and what was seen."""
        try:
            seen = self._row(self.built(commit), base, followed)
        except (PerbyteError, NoFigure) as error:
            return "not known", f"cannot be measured: {error}"
        half = math.sqrt(followed.comparison.ratio.value)
        low, high = seen.comparison.ratio.low, seen.comparison.ratio.high
        if low <= half <= high:
            return "not known", change_words(seen)
        beyond = seen.comparison.ratio.value > half
        return ("changed" if beyond == (half > 1) else "not yet"), change_words(seen)

    def _beside(self, culprit: Commit, parent: Commit, followed: BaselineChange) -> str:
        try:
            return f": {change_words(self._row(self.built(culprit), self.built(parent), followed))} than before it"
        except (PerbyteError, NoFigure):
            return ""

    def _row(self, spec: RunnerSpec, base: RunnerSpec, followed: BaselineChange) -> BaselineChange:
        """The row that is followed, of `spec` beside `base`, measured for as long as a try takes."""
        from perbyte.trial.kept import changes

        asked = replace(self.trial.asked, name=spec.name)
        trial = replace(self.trial, asked=asked, clock=Clock(self.trial.clock.budget_s), quiet=True)
        changed = changes(trial.in_turn(spec, base), spec.name, base.name)
        for change in changed:
            if (change.operation, change.contract, change.size_bytes) == (
                followed.operation,
                followed.contract,
                followed.size_bytes,
            ):
                return change
        raise NoFigure(1)


def _clearest(changed: list[BaselineChange]) -> BaselineChange | None:
    """The row that changed most among those that are known to have changed."""
    sure = [change for change in changed if change.word in ("slower", "faster")]
    return max(sure, key=lambda change: abs(math.log(change.comparison.ratio.value)), default=None)
