"""The page of a month: which runs it brought, which versions were new, and which figures changed."""

from __future__ import annotations

import calendar

from perbyte.atlas.index import RunRow
from perbyte.model.groups import grouped
from perbyte.model.text import counted, plain
from perbyte.report.document import Block, Page, Section, table_of
from perbyte.report.listing import Item
from perbyte.report.site import addresses, parts
from perbyte.report.site.changes import changes_section, known_changes
from perbyte.report.site.view import SiteView


def months(view: SiteView) -> dict[str, list[RunRow]]:
    """The runs of each month, newest month and newest run first."""
    runs_of = grouped(view.newest_first, lambda run: addresses.month_of(run.started_at))
    return dict(sorted(runs_of.items(), reverse=True))


def month_title(name: str) -> str:
    """A month in words: `November 2026`."""
    if name == addresses.UNKNOWN:
        return "At a time not known"
    return f"{calendar.month_name[int(name[5:])]} {name[:4]}"


def new_libraries(view: SiteView) -> dict[str, list[tuple[str, str]]]:
    """By month the versions of libraries that were measured for the first time, each with the machine."""
    seen: set[str] = set()
    libraries_of: dict[str, list[tuple[str, str]]] = {}
    for run in reversed(view.newest_first):
        for library in run.libraries:
            if library not in seen:
                seen.add(library)
                libraries_of.setdefault(addresses.month_of(run.started_at), []).append((library, run.machine))
    return libraries_of


def month_page(view: SiteView, name: str, runs: list[RunRow], fresh: list[tuple[str, str]]) -> Page:
    """The page of one month."""
    pairs = [
        followed for followed in view.gathered.apart if addresses.month_of(followed.after.cost.first) == name
    ]
    changed = known_changes(pairs)
    dearer = sum(change.dearer for change in changed)
    told = [
        f"{counted(len(fresh), 'version')} measured for the first time" if fresh else "",
        f"{counted(dearer, 'figure')} became dearer and {len(changed) - dearer:,} cheaper" if changed else "",
    ]
    machines = {run.machine for run in runs}
    winner = f"{counted(len(runs), 'run')} on {counted(len(machines), 'machine')}"
    sections = [
        Section("summary", "Summary", [parts.card("", winner, told)]),
        Section("new", "New versions", [_fresh(view, fresh)] if fresh else []),
        *([changes_section(view, pairs, "What changed")] if view.gathered.pairs else []),
        Section("runs", "Runs", [_runs(runs)]),
    ]
    return Page(month_title(name), [f"{sum(run.cells for run in runs):,} figures were measured."], sections)


def _fresh(view: SiteView, fresh: list[tuple[str, str]]) -> Block:
    rows = []
    for library, machine in fresh:
        # a run says which libraries it had as "name version"; a page exists where a figure of it stands
        name, _, version = library.rpartition(" ")
        rows.append((plain(name or library, 60), plain(version, 40), parts.machine_item(view, machine)))
    return table_of("New versions", "library | version | first on", rows, sorts=True)


def _runs(runs: list[RunRow]) -> Block:
    heads = "began | machine | processor:text | figures:n | without one:n | study | libraries:text"
    rows = [
        (
            parts.minute(run) or "–",
            Item(plain(run.machine, 80), parts.UP + parts.run_address(run.machine, run.key)),
            plain(run.cpu_model, 80),
            run.cells,
            run.failures,
            Item(plain(run.study, 40) or "–", look="" if run.study else "none"),
            parts.libraries_text(run),
        )
        for run in runs
    ]
    return table_of("Runs", heads, rows, sorts=True)
