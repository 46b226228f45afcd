"""The page of a library: at what it is the fastest, how far it is behind elsewhere, and its versions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from perbyte.atlas.export import Stand, Work
from perbyte.model.text import plain
from perbyte.report.card import Card
from perbyte.report.card import Line as Told
from perbyte.report.html import Block, Page, Section, answer, unfolding
from perbyte.report.site import addresses, parts
from perbyte.report.site.changes import change_rows
from perbyte.report.site.drawn import Bar, bars
from perbyte.report.site.parts import Item, many
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
    found: dict[str, Shelf] = {}
    for one in view.gathered.stands:
        shelf = found.setdefault(addresses.library(one.cost.library), Shelf())
        shelf.names[one.cost.library] += 1
        shelf.runners.add(one.runner)
        shelf.stands.append(one)
    for work, machines in view.contests.items():
        for here in machines.values():
            for address in {addresses.library(stand.cost.library) for stand in here.stands}:
                found[address].contests.setdefault(work, []).append(here)
    return dict(sorted(found.items()))


def main_tallies(view: SiteView, shelf: Shelf) -> dict[str, list[RunnerTally]]:
    """How the library's runners fare at the main work of each algorithm."""
    found = {}
    for algorithm, work in view.main.items():
        if work in shelf.contests:
            found[algorithm] = [one for one in tallies(shelf.contests[work]) if one.runner in shelf.runners]
    return found


def library_page(view: SiteView, shelf: Shelf) -> Page:
    """The page of one library."""
    mains = main_tallies(view, shelf)
    pairs = [one for one in view.gathered.apart if one.after.runner in shelf.runners]
    machines = {one.machine for one in shelf.stands}
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
        f"{many(len(shelf.stands), 'figure')} of {many(len(mains), 'algorithm')} on "
        f"{many(len(machines), 'machine')}; measured by {runners}."
    )
    return Page(plain(shelf.name, 60), [lead], sections)


def library_card(view: SiteView, shelf: Shelf) -> Card:
    """At how many algorithms the library is the fastest, on most machines, and at which it is farthest behind."""
    mains = main_tallies(view, shelf)
    won, behind, alike = [], [], 0
    for algorithm, found in mains.items():
        best, n = found[0], len(shelf.contests[view.main[algorithm]])
        if best.won * 2 > n:
            won.append(algorithm)
        elif (best.won + best.alike) * 2 > n:
            alike += 1
        else:
            behind.append((min(one.middle for one in found), algorithm))
    named = ", ".join(view.title(one) for one in won[:6]) + (f" and {len(won) - 6} more" if won[6:] else "")
    far = ", ".join(
        f"{view.title(one)} ×{number(middle)}" for middle, one in sorted(behind, reverse=True)[:3]
    )
    told = [
        named,
        f"alike with the fastest at {alike}" if alike else "",
        f"farthest behind at {far}" if far else "",
    ]
    winner = f"The fastest at {len(won)} of {many(len(mains), 'algorithm')}, on most machines that have it"
    return Card((Told("", "►" if won else "", winner, "; ".join(one for one in told if one), ""),))


def _picture(view: SiteView, mains: dict[str, list[RunnerTally]]) -> list[Block]:
    rows = []
    ordered = sorted(mains, key=lambda name: (min(one.middle for one in mains[name]), name))
    for name in ordered[:_BARS]:
        one = min(mains[name], key=lambda each: each.middle)
        low, high = (parts.quantile(one.factors, share) for share in (0.1, 0.9))
        shown = f"×{number(one.middle)}"
        tip = (
            f"{view.title(name)} {work_text(view.main[name])}: {shown} the fastest, "
            f"{plain(one.runner, 40)}, {many(len(one.factors), 'machine')}"
        )
        rows.append(Bar(view.title(name), one.middle, low, high, shown, tip))
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


_COLUMNS = (
    ("work", ""),
    ("program", ""),
    ("machines", "n"),
    ("► fastest", "n"),
    ("= alike", "n"),
    ("? open", "n"),
    ("× the fastest, median", "n"),
)


def _algorithms(view: SiteView, mains: dict[str, list[RunnerTally]]) -> Block:
    rows = []
    for name in sorted(mains):
        for one in mains[name]:
            head = Item(view.title(name), parts.UP + addresses.algorithm(name))
            rows.append([head, Item(work_text(view.main[name])), *_tally_items(one)])
    return parts.listing((("algorithm", ""), *_COLUMNS), rows, "At each algorithm")


def _works(view: SiteView, shelf: Shelf) -> Block:
    """Every work in a row, folded: most readers want the table above."""
    rows = []
    for work, contests in shelf.contests.items():
        where = (
            parts.UP
            + addresses.algorithm(work[0])
            + f"#{addresses.anchor(work[1], work[2], work[4], work[5])}"
        )
        for one in tallies(contests):
            if one.runner in shelf.runners:
                said = kind_text((work[1], work[2], work[4], work[5]))
                rows.append(
                    [Item(view.title(work[0]), where), Item(work_text(work), said=said), *_tally_items(one)]
                )
    table = parts.listing((("algorithm", ""), *_COLUMNS), rows, "Every work")
    return unfolding(f"{many(len(rows), 'row')}: programs, operations, contracts and sizes", [table])


def _tally_items(one: RunnerTally) -> list[Item]:
    low, high = one.factors[0], one.factors[-1]
    return [
        Item(plain(one.runner, 40)),
        parts.number_item(len(one.factors)),
        parts.number_item(one.won),
        parts.number_item(one.alike),
        parts.number_item(one.open),
        Item(
            f"×{number(one.middle)}",
            value=one.middle,
            wide=f"{number(low)}–{number(high)}" if high > low else "",
        ),
    ]


def _versions(view: SiteView, shelf: Shelf) -> Block:
    """Versions with the machines that have them and the days they were measured."""
    found: dict[tuple[str, str], list[Stand]] = {}
    for one in shelf.stands:
        found.setdefault((one.runner, one.cost.version), []).append(one)
    rows = []
    for (runner, version), stands in sorted(found.items()):
        days = sorted({parts.day(one.cost.first) for one in stands})
        machines = sorted({one.machine for one in stands})
        named = ", ".join(plain(name, 60) for name in machines[:4]) + (
            f" and {len(machines) - 4} more" if machines[4:] else ""
        )
        rows.append(
            [
                Item(plain(version, 40) or "not told"),
                Item(plain(runner, 40)),
                parts.number_item(len(machines)),
                Item(named),
                Item(days[0]),
                Item(days[-1]),
                parts.number_item(len(stands)),
            ]
        )
    columns = (
        ("version", ""),
        ("program", ""),
        ("machines", "n"),
        ("on", "text"),
        ("first", ""),
        ("last", ""),
        ("figures", "n"),
    )
    return parts.listing(columns, rows, "Versions that stand on pages")
