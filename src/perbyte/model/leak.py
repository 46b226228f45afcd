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
class Tails:
    """How much higher the quantiles of the second class are, at `levels`: each difference has the same `p`.

    `p` is that of all thresholds together, `strongest` the level next to the one that differs most clearly.
    """

    p: float
    strongest: float
    levels: tuple[float, ...]
    apart: tuple[Difference, ...]

    @property
    def bound(self) -> float:
        """What no quantile differs by more than, either way."""
        return max(difference.bound for difference in self.apart)

    @property
    def told(self) -> Difference:
        """The difference at the strongest level."""
        return self.apart[self.levels.index(self.strongest)]


@dataclass(frozen=True, slots=True)
class ByteSpot:
    """A bit (0: the lowest) or a value of one `byte` of the secret: how much longer calls take that have it set."""

    byte: int
    kind: Literal["bit", "value"]
    which: int
    apart: Difference

    def __str__(self) -> str:
        what = f"bit {self.which}" if self.kind == "bit" else f"{self.which:#04x}"
        return f"{what} in byte {self.byte}"


@dataclass(frozen=True, slots=True)
class ByteSpots:
    """The spot of a random secret that matters the most of all `looked` at, and what none of them costs more than."""

    most: ByteSpot
    bound: float
    looked: int


@dataclass(frozen=True, slots=True)
class PairFigures:
    """What pairs say: `shift` of the times, `spread` of their distances from the middle, and the sign test's `p_sign`.

    `call` is the median of all samples, `pairs` how many pairs there were. `tails` and `spots` are None where the pairs
    are too few for them; `spots` also where the second class is not random.
    """

    pairs: int
    call: float
    shift: Difference
    spread: Difference
    p_sign: float
    tails: Tails | None = None
    spots: ByteSpots | None = None

    @property
    def bound(self) -> float:
        """What neither the shift nor the spread is larger than, either way."""
        return max(self.shift.bound, self.spread.bound)

    @property
    def cost_bound(self) -> float:
        """What neither the shift nor a quantile nor a spot is larger than, either way."""
        more = [part.bound for part in (self.tails, self.spots) if part]
        return max([self.shift.bound, *more])


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
    looked for, or the limit `above`, and `more_s` how many seconds more would tell where the verdict is `unknown` (0:
    not known).
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
    above: float | None = None

    @property
    def bound(self) -> float | None:
        """What no difference is larger than, either way, in 95 of 100 cases; None where too few pairs were clean.

        Of shift and spread; with a limit `above` of shift, quantiles and spots.
        """
        if not self.found:
            return None
        return self.found.bound if self.above is None else self.found.cost_bound

    @property
    def least(self) -> float:
        """The least that it leaks, by the interval that is farther from 0; 0 where it is not said to leak."""
        if self.verdict != "leaks" or not self.found:
            return 0.0
        more = [part.least for part in (self.found.tails and self.found.tails.told, self.spot) if part]
        return max([self.found.shift.least, self.found.spread.least, *more])

    @property
    def spot(self) -> Difference | None:
        """How much longer calls take with the spot that matters the most; None where none was looked for."""
        return self.found.spots.most.apart if self.found and self.found.spots else None

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
            **self._rare(),
            "bound": self.bound,
            "target": self.target,
            "above": self.above,
            "p": self.p,
            "null_p": self.null_p,
            "call": figures.call if figures else None,
            "clean_pairs": figures.pairs if figures else 0,
            "pairs": self.taken,
            "null_pairs": self.null_taken,
            "seconds": self.seconds,
        }

    def _rare(self) -> dict[str, Any]:
        """What `record` says of tails and spots."""
        tails = self.found.tails if self.found else None
        spots = self.found.spots if self.found else None
        return {
            "tail_level": tails.strongest if tails else None,
            "tail": tails.told.value if tails else None,
            "tail_p": tails.p if tails else None,
            "tail_bound": tails.bound if tails else None,
            "spot": str(spots.most) if spots else None,
            "spot_cost": spots.most.apart.value if spots else None,
            "spot_p": spots.most.apart.p if spots else None,
            "spot_bound": spots.bound if spots else None,
        }
