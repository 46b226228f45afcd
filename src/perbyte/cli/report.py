"""`perbyte report`: a run as one file for people, or a figure for a paper."""

from __future__ import annotations

from pathlib import Path

import click

from perbyte.cli.options import remark


@click.command("report")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="HTML file.  [report.html]")
@click.option(
    "--figure",
    "figures",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write a figure: NAME.svg, .png or .pdf; NAME chooses which, 'help' lists them.",
)
def command(run: Path | None, output: Path | None, figures: tuple[Path, ...]) -> int:
    """Write RUN (the newest one without it) as one self-contained HTML file.

    \b
      perbyte report -o report.html
      perbyte report results/monday --figure overview.svg --figure sizes.pdf
    """
    from perbyte.cli.reporting import write_figure, write_html
    from perbyte.cli.show import newest
    from perbyte.store import open_run

    place = run or newest()
    found = open_run(place)
    for figure in figures:
        remark(f"figure: {write_figure(found, figure)}")
    if output or not figures:
        remark(f"report: {write_html(found, output or Path('report.html'))}")
    return 0
