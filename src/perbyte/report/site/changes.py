"""What changed from one run of a machine to its next: figures that differ by more than their intervals and runs do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.atlas.export import Followed
from perbyte.model.text import counted, plain
from perbyte.report.html import Block, sorted_table, text, unfolding
from perbyte.report.listing import Entry, Item, Listing, columns
from perbyte.report.ranks import against
from perbyte.report.site import addresses, parts
from perbyte.report.site.view import SiteView, work_text
from perbyte.report.wording import number
from perbyte.stats.compare import CYCLES, NS, Answer, Comparison

MOST = 100  # rows of a table of changes, the largest first


@dataclass(frozen=True, slots=True)
class Changed:
    """A figure that is known to have become dearer or cheaper."""

    pair: Followed
    compared: Comparison

    @property
    def dearer(self) -> bool:
        """True where the later figure costs more."""
        return self.compared.answer is Answer.SLOWER

    @property
    def size(self) -> float:
        """How far apart the two are, whichever costs more."""
        return abs(math.log(self.compared.ratio.value))


def known_changes(pairs: Sequence[Followed]) -> list[Changed]:
    """Of figures that followed each other those that are known to differ, the largest first; none that is in doubt."""
    changes = []
    for pair in pairs:
        if pair.before.cost.doubted or pair.after.cost.doubted:
            continue
        both = pair.before.cost.cycles and pair.after.cost.cycles
        compared = against(pair.before.cost, pair.after.cost, CYCLES if both else NS)
        if compared.claimed:
            changes.append(Changed(pair, compared))
    return sorted(
        changes, key=lambda change: (-change.size, change.pair.after.work, change.pair.after.machine)
    )


def change_rows(view: SiteView, pairs: Sequence[Followed]) -> list[Block]:
    """A sentence on what changed, and the table of it."""
    changes = known_changes(pairs)
    if not changes:
        return [text("No figure is known to differ from the same machine's figure before it.")]
    rows: list[Sequence[Entry]] = []
    for change in changes[:MOST]:
        before, after = change.pair.before, change.pair.after
        rows.append(
            [
                Item(view.title(after.work[0]), parts.UP + addresses.algorithm(after.work[0])),
                work_text(after.work),
                Item(plain(after.runner, 40), parts.UP + addresses.library(after.cost.library)),
                _versions(before.cost.version, after.cost.version),
                parts.machine_item(view, after.machine),
                parts.day(before.cost.first),
                parts.run_item(view, after),
                parts.times_item(change.compared, "dearer" if change.dearer else "cheaper"),
            ]
        )
    heads = columns("algorithm | work | program | version:text | machine | from | to | costs ×:n")
    every = sorted_table(Listing("What changed", heads, rows))
    return [
        text(changes_text(changes)),
        _by_version(changes),
        unfolding("Figure by figure", [every], open=len(rows) <= 12),
    ]


def _by_version(changes: Sequence[Changed]) -> Block:
    """Changes taken together: a row a program and its two versions."""
    groups: dict[tuple[str, str, str], list[Changed]] = {}
    for change in changes:
        after = change.pair.after
        groups.setdefault((after.runner, change.pair.before.cost.version, after.cost.version), []).append(
            change
        )
    rows: list[Sequence[Entry]] = []
    for (runner, old, new), these in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        ratios = sorted(change.compared.ratio.value for change in these)
        machines = len({change.pair.after.machine for change in these})
        rows.append(
            [
                Item(plain(runner, 40), parts.UP + addresses.library(these[0].pair.after.cost.library)),
                _versions(old, new),
                machines,
                sum(change.dearer for change in these),
                sum(not change.dearer for change in these),
                parts.factor_item(parts.quantile(ratios, 0.5)),
                Item(f"×{number(ratios[0])} to ×{number(ratios[-1])}", value=ratios[-1]),
            ]
        )
    heads = columns(
        "program | version:text | machines:n | dearer:n | cheaper:n | costs ×, median:n | from, to:n"
    )
    return sorted_table(Listing("What changed, by version", heads, rows))


def _versions(before: str, after: str) -> str:
    return (
        f"{plain(after, 30)} both times" if before == after else f"{plain(before, 30)} to {plain(after, 30)}"
    )


def changes_text(changes: Sequence[Changed]) -> str:
    """How many became dearer and cheaper, and by how many the table is cut."""
    dearer = sum(change.dearer for change in changes)
    versions = sum(change.pair.before.cost.version != change.pair.after.cost.version for change in changes)
    left = f" The table has the {MOST} largest." if len(changes) > MOST else ""
    return (
        f"{counted(dearer, 'figure')} became dearer and {counted(len(changes) - dearer, 'figure')} cheaper, "
        f"{versions:,} of them with another version of the library.{left}"
    )
