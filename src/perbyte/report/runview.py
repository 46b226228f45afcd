"""What a report shows of a run, each part worked out once: grids, points, ratios of operations, cost models.

Whoever draws, writes or counts takes its numbers from here, so that a chart and the table beside it cannot differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from perbyte.catalogue import Selector
from perbyte.catalogue.catalogue import INVERSES
from perbyte.model import Cell, CellFigure, Estimate, Run
from perbyte.model.cell import FULL
from perbyte.model.text import natural, plain
from perbyte.report.grid import Grid, in_tiers, run_grids, title_of
from perbyte.report.marks import IN_CHARTS, SIGNS
from perbyte.report.wording import number, ratio_interval_text, size_label, value_text, width_text
from perbyte.stats.compare import Comparison, compare, difference, doubt_of
from perbyte.stats.cost import CostModel, fit_cost
from perbyte.stats.quantity import Unit, data_bytes, read
from perbyte.studies.evidence import cells_of
from perbyte.studies.judge import PairedPoint, paired
from perbyte.studies.model import Judgement, PublishedFigure, Study

Names = Mapping[tuple[str, str], str]
"""What a study calls an algorithm on a tier: (algorithm, cpu) -> `AES-NI`."""
OPPOSITE = {forward: backward for backward, forward in INVERSES.items()}


@dataclass(frozen=True, slots=True)
class Points:
    """Records of one contract in one unit. `series`: algorithm names in order; `libraries`: runners."""

    contract: str
    unit: Unit
    records: tuple[dict[str, Any], ...]
    left_out: int

    @property
    def series(self) -> tuple[str, ...]:
        """The names that occur, in the order of the grid."""
        return tuple(dict.fromkeys(record["series"] for record in self.records))

    @property
    def libraries(self) -> tuple[str, ...]:
        """The runners that occur, in natural order."""
        return tuple(sorted({record["library"] for record in self.records}, key=natural))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that occur, in bytes, ascending."""
        return tuple(sorted({record["size_bytes"] for record in self.records}))

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that occur, in the order of the grid."""
        return tuple(dict.fromkeys(record["operation"] for record in self.records))


@dataclass(frozen=True, slots=True)
class Ratio:
    """The cost of a call of `above` as a multiple of that of `below`, in cycles where both have some."""

    above: CellFigure
    below: CellFigure
    comparison: Comparison

    @property
    def more(self) -> Estimate:
        """What `above` costs more, in `comparison.unit`."""
        return difference(self.below, self.comparison)


def ratios(run: Run, pairs: Iterable[tuple[CellFigure, CellFigure | None]]) -> list[Ratio]:
    """The ratios of pairs (above, below) of `run`, those that are positive."""
    compared = (
        Ratio(above, below, compare(below, above, run.noise_floor)) for above, below in pairs if below
    )
    return [ratio for ratio in compared if ratio.comparison.ratio.value > 0]


def bindings(run: Run) -> list[Ratio]:
    """Calls through a binding over the same calls from C, in the order of the run's cells."""
    wrapped = {identity.runner: identity.wraps for identity in run.conditions.identities if identity.wraps}
    figures = {figure.cell: figure for figure in run.cells}
    below = {cell: replace(cell, runner=wrapped.get(cell.runner, "")) for cell in figures if cell.usual}
    return ratios(run, ((figures[cell], figures.get(other)) for cell, other in below.items()))


@dataclass(frozen=True, slots=True)
class FittedCost:
    """A fitted model and the cell it stands for (its size is that of the largest call measured)."""

    cell: Cell
    model: CostModel


class RunView:
    """A run as it is shown; with a `judgement`, under the names of its study."""

    def __init__(self, run: Run, *, judgement: Judgement | None = None) -> None:
        self.run = run
        self.judgement = judgement
        self.study: Study | None = judgement.study if judgement else None
        self.names: Names = names_of(self.study) if self.study else {}

    def name(self, cell: Cell) -> str:
        """What a cell's algorithm is called on its tier."""
        return plain(self.names.get((cell.algorithm, cell.cpu)) or title_of(cell, self._tiered), 44)

    @cached_property
    def _tiered(self) -> frozenset[str]:
        return in_tiers(figure.cell for figure in self.run.cells)

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        """All cells, one grid per contract."""
        return run_grids(self.run)

    @cached_property
    def points(self) -> tuple[Points, ...]:
        """The figures of each grid as records for charts, the grid with most of them first."""
        filled = [points for grid in self.grids if (points := self._points(grid)).records]
        return tuple(sorted(filled, key=lambda points: -len(points.records)))

    @cached_property
    def ratios(self) -> tuple[Ratio, ...]:
        """Every pair of opposite operations on the same algorithm, size, contract, runner and tier."""
        figures = {figure.cell: figure for figure in self.run.cells if figure.cell.usual}
        pairs = (
            (above, figures.get(replace(cell, operation=OPPOSITE.get(cell.operation, ""))))
            for cell, above in figures.items()
        )
        return tuple(ratios(self.run, pairs))

    @cached_property
    def costs(self) -> tuple[FittedCost, ...]:
        """A fitted model of every operation that was measured at three sizes or more.

        Figures that are not positive are left out, and so are those whose interval nobody knows: half-widths of
        their model would be made of nothing.
        """
        by_call: dict[tuple[str, ...], list[CellFigure]] = {}
        setups: dict[tuple[str, ...], CellFigure] = {}
        for figure in self.run.cells:
            cell = figure.cell
            if not cell.usual or not figure.interval.known or not 0 < figure.per_call < math.inf:
                continue
            process = (cell.runner, cell.algorithm, cell.cpu)
            if data_bytes(cell):
                by_call.setdefault((*process, cell.operation, cell.contract), []).append(figure)
            else:
                setups[process] = figure
        costs = []
        for key, figures in by_call.items():
            model = fit_cost(figures, setup=setups.get(key[:3]), noise=self.run.noise_floor)
            if model is not None:
                largest = max((figure.cell for figure in figures), key=lambda cell: cell.size_bytes)
                costs.append(FittedCost(largest, model))
        return tuple(costs)

    @cached_property
    def paired(self) -> tuple[PairedPoint, ...]:
        """The published figures of the study, each with what stands for it today."""
        return paired(self.study, self.run) if self.study else ()

    @cached_property
    def published_ratios(self) -> tuple[tuple[PublishedFigure, Ratio | None], ...]:
        """The published ratios of two cells with today's, compared epoch by epoch."""
        figures = {figure.cell.address: figure for figure in self.run.cells}
        pairs: list[tuple[PublishedFigure, Ratio | None]] = []
        for point in self.paired:
            if point.published.unit != Unit.RATIO or not point.published.value:
                continue
            sides = tuple(figures[address] for address in point.addresses)
            today = ratios(self.run, [sides]) if len(sides) == 2 else []
            pairs.append((point.published, next(iter(today), None)))
        return tuple(pairs)

    @cached_property
    def _uncharted(self) -> tuple[Selector, ...]:
        """What the study measures beside what its text compares, and wants in no chart."""
        groups = self.study.groups if self.study else ()
        return tuple(
            asked
            for group in groups
            if not group.charts
            for selector in group.selectors
            for asked in cells_of(selector)
        )

    def _points(self, grid: Grid) -> Points:
        records: list[dict[str, Any]] = []
        left_out = 0
        for row in (row for row in grid.rows if row.cell.usual):
            name = plain(self.names.get((row.cell.algorithm, row.cell.cpu), row.heading), 40)
            for column, entry in zip(grid.columns, row.entries, strict=True):
                figure = entry.figure
                if figure is None or any(asked.matches(figure.cell) for asked in self._uncharted):
                    continue
                reading = read(figure, grid.unit)
                if reading is None or reading.value <= 0:
                    left_out += 1
                    continue
                known = figure.interval.known
                marks = grid.told_at(entry)
                records.append(
                    {
                        "series": name,
                        "algorithm": row.cell.algorithm,
                        "tier": row.cell.cpu,
                        "soft": row.cell.cpu != FULL,
                        "library": plain(row.label, 24),
                        "operation": plain(column.operation, 24),
                        "size_bytes": column.size_bytes,
                        "size": column.size,
                        "value": reading.value,
                        "ns": figure.ns_per_call if data_bytes(figure.cell) else 0.0,
                        # A logarithmic axis has no room for what an interval reaches below zero.
                        "low": max(reading.low, reading.value * 1e-3) if known else reading.value,
                        "high": min(reading.high, reading.value * 1e3) if known else reading.value,
                        "text": " ".join(filter(None, (SIGNS[entry.lead], value_text(reading), marks))),
                        "shown": value_text(reading),
                        "standing": IN_CHARTS[entry.lead],
                        "sure": not doubt_of(figure),
                        "described": describe(figure, grid.unit, name),
                    }
                )
        return Points(grid.contract, grid.unit, tuple(records), left_out)


def names_of(study: Study) -> dict[tuple[str, str], str]:
    """What the study calls an algorithm on a tier: the label of the group that is about nothing else.

    Where groups of different labels are about the same (one per interface, say), none of them is its name.
    """
    from perbyte.errors import PerbyteError
    from perbyte.studies.evidence import cells_of

    labels_of: dict[tuple[str, str], set[str]] = {}
    for group in study.groups:
        try:
            cells = [selected.cell for selector in group.selectors for selected in cells_of(selector)]
        except (PerbyteError, ValueError):
            continue
        about = {(cell.algorithm, cell.cpu) for cell in cells}
        if len(about) == 1:
            labels_of.setdefault(about.pop(), set()).add(group.label)
    return {key: labels.pop() for key, labels in labels_of.items() if len(labels) == 1}


def describe(figure: CellFigure, unit: Unit, name: str) -> str:
    """One line about a figure, for a tooltip and for a screen reader."""
    reading = read(figure, unit)
    size = f" {size_label(figure.cell.size_bytes)}" if figure.cell.size_bytes else ""
    text = f"{name} in {plain(figure.library, 40)} {plain(figure.library_version, 80)}".rstrip()
    text += f", {plain(figure.cell.operation, 24)}{size}: "
    if reading is None:
        return text + "no figure in this unit"
    if not figure.interval.known:
        return f"{text}{number(reading.value)} {unit.value} (interval not known), {figure.quality}"
    half = reading.half_width
    return (
        f"{text}{number(reading.value, half)} {unit.value} ({number(reading.low, half)} to "
        f"{number(reading.high, half)}, {width_text(reading)}), {figure.quality}"
    )


def interval_said(ratio: Ratio) -> str:
    """The interval of a ratio in words."""
    return ratio_interval_text(ratio.comparison.ratio) if ratio.comparison.ratio.known else "not known"
