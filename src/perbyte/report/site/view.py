"""What the pages of a site look at: figures by work, machine and library, and who is the fastest of each."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perbyte.atlas.export import Gathered, Stand, Work, main_works
from perbyte.atlas.index import RunRow
from perbyte.atlas.overview import per
from perbyte.catalogue import load
from perbyte.errors import PerbyteError
from perbyte.model.text import plain
from perbyte.report.ranks import RankedCosts, rank, value_in
from perbyte.report.wording import size_label

Kind = tuple[str, str, str, str]
"""Operation, contract, CPU tier, state of the caches: what is one table of an algorithm's page."""
WON, ALIKE, OPEN, ALONE = "►", "=", "?", ""


@dataclass(frozen=True, slots=True)
class Contest:
    """The figures of one work on one machine, cheapest first, with who comes first."""

    work: Work
    machine: str
    stands: tuple[Stand, ...]
    ranked: RankedCosts

    @property
    def best(self) -> Stand:
        """The figure that comes first."""
        return next(standing for standing in self.stands if standing.cost is self.ranked.best)

    @property
    def next(self) -> Stand | None:
        """The one behind it; None where it is alone."""
        others = [standing for standing in self.stands if standing.cost is not self.ranked.best]
        return min(others, key=lambda standing: (standing.cost.doubted, self.value(standing)), default=None)

    def value(self, standing: Stand) -> float:
        """What is ranked: cycles, or nanoseconds where not all have cycles."""
        return value_in(standing.cost, self.ranked.field)

    def factor(self, standing: Stand) -> float:
        """The cost over the best's."""
        return self.value(standing) / self.value(self.best)

    def sign(self, standing: Stand) -> str:
        """What is known of a figure's place: it wins, is alike, may be as fast, or nothing."""
        ahead = [id(cost) for cost in self.ranked.ahead]
        if id(standing.cost) not in ahead:
            return ALONE
        return self.ranked.sign


@dataclass(frozen=True, slots=True)
class RunnerTally:
    """How a runner fares over contests: in how many it is alone in front, alike, perhaps, and its factors."""

    runner: str
    library: str
    won: int
    alike: int
    open: int
    factors: tuple[float, ...]

    @property
    def middle(self) -> float:
        """The median of its factors over the best of each machine."""
        return statistics.median(self.factors)


class SiteView:
    """All figures of a site, arranged. `contests` is by work and machine; `main` the work an algorithm is known by."""

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered
        self.main = main_works(gathered.stands)
        groups: dict[Work, dict[str, list[Stand]]] = {}
        for standing in gathered.stands:
            groups.setdefault(standing.work, {}).setdefault(standing.machine, []).append(standing)
        self.contests = {
            work: {
                machine: contest(work, machine, standings) for machine, standings in sorted(machines.items())
            }
            for work, machines in sorted(groups.items(), key=lambda group: (group[0][0], *map(str, group[0])))
        }
        self.runs: dict[str, list[RunRow]] = {}
        for run in sorted(gathered.runs, key=lambda row: (row.started_at, row.key), reverse=True):
            self.runs.setdefault(run.machine, []).append(run)
        self.runs = dict(sorted(self.runs.items()))
        self._by_key = {run.key: run for run in gathered.runs}
        self._titles = _titles()

    @property
    def machines(self) -> list[str]:
        """The names of all machines."""
        return list(self.runs)

    @property
    def algorithms(self) -> list[str]:
        """The names of all algorithms with a figure."""
        return sorted(self.main)

    def run(self, key: str) -> RunRow:
        """The run of a key."""
        return self._by_key[key]

    def title(self, algorithm: str) -> str:
        """The algorithm's name in the catalogue; its id where the catalogue has none."""
        return self._titles.get(algorithm) or plain(algorithm, 60)

    def works_of(self, algorithm: str) -> dict[Kind, list[Work]]:
        """The works of an algorithm by kind, that of the main work first, sizes in order."""
        main = self.main[algorithm]
        works: dict[Kind, list[Work]] = {}
        for work in self.contests:
            if work[0] == algorithm:
                works.setdefault(kind_of(work), []).append(work)
        ordered = sorted(
            works, key=lambda kind: (kind != kind_of(main), kind[2] != "full", kind[3] != "loop", kind)
        )
        return {kind: sorted(works[kind], key=lambda work: work[3]) for kind in ordered}

    def shown_first(self, works: Sequence[Work]) -> Work:
        """Of one kind's works that which most machines and libraries have, at its largest size."""
        return max(
            works,
            key=lambda work: (sum(len(contest.stands) for contest in self.contests[work].values()), work[3]),
        )


def contest(work: Work, machine: str, stands: Sequence[Stand]) -> Contest:
    """Rank the figures of one work on one machine."""
    ranked = rank([standing.cost for standing in stands])
    assert ranked is not None  # a machine is listed for what it has figures of
    ordered = sorted(stands, key=lambda standing: (value_in(standing.cost, ranked.field), standing.runner))
    return Contest(work, machine, tuple(ordered), ranked)


def tallies(contests: Iterable[Contest]) -> list[RunnerTally]:
    """How each runner fares over contests: who wins most first, then by the median of its factors."""
    won: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    open_: Counter[str] = Counter()
    factors: dict[str, list[float]] = {}
    library: dict[str, str] = {}
    for contest in contests:
        for stand in contest.stands:
            factors.setdefault(stand.runner, []).append(contest.factor(stand))
            library[stand.runner] = stand.cost.library
            sign = contest.sign(stand)
            won[stand.runner] += sign == WON
            alike[stand.runner] += sign == ALIKE
            open_[stand.runner] += sign == OPEN
    tallies = [
        RunnerTally(name, library[name], won[name], alike[name], open_[name], tuple(sorted(factors[name])))
        for name in factors
    ]
    return sorted(tallies, key=lambda tally: (-tally.won, tally.middle, tally.runner))


def kind_of(work: Work) -> Kind:
    """Operation, contract, tier and state of a work."""
    return work[1], work[2], work[4], work[5]


def per_work(work: Work) -> str:
    """What its costs are per: `byte` or `call`."""
    return per(work[:4])


def kind_text(kind: Kind) -> str:
    """A kind in words: `digest, oneshot/1, soft`; what is usual is not said."""
    operation, contract, tier, state = kind
    more = [plain(tier, 20)] * (tier != "full") + [plain(state, 20)] * (state != "loop")
    return ", ".join([plain(operation, 24), plain(contract, 40), *more])


def work_text(work: Work) -> str:
    """What is done, without the algorithm: `digest of 16 KiB`; a call without data has no size."""
    more = "".join(
        f", {plain(part, 20)}"
        for part in (work[4] * (work[4] != "full"), work[5] * (work[5] != "loop"))
        if part
    )
    size = f" {size_label(work[3])}" if per_work(work) == "byte" and work[3] else ""
    return f"{plain(work[1], 24)}{size}{more}"


def _titles() -> dict[str, str]:
    try:
        return {name: plain(algorithm.name, 60) for name, algorithm in load().algorithms.items()}
    except PerbyteError:  # a broken catalogue costs the names, not the site
        return {}
