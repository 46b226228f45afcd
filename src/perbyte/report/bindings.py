"""What a binding costs: a library called from another language beside the same library called from C.

Which runner stands for the library below is said by `wraps` of runner.toml and kept with the run. Both must be in the
run; a row of the same algorithm, operation, size, contract and tier is a pair. Differences and their intervals come
from `stats.compare`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from perbyte.model import CellFigure, Estimate, Run, RunnerIdentity
from perbyte.model.cell import FULL
from perbyte.model.text import plain
from perbyte.report.wording import (
    claim_text,
    interval_text,
    number,
    ratio_text,
    size_label,
    value_text,
    width_text,
)
from perbyte.stats.compare import CYCLES, Comparison, compare, cost_of, difference

COLUMNS = (
    ("algorithm", ""),
    ("size", "n"),
    ("operation", ""),
    ("contract", ""),
    ("binding", ""),
    ("per call", "n"),
    ("library below", ""),
    ("per call there", "n"),
    ("more per call", "n"),
    ("interval", "n"),
    ("times", "n"),
    ("", ""),
)


@dataclass(frozen=True, slots=True)
class Binding:
    """A call through a binding (`above`) and the same call from C; `more` per call is in `comparison.unit`."""

    above: CellFigure
    below: CellFigure
    comparison: Comparison
    more: Estimate

    @property
    def claim(self) -> str:
        """What keeps a difference from being claimed; empty where nothing does."""
        return claim_text(self.comparison)


def bindings(run: Run) -> list[Binding]:
    """All pairs of `run`, in the order of its cells."""
    wrapped = {identity.runner: identity.wraps for identity in run.conditions.identities if identity.wraps}
    figures = {figure.cell: figure for figure in run.cells}
    pairs = []
    for cell, above in figures.items():
        below = figures.get(replace(cell, runner=wrapped.get(cell.runner, "")))
        if below and cell.usual:
            comparison = compare(below, above, run.noise_floor)
            if comparison.ratio.value > 0:
                pairs.append(Binding(above, below, comparison, difference(below, comparison)))
    return pairs


def version_notes(run: Run) -> list[str]:
    """Where a binding and the runner in C do not say the same version of the library, as far as they say it."""
    identities = {identity.runner: identity for identity in run.conditions.identities}
    pairs = {
        (identities[binding.above.cell.runner], identities[binding.below.cell.runner])
        for binding in bindings(run)
        if binding.below.cell.runner in identities
    }
    return sorted(_differing(above, below) for above, below in pairs if not _same(above, below))


def _same(above: RunnerIdentity, below: RunnerIdentity) -> bool:
    return below.library_version.split(" ")[0] in above.library_version


def _differing(above: RunnerIdentity, below: RunnerIdentity) -> str:
    return plain(
        f"{above.runner} says {above.library_version}, {below.runner} {below.library_version}: where these are not the "
        "same code, a difference is not the binding's alone",
        300,
    )


def binding_rows(pairs: Iterable[Binding]) -> list[tuple[str, ...]]:
    """The pairs as text, for `COLUMNS`; costs in cycles, or in ns where that is said."""
    rows: list[tuple[str, ...]] = []
    for binding in pairs:
        cell, unit = binding.above.cell, binding.comparison.unit
        suffix = "" if unit == CYCLES else " ns"
        costs = (
            value_text(cost_of(figure, unit).estimate) + suffix for figure in (binding.above, binding.below)
        )
        rows.append(
            (
                plain(cell.algorithm, 60),
                size_label(cell.size_bytes) if cell.size_bytes else "",
                plain(cell.operation, 24),
                plain(cell.contract, 30),
                plain(cell.runner, 40) + ("" if cell.cpu == FULL else f" ({plain(cell.cpu, 20)})"),
                next(costs),
                plain(binding.below.cell.runner, 40),
                next(costs),
                number(binding.more.value, binding.more.half_width) + suffix,
                interval_text(binding.more),
                f"×{ratio_text(binding.comparison.ratio)}",
                binding.claim,
            )
        )
    return rows


def binding_lines(run: Run) -> list[str]:
    """The pairs as sentences for a terminal; none where the run has no pair."""
    lines = []
    for binding in bindings(run):
        cell, ratio = binding.above.cell, binding.comparison.ratio
        size = f" {size_label(cell.size_bytes)}" if cell.size_bytes else ""
        tier = "" if cell.cpu == FULL else f", {plain(cell.cpu, 20)}"
        unit = "cycles" if binding.comparison.unit == CYCLES else "ns"
        lines.append(
            f"{plain(cell.runner, 40)} over {plain(binding.below.cell.runner, 40)}, {plain(cell.algorithm, 60)} "
            f"{plain(cell.operation, 24)}{size} ({plain(cell.contract, 30)}{tier}): "
            f"{number(binding.more.value, binding.more.half_width)} {unit} more per call "
            f"({interval_text(binding.more)}), "
            f"×{ratio_text(ratio)} {width_text(ratio)}" + (f"; {binding.claim}" if binding.claim else "")
        )
    return [*lines, *version_notes(run)]


def binding_records(run: Run) -> list[dict[str, Any]]:
    """The pairs as JSON types; the ends of an interval that is not known are not finite."""
    return [
        {
            "address": binding.above.cell.address,
            "wraps": binding.below.cell.address,
            "unit": binding.comparison.unit,
            "more_per_call": binding.more.value,
            "more_low": binding.more.low,
            "more_high": binding.more.high,
            "ratio": binding.comparison.ratio.value,
            "ratio_low": binding.comparison.ratio.low,
            "ratio_high": binding.comparison.ratio.high,
            "answer": binding.comparison.answer.value,
            "reason": binding.comparison.reason,
        }
        for binding in bindings(run)
    ]
