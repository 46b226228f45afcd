"""Where calls of a cell lay in memory, what they cost there, and what of it decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from perbyte.model.cell import Cell
from perbyte.model.figure import Estimate, Quantile

PAGE_BYTES = 4096
LINE_BYTES = 64
FAR_BYTES = 2 << 30  # what a call reaches without a register
Verdict = Literal["decided", "undecided", "nothing", "unknown"]


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """One place: addresses in the process that made the calls, and what a call cost there in each of two bursts.

    `process` counts the processes of the cell. `near`: it was started so that the program lies beside its libraries,
    which the system does not do by itself. Addresses are 0 where the runner cannot say them.
    """

    process: int
    costs: tuple[float, float]
    near: bool = False
    stack: int = 0
    state: int = 0
    input: int = 0
    output: int = 0
    library: int = 0
    caller: int = 0

    @property
    def far(self) -> bool:
        """True where the library lies more than 2 GiB from the loop that calls it."""
        return abs(self.library - self.caller) > FAR_BYTES


@dataclass(frozen=True, slots=True)
class Decider:
    """What decides the cost of a place.

    `factor`: what lies somewhere ("stack", "output - input"), "library" (a bit of its address, in `period`), "process"
    or "distance" (far from the caller or near). Where the address modulo `period` is from `begin` to below `end` (it
    may go round) a place costs `more` (0.1: a tenth more) than elsewhere. `inside` places lie there, of them `slow`
    slow ones. `p`: of so strong an effect without a reason, corrected for all that was looked at.
    """

    factor: str
    period: int
    begin: int
    end: int
    more: Estimate
    p: float
    inside: int = 0
    slow: int = 0


@dataclass(frozen=True, slots=True)
class Placement:
    """How the cost of a cell is spread over places.

    `quantiles` are those of the cost per call over places, in `unit`. `slow`: the share of places that are slow, and
    `slower`: how much more they cost than the others (0.1: a tenth); None where none is. `limit`: the cost above which
    a place is slow; `heaps`: the costs form two heaps and the limit lies between them. `noise`: by how much two bursts
    at one place differ, as a standard deviation relative to the cost. `drawn` lists what took many places, `error` is
    the chance that something is named without a reason. `unknown` says why nothing is known.
    """

    cell: Cell
    unit: Literal["cycles", "ns"] = "cycles"
    verdict: Verdict = "unknown"
    places: tuple[MemoryPlace, ...] = ()
    quantiles: tuple[Quantile, ...] = ()
    noise: float = 0.0
    heaps: bool = False
    limit: float | None = None
    slow: Estimate | None = None
    slower: Estimate | None = None
    deciders: tuple[Decider, ...] = ()
    drawn: tuple[str, ...] = ()
    near: Estimate | None = None
    error: float = 0.05
    lost: int = 0
    unknown: str = ""

    @property
    def usual(self) -> tuple[MemoryPlace, ...]:
        """The places that the system chooses."""
        return tuple(place for place in self.places if not place.near)

    def record(self) -> dict[str, Any]:
        """The answer as a flat object for other programs; None for what is not known."""

        def ends(name: str, estimate: Estimate | None) -> dict[str, float | None]:
            known = estimate or Estimate(0, 0, 0)
            values = (known.value, known.low, known.high) if estimate else (None, None, None)
            return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))

        return {
            "address": self.cell.address,
            "verdict": self.verdict,
            "unit": self.unit,
            "places": len(self.usual),
            "processes": len({place.process for place in self.usual}),
            "noise": self.noise,
            "two_heaps": self.heaps,
            "slow_above": self.limit,
            **ends("slow_share", self.slow),
            **ends("slower", self.slower),
            **ends("far_over_near", self.near),
            "quantiles": [{"share": each.share, **ends("cost", each.estimate)} for each in self.quantiles],
            "deciders": [
                {
                    "factor": each.factor,
                    "period": each.period,
                    "begin": each.begin,
                    "end": each.end,
                    **ends("more", each.more),
                    "p": each.p,
                    "inside": each.inside,
                    "slow_inside": each.slow,
                }
                for each in self.deciders
            ],
            "drawn": list(self.drawn),
            "error": self.error,
            "lost": self.lost,
            "unknown": self.unknown,
        }
