"""Makes verdicts on leaks for tests; nothing here was ever measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from perbyte.model import Cell, Machine
from perbyte.model.leak import Contrast, Difference, LeakFigure, PairFigures
from perbyte.model.run import LeakRun
from perbyte.store.beside import LeakWriter

CALL = 500.0
WIDTH = 0.4


def made_leak(cell: Cell, cycles: float = 0.0, verdict: str = "", **changes: Any) -> LeakFigure:
    """A verdict whose shift is `cycles`, give or take WIDTH; without a word of its own it follows from the shift."""
    shift = Difference(cycles, cycles - WIDTH, cycles + WIDTH, 1e-20 if cycles else 0.7)
    spread = Difference(0.0, -WIDTH, WIDTH, 0.8)
    pair = PairFigures(5000, CALL, shift, spread, 0.5)
    given: dict[str, Any] = {
        "cell": cell,
        "contrast": Contrast("key", "fixed", "random"),
        "cold": False,
        "unit": "cycles",
        "seconds": 2.0,
        "taken": 5100,
        "null_taken": 1700,
        "found": pair,
        "null": pair if not cycles else PairFigures(1600, CALL, spread, spread, 0.5),
        "verdict": verdict or ("leaks" if cycles else "none"),
        "p": shift.p,
        "null_p": 0.6,
        "target": 1.0,
        "more_s": 0.0,
    }
    return LeakFigure(**given | changes)


def keep(place: Path, run_id: str, figures: tuple[LeakFigure, ...], *, beside: bool = False) -> None:
    """Write a run that looked for leaks, with two pairs."""
    writer = LeakWriter(place, beside=beside)
    pairs = {"order": "0110", "first": [500.0, 501.0], "second": [512.0, 511.0], "clean": [True, False]}
    writer.add("a case", null=False, epoch=0, burst=0, **pairs)
    conditions = {"started_at": "2026-11-23T22:00:00+00:00", "perbyte_version": "0", "command": ("leak",)}
    measured = {
        "machine": Machine(cpu_model="a made core"),
        "cores": (0,),
        "seed": 2**62 + 1,
        "budget_s": 4.0,
    }
    content = {"alpha": 0.001, "identities": (), "figures": figures, "failures": ()}
    writer.finish(LeakRun(run_id=run_id, **conditions, **measured, **content))
