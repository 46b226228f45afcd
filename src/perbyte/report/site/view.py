"""Figures of an atlas by work, machine and library: their intervals and marks, who is the fastest, how sure that is.

A figure in doubt wins nothing. Costs of different runs are never told apart by less than runs differ by.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from perbyte.atlas.export import Gathered, RankedWork, Stand, main_works
from perbyte.atlas.overview import PointCost, per
from perbyte.catalogue import load
from perbyte.errors import PerbyteError
from perbyte.model import Doubt, Estimate
from perbyte.model.groups import grouped
from perbyte.model.text import plain
from perbyte.report.marks import FASTEST, SIGNS, TIED, UNDECIDED, Mark, marks_of_kinds
from perbyte.report.wording import size_label
from perbyte.stats.across import ACROSS_RUNS
from perbyte.stats.compare import CYCLES, NS, SHARED_CORE, UNSEEN, Answer, Comparison, compare_costs
from perbyte.stats.compare import Cost as Compared
from perbyte.stats.standing import lead_among


class Kind(NamedTuple):
    """What is one table of an algorithm's page; `cpu` is a tier, `state` that of the caches."""

    operation: str
    contract: str
    cpu: str
    state: str

    @property
    def text(self) -> str:
        """In words: `digest, oneshot/1, soft`."""
        return ", ".join([plain(self.operation, 24), plain(self.contract, 40), *self.unusual])

    @property
    def unusual(self) -> list[str]:
        """Tier and state, as far as they are not the usual ones."""
        usual = ((self.cpu, "full"), (self.state, "loop"))
        return [plain(name, 20) for name, expected in usual if name != expected]


@dataclass(frozen=True, slots=True)
class Contest:
    """The figures of one work on one machine, cheapest first, with who comes first."""

    work: RankedWork
    machine: str
    stands: tuple[Stand, ...]
    ranked: RankedCosts

    @property
    def best(self) -> Stand:
        """The figure that comes first."""
        return next(stand for stand in self.stands if stand.cost is self.ranked.best)

    @property
    def next(self) -> Stand | None:
        """The one behind all that come first; None where nobody is."""
        ahead = {id(cost) for cost in self.ranked.ahead}
        others = [stand for stand in self.stands if id(stand.cost) not in ahead]
        return min(others, key=lambda stand: (stand.cost.doubted, self.estimate(stand).value), default=None)

    def estimate(self, stand: Stand) -> Estimate:
        """What is ranked: cycles, or nanoseconds where not all have cycles."""
        return estimate_in(stand.cost, self.ranked.field)

    def factor(self, stand: Stand) -> float:
        """The cost over the best's."""
        return self.estimate(stand).value / self.estimate(self.best).value

    def sign(self, stand: Stand) -> str:
        """What is known of a figure's place: it wins, is alike, may be as fast, or nothing."""
        return self.ranked.sign if any(cost is stand.cost for cost in self.ranked.ahead) else ""


@dataclass(frozen=True, slots=True)
class RunnerTally:
    """How a runner fares over contests: in how many it is alone in front, alike, perhaps, and its factors in order."""

    runner: str
    won: int
    alike: int
    open: int
    factors: tuple[float, ...]

    @property
    def middle(self) -> float:
        """The median of its factors over the best of each machine."""
        return statistics.median(self.factors)

    @property
    def spread(self) -> Estimate:
        """The median, and between which factors the middle 80 % of machines lie."""
        low, high = np.quantile(self.factors, (0.1, 0.9))
        return Estimate(self.middle, float(low), float(high))


class SiteView:
    """All figures of a site, arranged. `contests` is by work; `main` the work an algorithm is known by."""

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered
        self.main = main_works(gathered.stands)
        places = grouped(gathered.stands, lambda stand: (stand.work, stand.machine))
        contests = [_contest(work, machine, stands) for (work, machine), stands in sorted(places.items())]
        self.contests = grouped(contests, lambda contest: contest.work)
        self.newest_first = sorted(gathered.runs, key=lambda row: (row.started_at, row.key), reverse=True)
        self.runs = dict(sorted(grouped(self.newest_first, lambda run: run.machine).items()))
        self._titles = _titles()

    def title(self, algorithm: str) -> str:
        """The algorithm's name in the catalogue; its id where the catalogue has none."""
        return self._titles.get(algorithm) or plain(algorithm, 60)

    def main_contests(self, algorithm: str) -> list[Contest]:
        """The contests of the work that an algorithm is known by, a machine each."""
        return self.contests[self.main[algorithm]]

    def works_of(self, algorithm: str) -> dict[Kind, list[RankedWork]]:
        """The works of an algorithm by kind, that of the main work first, sizes in order."""
        main = kind_of(self.main[algorithm])
        works = grouped((work for work in self.contests if work.algorithm == algorithm), kind_of)
        ordered = sorted(
            works, key=lambda kind: (kind != main, kind.cpu != "full", kind.state != "loop", kind)
        )
        return {kind: sorted(works[kind], key=lambda work: work.size_bytes) for kind in ordered}

    def shown_first(self, works: Sequence[RankedWork]) -> RankedWork:
        """Of one kind's works that which most machines and libraries have, at its largest size."""
        return max(
            works,
            key=lambda work: (sum(len(contest.stands) for contest in self.contests[work]), work.size_bytes),
        )


def _contest(work: RankedWork, machine: str, stands: Sequence[Stand]) -> Contest:
    ranked = rank([stand.cost for stand in stands])
    assert ranked is not None  # a machine is listed for what it has figures of
    ordered = sorted(stands, key=lambda stand: (value_in(stand.cost, ranked.field), stand.runner))
    return Contest(work, machine, tuple(ordered), ranked)


def field_of(contests: Iterable[Contest]) -> str:
    """What the costs of all these contests can be told in: `cycles`, or `ns` where not all have cycles."""
    return CYCLES if all(contest.ranked.field == CYCLES for contest in contests) else NS


def tallies(contests: Iterable[Contest]) -> list[RunnerTally]:
    """How each runner fares over contests: who wins most first, then by the median of its factors."""
    places = ((contest, stand) for contest in contests for stand in contest.stands)
    tallies = []
    for runner, of_runner in grouped(places, lambda place: place[1].runner).items():
        signs = Counter(contest.sign(stand) for contest, stand in of_runner)
        factors = tuple(sorted(contest.factor(stand) for contest, stand in of_runner))
        tallies.append(RunnerTally(runner, signs[FASTEST], signs[TIED], signs[UNDECIDED], factors))
    return sorted(tallies, key=lambda tally: (-tally.won, tally.middle, tally.runner))


def kind_of(work: RankedWork) -> Kind:
    """The table of its algorithm's page that a work stands in."""
    return Kind(work.operation, work.contract, work.cpu, work.state)


def per_work(work: RankedWork) -> str:
    """What its costs are per: `byte` or `call`."""
    return per(work[:4])


def work_text(work: RankedWork) -> str:
    """What is done, without the algorithm: `digest 16 KiB`; a call without data has no size."""
    size = f" {size_label(work.size_bytes)}" if per_work(work) == "byte" and work.size_bytes else ""
    return ", ".join([f"{plain(work.operation, 24)}{size}", *kind_of(work).unusual])


def _titles() -> dict[str, str]:
    try:
        return {name: plain(algorithm.name, 60) for name, algorithm in load().algorithms.items()}
    except PerbyteError:  # a broken catalogue costs the names, not the site
        return {}


_UNSEEN = Doubt.UNCHAINED.value


@dataclass(frozen=True, slots=True)
class RankedCosts:
    """Who comes first. `ahead` begins with the cheapest; the others in it are not known to be dearer.

    `sign` is `►` where one is known to be the fastest, `=` where those ahead are known to be alike, `?` where neither
    is known, empty where nobody else was measured. `behind` are known to be dearer, each with its comparison to the
    cheapest. `near` are in doubt and may be as fast; `unseen` says that the audit saw others' work and not the best's;
    `sure` is False where every figure is in doubt. `field` is what was compared: `cycles` or `ns`.
    """

    field: str
    sign: str
    ahead: tuple[PointCost, ...]
    behind: tuple[tuple[PointCost, Comparison], ...]
    near: tuple[PointCost, ...]
    unseen: bool
    sure: bool

    @property
    def best(self) -> PointCost:
        """The cheapest that is not in doubt; the cheapest where all are."""
        return self.ahead[0]


def rank(costs: Sequence[PointCost]) -> RankedCosts | None:
    """Rank costs of one point, in cycles where all have them; None where there are none."""
    if not costs:
        return None
    field = CYCLES if all(cost.cycles for cost in costs) else NS
    ordered = sorted(costs, key=lambda cost: value_in(cost, field))
    sure = [cost for cost in ordered if not cost.doubted]
    if not sure:
        return RankedCosts(field, UNDECIDED, (ordered[0],), (), (), False, False)
    best = sure[0]
    comparisons = [(cost, against(best, cost, field)) for cost in sure[1:]]
    alike = [pair for pair in comparisons if pair[1].answer is not Answer.SLOWER]
    near = [
        cost
        for cost in ordered
        if cost.doubted and value_in(cost, field) < SHARED_CORE * value_in(best, field)
    ]
    seen = min((value_in(cost, field) for cost in ordered if _UNSEEN not in cost.doubts), default=0.0)
    unseen = _UNSEEN in best.doubts and 0 < seen < UNSEEN * value_in(best, field)
    sign = SIGNS[lead_among((compared for _, compared in alike), doubted=bool(near) or unseen)]
    behind = tuple(pair for pair in comparisons if pair[1].answer is Answer.SLOWER)
    ahead = (best, *(cost for cost, _ in alike))
    return RankedCosts(field, sign if len(ordered) > 1 else "", ahead, behind, tuple(near), unseen, True)


def against(a: PointCost, b: PointCost, field: str) -> Comparison:
    """How `b` compares with `a`, by their intervals and never closer than runs differ."""
    return compare_costs(_compared(a, field), _compared(b, field), ACROSS_RUNS)


def value_in(cost: PointCost, field: str) -> float:
    """The cost in `cycles` or `ns`; infinite where it has none."""
    return (cost.cycles if field == CYCLES else cost.ns) or math.inf


def estimate_in(cost: PointCost, field: str = CYCLES) -> Estimate:
    """The cost in `cycles` or `ns` with its interval, whose ends are NaN where nobody knows them."""
    value = value_in(cost, field)
    width = cost.width if math.isfinite(cost.width) else math.nan
    return Estimate(value, value * (1 - width), value * (1 + width))


def marks_text(cost: PointCost) -> str:
    """Every mark of doubt of a cost."""
    return "".join(marks_of_kinds(cost.qualities, cost.doubts))


def meanings_of(costs: Iterable[PointCost]) -> list[tuple[str, str]]:
    """The marks that occur among costs, each with its meaning."""
    used = {mark for cost in costs for mark in marks_of_kinds(cost.qualities, cost.doubts)}
    return [(str(mark), mark.meaning) for mark in Mark if mark in used]


def _compared(cost: PointCost, field: str) -> Compared:
    estimate = estimate_in(cost, field)
    return Compared(estimate if estimate.known else Estimate(estimate.value, 0.0, math.inf))
