"""The page of a library: at what it is the fastest, how far it is behind elsewhere, and its versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from perbyte.atlas.export import Stand, Work
from perbyte.model.text import counted, plain
from perbyte.report.card import Card
from perbyte.report.card import Line as Told
from perbyte.report.html import Block, Page, Section, answer, sorted_table, unfolding
from perbyte.report.listing import Entry, Item, Listing, columns
from perbyte.report.site import addresses, parts
from perbyte.report.site.changes import change_rows
from perbyte.report.site.drawn import Bar, bars
from perbyte.report.site.view import Contest, RunnerTally, SiteView, kind_text, tallies, work_text
from perbyte.report.wording import number

_BARS = 60


@dataclass(slots=True)
class Shelf:
    """The figures of one library: its names as machines wrote them, its runners, and its contests by work."""

    names: Counter[str] = field(default_factory=Counter)
    runners: set[str] = field(default_factory=set)
    contests: dict[Work, list[Contest]] = field(default_factory=dict)
    stands: list[Stand] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name that most figures bear."""
        return min(self.names, key=lambda name: (-self.names[name], name))


def shelves(view: SiteView) -> dict[str, Shelf]:
    """All libraries by the address of their page."""
    by_address: dict[str, Shelf] = {}
    for standing in view.gathered.stands:
        shelf = by_address.setdefault(addresses.library(standing.cost.library), Shelf())
        shelf.names[standing.cost.library] += 1
        shelf.runners.add(standing.runner)
        shelf.stands.append(standing)
    for work, machines in view.contests.items():
        for here in machines.values():
            for address in {addresses.library(stand.cost.library) for stand in here.stands}:
                by_address[address].contests.setdefault(work, []).append(here)
    return dict(sorted(by_address.items()))


def main_tallies(view: SiteView, shelf: Shelf) -> dict[str, list[RunnerTally]]:
    """How the library's runners fare at the main work of each algorithm."""
    tallies_of = {}
    for algorithm, work in view.main.items():
        if work in shelf.contests:
            tallies_of[algorithm] = [
                tally for tally in tallies(shelf.contests[work]) if tally.runner in shelf.runners
            ]
    return tallies_of


def library_page(view: SiteView, shelf: Shelf) -> Page:
    """The page of one library."""
    mains = main_tallies(view, shelf)
    pairs = [pair for pair in view.gathered.apart if pair.after.runner in shelf.runners]
    machines = {standing.machine for standing in shelf.stands}
    sections = [
        Section(
            "summary", "Summary", "Summary", [*answer(library_card(view, shelf)), *_picture(view, mains)]
        ),
        Section("algorithms", "Algorithms", "At each algorithm", [_algorithms(view, mains)]),
        Section("works", "Every work", "Every operation, contract and size", [_works(view, shelf)]),
        Section("versions", "Versions", "Versions", [_versions(view, shelf)]),
        *(
            [Section("changes", "Changes", "What changed with time", change_rows(view, pairs))]
            if view.gathered.pairs
            else []
        ),
    ]
    runners = ", ".join(plain(name, 40) for name in sorted(shelf.runners))
    lead = (
        f"{counted(len(shelf.stands), 'figure')} of {counted(len(mains), 'algorithm')} on "
        f"{counted(len(machines), 'machine')}; measured by {runners}."
    )
    return Page(plain(shelf.name, 60), [lead], sections)


def library_card(view: SiteView, shelf: Shelf) -> Card:
    """At how many algorithms the library is the fastest, on most machines, and at which it is farthest behind."""
    mains = main_tallies(view, shelf)
    won, behind, alike = [], [], 0
    for algorithm, tallied in mains.items():
        best, n = tallied[0], len(shelf.contests[view.main[algorithm]])
        if best.won * 2 > n:
            won.append(algorithm)
        elif (best.won + best.alike) * 2 > n:
            alike += 1
        else:
            behind.append((min(tally.middle for tally in tallied), algorithm))
    named = ", ".join(view.title(name) for name in won[:6]) + (f" and {len(won) - 6} more" if won[6:] else "")
    far = ", ".join(
        f"{view.title(name)} ×{number(middle)}" for middle, name in sorted(behind, reverse=True)[:3]
    )
    told = [
        named,
        f"alike with the fastest at {alike}" if alike else "",
        f"farthest behind at {far}" if far else "",
    ]
    winner = f"The fastest at {len(won)} of {counted(len(mains), 'algorithm')}, on most machines that have it"
    return Card((Told("", "►" if won else "", winner, "; ".join(part for part in told if part), ""),))


def _picture(view: SiteView, mains: dict[str, list[RunnerTally]]) -> list[Block]:
    rows = []
    ordered = sorted(mains, key=lambda name: (min(tally.middle for tally in mains[name]), name))
    for name in ordered[:_BARS]:
        tally = min(mains[name], key=lambda each: each.middle)
        low, high = (parts.quantile(tally.factors, share) for share in (0.1, 0.9))
        shown = f"×{number(tally.middle)}"
        tip = (
            f"{view.title(name)} {work_text(view.main[name])}: {shown} the fastest, "
            f"{plain(tally.runner, 40)}, {counted(len(tally.factors), 'machine')}"
        )
        rows.append(Bar(view.title(name), tally.middle, low, high, shown, tip))
    left = len(ordered) - len(rows)
    caption = (
        "Bars: the median of machines; ×1 is the fastest. Lines: from the tenth to the ninetieth "
        "of a hundred machines."
    )
    caption += f" {left} more are in the table: those it is slowest at." if left else ""
    return (
        [bars("against", "Cost over the fastest of the same machine", "× the fastest", rows, caption)]
        if rows
        else []
    )


_COLUMNS = columns(
    "algorithm | work | program | machines:n | ► fastest:n | = alike:n | ? open:n | × the fastest, median:n"
)


def _algorithms(view: SiteView, mains: dict[str, list[RunnerTally]]) -> Block:
    rows = []
    for name in sorted(mains):
        for tally in mains[name]:
            head = Item(view.title(name), parts.UP + addresses.algorithm(name))
            rows.append([head, work_text(view.main[name]), *_tally_items(tally)])
    return sorted_table(Listing("At each algorithm", _COLUMNS, rows))


def _works(view: SiteView, shelf: Shelf) -> Block:
    """Every work in a row, folded: most readers want the table above."""
    rows = []
    for work, contests in shelf.contests.items():
        where = (
            parts.UP
            + addresses.algorithm(work[0])
            + f"#{addresses.anchor(work[1], work[2], work[4], work[5])}"
        )
        for tally in tallies(contests):
            if tally.runner in shelf.runners:
                tip = kind_text((work[1], work[2], work[4], work[5]))
                rows.append(
                    [Item(view.title(work[0]), where), Item(work_text(work), tip=tip), *_tally_items(tally)]
                )
    table = sorted_table(Listing("Every work", _COLUMNS, rows))
    return unfolding(f"{counted(len(rows), 'row')}: programs, operations, contracts and sizes", [table])


def _tally_items(tally: RunnerTally) -> list[Entry]:
    low, high = tally.factors[0], tally.factors[-1]
    return [
        plain(tally.runner, 40),
        len(tally.factors),
        tally.won,
        tally.alike,
        tally.open,
        parts.factor_item(tally.middle, f"{number(low)}–{number(high)}" if high > low else ""),
    ]


def _versions(view: SiteView, shelf: Shelf) -> Block:
    """Versions with the machines that have them and the days they were measured."""
    stands_of: dict[tuple[str, str], list[Stand]] = {}
    for standing in shelf.stands:
        stands_of.setdefault((standing.runner, standing.cost.version), []).append(standing)
    rows: list[Sequence[Entry]] = []
    for (runner, version), stands in sorted(stands_of.items()):
        days = sorted({parts.day(standing.cost.first) for standing in stands})
        machines = sorted({standing.machine for standing in stands})
        named = ", ".join(plain(name, 60) for name in machines[:4]) + (
            f" and {len(machines) - 4} more" if machines[4:] else ""
        )
        rows.append(
            [
                plain(version, 40) or "not told",
                plain(runner, 40),
                len(machines),
                named,
                days[0],
                days[-1],
                len(stands),
            ]
        )
    heads = columns("version | program | machines:n | on:text | first | last | figures:n")
    return sorted_table(Listing("Versions on the pages", heads, rows))
