"""`perbyte report`: runs as one file for people, the history as a page, or charts for a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte import extras
from perbyte.app.runs import newest, open_runs
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import Html, StoredOption
from perbyte.cli.streams import note
from perbyte.cli.terminal import print_listing
from perbyte.errors import EXIT_FINE, UsageError
from perbyte.report.listing import from_records

if TYPE_CHECKING:
    from perbyte.report.document import Page, Picture


HELP = "help"


class _ReportOptions(Options):
    runs: tuple[Path, ...] = argument(nargs=-1, metavar="[RUN...]")
    stored: StoredOption = group(StoredOption)
    output: Html | None = option("-o", "--output", help="HTML file.  [report.html]")
    history: bool = flag(
        "--history",
        help="Write the history of all studies since 1994, with RUNs.  [newest run of each study]",
    )
    of_atlas: bool = flag(
        "--atlas", help="Write the machines of an atlas; RUN is its place.  [the user's own]"
    )
    charts: tuple[Path, ...] = option(
        "--chart", help="Write the chart NAME as NAME.svg, .png or .pdf; 'help' lists the names."
    )

    def deliver(self, name: str, page: Callable[[], Page], pictures: Callable[[], Iterable[Picture]]) -> int:
        """Write the charts that were asked for, and the page, as `name` where nothing else was said."""
        from perbyte.report.html import write

        if self.charts:
            deliver_charts({picture.name: picture for picture in pictures()}, self.charts)
        if self.output or not self.charts:
            target = self.output or Path(name)
            note(f"report: {write(page(), target, note)}")
        return EXIT_FINE


@takes("report", _ReportOptions)
def report_command(options: _ReportOptions) -> int:
    """Write RUN (default: the newest) as one self-contained HTML file.

    Several RUNs are shown side by side, with a column for each. Ratios are to the first.

    \b
      perbyte report -o report.html
      perbyte report results/monday --chart bars.svg --chart cost.pdf
      perbyte report results/server results/laptop -o machines.html
      perbyte report --history -o history.html --chart history.svg
      perbyte report --atlas -o atlas.html
    """
    extras.require("report", "A page or a chart")
    if options.history and options.of_atlas:
        raise UsageError("--history and --atlas are two pages", hint="write one after the other")
    if options.of_atlas:
        return _atlas(options)
    if options.history:
        return _history(options)
    from perbyte.report import pages
    from perbyte.report.grid import compare_runs
    from perbyte.report.pictures import comparison_pictures, pictures_of

    runs = open_runs(options.runs or [newest()], anew=options.stored.anew)
    if len(runs) == 1:
        return options.deliver(
            "report.html", lambda: pages.whole_page(runs[0]), lambda: pictures_of(runs[0]).values()
        )
    return options.deliver(
        "report.html",
        lambda: pages.comparison_page(runs),
        lambda: comparison_pictures(compare_runs(runs, pages.run_names(runs))),
    )


def _history(options: _ReportOptions) -> int:
    from perbyte.report.pages import history_page
    from perbyte.report.pictures import history_pictures
    from perbyte.studies.history import load_history
    from perbyte.studies.judge import newest_of_studies

    runs = open_runs(options.runs or newest_of_studies(), anew=options.stored.anew)
    if not runs:
        note("no run of a study yet: published figures only (perbyte study run kompara-2020 makes one)")
    history = load_history(runs)
    return options.deliver("history.html", lambda: history_page(history), lambda: history_pictures(history))


def _atlas(options: _ReportOptions) -> int:
    from perbyte.app.atlases import atlas_at
    from perbyte.report.atlas import atlas_page, atlas_pictures

    urls = options.runs
    if len(urls) > 1:
        raise UsageError("an atlas is one place", hint="perbyte report --atlas PLACE")
    url = str(urls[0]).replace(":/", "://", 1) if urls else None  # a Path has made one slash of two
    atlas = atlas_at(url, note)
    page, overview = atlas_page(atlas)
    return options.deliver("atlas.html", lambda: page, lambda: atlas_pictures(overview))


def deliver_charts(pictures: Mapping[str, Picture], charts: Sequence[Path]) -> None:
    """Write the charts that are asked for, or print which there are where one of them is called `help`.

    Raises what `write_chart` raises.
    """
    from perbyte.report.pictures import write_chart

    if any(chart.stem == HELP for chart in charts):
        rows = [{"chart": name, "shows": picture.heading} for name, picture in pictures.items()]
        print_listing(from_records(rows, "shows"))
        return
    for chart in charts:
        note(f"chart: {write_chart(pictures, chart, note)}")
