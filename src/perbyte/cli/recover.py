"""`perbyte recover`: what is readable of a damaged run, as a new run."""

from __future__ import annotations

from pathlib import Path

import click

from perbyte import places
from perbyte.app.run_names import find_run
from perbyte.cli.options import note
from perbyte.errors import EXIT_FINE, EXIT_FOUND


@click.command("recover")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Run directory to create.")
def command(run: Path, out: Path | None) -> int:
    """Save the readable part of RUN as a new run, and compute its figures again. RUN itself is not changed.

    Exit code 1 if something was lost. Lost cells are named here, and as failures of the new run. `perbyte measure
    --resume` can complete it on the machine that measured it.

    \b
      perbyte recover results/monday --out results/monday-saved
    """
    from perbyte.model.text import plain
    from perbyte.store import recover

    place = find_run(run)
    done = recover(place, out or places.runs_home() / f"{place.resolve().name}-recovered")
    for text in done.lost:
        print(f"lost: {plain(text, 300)}")
    for text in done.notes:
        note(plain(text, 300))
    print(f"saved: {done.bursts:,} bursts{'' if done.lost else '; nothing that was measured is lost'}")
    note(f"run: {done.path}")
    return EXIT_FOUND if done.lost else EXIT_FINE
