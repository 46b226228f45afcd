"""Whether the time of a call depends on a secret: what is compared, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from perbyte.model.cell import Cell

Role = Literal["key", "data", "input"]
LeakVerdict = Literal["leaks", "none", "unknown", "harness"]


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more the second class has than the first, in the unit of the samples; `low` to `high` in 95 of 100.

    `p` is that of Wilcoxon's test on signed ranks, two-sided.
    """

    value: float
    low: float
    high: float
    p: float

    @property
    def bound(self) -> float:
        """What it is no larger than, either way."""
        return max(abs(self.low), abs(self.high))

    @property
    def least(self) -> float:
        """What it is no smaller than, either way; 0 where the interval holds 0."""
        return max(self.low, -self.high, 0.0)


@dataclass(frozen=True, slots=True)
class PairFigures:
    """What pairs say: `shift` of the times, `spread` of their distances from the middle, and the sign test's `p_sign`.

    `call` is the median of all samples, `pairs` how many pairs there were.
    """

    pairs: int
    call: float
    shift: Difference
    spread: Difference
    p_sign: float


@dataclass(frozen=True, slots=True, order=True)
class Contrast:
    """Two classes of a secret: bytes of `role` whose content is `first`, and others whose content is `second`.

    The contents are those of the protocol (SPEC section 14).
    """

    role: Role
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.role}: {self.first} | {self.second}"


@dataclass(frozen=True, slots=True)
class LeakFigure:
    """What was found about one cell and one contrast.

    `cold`: caches were emptied before each call. `unit` is `cycles` or `ns`. `found` is what the pairs of both classes
    say and `null` what those of the second class alone say, None where too few pairs were clean; `taken` and
    `null_taken` count all pairs. `p` is the least of the row's adjusted p-values, `target` the difference that is
    looked for, and `more_s` how many seconds more would tell where the verdict is `unknown` (0: not known).
    `failures`: calls of each class that the library answered with an error.
    """

    cell: Cell
    contrast: Contrast
    cold: bool
    unit: str
    seconds: float
    taken: int
    null_taken: int
    found: PairFigures | None
    null: PairFigures | None
    verdict: LeakVerdict
    p: float
    null_p: float
    target: float
    more_s: float
    failures: tuple[int, int] = (0, 0)

    @property
    def bound(self) -> float | None:
        """What no difference is larger than, either way, in 95 of 100 cases; None where too few pairs were clean."""
        return max(self.found.shift.bound, self.found.spread.bound) if self.found else None

    @property
    def least(self) -> float:
        """The least that it leaks, by the interval that is farther from 0; 0 where it is not said to leak."""
        if self.verdict != "leaks" or not self.found:
            return 0.0
        return max(self.found.shift.least, self.found.spread.least)

    def record(self) -> dict[str, Any]:
        """The figure as a flat object for other programs; None for what is not known."""
        figures = self.found
        ends = {
            f"{name}{end}": getattr(getattr(figures, name), field) if figures else None
            for name in ("shift", "spread")
            for end, field in (("", "value"), ("_low", "low"), ("_high", "high"))
        }
        return {
            "address": self.cell.address,
            "role": self.contrast.role,
            "first": self.contrast.first,
            "second": self.contrast.second,
            "cold": self.cold,
            "verdict": self.verdict,
            "unit": self.unit,
            **ends,
            "bound": self.bound,
            "target": self.target,
            "p": self.p,
            "null_p": self.null_p,
            "call": figures.call if figures else None,
            "clean_pairs": figures.pairs if figures else 0,
            "pairs": self.taken,
            "null_pairs": self.null_taken,
            "seconds": self.seconds,
        }
