"""The page of a library: at what it is the fastest, how far it is behind elsewhere, and its versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from perbyte.atlas.export import RankedWork, Stand
from perbyte.model.groups import grouped
from perbyte.model.text import counted, plain
from perbyte.report.document import Block, Card, Fold, Page, Section, table_of
from perbyte.report.listing import Entry, Item
from perbyte.report.site import addresses, parts
from perbyte.report.site.changes import changes_section
from perbyte.report.site.drawn import Bar, bars
from perbyte.report.site.view import Contest, RunnerTally, SiteView, kind_of, tallies, work_text
from perbyte.report.wording import number

_BARS = 60


@dataclass(slots=True)
class Shelf:
    """The figures of one library: its names as machines wrote them, its runners, and its contests by work."""

    names: Counter[str] = field(default_factory=Counter)
    runners: set[str] = field(default_factory=set)
    contests: dict[RankedWork, list[Contest]] = field(default_factory=dict)
    stands: list[Stand] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name that most figures bear."""
        return min(self.names, key=lambda name: (-self.names[name], name))


def shelves(view: SiteView) -> dict[str, Shelf]:
    """All libraries by the address of their page."""
    by_address: dict[str, Shelf] = {}
    for stand in view.gathered.stands:
        shelf = by_address.setdefault(addresses.library(stand.cost.library), Shelf())
        shelf.names[stand.cost.library] += 1
        shelf.runners.add(stand.runner)
        shelf.stands.append(stand)
    for work, contests in view.contests.items():
        for contest in contests:
            for address in {addresses.library(stand.cost.library) for stand in contest.stands}:
                by_address[address].contests.setdefault(work, []).append(contest)
    return dict(sorted(by_address.items()))


def main_tallies(view: SiteView, shelf: Shelf) -> dict[str, list[RunnerTally]]:
    """How the library's runners fare at the main work of each algorithm."""
    return {
        algorithm: [tally for tally in tallies(shelf.contests[work]) if tally.runner in shelf.runners]
        for algorithm, work in view.main.items()
        if work in shelf.contests
    }


def library_page(view: SiteView, shelf: Shelf) -> Page:
    """The page of one library."""
    mains = main_tallies(view, shelf)
    pairs = [pair for pair in view.gathered.apart if pair.after.runner in shelf.runners]
    machines = {stand.machine for stand in shelf.stands}
    summary = [_card(view, shelf, mains), *_picture(view, mains)]
    sections = [
        Section("summary", "Summary", summary),
        Section("algorithms", "Algorithms", [_algorithms(view, mains)], "At each algorithm"),
        Section("works", "Every work", [_works(view, shelf)], "Every operation, contract and size"),
        Section("versions", "Versions", [_versions(shelf)]),
        *([changes_section(view, pairs)] if view.gathered.pairs else []),
    ]
    runners = ", ".join(plain(name, 40) for name in sorted(shelf.runners))
    lead = (
        f"{counted(len(shelf.stands), 'figure')} of {counted(len(mains), 'algorithm')} on "
        f"{counted(len(machines), 'machine')}; measured by {runners}."
    )
    return Page(plain(shelf.name, 60), [lead], sections)


def _card(view: SiteView, shelf: Shelf, mains: dict[str, list[RunnerTally]]) -> Card:
    """At how many algorithms the library is the fastest, on most machines, and at which it is farthest behind."""
    won, behind, alike = [], [], 0
    for algorithm, tallied in mains.items():
        best, n = tallied[0], len(shelf.contests[view.main[algorithm]])
        if best.won * 2 > n:
            won.append(view.title(algorithm))
        elif (best.won + best.alike) * 2 > n:
            alike += 1
        else:
            behind.append((min(tally.middle for tally in tallied), algorithm))
    far = [f"{view.title(name)} ×{number(middle)}" for middle, name in sorted(behind, reverse=True)[:3]]
    told = [
        parts.first_names(won, 6),
        f"alike with the fastest at {alike}" if alike else "",
        f"farthest behind at {', '.join(far)}" if far else "",
    ]
    winner = f"The fastest at {len(won)} of {counted(len(mains), 'algorithm')}, on most machines that have it"
    return parts.card("", winner, told)


def _picture(view: SiteView, mains: dict[str, list[RunnerTally]]) -> list[Block]:
    best = {name: min(tallied, key=lambda tally: tally.middle) for name, tallied in mains.items()}
    ordered = sorted(best, key=lambda name: (best[name].middle, name))
    rows = []
    for name in ordered[:_BARS]:
        tally = best[name]
        shown = f"×{number(tally.middle)}"
        tip = (
            f"{view.title(name)} {work_text(view.main[name])}: {shown} the fastest, "
            f"{plain(tally.runner, 40)}, {counted(len(tally.factors), 'machine')}"
        )
        rows.append(Bar(view.title(name), tally.spread, shown, tip))
    if not rows:
        return []
    left = len(ordered) - len(rows)
    caption = (
        "Bars: the median of machines; ×1 is the fastest. Lines: from the tenth to the ninetieth "
        "of a hundred machines."
    )
    caption += f" {left} more are in the table: those it is slowest at." if left else ""
    return [bars("against", "Cost over the fastest of the same machine", "× the fastest", rows, caption)]


_HEADS = (
    "algorithm | work | program | machines:n | ► fastest:n | = alike:n | ? open:n | × the fastest, median:n"
)


def _algorithms(view: SiteView, mains: dict[str, list[RunnerTally]]) -> Block:
    rows: list[Sequence[Entry]] = [
        [parts.algorithm_item(view, name), work_text(view.main[name]), *_tally_items(tally)]
        for name in sorted(mains)
        for tally in mains[name]
    ]
    return table_of("At each algorithm", _HEADS, rows, sorts=True)


def _works(view: SiteView, shelf: Shelf) -> Block:
    """Every work in a row, folded: most readers want the table above."""
    rows: list[Sequence[Entry]] = []
    for work, contests in shelf.contests.items():
        kind = kind_of(work)
        where = f"{parts.UP}{addresses.algorithm(work.algorithm)}#{addresses.anchor(*kind)}"
        head = [Item(view.title(work.algorithm), where), Item(work_text(work), tip=kind.text)]
        rows += [
            [*head, *_tally_items(tally)] for tally in tallies(contests) if tally.runner in shelf.runners
        ]
    table = table_of("Every work", _HEADS, rows, sorts=True)
    return Fold(f"{counted(len(rows), 'row')}: programs, operations, contracts and sizes", [table])


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


def _versions(shelf: Shelf) -> Block:
    """Versions with the machines that have them and the days they were measured."""
    stands_of = grouped(shelf.stands, lambda stand: (stand.runner, stand.cost.version))
    rows = []
    for (runner, version), stands in sorted(stands_of.items()):
        days = sorted(parts.day(stand.cost.first) for stand in stands)
        machines = [plain(name, 60) for name in sorted({stand.machine for stand in stands})]
        on = parts.first_names(machines, 4)
        program = (plain(version, 40) or "not told", plain(runner, 40))
        rows.append((*program, len(machines), on, days[0], days[-1], len(stands)))
    heads = "version | program | machines:n | on:text | first | last | figures:n"
    return table_of("Versions on the pages", heads, rows, sorts=True)
