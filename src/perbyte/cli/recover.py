"""`perbyte recover`: what is readable of a damaged run, as a new run."""

from __future__ import annotations

from pathlib import Path

from perbyte import places
from perbyte.app.run_names import find_run
from perbyte.cli.declared import Options, argument, option, takes
from perbyte.cli.options import note, notes, print_lines
from perbyte.errors import EXIT_FINE, EXIT_FOUND


class _RecoverOptions(Options):
    run: Path = argument()
    out: Path | None = option("--out", help="Run directory to create.")


@takes("recover", _RecoverOptions)
def command(options: _RecoverOptions) -> int:
    """Save the readable part of RUN as a new run, and compute its figures again. RUN itself is not changed.

    Exit code 1 if something was lost. Lost cells are named here, and as failures of the new run. `perbyte measure
    --resume` can complete it on the machine that measured it.

    \b
      perbyte recover results/monday --out results/monday-saved
    """
    from perbyte.model.text import plain
    from perbyte.store import recover

    place = find_run(options.run)
    done = recover(place, options.out or places.runs_home() / f"{place.resolve().name}-recovered")
    print_lines(f"lost: {plain(text, 300)}" for text in done.lost)
    notes(plain(text, 300) for text in done.notes)
    print(f"saved: {done.bursts:,} bursts{'' if done.lost else '; nothing that was measured is lost'}")
    note(f"run: {done.path}")
    return EXIT_FOUND if done.lost else EXIT_FINE
