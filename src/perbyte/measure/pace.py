"""How fast runs go on this machine: what starts and cells took in the last runs, so that the next one can tell.

A small file beside that of the processor (`measure.learnt`). It is no authority: a missing, broken or foreign one costs
a forecast its sharpness, and nothing else rests on it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.measure.learnt import describe_processor
from perbyte.model import Cell

MOST_NAMES, MOST_ROWS, LARGEST_FILE = 200, 1000, 1 << 18  # what is kept of runners, and of rows; bytes
KNOWN_SHARE = 0.5  # of the cells of a plan, from which on those that are known speak for the others
ADDITIONS = (
    "--report",
    "--count",
    "--memory",
    "--leak",
    "--limits",
)  # options that cost time after the last epoch
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

    def start_s(self, runner: str, otherwise: float) -> float:
        """Seconds in which a process of `runner` comes up."""
        return self.starts_s.get(runner, otherwise)

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
        """Replace the file at once; where that cannot be, nothing is remembered."""
        if not self.file:
            return
        content = {
            "processor": self.processor,
            "starts": self.starts_s,
            "cell": self.cell_s,
            "dear": self.dear_s,
            "epochs": self.epochs,
            "after_s": self.after_s,
        }
        with contextlib.suppress(OSError, ValueError):
            text = json.dumps(content, allow_nan=False)
            self.file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.file.parent, prefix=self.file.name)
            try:
                with os.fdopen(handle, "w", encoding="ascii") as file:
                    file.write(text)
                Path(name).replace(self.file)
            except OSError:
                Path(name).unlink(missing_ok=True)


def recall_pace(core: int, file: Path | None = None) -> Pace:
    """Return what this machine's file says of the runs made here; nothing where it is missing or says nonsense."""
    file = file or places.learnt_file().with_name("pace.json")
    pace = Pace(file, describe_processor(core))
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError, AttributeError):
        with file.open("rb") as handle:
            content = json.loads(handle.read(LARGEST_FILE))
        if content["processor"] == pace.processor:
            return Pace(
                file=file,
                processor=pace.processor,
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
    """Both, what was found in the place of what was known; the oldest go where there are too many."""
    both = {name: took for name, took in known.items() if name not in newest} | dict(newest)
    return dict(list(both.items())[-most:])


def _seconds(content: Mapping[str, Any]) -> dict[str, float]:
    """Numbers by name. Raises ValueError where one is none, or below 0."""
    took_s = {str(name): float(took) for name, took in content.items()}
    if not all(0 <= took < math.inf for took in took_s.values()):
        raise ValueError("no seconds")
    return took_s
