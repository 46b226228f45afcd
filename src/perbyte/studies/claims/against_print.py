"""Forms that set today's figures against printed numbers: a value, or an order of merit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from perbyte.model import Estimate
from perbyte.stats.quantity import Unit
from perbyte.studies.cells import expand
from perbyte.studies.claims.ratios import placed
from perbyte.studies.claims.standings import missing, standings
from perbyte.studies.claims.vocabulary import (
    AVERAGE_OVER,
    BEST_OF,
    GROUP_BY,
    PER,
    WHERE,
    Finding,
    Form,
    Key,
    Kind,
    Parameter,
    Scene,
    State,
)
from perbyte.studies.evidence import Row
from perbyte.studies.model import Number, PublishedFigure
from perbyte.studies.units import published_ns
from perbyte.studies.wording import counted, exact, span

_DRAWS = 400
_LEAST = 4
_WIDEST = 1e3  # an interval without an end is drawn from as if it ended here, times or over the value


def _value_between(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    if not scene.table.in_cycles:
        return [Finding(State.UNMEASURED, "the run has no cycles, and the claim counts in cycles.")]
    shape = {**p, "contenders": "group"}
    findings = []
    for key, field in standings(scene, shape).items():
        for one in field.values():
            if not one.cost:
                findings.append(missing(scene, key, one))
                continue
            state, margin = placed(one.cost, p["low"], p["high"])
            place = f"{one.label}, {scene.name(key)}" if key else one.label
            sentence = (
                f"{place}: {span(one.cost)} cycles a {p['per']}; "
                f"claimed: {exact(p['low'])} to {exact(p['high'])}."
            )
            numbers = (
                Number(
                    scene.name(key), one.label, one.cost.value, one.cost.low, one.cost.high, "cycles/byte"
                ),
            )
            findings.append(Finding(state, sentence, margin, numbers))
    return findings


def _rank_agreement(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    """Correlate the printed order of merit with today's, for each published machine and each group.

    Figures printed in cycles and figures printed as times or rates are not ranked together.
    """
    findings: list[Finding] = []
    for machine in p["machines"] or tuple(one.id for one in scene.study.machines):
        groups: dict[tuple[Key, bool], list[tuple[PublishedFigure, Row]]] = {}
        for figure in scene.study.published:
            row = _row_of(scene, figure, p) if figure.machine == machine and figure.available else None
            if row:
                key = tuple((name, row.dims[name]) for name in p["group_by"])
                in_cycles = figure.unit == Unit.CYCLES_PER_BYTE
                groups.setdefault((key, in_cycles), []).append((figure, row))
        findings += [_agreement(scene, machine, key, both, p) for (key, _), both in groups.items()]
    return findings or [Finding(State.UNPROVIDED, "no printed figure has a counterpart in this run.")]


def _row_of(scene: Scene, figure: PublishedFigure, p: Mapping[str, Any]) -> Row | None:
    """The fastest measured counterpart of a printed figure among the cells the claim is about."""
    if not figure.cell or " over " in figure.cell:
        return None
    wanted = expand(figure.cell)
    rows = [
        row
        for row in scene.table.select(p["where"])
        if row.figure and any(one.matches(row.figure.cell) for one in wanted)
    ]
    return min(rows, key=lambda row: scene.table.cost(row, "byte").value, default=None)


def _agreement(
    scene: Scene, machine: str, key: Key, both: Sequence[tuple[PublishedFigure, Row]], p: Mapping[str, Any]
) -> Finding:
    place = ", ".join(part for part in (machine, scene.name(key)) if part)
    if len(both) < _LEAST:
        return Finding(
            State.UNPROVIDED,
            f"{place}: only {counted(len(both), 'figure')} can be compared, too few to rank.",
        )
    printed = np.array([_printed_cost(figure) for figure, _ in both])
    today = [scene.table.cost(row, "byte") for _, row in both]
    value = _spearman(printed, np.array([one.value for one in today]))
    low, high = _range(printed, today, scene.floor)
    rho = Estimate(value, min(low, value), max(high, value))
    state, _ = placed(rho, p["low"], p["high"])
    sentence = (
        f"{place}: the orders of {len(both)} figures then and now agree with a rank correlation of {span(rho)}; "
        f"claimed: {exact(p['low'])} to {exact(p['high'])}."
    )
    numbers = (Number(place, "rank correlation then and now", rho.value, rho.low, rho.high),)
    return Finding(state, sentence, min(abs(value - p["low"]), abs(value - p["high"])), numbers)


def _printed_cost(figure: PublishedFigure) -> float:
    if figure.unit == Unit.CYCLES_PER_BYTE and figure.value is not None:
        return figure.value
    return (published_ns(figure) or math.nan) / (figure.size_bytes or 1)


def _spearman(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """Spearman's rank correlation: Pearson's on mid-ranks (Spearman 1904)."""
    ranks = [_ranks(one) for one in (a, b)]
    if any(one.std() == 0 for one in ranks):
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    less = (values[None, :] < values[:, None]).sum(axis=1)
    same = (values[None, :] == values[:, None]).sum(axis=1)
    ranks: np.ndarray[Any, Any] = less + (same + 1) / 2
    return ranks


def _range(printed: np.ndarray[Any, Any], today: Sequence[Estimate], floor: float) -> tuple[float, float]:
    """Least and greatest correlation when today's costs are drawn from their intervals (seeded, repeatable)."""
    generator = np.random.default_rng(1904)
    low = np.array([max(one.low / (1 + floor), one.value / _WIDEST) for one in today])
    high = np.array([min(one.high * (1 + floor), one.value * _WIDEST) for one in today])
    found = [_spearman(printed, generator.uniform(low, high)) for _ in range(_DRAWS)]
    return min(found), max(found)


FORMS = (
    Form(
        "value_between",
        "the cost itself lies between low and high, in cycles per byte",
        (
            WHERE,
            Parameter("low", Kind.NUMBER, "cycles per byte, at least"),
            Parameter("high", Kind.NUMBER, "cycles per byte, at most"),
            GROUP_BY,
            AVERAGE_OVER,
            BEST_OF,
            PER,
        ),
        _value_between,
    ),
    Form(
        "rank_agreement",
        "the printed order of merit and today's correlate between low and high (Spearman)",
        (
            WHERE,
            Parameter("machines", Kind.NAMES, "the published machines; all of them if absent", default=()),
            Parameter("low", Kind.NUMBER, "the least rank correlation"),
            Parameter("high", Kind.NUMBER, "the greatest rank correlation", default=1.0),
            GROUP_BY,
        ),
        _rank_agreement,
    ),
)
