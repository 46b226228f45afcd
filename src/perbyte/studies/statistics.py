"""The statistics of a paper, run on what was measured here.

All tests take epoch figures: the epochs are fresh processes and independent of each other, which samples within an
epoch are not. `perbyte.stats.hypothesis` computes; this module only chooses who is compared with whom, and
says what such numbers are worth.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from perbyte.model import CellFigure
from perbyte.stats.compare import compare_costs
from perbyte.studies.claims.form import grouped
from perbyte.studies.evidence import Row, Table
from perbyte.studies.model import GROUP, GroupStatistic, PairStatistic, Statistics, Study, Value
from perbyte.studies.wording import counted

_LEAST_EPOCHS = 2


def compute(study: Study, table: Table) -> Statistics | None:
    """Run the tests that the study plans; None when it plans none.

    Members without at least two epoch figures are left out, and so are groups with fewer than two members.
    """
    plan = study.statistics
    if plan is None:
        return None
    groups = []
    used: set[int] = set()
    for key, rows in grouped([row for row in table.select(plan.where) if row.figure], plan.group_by):
        members: dict[Value, tuple[Row, tuple[float, ...]]] = {}
        for (named,), own in grouped(rows, (plan.compare,)):
            values = _epoch_costs(own[0], table)
            if len(values) >= _LEAST_EPOCHS and len(own) == 1:
                members[named[1]] = (own[0], values)
        if len(members) >= 2:
            groups.append(_group(key, members, table, plan.compare))
            used |= {len(values) for _, values in members.values()}
    return Statistics(plan=plan, groups=tuple(groups), remarks=_remarks(used, table))


def _group(
    key: tuple[tuple[str, Value], ...],
    members: dict[Value, tuple[Row, tuple[float, ...]]],
    table: Table,
    compare: str,
) -> GroupStatistic:
    from perbyte.stats import hypothesis

    names = {name: row.label if compare == GROUP else str(name) for name, (row, _) in members.items()}
    samples = [values for _, values in members.values()]
    whole = hypothesis.kruskal_wallis(samples)
    pairs = list(itertools.combinations(members, 2))
    return GroupStatistic(
        group=key,
        members=tuple(names.values()),
        epochs=tuple(len(values) for values in samples),
        h=whole.statistic,
        p=whole.p,
        pairs=tuple(_pair((names[a], names[b]), members[a], members[b], table, len(pairs)) for a, b in pairs),
    )


def _pair(
    names: tuple[str, str],
    first: tuple[Row, tuple[float, ...]],
    second: tuple[Row, tuple[float, ...]],
    table: Table,
    count: int,
) -> PairStatistic:
    from perbyte.stats import hypothesis

    a, b = first[1], second[1]
    test = hypothesis.mann_whitney_u(a, b, pairs=count)
    ratio = compare_costs(table.measured(first[0]), table.measured(second[0]), table.floor).ratio
    return PairStatistic(
        first=names[0],
        second=names[1],
        u=test.statistic,
        p=test.p,
        p_corrected=test.p_bonferroni,
        cohen_d=hypothesis.cohens_d(a, b),
        cliff_delta=hypothesis.cliffs_delta(a, b),
        ratio=(ratio.value, ratio.low, ratio.high),
        ratio_decides=ratio.above(1) or ratio.below(1),
    )


def _epoch_costs(row: Row, table: Table) -> tuple[float, ...]:
    """Epoch figures per byte (per call for cells without data), in the table's unit."""
    figure: CellFigure | None = row.figure
    if figure is None:
        return ()
    epochs = figure.epoch_cycles if table.in_cycles else figure.epoch_ns
    return tuple(value / (figure.cell.size_bytes or 1) for value in epochs)


def _remarks(epochs: set[int], table: Table) -> tuple[str, ...]:
    counts: Sequence[int] = sorted(epochs)
    said = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0]) if counts else "no"
    remarks = [
        f"Every test is run on epoch figures, {said} per cell: each epoch is a fresh process, and its figure is one "
        "independent value. The samples within an epoch are not independent of each other.",
        "A p-value shrinks with the number of values put in, whatever the difference: with the millions of samples "
        "that a program makes in a second, any two cells differ 'significantly'. The ratio with its interval, "
        "held against the noise floor, says how large the difference is.",
        "Cohen's d divides by the spread between epochs. A steady machine makes that spread tiny and d huge, so "
        "d says as much about the machine as about the algorithms; Cliff's delta only counts how often one is "
        "above the other.",
    ]
    if counts and counts[0] < 4:
        remarks.append(
            f"With {counted(counts[0], 'epoch')} the Mann-Whitney test has few arrangements to choose from; after "
            "Bonferroni's correction over many pairs it cannot become significant."
        )
    if table.floor is None:
        remarks.append("The run has no A/A pair, so the ratios are not held against a noise floor.")
    return tuple(remarks)
