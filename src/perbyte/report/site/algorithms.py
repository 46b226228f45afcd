"""The page of an algorithm: who is the fastest on each machine, by how much and how surely, and every figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from perbyte.atlas.export import RankedWork, Stand
from perbyte.model import Estimate
from perbyte.model.text import counted, plain
from perbyte.report import theme
from perbyte.report.document import Block, Card, Fold, Heading, Page, Section, Text, table_of
from perbyte.report.facts import meaning_of
from perbyte.report.listing import Entry, Item
from perbyte.report.marks import SHORT, SURE, TIED, UNDECIDED
from perbyte.report.site import addresses, parts
from perbyte.report.site.changes import changes_section
from perbyte.report.site.drawn import Bar, CoursePoint, bars, courses
from perbyte.report.site.parts import program
from perbyte.report.site.view import (
    Contest,
    Kind,
    RunnerTally,
    SiteView,
    estimate_in,
    field_of,
    per_work,
    tallies,
    value_in,
    work_text,
)
from perbyte.report.wording import number, sentence, size_label, value_text, width_text
from perbyte.stats.compare import CYCLES, NS

_BARS = 24  # machines in one picture
_LINES = 8  # programs in one picture of time


def algorithm_page(view: SiteView, name: str) -> Page:
    """The page of one algorithm."""
    main, contests = view.main[name], view.main_contests(name)
    every = [contest for work, of in view.contests.items() if work.algorithm == name for contest in of]
    figures = sum(len(contest.stands) for contest in every)
    machines = {contest.machine for contest in every}
    pairs = [pair for pair in view.gathered.apart if pair.after.work.algorithm == name]
    question = f"Who is the fastest at {work_text(main)} ({plain(main.contract, 40)})?"
    summary = [replace(algorithm_card(view, name), question=question), *_pictures(view, contests)]
    sections = [
        Section("summary", "Summary", summary),
        *(
            _kind_section(view, kind, works, first=not place)
            for place, (kind, works) in enumerate(view.works_of(name).items())
        ),
        *([changes_section(view, pairs)] if view.gathered.pairs else []),
    ]
    title = view.title(name)
    known = f", {plain(name, 60)}" if title.lower() != name.lower() else ""
    field = CYCLES if any(contest.best.cost.cycles for contest in contests) else NS
    lead = (
        f"{counted(figures, 'figure')} of {counted(len(machines), 'machine')}; costs are "
        f"{parts.unit_text(main, field)} of one core."
    )
    return Page(f"{title}{known}", [lead], sections)


def algorithm_card(view: SiteView, name: str) -> Card:
    """Who is the fastest at an algorithm's main work, on how many machines and by how much."""
    contests = view.main_contests(name)
    field, n = field_of(contests), len(contests)
    unit = parts.unit_text(view.main[name], field)
    if n == 1:
        return _card_of_one(contests[0], unit)
    tally = tallies(contests)
    first, decided = tally[0], sum(tallied.won for tallied in tally)
    bests = sorted((contest.best for contest in contests), key=lambda best: value_in(best.cost, field))
    least, most = (value_text(estimate_in(best.cost, field)) for best in (bests[0], bests[-1]))
    where = plain(bests[0].machine, 60)
    costs = f"The fastest of each machine takes {least} to {most} {unit}, the least on {where}"
    if all(not contest.stands[1:] for contest in contests):
        winner = f"{plain(first.runner, 40)}, measured alone on {n} machines"
    elif first.won * 2 > n:
        winner = f"{plain(first.runner, 40)}, on {first.won} of {n} machines"
    elif decided * 2 > n:
        won = [f"{plain(tallied.runner, 40)} on {tallied.won}" for tallied in tally[:3] if tallied.won]
        winner = f"It depends on the machine: of {n}, {', '.join(won)}"
    else:
        signs = Counter(contest.ranked.sign for contest in contests)
        words = [f"{SHORT[sign]} on {signs[sign]}" for sign in (TIED, UNDECIDED) if signs[sign]]
        winner = sentence(f"{', '.join(words)} of {n} machines")
    return parts.card(parts.sign_of(contests), winner, [_won(tally)], costs)


def winner_text(contests: Sequence[Contest]) -> tuple[str, str]:
    """Who wins a work on most machines, and on how many: for tables of algorithms."""
    first = tallies(contests)[0]
    if len(contests) == 1:
        return parts.ahead_text(contests[0]), contests[0].ranked.sign
    sign = parts.sign_of(contests)
    if first.won or all(not contest.stands[1:] for contest in contests):
        return plain(first.runner, 40), sign
    return SHORT.get(sign, "") or "alike or not known", sign


def _card_of_one(contest: Contest, unit: str) -> Card:
    estimate, sign = contest.estimate(contest.best), contest.ranked.sign
    told = [f"{value_text(estimate)} {width_text(estimate)} {unit}", SURE[sign]]
    if contest.next:
        behind, times, _ = parts.next_items(contest)
        interval = f" ({times.wide})" if times.wide else ""
        told.insert(1, f"the next, {behind.text}, costs {times.text}{interval} as much")
    return parts.card(sign, f"{parts.ahead_text(contest)} on {plain(contest.machine, 60)}", told)


def _won(tallied: Sequence[RunnerTally]) -> str:
    told = []
    for tally in tallied[:3]:
        low, high = tally.spread.low, tally.spread.high
        spread = f" (×{number(low)} to ×{number(high)})" if high > low else ""
        told.append(f"{plain(tally.runner, 40)} ×{number(tally.middle)}{spread}")
    more = " and, in brackets, of the middle 80% of machines" if any("(" in words for words in told) else ""
    return f"cost over the fastest of the same machine, in the median{more}: {', '.join(told)}"


def _pictures(view: SiteView, contests: Sequence[Contest]) -> list[Block]:
    work = contests[0].work
    what = f"{view.title(work.algorithm)} {work_text(work)}"
    if len(contests) == 1:
        return [_costs(contests[0], what)]
    rows = []
    for tally in sorted(tallies(contests), key=lambda tally: tally.middle):
        name, times, n = plain(tally.runner, 40), f"×{number(tally.middle)}", len(tally.factors)
        tip = f"{name}: {times} the fastest, in the middle of {counted(n, 'machine')}; it wins on {tally.won}"
        rows.append(Bar(name, tally.spread, f"{times}, wins on {tally.won} of {n}", tip))
    against = bars(
        "against",
        f"{what}: cost over the fastest of the same machine",
        "× the fastest",
        rows,
        "Bars: the median of machines. Lines: from the tenth to the ninetieth of a hundred machines.",
    )
    return [against, _machines(contests, what), *_courses(view, work, what)]


def _costs(contest: Contest, what: str) -> Block:
    rows = []
    for stand in contest.stands:
        shown, times = (
            parts.marked_text(stand.cost, contest.ranked.field),
            f"×{number(contest.factor(stand))}",
        )
        tip = f"{program(stand)}: {shown}, {times} the fastest"
        estimate = contest.estimate(stand)
        rows.append(Bar(program(stand), estimate, f"{shown}  {times}", tip, faint=stand.cost.doubted))
    return bars(
        "costs",
        f"{what} on {plain(contest.machine, 60)}",
        parts.unit_text(contest.work, contest.ranked.field),
        rows,
        "Lines: intervals. Pale bars are in doubt, and win nothing.",
    )


def _machines(contests: Sequence[Contest], what: str) -> Block:
    """The fastest program of each machine, coloured by who it is."""
    unit = parts.unit_text(contests[0].work)
    ordered = [contest for contest in contests if contest.best.cost.cycles]
    ordered.sort(key=lambda contest: contest.best.cost.cycles or 0)
    look = theme.series(list(dict.fromkeys(contest.best.runner for contest in ordered)))
    rows = []
    for contest in ordered[:_BARS]:
        best, estimate, machine = contest.best, estimate_in(contest.best.cost), plain(contest.machine, 60)
        value, colour = value_text(estimate), look[contest.best.runner][0]
        shown = f"{value} {contest.ranked.sign} {plain(best.runner, 30)}"
        tip = f"{machine}: {parts.ahead_text(contest)}, {value} {width_text(estimate)} {unit}"
        rows.append(Bar(machine, estimate, shown, tip, colour, faint=best.cost.doubted))
    told = [f"Lines: intervals. {parts.SIGNS_TEXT}"]
    if left := len(ordered) - len(rows):
        told.append(f"The {left} slowest machines are in the table alone.")
    if without := len(contests) - len(ordered):
        told.append(f"{counted(without, 'machine')} without cycles: see the table.")
    nothing = Bar("–", Estimate(0, 0, 0), "no cycles", "")
    heading = f"{what}: the fastest of each machine"
    return bars("machines", heading, unit, rows or [nothing], " ".join(told))


def _courses(view: SiteView, work: RankedWork, what: str) -> list[Block]:
    courses_ = {machine: course for (of, machine), course in view.gathered.courses.items() if of == work}
    if not courses_:
        return []
    machine = max(courses_, key=lambda machine: (len({stand.run for stand in courses_[machine]}), machine))
    lines: dict[str, list[CoursePoint]] = {}
    for stand in courses_[machine]:
        if (point := _course_point(stand)) is not None:
            lines.setdefault(stand.runner, []).append(point)
    several = {name: points for name, points in lines.items() if len(points) > 1}
    kept = sorted(several, key=lambda name: several[name][-1].cost.value)[:_LINES]
    if not kept:
        return []
    left = len(lines) - len(kept)
    caption = "Lines up and down: intervals."
    caption += (
        f" {counted(left, 'program')} more: the most expensive, and those measured once." if left else ""
    )
    title = f"{what} on {plain(machine, 60)} over time"
    drawn = {plain(name, 40): several[name] for name in kept}
    return [courses("course", title, f"cycles per {per_work(work)}", drawn, caption)]


def _course_point(stand: Stand) -> CoursePoint | None:
    ordinal = addresses.ordinal(stand.cost.first)
    if stand.cost.cycles is None or ordinal is None:
        return None
    cost, day = estimate_in(stand.cost), parts.day(stand.cost.first)
    return CoursePoint(ordinal, day, cost, f"{program(stand)}, {day}: {value_text(cost)} {width_text(cost)}")


def _kind_section(view: SiteView, kind: Kind, works: Sequence[RankedWork], *, first: bool) -> Section:
    shown = view.shown_first(works)
    contests = view.contests[shown]
    each, at = per_work(shown), work_text(shown)
    rows = [
        [parts.machine_item(view, contest.machine), *parts.contest_items(contest)] for contest in contests
    ]
    winners = table_of(f"The fastest at {at}", parts.contest_heads("machine", f"/{each}"), rows, sorts=True)
    every = [contest for work in works for contest in view.contests[work]]
    count = sum(len(contest.stands) for contest in every)
    figures = parts.figures_table(view, kind, every, by_machine=True)
    meaning = meaning_of(kind.contract)
    blocks = [
        *([Text(meaning)] if meaning else []),
        Heading(f"The fastest at {at}, machine by machine"),
        winners,
        *([Heading("By size"), _by_size(view, works)] if len(works) > 1 else []),
        Fold(f"Every figure: {count:,}, cycles per {each}", figures, open=len(every) <= 12 and first),
    ]
    if not first:
        best = tallies(contests)[0]
        line = "none is known to be the only fastest"
        if best.won:
            line = f"{plain(best.runner, 40)} is the fastest on {best.won} of {counted(len(contests), 'machine')}"
        blocks = [Fold(f"At {at} {line}. Unfold the tables.", blocks)]
    return Section(addresses.anchor(*kind), kind.text, blocks)


def _by_size(view: SiteView, works: Sequence[RankedWork]) -> Block:
    heads = "size:n | fastest | on machines:n | × the fastest, median:n | cycles of the fastest:n"
    rows = [_size_row(work.size_bytes, view.contests[work]) for work in works]
    return table_of("Who is the fastest, by size", heads, rows, sorts=True)


def _size_row(size_bytes: int, contests: Sequence[Contest]) -> list[Entry]:
    first = tallies(contests)[0]
    costs = sorted(contest.best.cost.cycles for contest in contests if contest.best.cost.cycles)
    winner = "nobody alone"
    if first.won:
        winner = plain(first.runner, 40)
    elif len(contests) == 1:
        winner = parts.ahead_text(contests[0])
    return [
        Item(size_label(size_bytes), value=size_bytes),
        winner,
        parts.won_item(first.won, len(contests)),
        parts.factor_item(first.middle),
        Item(f"{number(costs[0])} to {number(costs[-1])}", value=costs[0]) if costs else Item("–"),
    ]
