"""The page of a machine: what it is, the fastest program of each algorithm, every figure, and its runs."""

from __future__ import annotations

from perbyte.atlas.export import Gathered
from perbyte.atlas.index import RunRow
from perbyte.model.groups import grouped
from perbyte.model.text import counted, plain
from perbyte.report.document import Block, Card, Fold, Page, Section, Terms, Text, table_of
from perbyte.report.listing import Entry, Item
from perbyte.report.marks import TIED, UNDECIDED
from perbyte.report.site import addresses, parts
from perbyte.report.site.changes import changes_section
from perbyte.report.site.drawn import Bar, bars
from perbyte.report.site.parts import program
from perbyte.report.site.view import Contest, SiteView, estimate_in, kind_of, per_work, tallies, work_text
from perbyte.report.wording import percent

_BARS = 60


def machine_page(view: SiteView, name: str) -> Page:
    """The page of one machine."""
    runs = view.runs[name]
    contests = [contest for works in view.contests.values() for contest in works if contest.machine == name]
    mains = [contest for contest in contests if view.main[contest.work.algorithm] == contest.work]
    pairs = [pair for pair in view.gathered.apart if pair.after.machine == name]
    figures = sum(len(contest.stands) for contest in contests)
    sections = [
        Section("summary", "Summary", [_card(mains), *_picture(view, mains)]),
        Section("fastest", "Fastest", [_fastest(view, mains)], "The fastest at each algorithm"),
        Section("figures", "Figures", _figures(view, contests), "Every figure"),
        *([changes_section(view, pairs)] if len(runs) > 1 else []),
        Section("runs", "Runs", [_runs(runs), *_failed(view.gathered, runs)]),
        Section("machine", "Machine", [_facts(runs)], "What it is"),
    ]
    model = plain(runs[0].cpu_model, 80) or "an unknown processor"
    more = f", {plain(runs[0].provider, 40)}" if runs[0].provider else ""
    lead = (
        f"{model}{more}. {counted(figures, 'figure')} of {counted(len(mains), 'algorithm')}, "
        f"{counted(len(runs), 'run')}, the newest of {parts.day(runs[0].started_at)}."
    )
    return Page(plain(name, 80), [lead], sections)


def _card(mains: list[Contest]) -> Card:
    if not mains:
        return Card((), ("No figure of this machine can be ranked.",))
    first, *others = tallies(mains)
    shared, open_ = (sum(contest.ranked.sign == sign for contest in mains) for sign in (TIED, UNDECIDED))
    alone = sum(not contest.stands[1:] for contest in mains)
    told = [
        ", ".join(f"then {plain(tally.runner, 40)} at {tally.won}" for tally in others[:3] if tally.won),
        f"several are alike at {shared}" if shared else "",
        f"not known at {open_}" if open_ else "",
        f"{alone} measured with one program alone" if alone else "",
    ]
    winner = f"{plain(first.runner, 40)} is the fastest at {first.won} of {counted(len(mains), 'algorithm')}"
    return parts.card(parts.sign_of(mains), winner, told)


def _picture(view: SiteView, mains: list[Contest]) -> list[Block]:
    """The fastest program's cost of each algorithm that has data, cheapest first."""
    drawn = [contest for contest in mains if per_work(contest.work) == "byte" and contest.best.cost.cycles]
    drawn.sort(key=lambda contest: (contest.best.cost.cycles, contest.work))
    rows = []
    for contest in drawn[:_BARS]:
        best = contest.best
        shown = f"{parts.marked_text(best.cost)} {contest.ranked.sign} {plain(best.runner, 30)}"
        name = f"{view.title(contest.work.algorithm)} {work_text(contest.work)}"
        tip = f"{name}: {program(best)}, {shown}"
        rows.append(Bar(name, estimate_in(best.cost), shown, tip, faint=best.cost.doubted))
    if not rows:
        return []
    left = len(drawn) - len(rows)
    caption = f"Lines: intervals. {parts.SIGNS_TEXT}"
    caption += f" The {left} most expensive are in the table alone." if left else ""
    return [bars("fastest-bars", "The fastest of each algorithm here", "cycles per byte", rows, caption)]


def _fastest(view: SiteView, mains: list[Contest]) -> Block:
    rows: list[tuple[Entry, ...]] = [
        (
            parts.algorithm_item(view, contest.work.algorithm),
            f"{work_text(contest.work)}, cycles a {per_work(contest.work)}",
            *parts.contest_items(contest),
        )
        for contest in mains
    ]
    return table_of(
        "The fastest at each algorithm", parts.contest_heads("algorithm | work:text"), rows, sorts=True
    )


def _figures(view: SiteView, contests: list[Contest]) -> list[Block]:
    kinds = grouped(contests, lambda contest: kind_of(contest.work))
    blocks: list[Block] = []
    for kind, alike in sorted(kinds.items()):
        count = sum(len(contest.stands) for contest in alike)
        title = f"{kind.text}: {counted(count, 'figure')}, {parts.unit_text(alike[0].work)}"
        table = parts.figures_table(view, kind, alike, by_machine=False)
        blocks.append(Fold(title, table, open=len(kinds) == 1))
    return blocks or [Text("No figure of this machine can be ranked.")]


def _runs(runs: list[RunRow]) -> Block:
    """The runs of a machine, newest first; each has an address."""
    rows = [
        (
            Item(plain(run.run, 80), id=parts.run_anchor(run.key)),
            Item(parts.minute(run), parts.UP + addresses.month(addresses.month_of(run.started_at))),
            parts.libraries_text(run),
            run.cells,
            run.failures,
            parts.NONE if (floor := run.noise_floor) is None else Item(percent(floor), value=floor),
            "whole" if run.complete else "interrupted",
            plain(run.perbyte_version, 30),
        )
        for run in runs
    ]
    heads = "run | began | libraries:text | figures:n | without one:n | noise floor:n | end | Perbyte"
    return table_of("Runs", heads, rows, sorts=True)


def _failed(gathered: Gathered, runs: list[RunRow]) -> list[Block]:
    failures = [(run, failure) for run in runs for failure in gathered.failures.get(run.key, ())]
    if not failures:
        return []
    rows = [
        (plain(run.run, 80), plain(runner, 40), plain(kind, 24), count, plain(reason, 240))
        for run, (runner, kind, reason, count) in failures
    ]
    table = table_of("Without a figure", "run | program | why | cells:n | said:text", rows, sorts=True)
    total = sum(count for _, (*_, count) in failures)
    return [Fold(f"Without a figure: {counted(total)}, and why", [table])]


def _facts(runs: list[RunRow]) -> Block:
    run = runs[0]
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
        ("measuring, all runs", f"{sum(run.measuring_s for run in runs):,.0f} s"),
    ]
    return Terms("facts", [(name, plain(value, 300)) for name, value in facts if value])
