"""Makes verdicts on leaks for tests; nothing here was ever measured."""

from __future__ import annotations

from typing import Any

from perbyte.model import Cell
from perbyte.model.leak import Contrast, Difference, LeakFigure, PairFigures

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
