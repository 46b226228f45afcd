"""What a binding costs, as a listing: a call through it beside the same call from C, and the difference."""

from __future__ import annotations

from perbyte.model import CellFigure, Run, RunnerIdentity
from perbyte.model.cell import FULL
from perbyte.model.text import plain
from perbyte.report.listing import Entry, Head, Listing
from perbyte.report.wording import claim_text, interval_text, number, ratio_text, size_label, value_text
from perbyte.stats.compare import CYCLES, cost_of
from perbyte.stats.trials import Binding, bindings

_COLUMNS = (
    Head(None, "", "address wraps unit"),
    Head("algorithm"),
    Head("size", "n"),
    Head("operation", once=True),
    Head("contract", once=True),
    Head("binding"),
    Head("per call", "n"),
    Head("library below", once=True),
    Head("per call there", "n"),
    Head("more per call", "n", "more_per_call"),
    Head("interval", "n", "more_low more_high"),
    Head("times", "n", "ratio ratio_low ratio_high"),
    Head("", "", "answer reason"),
)


def bindings_listing(run: Run) -> Listing:
    """The pairs of `run`, costs in cycles, or in ns where that is said; versions that differ below are notes."""
    rows = [_row(binding) for binding in bindings(run)]
    return Listing("What the binding costs", _COLUMNS, rows, version_notes(run) if rows else (), lead=5)


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


def _row(binding: Binding) -> tuple[Entry, ...]:
    cell, below, more = binding.above.cell, binding.below.cell, binding.more
    comparison = binding.comparison
    suffix = "" if comparison.unit == CYCLES else " ns"

    def cost(figure: CellFigure) -> str:
        return value_text(cost_of(figure, comparison.unit).estimate) + suffix

    ratio = comparison.ratio
    return (
        ("", cell.address, below.address, comparison.unit),
        plain(cell.algorithm, 60),
        size_label(cell.size_bytes) if cell.size_bytes else "",
        plain(cell.operation, 24),
        plain(cell.contract, 30),
        plain(cell.runner, 40) + ("" if cell.cpu == FULL else f" ({plain(cell.cpu, 20)})"),
        cost(binding.above),
        plain(below.runner, 40),
        cost(binding.below),
        (number(more.value, more.half_width) + suffix, more.value),
        (interval_text(more), more.low, more.high),
        (f"×{ratio_text(ratio)}", ratio.value, ratio.low, ratio.high),
        (claim_text(comparison), comparison.answer.value, comparison.reason),
    )
