"""Proof that a CPU tier changed the code path.

A tier is the library's own switch, and a switch may do nothing on this machine or in this build. So for
every algorithm that a CPU can accelerate the tier must show that it changed something: by what the library
reports, which is looked at here, or by the factor between the figures, which `stats.run_figures` knows. Rows
that show neither carry a warning.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from dataclasses import replace

from perbyte.catalogue import Catalogue
from perbyte.errors import PerbyteError
from perbyte.measure.plan import Survey
from perbyte.measure.sessions import Sessions
from perbyte.model import Cell, Policy, UnprovenTier
from perbyte.model.cell import FULL
from perbyte.stats.arrays import np
from perbyte.stats.clean import ns_per_call
from perbyte.stats.compare import ratio_of_medians
from perbyte.stats.run_figures import CHANGED
from perbyte.stats.samples import tabulate

_PROBE_BYTES = 1024
BURSTS = 8  # in each tier


def unproven_tiers(survey: Survey, catalogue: Catalogue, cells: Iterable[Cell]) -> list[UnprovenTier]:
    """Return the rows of `cells` in lower tiers for which the library itself names no other code than in `full`."""
    rows = dict.fromkeys(
        cell.row for cell in cells if cell.cpu != FULL and catalogue.find(cell.algorithm).accelerated_by
    )
    tiers = []
    for row in rows:
        here, full = survey.operation(row), survey.operation(row._replace(cpu=FULL))
        told = here and full and here.code_path and full.code_path and here.code_path != full.code_path
        if not told:
            tiers.append(UnprovenTier(row))
    return tiers


def without_full(tiers: Iterable[UnprovenTier], measured: Collection[Cell]) -> list[UnprovenTier]:
    """Those of `tiers` that were measured while no cell of theirs was in `full` as well."""
    unproven = []
    for tier in tiers:
        of_row = [cell for cell in measured if cell.row == tier.row]
        if of_row and not any(replace(cell, cpu=FULL) in measured for cell in of_row):
            unproven.append(tier)
    return unproven


def look_at_full(survey: Survey, tier: UnprovenTier, policy: Policy) -> UnprovenTier:
    """Measure some bursts of the row in each of the two tiers, by turns: no figure of the run, but an interval."""
    medians: dict[str, list[float]] = {FULL: [], tier.row.cpu: []}
    row = tier.row
    try:
        with Sessions(survey, policy) as sessions:
            for turn, cpu in itertools.product(range(BURSTS), medians):
                probed = Cell(row.runner, row.algorithm, row.operation, _PROBE_BYTES, row.contract, cpu)
                calibration = sessions.calibrations.get(probed.process) or sessions.start(probed.process)
                taken = sessions.of(probed).measure(
                    sessions.handle(probed),
                    cell=probed,
                    epoch=0,
                    round=turn,
                    samples=30,
                    limit_ms=policy.burst_limit_ms,
                )
                medians[cpu].append(float(np.median(ns_per_call(tabulate([taken.burst]), calibration))))
    except PerbyteError:
        return tier
    ratio = ratio_of_medians(medians[FULL], medians[row.cpu], CHANGED)
    return replace(tier, factor=ratio.value, low=ratio.low, high=ratio.high) if ratio.value else tier
