"""The page of an algorithm: who is the fastest on each machine, by how much and how surely, and every figure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.atlas.export import Stand, Work
from perbyte.model.text import counted, plain
from perbyte.report import theme
from perbyte.report.card import Card
from perbyte.report.card import Line as Told
from perbyte.report.facts import meaning_of
from perbyte.report.html import Block, Page, Section, answer, heading, sorted_table, text, unfolding
from perbyte.report.listing import Entry, Item, Listing, columns
from perbyte.report.ranks import value_in
from perbyte.report.site import addresses, parts
from perbyte.report.site.changes import change_rows
from perbyte.report.site.drawn import Bar, Course, bars, courses, interval_bar
from perbyte.report.site.parts import program
from perbyte.report.site.view import (
    Contest,
    Kind,
    RunnerTally,
    SiteView,
    kind_text,
    per_work,
    tallies,
    work_text,
)
from perbyte.report.wording import number, size_label

_BARS = 24  # machines in one picture
_LINES = 8  # programs in one picture of time
_MIDDLE = (0.1, 0.9)  # of machines, between which a range is drawn


def algorithm_page(view: SiteView, name: str) -> Page:
    """The page of one algorithm."""
    main = view.main[name]
    contests = list(view.contests[main].values())
    title = view.title(name)
    machines = {machine for work in view.contests if work[0] == name for machine in view.contests[work]}
    kinds = view.works_of(name)
    changed = change_rows(view, [pair for pair in view.gathered.apart if pair.after.work[0] == name])
    sections = [
        Section(
            "summary",
            "Summary",
            "Summary",
            [*answer(algorithm_card(view, name), _asked(main)), *_pictures(view, contests)],
        ),
        *(
            _kind_section(view, kind, works, first=not place)
            for place, (kind, works) in enumerate(kinds.items())
        ),
        *([Section("changes", "Changes", "What changed with time", changed)] if view.gathered.pairs else []),
    ]
    known = f", {plain(name, 60)}" if title.lower() != name.lower() else ""
    return Page(
        f"{title}{known}",
        [
            f"{counted(_figures(view, name), 'figure')} of {counted(len(machines), 'machine')}; costs are "
            f"{parts.shown_unit(contests)} of one core."
        ],
        sections,
    )


def algorithm_card(view: SiteView, name: str) -> Card:
    """Who is the fastest at an algorithm's main work, on how many machines and by how much."""
    main = view.main[name]
    contests = list(view.contests[main].values())
    tally = tallies(contests)
    unit = parts.shown_unit(contests)
    if len(contests) == 1:
        return Card((_of_one(contests[0], unit),))
    first, n = tally[0], len(contests)
    cheapest = min(
        (contest.best for contest in contests), key=lambda best: value_in(best.cost, contests[0].ranked.field)
    )
    dearest = max(
        (contest.best for contest in contests), key=lambda best: value_in(best.cost, contests[0].ranked.field)
    )
    field = contests[0].ranked.field
    least, most = (
        parts.figure_text(value_in(best.cost, field), best.cost.width) for best in (cheapest, dearest)
    )
    where = plain(cheapest.machine, 60)
    costs = f"The fastest of each machine takes {least} to {most} {unit}, the least on {where}"
    decided = sum(tallied.won for tallied in tally)
    if all(contest.next is None for contest in contests):
        sign, winner = "", f"{plain(first.runner, 40)}, measured alone on {n} machines"
    elif first.won * 2 > n:
        sign, winner = "►", f"{plain(first.runner, 40)}, on {first.won} of {n} machines"
    elif decided * 2 > n:
        others = ", ".join(
            f"{plain(tallied.runner, 40)} on {tallied.won}" for tallied in tally[:3] if tallied.won
        )
        sign, winner = "", f"It depends on the machine: of {n}, {others}"
    else:
        sign, winner = "?", f"Alike or not known on {n - decided} of {n} machines"
    return Card((Told("", sign, winner, _won(tally), costs),))


def winner_text(view: SiteView, work: Work) -> tuple[str, str]:
    """Who wins a work on most machines, and on how many: for tables of algorithms."""
    contests = list(view.contests[work].values())
    first = tallies(contests)[0]
    if len(contests) == 1:
        return parts.ahead_text(contests[0]), contests[0].ranked.sign
    if all(contest.next is None for contest in contests):
        return plain(first.runner, 40), ""
    if not first.won:
        return "alike or not known", "?"
    return plain(first.runner, 40), "►" if first.won * 2 > len(contests) else ""


def _of_one(contest: Contest, unit: str) -> Told:
    cost = contest.best.cost
    value = value_in(cost, contest.ranked.field)
    behind, times, _ = parts.next_items(contest)
    interval = f" ({times.wide})" if times.wide else ""
    next_ = f"; the next, {behind.text}, costs {times.text}{interval} as much" if contest.next else ""
    shown = parts.figure_text(value, cost.width)
    told = f"{shown} {parts.width_of(cost)} {unit}{next_}; {parts.SURE[contest.ranked.sign]}"
    return Told(
        "", contest.ranked.sign, f"{parts.ahead_text(contest)} on {plain(contest.machine, 60)}", told, ""
    )


def _won(tallied: Sequence[RunnerTally]) -> str:
    """A sentence on the first programs over machines."""
    told = []
    for tally in tallied[:3]:
        low, high = (parts.quantile(tally.factors, share) for share in _MIDDLE)
        spread = f" (×{number(low)} to ×{number(high)})" if high > low else ""
        told.append(f"{plain(tally.runner, 40)} ×{number(tally.middle)}{spread}")
    more = " and, in brackets, of the middle 80% of machines" if any("(" in words for words in told) else ""
    return f"cost over the fastest of the same machine, in the median{more}: {', '.join(told)}"


def _asked(work: Work) -> str:
    return f"Who is the fastest at {work_text(work)} ({plain(work[2], 40)})?"


def _figures(view: SiteView, name: str) -> int:
    return sum(
        len(machine.stands)
        for work, machines in view.contests.items()
        if work[0] == name
        for machine in machines.values()
    )


def _pictures(view: SiteView, contests: Sequence[Contest]) -> list[Block]:
    """Programs against the fastest of their machine, and the fastest of each machine; of one machine its costs."""
    work, unit = contests[0].work, parts.shown_unit(contests)
    what = f"{view.title(work[0])} {work_text(work)}"
    if len(contests) == 1:
        return [_costs(view, contests[0], what)]
    rows = []
    for tally in sorted(tallies(contests), key=lambda tally: tally.middle):
        low, high = (parts.quantile(tally.factors, share) for share in _MIDDLE)
        name = plain(tally.runner, 40)
        tip = (
            f"{name}: ×{number(tally.middle)} the fastest, in the middle of "
            f"{counted(len(tally.factors), 'machine')}; it wins on {tally.won}"
        )
        rows.append(
            Bar(
                name,
                tally.middle,
                low,
                high,
                f"×{number(tally.middle)}, wins on {tally.won} of {len(tally.factors)}",
                tip,
            )
        )
    pictures = [
        bars(
            "against",
            f"{what}: cost over the fastest of the same machine",
            "× the fastest",
            rows,
            "Bars: the median of machines. Lines: from the tenth to the ninetieth of a hundred machines.",
        ),
        _machines(view, contests, what, unit),
    ]
    return [*pictures, *_courses(view, work, what)]


def _costs(view: SiteView, contest: Contest, what: str) -> Block:
    rows = []
    for stand in contest.stands:
        value = contest.value(stand)
        shown = parts.marked_text(value, stand.cost)
        tip = f"{program(stand)}: {shown}, ×{number(contest.factor(stand))} the fastest"
        rows.append(
            interval_bar(
                program(stand),
                value,
                stand.cost.width,
                f"{shown}  ×{number(contest.factor(stand))}",
                tip,
                faint=stand.cost.doubted,
            )
        )
    caption = "Lines: intervals. Pale bars are in doubt, and win nothing."
    return bars(
        "costs",
        f"{what} on {plain(contest.machine, 60)}",
        parts.shown_unit([contest], contest.ranked.field),
        rows,
        caption,
    )


def _machines(view: SiteView, contests: Sequence[Contest], what: str, unit: str) -> Block:
    """The fastest program of each machine, coloured by who it is."""
    with_cycles = [contest for contest in contests if contest.best.cost.cycles]
    ordered = sorted(with_cycles, key=lambda contest: contest.best.cost.cycles or 0)
    winners = list(dict.fromkeys(stand.runner for stand in (contest.best for contest in ordered)))
    look = theme.series(winners)
    rows = []
    for contest in ordered[:_BARS]:
        stand, value = contest.best, contest.best.cost.cycles or 0.0
        text = parts.figure_text(value, stand.cost.width)
        shown = f"{text} {contest.ranked.sign} {plain(stand.runner, 30)}"
        tip = (
            f"{plain(contest.machine, 60)}: {parts.ahead_text(contest)}, {text} "
            f"{parts.width_of(stand.cost)} {unit}"
        )
        rows.append(
            interval_bar(
                plain(contest.machine, 60),
                value,
                stand.cost.width,
                shown,
                tip,
                look[stand.runner][0],
                faint=stand.cost.doubted,
            )
        )
    left = len(ordered) - len(rows)
    told = [
        f"Lines: intervals. {' '.join(f'{sign} {meaning};' for sign, meaning in parts.SIGNS).rstrip(';')}."
    ]
    told += [f"The {left} slowest machines are in the table alone."] * bool(left)
    without = len(contests) - len(with_cycles)
    told += [f"{counted(without, 'machine')} without cycles: see the table."] * bool(without)
    return bars(
        "machines",
        f"{what}: the fastest of each machine",
        unit,
        rows or [Bar("–", 0, 0, 0, "no cycles", "")],
        " ".join(told),
    )


def _courses(view: SiteView, work: Work, what: str) -> list[Block]:
    """Costs over time on the machine with most days, where one has several."""
    courses = [(key[1], course) for key, course in view.gathered.courses.items() if key[0] == work]
    if not courses:
        return []
    machine, course = max(courses, key=lambda course: (len({point.run for point in course[1]}), course[0]))
    return course_blocks(course, f"{what} on {plain(machine, 60)} over time", per_work(work))


def course_blocks(course: Sequence[Stand], title: str, each: str) -> list[Block]:
    """The picture of costs in the order of time; nothing where no program has cycles twice."""
    lines: dict[str, list[tuple[float, str, float, float, float, str]]] = {}
    for standing in course:
        ordinal, value = addresses.ordinal(standing.cost.first), standing.cost.cycles
        if value is None or ordinal is None:
            continue
        half = value * standing.cost.width if math.isfinite(standing.cost.width) else 0.0
        day = parts.day(standing.cost.first)
        told = f"{program(standing)}, {day}: {number(value, half)} {parts.width_of(standing.cost)}"
        lines.setdefault(standing.runner, []).append((ordinal, day, value, value - half, value + half, told))
    several = {name: points for name, points in lines.items() if len(points) > 1}
    kept = sorted(several, key=lambda name: several[name][-1][2])[:_LINES]
    if not kept:
        return []
    left = len(lines) - len(kept)
    caption = (
        "Lines up and down: intervals."
        + f" {counted(left, 'program')} more: the most expensive, and those measured once." * bool(left)
    )
    drawn = [Course(plain(name, 40), tuple(several[name])) for name in kept]
    return [courses("course", title, f"cycles per {each}", drawn, caption)]


def _kind_section(view: SiteView, kind: Kind, works: Sequence[Work], *, first: bool) -> Section:
    """One table of an algorithm: the winner of each machine, then who wins at which size, then every figure."""
    shown = view.shown_first(works)
    contests = list(view.contests[shown].values())
    each = per_work(shown)
    heads = parts.contest_columns("machine", f"/{each}")
    rows = [
        [parts.machine_item(view, contest.machine), *parts.contest_items(view, contest)]
        for contest in contests
    ]
    every = [contest for work in works for contest in view.contests[work].values()]
    meaning = meaning_of(kind[1])
    blocks = [
        *([text(meaning)] if meaning else []),
        heading(f"The fastest at {work_text(shown)}, machine by machine"),
        sorted_table(Listing(f"The fastest at {work_text(shown)}", heads, rows)),
        *([heading("By size"), _by_size(view, works)] if len(works) > 1 else []),
    ]
    table = parts.figures_table(view, kind, every, f"Every figure of {kind_text(kind)}", by_machine=True)
    count = sum(len(contest.stands) for contest in every)
    whole = unfolding(f"Every figure: {count:,}, cycles per {each}", table, open=len(every) <= 12 and first)
    id = addresses.anchor(*kind)
    title = kind_text(kind)
    inner = [*blocks, whole]
    if first:
        return Section(id, title, title, inner)
    best = tallies(contests)[0]
    line = (
        f"{plain(best.runner, 40)} is the fastest on {best.won} of {counted(len(contests), 'machine')}"
        if best.won
        else "none is known to be the only fastest"
    )
    return Section(id, title, title, [unfolding(f"At {work_text(shown)} {line}. Unfold the tables.", inner)])


def _by_size(view: SiteView, works: Sequence[Work]) -> Block:
    rows: list[Sequence[Entry]] = []
    for work in works:
        contests = list(view.contests[work].values())
        first = tallies(contests)[0]
        costs = sorted(contest.best.cost.cycles for contest in contests if contest.best.cost.cycles)
        spread = f"{number(costs[0])} to {number(costs[-1])}" if costs else "–"
        rows.append(
            [
                Item(size_label(work[3]), value=work[3]),
                plain(first.runner, 40)
                if first.won
                else parts.ahead_text(contests[0])
                if len(contests) == 1
                else "nobody alone",
                Item(f"{first.won} of {len(contests)}", value=first.won),
                parts.factor_item(first.middle),
                Item(spread, value=costs[0] if costs else None),
            ]
        )
    heads = columns("size:n | fastest | on machines:n | × the fastest, median:n | cycles of the fastest:n")
    return sorted_table(Listing("Who is the fastest, by size", heads, rows))


__all__ = ["algorithm_card", "algorithm_page", "winner_text"]
