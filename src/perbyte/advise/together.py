"""One library for all parts of a piece of work, and what mixing libraries would gain.

Whoever deploys TLS links one library, not the fastest one for records and two others for the handshake. Libraries are
ranked by the geometric mean of what their best allowed algorithm of each part costs: parts count equally, as sizes do,
because nobody here knows how many records follow a handshake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from perbyte.advise.decision import Case, Decision, Option, compare_options, decide, find_options, join_doubts
from perbyte.model import Estimate
from perbyte.stats.compare import Comparison, Cost, apart, compare_costs, mean_cost
from perbyte.stats.quantity import geometric_mean


@dataclass(frozen=True, slots=True)
class Library:
    """A runner with its own decision for each part, in the order of the parts, and the mean cost of its best."""

    runner: str
    decisions: tuple[Decision, ...]
    options: tuple[Option, ...]
    cost: Cost

    @property
    def doubt(self) -> str:
        """Why nothing may be claimed of its cost; empty where something may."""
        return join_doubts(option.doubt for option in self.options)

    @property
    def extent(self) -> Estimate:
        """Its cost with all that the doubts may explain."""
        return geometric_mean([option.extent for option in self.options])


@dataclass(frozen=True, slots=True)
class Gain:
    """What another library would gain in one part: `comparison` is that of `option` with the recommended library."""

    part: int
    option: Option
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Together:
    """`ranking` holds the libraries that have an answer in each of `parts` (numbers of cases), the cheapest first.

    `parts` are those in which any library has an answer. `comparison` is that of the second library with the first,
    `gains` what mixing would gain over the first. `lacks` are, by library, the parts that it has no answer in.
    """

    cases: tuple[Case, ...]
    parts: tuple[int, ...]
    ranking: tuple[Library, ...]
    comparison: Comparison | None = None
    gains: tuple[Gain, ...] = ()
    lacks: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def first(self) -> Library | None:
        """The library that is recommended; None where no library has all parts."""
        return self.ranking[0] if self.ranking else None


def _rank(library: Library) -> tuple[list[object], float]:
    levels = zip(*(decision.first.level for decision in library.decisions if decision.first), strict=True)
    return [sum(level) for level in levels], library.cost.estimate.value


def decide_together(cases: Sequence[Case]) -> Together:
    """Decide `cases`, the parts of one piece of work, for one library."""
    mixed = [decide(case) for case in cases]
    parts = tuple(number for number, decision in enumerate(mixed) if decision.first)
    options = {
        number: {(option.runner, option.algorithm.id): option for option in find_options(cases[number])}
        for number in parts
    }
    libraries, lacks = [], []
    for runner in sorted({runner for part in options.values() for runner, _ in part}):
        alone = tuple(decide(replace(case, runners=frozenset({runner}))) for case in cases)
        if lacking := tuple(number for number in parts if not alone[number].first):
            lacks.append((runner, lacking))
            continue
        chosen = tuple(
            options[number][runner, first.algorithm.id] for number in parts if (first := alone[number].first)
        )
        libraries.append(Library(runner, alone, chosen, mean_cost([option.cost for option in chosen])))
    libraries.sort(key=_rank)
    gains: tuple[Gain, ...] = ()
    comparison = None
    if libraries:
        gains = tuple(
            Gain(number, first.best, compare_options(option, first.best, cases[number].floor))
            for number, option in zip(parts, libraries[0].options, strict=True)
            if (first := mixed[number].first) and first.best.runner != libraries[0].runner
        )
    if len(libraries) > 1:
        best, second = libraries[:2]
        floor = cases[0].floor
        comparison = compare_costs(best.cost, second.cost, floor.relative if floor else None)
        between = apart(best.extent, second.extent, comparison.floor)
        comparison = replace(comparison, doubt=join_doubts((best.doubt, second.doubt)), apart=between)
    return Together(tuple(cases), parts, tuple(libraries), comparison, gains, tuple(lacks))
