"""The first page of a site and its lists: who is the fastest at what, and where to go on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from perbyte.atlas.index import RunRow
from perbyte.model.text import counted, plain
from perbyte.report.card import Card
from perbyte.report.card import Line as Told
from perbyte.report.html import Block, Page, Section, answer, listed, sorted_table, text
from perbyte.report.listing import Entry, Item, Listing, columns
from perbyte.report.ranks import value_in
from perbyte.report.site import addresses, parts
from perbyte.report.site.algorithms import algorithm_card, winner_text
from perbyte.report.site.drawn import Bar, ranges
from perbyte.report.site.libraries import Shelf, main_tallies
from perbyte.report.site.months import month_title
from perbyte.report.site.view import Contest, SiteView, per_work, tallies, work_text

_ANSWERS = 4
_DOTS = 40

LISTS = (
    ("algorithms", "Algorithms"),
    ("libraries", "Libraries"),
    ("machines", "Machines"),
    ("dates", "Dates"),
    ("data", "Data"),
)


def front_page(
    view: SiteView, title: str, shelf: Mapping[str, Shelf], months: Mapping[str, list[RunRow]]
) -> Page:
    """The first page."""
    gathered = view.gathered
    ordered = _by_coverage(view)
    lines = []
    for name in ordered[:_ANSWERS]:
        for line in algorithm_card(view, name).lines:
            lines.append(
                Told(
                    f"{view.title(name)}, {work_text(view.main[name])}",
                    line.sign,
                    line.winner,
                    line.sure,
                    line.cost,
                )
            )
    left = len(ordered) - len(lines)
    card = Card(tuple(lines), (f"{left} more algorithms below.",) if left > 0 else ())
    days = sorted(day for run in gathered.runs if (day := parts.day(run.started_at)) != "–")
    span = f", measured from {days[0]} to {days[-1]}" if days else ""
    if days and days[0] == days[-1]:
        span = f", measured on {days[0]}"
    lead = (
        f"{counted(len(gathered.stands), 'figure')} of {counted(len(view.main), 'algorithm')} in "
        f"{counted(len(shelf), 'library', 'libraries')} on "
        f"{counted(len(view.machines), 'machine')}, {counted(len(gathered.runs), 'run')}{span}. Each is in "
        f"true core cycles, with its interval."
    )
    counts = [
        (f"{n:,}", name)
        for n, name in (
            (len(view.main), "algorithms"),
            (len(shelf), "libraries"),
            (len(view.machines), "machines"),
            (len(months), "months"),
        )
    ]
    start = (
        [*answer(card, "Who is the fastest?"), *_picture(view)]
        if lines
        else [text("There is no figure in this atlas yet.")]
    )
    return Page(
        title,
        [lead],
        [
            Section("summary", "Summary", "Summary", start),
            Section("algorithms", "Algorithms", "Every algorithm", [algorithms_table(view, "")]),
            Section("libraries", "Libraries", "Every library", [libraries_table(view, shelf, "")]),
            Section("go-on", "Go on", "Go on", [Block("counts", counts), listed(_ways()), *_problems(view)]),
        ],
    )


def _ways() -> list[str]:
    return [
        "A figure with ► is known to be the fastest of its machine, = is known to be alike, ? is not "
        "known. Nobody wins by a figure in doubt.",
        "Of a machine's runs the newest one that is not in doubt stands on a page, of the version that "
        "was measured last; Data has them all.",
        "Names of machines are made of their profile or given by their owners. Nobody has checked that "
        "a run is true.",
    ]


def _problems(view: SiteView) -> list[Block]:
    return (
        [listed([f"Left out: {plain(problem, 300)}" for problem in view.gathered.problems])]
        if view.gathered.problems
        else []
    )


def _by_coverage(view: SiteView) -> list[str]:
    def wide(name: str) -> int:
        return sum(len(contest.stands) for contest in view.contests[view.main[name]].values())

    return sorted(view.main, key=lambda name: (-wide(name), name))


def _picture(view: SiteView) -> list[Block]:
    """The fastest program of each machine, algorithm by algorithm: the middle of machines, and the whole range."""
    rows, several = [], len(view.machines) > 1
    for name in _by_coverage(view):
        work = view.main[name]
        bests = [contest.best.cost for contest in view.contests[work].values()]
        costs = sorted(cost.cycles for cost in bests if cost.cycles)
        if per_work(work) != "byte" or not costs:
            continue
        middle = parts.quantile(costs, 0.5)
        low, high = costs[0], costs[-1]
        if not several and math.isfinite(bests[0].width):
            low, high = middle * (1 - bests[0].width), middle * (1 + bests[0].width)
        winner, sign = winner_text(view, work)
        width = parts.quantile(sorted(cost.width for cost in bests if cost.cycles), 0.5)
        text, least, most = (parts.figure_text(cost, width) for cost in (middle, costs[0], costs[-1]))
        shown = f"{text} {sign} {winner}"
        tip = (
            f"{view.title(name)} {work_text(work)}: {least} to {most} cycles "
            f"per byte, {text} in the middle of {counted(len(costs), 'machine')}"
        )
        rows.append(Bar(f"{view.title(name)}, {work_text(work)}", middle, low, high, shown, tip))
    kept = sorted(rows[:_DOTS], key=lambda row: row.value)
    if not kept:
        return []
    left = len(rows) - len(kept)
    what = (
        "Dots: the median of machines, each with its fastest program. Lines: from the cheapest "
        "machine to the dearest."
    )
    if not several:
        what = "Dots: the fastest program. Lines: intervals."
    caption = what + (
        f" {counted(left, 'algorithm')} that fewer machines have: in the table." if left else ""
    )
    return [ranges("landscape", "What the fastest program costs", "cycles per byte", kept, caption)]


def algorithms_table(view: SiteView, up: str) -> Block:
    """Every algorithm with who wins it."""
    rows: list[Sequence[Entry]] = []
    for name in sorted(view.main, key=lambda algorithm: view.title(algorithm).casefold()):
        work = view.main[name]
        contests = list(view.contests[work].values())
        winner, sign = winner_text(view, work)
        first = tallies(contests)[0]
        best = min(
            (contest.best for contest in contests),
            key=lambda standing: value_in(standing.cost, contests[0].ranked.field),
        )
        programs = {stand.runner for contest in contests for stand in contest.stands}
        cost = parts.cost_item(best, contests[0].ranked.field)
        rows.append(
            [
                Item(view.title(name), up + addresses.algorithm(name), tip=plain(name, 60)),
                work_text(work),
                f"{sign} {winner}".strip(),
                Item(f"{first.won} of {len(contests)}", value=first.won),
                cost,
                f"{contests[0].ranked.field}/{per_work(work)}",
                parts.machine_item(view, best.machine, up),
                len(programs),
            ]
        )
    heads = columns(
        "algorithm | work | fastest on most machines | on:n | least cost:n | per | there | programs:n"
    )
    return sorted_table(Listing("Every algorithm", heads, rows))


def libraries_table(view: SiteView, shelf: Mapping[str, Shelf], up: str) -> Block:
    """Every library with how often it wins."""
    rows: list[Sequence[Entry]] = []
    for address, entry in shelf.items():
        mains = main_tallies(view, entry)
        contests = sum(len(tally.factors) for of_algorithm in mains.values() for tally in of_algorithm)
        won = sum(tally.won for of_algorithm in mains.values() for tally in of_algorithm)
        factors = sorted(
            factor for of_algorithm in mains.values() for tally in of_algorithm for factor in tally.factors
        )
        versions = sorted({stand.cost.version for stand in entry.stands})
        rows.append(
            [
                Item(plain(entry.name, 60), up + address),
                ", ".join(plain(name, 30) for name in sorted(entry.runners)),
                len({stand.machine for stand in entry.stands}),
                len(mains),
                Item(f"{won:,} of {contests:,}", value=won),
                parts.factor_item(parts.quantile(factors, 0.5)) if factors else parts.NONE,
                ", ".join(plain(version, 20) for version in versions[-3:])
                + (f" and {len(versions) - 3} more" if versions[3:] else ""),
            ]
        )
    heads = columns(
        "library | programs:text | machines:n | algorithms:n | fastest alone:n | × the fastest, median:n"
        " | versions:text"
    )
    return sorted_table(Listing("Every library", heads, rows))


def machines_table(view: SiteView, up: str) -> Block:
    """Every machine with who wins most there."""
    rows: list[Sequence[Entry]] = []
    by_machine: dict[str, list[Contest]] = {}
    for work in view.main.values():
        for machine, contest in view.contests[work].items():
            by_machine.setdefault(machine, []).append(contest)
    for name, runs in view.runs.items():
        mains = by_machine.get(name, [])
        first = tallies(mains)[0] if mains else None
        rows.append(
            [
                parts.machine_item(view, name, up),
                plain(runs[0].cpu_model, 80),
                plain(runs[0].architecture, 20) or "–",
                plain(runs[0].provider, 30) or "none",
                len(mains),
                f"{plain(first.runner, 40)}, at {first.won}" if first and first.won else "–",
                len(runs),
                parts.day(runs[0].started_at),
            ]
        )
    heads = columns(
        "machine | processor:text | architecture | hypervisor | algorithms:n | fastest at most | runs:n | newest"
    )
    return sorted_table(Listing("Every machine", heads, rows))


def dates_table(months: Mapping[str, list[RunRow]], fresh: Mapping[str, Sequence[object]], up: str) -> Block:
    """Every month with its runs."""
    rows: list[Sequence[Entry]] = [
        [
            Item(
                month_title(name),
                up + addresses.month(name),
                value=float(name.replace("-", "")) if name != addresses.UNKNOWN else None,
            ),
            len(runs),
            len({run.machine for run in runs}),
            sum(run.cells for run in runs),
            len(fresh.get(name, ())),
        ]
        for name, runs in months.items()
    ]
    heads = columns("month | runs:n | machines:n | figures:n | new versions:n")
    return sorted_table(Listing("Every month", heads, rows))


def data_page(view: SiteView, files: Sequence[tuple[str, int, int]]) -> Page:
    """The downloads: (name, rows, bytes) of each file."""
    gathered = view.gathered
    rows: list[Sequence[Entry]] = [
        [Item(name, f"data/{name}"), count, Item(f"{size / 1e6:,.2f} MB", value=size)]
        for name, count, size in files
    ]
    texts = [
        "figures: a row for each figure of every run, those in doubt and those of second processes "
        "among them (twin is not 0).",
        "runs: a row for each run, with its machine. The column run joins the two.",
        "cycles_per_call and its interval are per call; divide by size_bytes for cycles per byte. "
        "Without cycles the interval is in nanoseconds.",
        "In CSV, lists are parted by semicolons, and a text that a spreadsheet would compute stands "
        "behind an apostrophe.",
        f"On no page: {gathered.twins:,} figures of second processes, and {gathered.unusable:,} that "
        f"are no positive number.",
        "Samples are not here: they stay in the atlas (perbyte atlas query, perbyte atlas pull).",
    ]
    asked = (
        "import pandas\nfigures = pandas.read_parquet('figures.parquet')\nfigures[figures.algorithm "
        "== 'sha-256'].groupby('machine').cycles_per_byte.min()"
    )
    return Page(
        "All data",
        ["Everything that the pages show, and what they leave out, as files."],
        [
            Section(
                "summary",
                "Files",
                "Files",
                [sorted_table(Listing("Files", columns("file | rows:n | size:n"), rows)), listed(texts)],
            ),
            Section(
                "repeat",
                "Use",
                "How to use them",
                [
                    Block("code", asked),
                    Block(
                        "code",
                        'perbyte atlas query "SELECT machine, min(cycles_per_byte) FROM cells WHERE '
                        "algorithm = 'sha-256' GROUP BY machine\"",
                    ),
                ],
            ),
        ],
    )
