"""What changed from one run of a machine to its next: figures that differ by more than their intervals and runs do."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.atlas.export import Followed
from perbyte.model.groups import grouped
from perbyte.model.text import counted, plain
from perbyte.report.document import Block, Fold, Section, Text, table_of
from perbyte.report.listing import Entry, Item
from perbyte.report.site import parts
from perbyte.report.site.view import SiteView, against, work_text
from perbyte.report.wording import number
from perbyte.stats.compare import CYCLES, NS, Answer, Comparison

_MOST = 100  # rows of a table of changes, the largest first


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
    def versions(self) -> tuple[str, str, str]:
        """The program, and the versions of its library before and after."""
        before, after = self.pair.before, self.pair.after
        return after.runner, before.cost.version, after.cost.version

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


def changes_section(
    view: SiteView, pairs: Sequence[Followed], heading: str = "What changed with time"
) -> Section:
    """A sentence on what changed, and the table of it."""
    changes = known_changes(pairs)
    blocks: list[Block] = [Text("No figure is known to differ from the same machine's figure before it.")]
    if changes:
        heads = "algorithm | work | program | version:text | machine | from | to | costs ×:n"
        rows = [_row(view, change) for change in changes[:_MOST]]
        every = table_of("What changed", heads, rows, sorts=True)
        blocks = [Text(_changes_text(changes)), _by_version(changes)]
        blocks.append(Fold("Figure by figure", [every], open=len(rows) <= 12))
    return Section("changes", "Changes", blocks, heading)


def _row(view: SiteView, change: Changed) -> list[Entry]:
    before, after = change.pair.before, change.pair.after
    return [
        parts.algorithm_item(view, after.work.algorithm),
        work_text(after.work),
        parts.program_item(after, plain(after.runner, 40)),
        _versions(before.cost.version, after.cost.version),
        parts.machine_item(view, after.machine),
        parts.day(before.cost.first),
        parts.run_item(after),
        parts.times_item(change.compared, "dearer" if change.dearer else "cheaper"),
    ]


def _by_version(changes: Sequence[Changed]) -> Block:
    """Changes taken together: a row a program and its two versions."""
    groups = grouped(changes, lambda change: change.versions)
    rows = []
    for (runner, old, new), alike in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        ratios = sorted(change.compared.ratio.value for change in alike)
        dearer = sum(change.dearer for change in alike)
        row = (
            parts.program_item(alike[0].pair.after, plain(runner, 40)),
            _versions(old, new),
            len({change.pair.after.machine for change in alike}),
            dearer,
            len(alike) - dearer,
            parts.factor_item(statistics.median(ratios)),
            Item(f"×{number(ratios[0])} to ×{number(ratios[-1])}", value=ratios[-1]),
        )
        rows.append(row)
    heads = "program | version:text | machines:n | dearer:n | cheaper:n | costs ×, median:n | from, to:n"
    return table_of("What changed, by version", heads, rows, sorts=True)


def _versions(before: str, after: str) -> str:
    if before == after:
        return f"{plain(after, 30)} both times"
    return f"{plain(before, 30)} to {plain(after, 30)}"


def _changes_text(changes: Sequence[Changed]) -> str:
    """How many became dearer and cheaper, and by how many the table is cut."""
    dearer = sum(change.dearer for change in changes)
    versions = sum(change.pair.before.cost.version != change.pair.after.cost.version for change in changes)
    left = f" The table has the {_MOST} largest." if len(changes) > _MOST else ""
    return (
        f"{counted(dearer, 'figure')} became dearer and {counted(len(changes) - dearer, 'figure')} cheaper, "
        f"{versions:,} of them with another version of the library.{left}"
    )
