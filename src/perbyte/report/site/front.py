"""The first page of a site and its lists: who is the fastest at what, and where to go on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from perbyte.atlas.index import RunRow
from perbyte.model import Estimate
from perbyte.model.groups import grouped
from perbyte.model.text import counted, plain
from perbyte.report.document import Block, Card, Code, Items, Page, Section, Terms, Text, table_of
from perbyte.report.listing import Item
from perbyte.report.site import addresses, parts
from perbyte.report.site.algorithms import algorithm_card, winner_text
from perbyte.report.site.drawn import Bar, ranges
from perbyte.report.site.libraries import Shelf, main_tallies
from perbyte.report.site.months import month_title
from perbyte.report.site.view import SiteView, field_of, per_work, tallies, value_in, work_text
from perbyte.report.wording import number

_ANSWERS = 4
_DOTS = 40

LISTS = (
    ("algorithms", "Algorithms"),
    ("libraries", "Libraries"),
    ("machines", "Machines"),
    ("dates", "Dates"),
    ("data", "Data"),
)


_WAYS = (
    "A figure with ► is known to be the fastest of its machine, = is known to be alike, ? is not "
    "known. Beside several machines a sign holds for all of them. Nobody wins by a figure in doubt.",
    "Of a machine's runs the newest one that is not in doubt stands on a page, of the version that "
    "was measured last; Data has them all.",
    "Names of machines are made of their profile or given by their owners. Nobody has checked that "
    "a run is true.",
)


def front_page(
    view: SiteView, title: str, shelf: Mapping[str, Shelf], months: Mapping[str, list[RunRow]]
) -> Page:
    """The first page."""
    gathered = view.gathered
    ordered = _by_coverage(view)
    lines = []
    for name in ordered[:_ANSWERS]:
        about = f"{view.title(name)}, {work_text(view.main[name])}"
        lines += [replace(line, about=about) for line in algorithm_card(view, name).lines]
    left = len(ordered) - len(lines)
    card = Card(tuple(lines), (f"{left} more algorithms below.",) if left > 0 else ())
    start: list[Block] = [Text("There is no figure in this atlas yet.")]
    if lines:
        start = [replace(card, question="Who is the fastest?"), *_picture(view, ordered)]
    counts = (
        counted(len(view.main), "algorithm"),
        counted(len(shelf), "library", "libraries"),
        counted(len(view.runs), "machine"),
        counted(len(months), "month"),
    )
    numbers = [(number, name) for number, name in map(str.split, counts)]
    go_on: list[Block] = [Terms("counts", numbers), Items(_WAYS)]
    if gathered.problems:
        go_on.append(Items([f"Left out: {plain(problem, 300)}" for problem in gathered.problems]))
    lead = (
        f"{counted(len(gathered.stands), 'figure')} of {counted(len(view.main), 'algorithm')} in "
        f"{counted(len(shelf), 'library', 'libraries')} on {counted(len(view.runs), 'machine')}, "
        f"{counted(len(gathered.runs), 'run')}{_span(gathered.runs)}. Each is in true core cycles, with its "
        "interval."
    )
    sections = [
        Section("summary", "Summary", start),
        Section("algorithms", "Algorithms", [algorithms_table(view)], "Every algorithm"),
        Section("libraries", "Libraries", [libraries_table(view, shelf)], "Every library"),
        Section("go-on", "Go on", go_on),
    ]
    return Page(title, [lead], sections)


def _span(runs: Sequence[RunRow]) -> str:
    """When the runs were measured; empty where nobody knows."""
    days = sorted(day for run in runs if (day := parts.day(run.started_at)) != "–")
    if not days:
        return ""
    return f", measured on {days[0]}" if days[0] == days[-1] else f", measured from {days[0]} to {days[-1]}"


def _by_coverage(view: SiteView) -> list[str]:
    """The algorithms, those with most figures of their main work first."""
    figures = {name: sum(len(contest.stands) for contest in view.main_contests(name)) for name in view.main}
    return sorted(figures, key=lambda name: (-figures[name], name))


def _picture(view: SiteView, ordered: Sequence[str]) -> list[Block]:
    several = len(view.runs) > 1
    rows = []
    for name in ordered:
        work, contests = view.main[name], view.main_contests(name)
        bests = [contest.best.cost for contest in contests if contest.best.cost.cycles]
        if per_work(work) != "byte" or not bests:
            continue
        costs = [cost.cycles for cost in bests if cost.cycles]
        width = statistics.median(cost.width for cost in bests)
        width = width if math.isfinite(width) else 0.0
        middle, least, most = statistics.median(costs), min(costs), max(costs)
        value, lowest, highest = (number(cost, cost * width) for cost in (middle, least, most))
        winner, sign = winner_text(contests)
        winner = winner.partition(", ")[0] + " or others" * (", " in winner)
        what = f"{view.title(name)}, {work_text(work)}"
        tip = (
            f"{view.title(name)} {work_text(work)}: {lowest} to {highest} cycles per byte, "
            f"{value} in the middle of {counted(len(costs), 'machine')}"
        )
        if not several:
            least, most = middle * (1 - width), middle * (1 + width)
        rows.append(Bar(what, Estimate(middle, least, most), f"{value} {sign} {winner}", tip))
    kept = sorted(rows[:_DOTS], key=lambda row: row.cost.value)
    if not kept:
        return []
    caption = "Dots: the fastest program. Lines: intervals."
    if several:
        caption = (
            "Dots: the median of machines, each with its fastest program. Lines: from the cheapest "
            "machine to the dearest."
        )
    if left := len(rows) - len(kept):
        caption += f" {counted(left, 'algorithm')} that fewer machines have: in the table."
    return [ranges("landscape", "What the fastest program costs", "cycles per byte", kept, caption)]


def algorithms_table(view: SiteView) -> Block:
    """Every algorithm with who wins it."""
    rows = []
    for name in sorted(view.main, key=lambda algorithm: view.title(algorithm).casefold()):
        work, contests = view.main[name], view.main_contests(name)
        field = field_of(contests)
        winner, sign = winner_text(contests)
        won = tallies(contests)[0].won
        best = min((contest.best for contest in contests), key=lambda best: value_in(best.cost, field))
        row = (
            parts.algorithm_item(view, name, "", tip=plain(name, 60)),
            work_text(work),
            f"{sign} {winner}".strip(),
            parts.won_item(won, len(contests)),
            parts.cost_item(best.cost, field),
            f"{field}/{per_work(work)}",
            parts.machine_item(view, best.machine, ""),
            len({stand.runner for contest in contests for stand in contest.stands}),
        )
        rows.append(row)
    heads = "algorithm | work | fastest on most machines | on:n | least cost:n | per | there | programs:n"
    return table_of("Every algorithm", heads, rows, sorts=True)


def libraries_table(view: SiteView, shelf: Mapping[str, Shelf]) -> Block:
    """Every library with how often it wins."""
    rows = []
    for address, entry in shelf.items():
        mains = main_tallies(view, entry)
        of_runners = [tally for tallied in mains.values() for tally in tallied]
        factors = [factor for tally in of_runners for factor in tally.factors]
        won = sum(tally.won for tally in of_runners)
        versions = [plain(name, 20) for name in sorted({stand.cost.version for stand in entry.stands})]
        more = f" and {len(versions) - 3} more" if versions[3:] else ""
        row = (
            Item(plain(entry.name, 60), address),
            ", ".join(plain(name, 30) for name in sorted(entry.runners)),
            len({stand.machine for stand in entry.stands}),
            len(mains),
            parts.won_item(won, len(factors)),
            parts.factor_item(statistics.median(factors)) if factors else parts.NONE,
            ", ".join(versions[-3:]) + more,
        )
        rows.append(row)
    heads = (
        "library | programs:text | machines:n | algorithms:n | fastest alone:n | × the fastest, median:n"
        " | versions:text"
    )
    return table_of("Every library", heads, rows, sorts=True)


def machines_table(view: SiteView) -> Block:
    """Every machine with who wins most there."""
    mains = (contest for name in view.main for contest in view.main_contests(name))
    by_machine = grouped(mains, lambda contest: contest.machine)
    rows = []
    for name, runs in view.runs.items():
        here = by_machine.get(name, [])
        first = tallies(here)[0] if here else None
        row = (
            parts.machine_item(view, name, ""),
            plain(runs[0].cpu_model, 80),
            plain(runs[0].architecture, 20) or "–",
            plain(runs[0].provider, 30) or "none",
            len(here),
            f"{plain(first.runner, 40)}, at {first.won}" if first and first.won else "–",
            len(runs),
            parts.day(runs[0].started_at),
        )
        rows.append(row)
    heads = "machine | processor:text | architecture | hypervisor | algorithms:n | fastest at most | runs:n | newest"
    return table_of("Every machine", heads, rows, sorts=True)


def dates_table(months: Mapping[str, list[RunRow]], fresh: Mapping[str, Sequence[object]]) -> Block:
    """Every month with its runs."""
    rows = []
    for name, runs in months.items():
        order = float(name.replace("-", "")) if name != addresses.UNKNOWN else None
        row = (
            Item(month_title(name), addresses.month(name), value=order),
            len(runs),
            len({run.machine for run in runs}),
            sum(run.cells for run in runs),
            len(fresh.get(name, ())),
        )
        rows.append(row)
    return table_of(
        "Every month", "month | runs:n | machines:n | figures:n | new versions:n", rows, sorts=True
    )


_DATA = (
    "figures: a row for each figure of every run, those in doubt and those of second processes "
    "among them (twin is not 0).",
    "runs: a row for each run, with its machine. The column run joins the two.",
    "cycles_per_call and its interval are per call; divide by size_bytes for cycles per byte. "
    "Without cycles the interval is in nanoseconds.",
    "In CSV, lists are parted by semicolons, and a text that a spreadsheet would compute stands "
    "behind an apostrophe.",
)
_PANDAS = """import pandas
figures = pandas.read_parquet('figures.parquet')
figures[figures.algorithm == 'sha-256'].groupby('machine').cycles_per_byte.min()"""
_QUERY = (
    'perbyte atlas query "SELECT machine, min(cycles_per_byte) FROM cells WHERE '
    "algorithm = 'sha-256' GROUP BY machine\""
)


def data_page(view: SiteView, files: Sequence[tuple[str, int, int]]) -> Page:
    """The downloads: (name, rows, bytes) of each file."""
    rows = [
        (Item(name, f"data/{name}"), count, Item(f"{size / 1e6:,.2f} MB", value=size))
        for name, count, size in files
    ]
    texts = [
        *_DATA,
        f"On no page: {view.gathered.twins:,} figures of second processes, and {view.gathered.unusable:,} that "
        "are no positive number.",
        "Samples are not here: they stay in the atlas (perbyte atlas query, perbyte atlas pull).",
    ]
    table = table_of("Files", "file | rows:n | size:n", rows, sorts=True)
    sections = [
        Section("summary", "Files", [table, Items(texts)]),
        Section("repeat", "Use", [Code(_PANDAS), Code(_QUERY)], "How to use them"),
    ]
    return Page("All data", ["Everything that the pages show, and what they leave out, as files."], sections)
