"""`perbyte methods`: the paragraph for a paper."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from perbyte.app.run_names import find_run
from perbyte.errors import EXIT_FINE

WIDTH = 100


@click.command("methods")
@click.argument("run", required=False, type=click.Path(path_type=Path))
def command(run: Path | None) -> int:
    """Print a paragraph about RUN (default: the newest) for a methods section, with all data to repeat it.

    \b
      perbyte methods results/monday
    """
    from perbyte.report.methods import methods
    from perbyte.store import open_run

    print(
        textwrap.fill(methods(open_run(find_run(run))), WIDTH, break_on_hyphens=False, break_long_words=False)
    )
    return EXIT_FINE
