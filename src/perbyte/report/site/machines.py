"""The page of a machine: what it is, the fastest program of each algorithm, every figure, and its runs."""

from __future__ import annotations

from collections.abc import Sequence

from perbyte.atlas.export import Gathered
from perbyte.model.text import counted, plain
from perbyte.report.card import Card
from perbyte.report.card import Line as Told
from perbyte.report.html import Block, Page, Section, answer, sorted_table, text, unfolding
from perbyte.report.listing import Entry, Item, Listing, columns
from perbyte.report.site import addresses, parts
from perbyte.report.site.changes import change_rows
from perbyte.report.site.drawn import bars, interval_bar
from perbyte.report.site.parts import program
from perbyte.report.site.view import Contest, SiteView, kind_of, kind_text, per_work, tallies, work_text
from perbyte.report.wording import percent

_BARS = 60


def machine_page(view: SiteView, name: str) -> Page:
    """The page of one machine."""
    run = view.runs[name][0]
    contests = [machines[name] for machines in view.contests.values() if name in machines]
    mains = [contest for contest in contests if view.main[contest.work[0]] == contest.work]
    pairs = [pair for pair in view.gathered.apart if pair.after.machine == name]
    figures = sum(len(contest.stands) for contest in contests)
    sections = [
        Section("summary", "Summary", "Summary", [*answer(_card(mains)), *_picture(view, mains)]),
        Section("fastest", "Fastest", "The fastest at each algorithm", [_fastest(view, mains)]),
        Section("figures", "Figures", "Every figure", _figures(view, contests)),
        *(
            [Section("changes", "Changes", "What changed with time", change_rows(view, pairs))]
            if len(view.runs[name]) > 1
            else []
        ),
        Section("runs", "Runs", "Runs", [runs_table(view, name), *_failed(view.gathered, view, name)]),
        Section("machine", "Machine", "What it is", [_facts(view, name)]),
    ]
    model = plain(run.cpu_model, 80) or "an unknown processor"
    more = f", {plain(run.provider, 40)}" if run.provider else ""
    lead = (
        f"{model}{more}. {counted(figures, 'figure')} of {counted(len(mains), 'algorithm')}, "
        f"{counted(len(view.runs[name]), 'run')}, the newest of {parts.day(run.started_at)}."
    )
    return Page(plain(name, 80), [lead], sections)


def _card(mains: list[Contest]) -> Card:
    """Which program wins most algorithms here."""
    if not mains:
        return Card((), ("No figure of this machine can be ranked.",))
    tallied = tallies(mains)
    first = tallied[0]
    others = [f"then {plain(tally.runner, 40)} at {tally.won}" for tally in tallied[1:4] if tally.won]
    shared = sum(contest.ranked.sign == "=" for contest in mains)
    open_ = sum(contest.ranked.sign == "?" for contest in mains)
    alone = sum(contest.next is None for contest in mains)
    told = [
        ", ".join(others),
        f"several are alike at {shared}" if shared else "",
        f"not known at {open_}" if open_ else "",
        f"{alone} measured with one program alone" if alone else "",
    ]
    winner = f"{plain(first.runner, 40)} is the fastest at {first.won} of {counted(len(mains), 'algorithm')}"
    return Card((Told("", "►" if first.won else "?", winner, "; ".join(part for part in told if part), ""),))


def _picture(view: SiteView, mains: list[Contest]) -> list[Block]:
    """The fastest program's cost of each algorithm that has data, cheapest first."""
    counted_mains = [
        contest for contest in mains if per_work(contest.work) == "byte" and contest.best.cost.cycles
    ]
    ordered = sorted(counted_mains, key=lambda contest: (contest.best.cost.cycles or 0.0, contest.work))
    rows = []
    for contest in ordered[:_BARS]:
        stand, value = contest.best, contest.best.cost.cycles or 0.0
        shown = f"{parts.marked_text(value, stand.cost)} {contest.ranked.sign} {plain(stand.runner, 30)}"
        name = f"{view.title(contest.work[0])} {work_text(contest.work)}"
        rows.append(
            interval_bar(
                name,
                value,
                stand.cost.width,
                shown,
                f"{name}: {program(stand)}, {shown}",
                faint=stand.cost.doubted,
            )
        )
    left = len(ordered) - len(rows)
    caption = (
        "Lines: intervals. "
        + " ".join(f"{sign} {meaning};" for sign, meaning in parts.SIGNS).rstrip(";")
        + "."
    )
    caption += f" The {left} most expensive are in the table alone." if left else ""
    return (
        [bars("fastest-bars", "The fastest of each algorithm here", "cycles per byte", rows, caption)]
        if rows
        else []
    )


def _fastest(view: SiteView, mains: list[Contest]) -> Block:
    rows: list[Sequence[Entry]] = []
    for contest in mains:
        href = parts.UP + addresses.algorithm(contest.work[0])
        rows.append(
            [
                Item(view.title(contest.work[0]), href),
                f"{work_text(contest.work)}, cycles a {per_work(contest.work)}",
                *parts.contest_items(view, contest),
            ]
        )
    heads = parts.contest_columns("algorithm | work:text")
    return sorted_table(Listing("The fastest at each algorithm", heads, rows))


def _figures(view: SiteView, contests: list[Contest]) -> list[Block]:
    """A folded table for each kind of work."""
    kinds: dict[tuple[str, str, str, str], list[Contest]] = {}
    for contest in contests:
        kinds.setdefault(kind_of(contest.work), []).append(contest)
    blocks: list[Block] = []
    for kind, these in sorted(kinds.items()):
        count = sum(len(contest.stands) for contest in these)
        title = f"{kind_text(kind)}: {counted(count, 'figure')}, {parts.shown_unit(these)}"
        table = parts.figures_table(view, kind, these, f"Every figure of {kind_text(kind)}", by_machine=False)
        blocks.append(unfolding(title, table, open=len(kinds) == 1))
    return blocks or [text("No figure of this machine can be ranked.")]


def runs_table(view: SiteView, name: str) -> Block:
    """The runs of a machine, newest first; each has an address."""
    rows: list[Sequence[Entry]] = []
    for run in view.runs[name]:
        rows.append(
            [
                Item(plain(run.run, 80), id=parts.run_anchor(run.key)),
                Item(
                    plain(run.started_at, 40)[:16].replace("T", " "),
                    parts.UP + addresses.month(addresses.month_of(run.started_at)),
                ),
                ", ".join(plain(library, 60) for library in run.libraries),
                run.cells,
                run.failures,
                Item(percent(run.noise_floor), value=run.noise_floor)
                if run.noise_floor is not None
                else parts.NONE,
                "whole" if run.complete else "interrupted",
                plain(run.perbyte_version, 30),
            ]
        )
    heads = columns(
        "run | began | libraries:text | figures:n | without one:n | noise floor:n | end | Perbyte"
    )
    return sorted_table(Listing("Runs", heads, rows))


def _failed(gathered: Gathered, view: SiteView, name: str) -> list[Block]:
    """What has no figure in the machine's runs, and why."""
    rows: list[Sequence[Entry]] = [
        [
            plain(run.run, 80),
            plain(runner, 40),
            plain(kind, 24),
            max(count, 1),
            plain(reason, 240),
        ]
        for run in view.runs[name]
        for runner, kind, reason, count in gathered.failures.get(run.key, ())
    ]
    if not rows:
        return []
    total = sum(max(count, 1) for run in view.runs[name] for *_, count in gathered.failures.get(run.key, ()))
    heads = columns("run | program | why | cells:n | said:text")
    table = sorted_table(Listing("Without a figure", heads, rows))
    return [unfolding(f"Without a figure: {counted(total)}, and why", [table])]


def _facts(view: SiteView, name: str) -> Block:
    run = view.runs[name][0]
    facts = [
        ("processor", run.cpu_model),
        ("vendor", run.cpu_vendor),
        ("microcode", run.microcode),
        ("architecture", run.architecture),
        ("cores", f"{run.cores}" if run.cores else ""),
        ("hypervisor", run.provider),
        ("kernel", run.kernel),
        ("system", run.distribution),
        ("instructions that matter", " ".join(run.features)),
        ("measuring, all runs", f"{sum(run.measuring_s for run in view.runs[name]):,.0f} s"),
    ]
    return Block("facts", [(name, plain(value, 300)) for name, value in facts if value])
