"""What an atlas says at a glance: costs by machine and library, versions through time, machines unlike their model.

Figures of several runs of one machine are taken together by their median. Nothing is drawn here.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from perbyte.atlas.index import Atlas
from perbyte.atlas.reading import query
from perbyte.model import Quality
from perbyte.stats.quantity import NO_DATA

_POINTS = 6
_ALIKE = 3  # machines of one model that it takes to call one of them unlike the others
_UNLIKE = 0.02  # below that nobody is called unlike the others
_SPREADS = 4.0  # median absolute deviations

Point = tuple[str, str, str, int]
"""Algorithm, operation, contract, size in bytes: what is compared across machines."""


@dataclass(frozen=True, slots=True)
class PointCost:
    """What a point costs on a machine with one version of a library.

    `ns` and `cycles` are per byte of data, or per call where a call has none (`Point` says by `per`). `width` is the
    widest relative half-width among the runs' intervals, `qualities` and `doubts` (kinds of warnings) are those of all
    of them.
    """

    point: Point
    machine: str
    library: str
    version: str
    cycles: float | None
    ns: float
    runs: int
    first: str
    width: float = math.inf
    qualities: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def doubted(self) -> bool:
        """True where nothing may be claimed of it: too few clean samples, a trend, an audit that does not vouch."""
        return bool({Quality.NOISY, Quality.UNSETTLED, Quality.DOUBTED} & {*self.qualities})


def per(point: Point) -> str:
    """What the costs of a point are per: `byte`, or `call` where a call has no data."""
    return "call" if point[1] == "verify" or point[2].startswith(NO_DATA) else "byte"


@dataclass(frozen=True, slots=True)
class Unlike:
    """A machine that differs from the others of its model: its costs over theirs, and how far those spread."""

    machine: str
    model: str
    ratio: float
    spread: float
    others: int


@dataclass(frozen=True, slots=True)
class Overview:
    """All that the page shows. `floors` are (provider, median noise floor, runs); `models` is by machine."""

    runs: int
    cells: int
    models: dict[str, str]
    providers: dict[str, str]
    points: tuple[Point, ...]
    costs: tuple[PointCost, ...]
    unlike: tuple[Unlike, ...]
    floors: tuple[tuple[str, float, int], ...]

    def newest(self) -> dict[tuple[Point, str, str], PointCost]:
        """The cost of the version that was measured last, by point, machine and library."""
        costs: dict[tuple[Point, str, str], PointCost] = {}
        for cost in sorted(self.costs, key=lambda cost: (cost.first, cost.version)):
            costs[cost.point, cost.machine, cost.library] = cost
        return costs

    def versions(self) -> tuple[str, list[PointCost]]:
        """The machine that saw most versions of its libraries, and its costs in the order of time."""
        count: dict[str, set[tuple[str, str]]] = {}
        for cost in self.costs:
            count.setdefault(cost.machine, set()).add((cost.library, cost.version))
        libraries = {name: len({library for library, _ in pairs}) for name, pairs in count.items()}
        best = max(count, key=lambda name: (len(count[name]) - libraries[name], name), default="")
        if not best or len(count[best]) == libraries[best]:
            return "", []
        costs = [cost for cost in self.costs if cost.machine == best]
        several = {
            cost.library for cost in costs if len({v for lib, v in count[best] if lib == cost.library}) > 1
        }
        return best, sorted(
            (cost for cost in costs if cost.library in several), key=lambda cost: (cost.first, cost.version)
        )


def look_over(atlas: Atlas) -> Overview:
    """Gather what the page of an atlas shows. Raises what `query` raises."""
    points = _points(atlas)
    costs = _costs(atlas, points)
    runs = list(atlas.runs.values())
    floors: dict[str, list[float]] = {}
    for run in runs:
        if run.noise_floor is not None and math.isfinite(run.noise_floor):
            floors.setdefault(run.provider or "no hypervisor", []).append(run.noise_floor)
    models = {run.machine: run.cpu_model for run in runs}
    return Overview(
        len(runs),
        sum(run.cells for run in runs),
        models,
        {run.machine: run.provider for run in runs},
        points,
        costs,
        _unlike(costs, models),
        tuple((name, statistics.median(values), len(values)) for name, values in sorted(floors.items())),
    )


def _points(atlas: Atlas) -> tuple[Point, ...]:
    """What most machines and libraries have: an algorithm each, at its largest size."""
    _, rows = query(
        atlas,
        """SELECT algorithm, operation, contract, size_bytes, count(DISTINCT machine) * count(DISTINCT library) AS wide
           FROM (SELECT DISTINCT algorithm, operation, contract, size_bytes, machine, library FROM cells
                 WHERE cpu = 'full' AND twin = 0 AND coalesce(state, 'loop') = 'loop' AND size_bytes > 0)
           GROUP BY ALL ORDER BY wide DESC, size_bytes DESC, algorithm, operation LIMIT 10000""",
    )
    points: dict[str, Point] = {}
    for algorithm, operation, contract, size, _ in rows:
        points.setdefault(str(algorithm), (str(algorithm), str(operation), str(contract), int(size)))
    return tuple(points.values())[:_POINTS]


def _costs(atlas: Atlas, points: tuple[Point, ...]) -> tuple[PointCost, ...]:
    if not points:
        return ()
    places = ", ".join(["(?, ?, ?, ?)"] * len(points))
    _, rows = query(
        atlas,
        f"""SELECT algorithm, operation, contract, size_bytes, machine, library, library_version,
               median(cycles_per_call), median(ns_per_call), count(DISTINCT run), min(started_at),
               max((interval_high - interval_low) / 2 / coalesce(cycles_per_call, ns_per_call)),
               list_sort(list(DISTINCT quality)), list_sort(list_distinct(flatten(list(warning_kinds))))
           FROM cells JOIN (SELECT run, started_at FROM runs) USING (run)
           WHERE cpu = 'full' AND twin = 0 AND coalesce(state, 'loop') = 'loop'
              AND (algorithm, operation, contract, size_bytes) IN ({places})
           GROUP BY ALL ORDER BY ALL""",
        [part for point in points for part in point],
    )
    costs = []
    for a, o, c, size, machine, library, version, cycles, ns, runs, first, width, *told in rows:
        point = (a, o, c, int(size))
        parts = size if per(point) == "byte" else 1
        if not (time := positive(ns)):
            continue
        core = positive(cycles)
        costs.append(
            PointCost(
                point,
                machine,
                library,
                version,
                core and core / parts,
                time / parts,
                int(runs),
                first,
                float(width) if width is not None and width >= 0 else math.inf,
                *(tuple(map(str, row or ())) for row in told),
            )
        )
    return tuple(costs)


def positive(value: Any) -> float | None:
    """A number of a query where it is finite and above 0."""
    return float(value) if value is not None and math.isfinite(value) and value > 0 else None


def _unlike(costs: tuple[PointCost, ...], models: dict[str, str]) -> tuple[Unlike, ...]:
    """Machines whose costs lie apart from those of others of their model, by the median of ratios over all cells."""
    of_cell: dict[tuple[Any, ...], dict[str, float]] = {}
    for cost in costs:
        if cost.cycles is not None:
            cell = (models[cost.machine], cost.point, cost.library, cost.version)
            of_cell.setdefault(cell, {})[cost.machine] = cost.cycles
    ratios: dict[str, list[float]] = {}
    for of_machine in of_cell.values():
        if len(of_machine) >= _ALIKE:
            middle = statistics.median(of_machine.values())
            for machine, cycles in of_machine.items():
                ratios.setdefault(machine, []).append(cycles / middle)
    whole = {machine: statistics.median(values) for machine, values in ratios.items()}
    by_model: dict[str, list[str]] = {}
    for machine in whole:
        by_model.setdefault(models[machine], []).append(machine)
    unlike = []
    for model, machines in by_model.items():
        logs = [math.log(whole[machine]) for machine in machines]
        middle = statistics.median(logs)
        spread = statistics.median(abs(log - middle) for log in logs)
        for machine, log in zip(machines, logs, strict=True):
            if abs(log - middle) > max(_SPREADS * spread, _UNLIKE):
                ratio = math.exp(log - middle)
                unlike.append(Unlike(machine, model, ratio, math.expm1(spread), len(machines) - 1))
    return tuple(sorted(unlike, key=lambda outlier: -abs(math.log(outlier.ratio))))
