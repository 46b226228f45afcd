"""Draw places for the cells of a run, and keep what they tell beside its figures: what `--places` does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from perbyte.app.conducting import Conducted
from perbyte.app.listener import NOBODY, Listener
from perbyte.locks import cores_held
from perbyte.model import Cell, Run
from perbyte.model.text import counted, plain
from perbyte.runners import RunnerSpec


def with_places(
    done: Conducted, *, runners: Collection[RunnerSpec] = (), listener: Listener = NOBODY
) -> Conducted:
    """The same with how the cost of its cells is spread over places. `runners`: those that are not known."""
    cells = [figure.cell for figure in done.run.cells if figure.cell.usual]
    return replace(done, run=place_run(done.run, cells, runners=runners, listener=listener))


def place_run(
    run: Run, cells: Sequence[Cell], *, runners: Collection[RunnerSpec] = (), listener: Listener = NOBODY
) -> Run:
    """The run with how the cost of `cells` is spread over places, written beside its figures where it is stored.

    An interruption gives the run back as it is.
    """
    from perbyte.measure import choose_cores
    from perbyte.measure.cores import kept_awake
    from perbyte.measure.machine import step_aside
    from perbyte.measure.placement import CELL_S, PlaceDrawing
    from perbyte.runners import find
    from perbyte.store.beside import write_placements

    own = {spec.name: spec for spec in runners}
    specs = {name: own.get(name) or find(name) for name in dict.fromkeys(cell.runner for cell in cells)}
    policy = run.conditions.policy
    cores = policy.cores or choose_cores(())

    what = f"perbyte {' '.join(run.conditions.command)}"
    listener.say(f"drawing places: {counted(len(cells), 'cell')}, at most {CELL_S:g} s each")
    awake = () if policy.gentle else specs.values()
    try:
        with cores_held(cores, what, waiting=listener.waiting), kept_awake(awake, cores):
            step_aside(cores)
            placements = PlaceDrawing(specs, policy, cores).take(cells)
    except KeyboardInterrupt:
        listener.urgent("interrupted: the figures are kept, places are not")
        return run
    for placement in placements:
        if placement.unknown:
            listener.say(f"no places: {placement.cell.address}: {plain(placement.unknown, 300)}")
    if run.path:
        write_placements(run.path, run.conditions.run_id, placements)
    return replace(run, placements=placements)
