"""How long a run will take by the clock on the wall, told before anything is measured.

From counts and sizes, from what the survey of this command took, and from what earlier runs on this machine took, where
there were any. What the first epoch really took replaces it.

What earlier runs took is kept in a small file beside that of the processor (`measure.learnt`). It is no authority: a
missing, broken or foreign one costs a forecast its sharpness, and nothing else rests on it.
"""

from __future__ import annotations

import contextlib
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.measure import draws
from perbyte.measure.budget import ENOUGH_EPOCHS, GRACE_S, OVERDUE
from perbyte.measure.learnt import describe_processor, keep_json
from perbyte.measure.plan import Plan
from perbyte.measure.states import expected_s
from perbyte.model import Cell, Policy
from perbyte.model.cell import LOOP
from perbyte.runners import RunnerSpec
from perbyte.runners.spec import PROGRAM

MOST_NAMES, MOST_ROWS, LARGEST_FILE = 200, 1000, 1 << 18  # what is kept of runners, and of rows; bytes
KNOWN_SHARE = 0.5  # of the cells of a plan, from which on those that are known speak for the others
# options that cost time after the last epoch
ADDITIONS = ("--report", "--count", "--memory", "--leak", "--limits")
DEAR_TIMES = 4.0  # times the usual cost of a cell: such a row is remembered by its name


@dataclass(slots=True)
class Pace:
    """What the last runs on this machine took. `starts_s`: a process, by runner; `cell_s`: an epoch of a usual cell.

    `dear_s`: an epoch of a cell that costs far more, by `row_of`. `epochs`: how many a row needed, or would have, until
    it was within 1 %. `after_s`: what a command of a kind took after its last epoch.
    """

    file: Path | None = None
    processor: str = ""
    starts_s: dict[str, float] = field(default_factory=dict)
    cell_s: float = 0.0
    dear_s: dict[str, float] = field(default_factory=dict)
    epochs: dict[str, float] = field(default_factory=dict)
    after_s: dict[str, float] = field(default_factory=dict)

    def epoch_s(self, cell: Cell, otherwise: float) -> float:
        """Seconds that an epoch of `cell` takes."""
        return self.dear_s.get(row_of(cell)) or max(self.cell_s, otherwise)

    def needed(self, cells: Sequence[Cell], precision: float) -> float | None:
        """How many epochs a run needs until all of `cells` are as precise; None where too few of them are known.

        Half-widths shrink with the root of the number of epochs. The cell that needs most decides when a run ends.
        """
        known = [epochs for cell in cells if (epochs := self.epochs.get(row_of(cell)))]
        if len(known) < KNOWN_SHARE * len(cells) or not known:
            return None
        return max(known) * (0.01 / precision) ** 2

    def note(
        self,
        *,
        starts_s: Mapping[str, float],
        cells_s: Mapping[Cell, float],
        rest_s: float,
        epochs: Mapping[Cell, float],
        precision: float,
    ) -> None:
        """Take over a run. `cells_s`: an epoch of each cell; `rest_s`: one cell's part of what an epoch took besides.

        `epochs` is how many were made, or would have been, until each cell was within `precision`.
        """
        if not cells_s:
            return
        usual = statistics.median(cells_s.values())
        self.cell_s = usual + rest_s
        self.starts_s = _newest(self.starts_s, starts_s)
        dear = {
            row_of(cell): took + rest_s for cell, took in cells_s.items() if took > DEAR_TIMES * self.cell_s
        }
        self.dear_s = _newest(self.dear_s, dear)
        fine = {row_of(cell): count * (precision / 0.01) ** 2 for cell, count in epochs.items()}
        self.epochs = _newest(self.epochs, fine, MOST_ROWS)
        self._write()

    def note_after(self, kind: str, took_s: float) -> None:
        """Take over that a command of a kind took so many seconds after its last epoch."""
        self.after_s = _newest(self.after_s, {kind: took_s})
        self._write()

    def _write(self) -> None:
        content = {"starts": self.starts_s, "cell": self.cell_s, "dear": self.dear_s, "epochs": self.epochs}
        keep_json(self.file, {"processor": self.processor, **content, "after_s": self.after_s})


def recall_pace(core: int, file: Path | None = None) -> Pace:
    """Return what this machine's file says of the runs made here; nothing where it is missing or says nonsense."""
    file = file or places.learnt_file().with_name("pace.json")
    pace = Pace(file, describe_processor(core))
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError, AttributeError):
        with file.open("rb") as handle:
            content = json.loads(handle.read(LARGEST_FILE))
        if content["processor"] == pace.processor:
            return replace(
                pace,
                starts_s=_seconds(content["starts"]),
                cell_s=_seconds({"cell": content["cell"]})["cell"],
                dear_s=_seconds(content["dear"]),
                epochs=_seconds(content["epochs"]),
                after_s=_seconds(content.get("after_s", {})),
            )
    return pace


def kind_of(study: str, command: Sequence[str]) -> str:
    """What the time after a run's last epoch is remembered by: its study, and what its command adds to the figures."""
    options = {word.partition("=")[0] for word in command}
    return " ".join([study or "cells", *(option for option in ADDITIONS if option in options)])


def row_of(cell: Cell) -> str:
    """What a dear cell is remembered by."""
    return f"{cell.runner}/{cell.algorithm}/{cell.operation}@{cell.size_bytes}+{cell.contract}+{cell.cpu}"


def _newest(
    known: Mapping[str, float], newest: Mapping[str, float], most: int = MOST_NAMES
) -> dict[str, float]:
    both = {name: took for name, took in known.items() if name not in newest} | dict(newest)
    return dict(list(both.items())[-most:])


def _seconds(content: Mapping[str, Any]) -> dict[str, float]:
    took_s = {str(name): float(took) for name, took in content.items()}
    if not all(0 <= took < math.inf for took in took_s.values()):
        raise ValueError("no seconds")
    return took_s


# Seconds, as measured with compiled runners on a machine of 2022, Zen 4; the virtual machine of Java takes longer to
# come up.
START_S = 0.1
START_JAVA_S = 1.5
# the same for a function of `perbyte try`: half a second for the first size, a tenth for another
WARM_OWN_S = 0.2
WARM_S = {"java": 0.75, "kotlin": 0.75, "javascript": 0.17}  # until it is compiled, in each epoch
BURST_S = 0.001
REST_S = 0.006  # an epoch's audit, statistics and storing, of one cell
CHECK_S = 0.002
BYTE_S = 4e-9  # material, call, digest and comparison of one byte, of a fast algorithm
SAID_FROM_S = 0.5  # of starting processes
SURE = 0.6  # of the promised epochs: what would not have them in time is not begun


@dataclass(frozen=True, slots=True)
class Forecast:
    """Seconds. `starts_s`: of the processes of the promised epochs, free up to a quarter of the budget; `least_s`:
    measuring in these epochs; `likely_s`: measuring until all cells are precise, by the last runs on this machine, None
    where there were none. `before_s`: what the command took before that, where its budget counts it. `alone`: cells of
    which one epoch outlasts the budget; `sure`: share of epochs made anyway.
    """

    starts_s: float
    least_s: float
    budget_s: float
    likely_s: float | None = None
    alone: tuple[tuple[Cell, float], ...] = ()
    sure: float = 1.0
    before_s: float = 0.0

    @property
    def times(self) -> float:
        """How many times the budget may be foreseen: where the whole command counts, the rest is left to surprises."""
        return 1.0 if self.before_s else OVERDUE

    @property
    def fits(self) -> bool:
        """False where the epochs that are made in any case end after `times` the budget, or one cell does."""
        soonest_s = self.before_s + self.sure * (self.starts_s + self.least_s)
        return soonest_s <= max(self.times * self.budget_s, GRACE_S) and not self.alone

    @property
    def enough_s(self) -> float:
        """The least budget in which all promised epochs are made."""
        longest_s = max((took for _, took in self.alone), default=1.0)
        return max(self.least_s, (self.before_s + self.starts_s + self.least_s) / self.times, longest_s)

    @property
    def most_s(self) -> float:
        """By the clock on the wall, where cells are not precise sooner."""
        whole_s = min(self.starts_s + max(self.least_s, self.budget_s), OVERDUE * self.budget_s)
        return max(whole_s, self.sure * (self.starts_s + self.least_s))

    @property
    def wall_s(self) -> float:
        """By the clock on the wall, as far as it can be known: all of the budget, unless the last runs needed less."""
        if self.likely_s is None:
            return self.most_s
        return min(self.starts_s + max(self.least_s, self.likely_s), self.most_s)

    def __str__(self) -> str:
        """The span in words: `about 12 s by earlier runs of these cells, 25 s at the most`."""
        starts, soonest, likely, most = (
            max(1, round(seconds))
            for seconds in (self.starts_s, self.starts_s + self.least_s, self.wall_s, self.most_s)
        )
        told = f", {min(starts, most):,} s of them to start processes" if self.starts_s >= SAID_FROM_S else ""
        if self.enough_s > max(self.budget_s, 1.0):
            return f"about {math.ceil(self.most_s):,} s, more than the budget of {self.budget_s:g} s{told}"
        if self.likely_s is None and soonest < most:
            return f"{soonest:,} to {most:,} s, as soon as all are precise{told}"
        span = f" by earlier runs of these cells, {most:,} s at the most" if likely < most else ""
        return f"about {likely:,} s{span}{told}"


def foresee(
    plan: Plan,
    policy: Policy,
    specs: Mapping[str, RunnerSpec],
    pace: Pace | None = None,
    crowd: float = 1.0,
) -> Forecast:
    """Return the forecast of `plan` under `policy`; `specs` are the runners by name, `pace` the last runs here.

    `crowd`: how many programs there are for a core, where they make the work between bursts longer.
    """
    pace = pace or Pace()
    processes = {cell.process for cell in plan.everything}
    java = {name for name, spec in specs.items() if spec.language in ("java", "kotlin")}
    usual = {runner: START_JAVA_S if runner in java else START_S for runner, _, _ in processes}
    starts = sum(pace.starts_s.get(runner, usual[runner]) for runner, _, _ in processes)
    warm = {name: WARM_S.get(spec.language, 0.0) for name, spec in specs.items() if spec.kind != PROGRAM}
    # a user's own function warms itself once for all sizes
    warm |= {name: WARM_OWN_S for name in java if specs[name].kind == PROGRAM}
    bare = {cell: _bare_s(cell, policy) + warm.get(cell.runner, 0.0) for cell in plan.everything}
    checks = sum(CHECK_S + BYTE_S * cell.size_bytes for cell in plan.everything)
    # a row that was dear the last time is so this time, whatever its size would say
    rest_s = REST_S * crowd  # what a last run took besides may have been taken beside emulators
    least = {cell: max(took + rest_s, pace.dear_s.get(row_of(cell), 0.0)) for cell, took in bare.items()}
    alone = tuple(
        (cell, took)
        for cell in plan.cells
        if (took := bare[cell] + BYTE_S * cell.size_bytes) > max(policy.budget_s, GRACE_S)
    )
    needed = pace.needed(plan.everything, policy.precision)
    likely = None
    if needed is not None:
        epochs = max(policy.epochs, math.ceil(needed))
        likely = epochs * sum(pace.epoch_s(cell, least[cell]) for cell in plan.everything) + checks
        likely += (epochs - policy.epochs) * starts  # only those of the promised epochs are free
    least_s = policy.epochs * sum(least.values()) + checks
    sure = max(SURE, min(ENOUGH_EPOCHS / policy.epochs, 1.0))
    return Forecast(policy.epochs * starts, least_s, policy.budget_s, likely, alone, sure)


def _bare_s(cell: Cell, policy: Policy) -> float:
    """Seconds of one epoch of `cell` up to the first look; long data get one burst."""
    if cell.state != LOOP:
        return expected_s(cell)
    if cell.drawn:
        return draws.BURST_MS * 1e-3
    return max(policy.looks[0] * BURST_S, BYTE_S * cell.size_bytes)
