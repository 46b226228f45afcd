"""What any import makes of a text: figures without samples, and a run that says where it is from."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

from perbyte import __version__
from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.model import (
    Cell,
    CellFigure,
    Conditions,
    Failure,
    Interval,
    Machine,
    Policy,
    Quality,
    Run,
    RunnerIdentity,
    Warning,
)
from perbyte.model.cell import FULL
from perbyte.model.text import plain

IMPORTED = "imported"
MOST_CELLS = 20_000


def imported_figure(
    cell: Cell,
    ns: float,
    *,
    library: str,
    version: str = "",
    interval: Interval | None = None,
    calls: int = 0,
    warnings: Sequence[Warning] = (),
) -> CellFigure:
    """A figure of `ns` nanoseconds per call; without `interval` nobody knows its spread. `calls` made one sample."""
    return CellFigure(
        cell=cell,
        library=library,
        library_version=version,
        cycles_per_call=None,
        ns_per_call=ns,
        interval=interval or Interval(0.0, math.inf, dominated_by="unknown"),
        samples=0,
        clean_samples=0,
        epochs=1,
        epoch_cycles=(),
        epoch_ns=(ns,),
        calls_per_sample=calls,
        quality=Quality.IMPRECISE,
        cycle_source="none",
        warnings=tuple(warnings),
    )


def imported_identity(
    runner: str, library: str, cpu: str = FULL, version: str = "", compiler: str = "", features: str = ""
) -> RunnerIdentity:
    """Whom the rows of `runner` are of, as far as a text tells it; `features` are the CPU's."""
    return RunnerIdentity(runner, cpu, library, version, "", compiler, "", "", "", features, "")


def imported_run(
    name: str,
    form: str,
    source: str,
    figures: Sequence[CellFigure],
    *,
    identities: Sequence[RunnerIdentity],
    missing: Sequence[str] = (),
    remarks: Sequence[str] = (),
    line: int | None = None,
    plan: Sequence[Cell],
    command: tuple[str, ...] = (),
    machine: Machine | None = None,
    failures: Sequence[Failure] = (),
) -> Run:
    """A run called `name` of what the tool `form` wrote, not stored anywhere yet.

    `source` says where the text came from, `line` where in it the listing begins. `missing` is what it lacks, `remarks`
    what is said of it besides. `plan` are the cells of all figures and failures. Raises UsageError for too many.
    """
    if len(plan) > MOST_CELLS:
        raise UsageError(
            f"{plain(source or name, 200)} has {len(plan):,} results, more than the {MOST_CELLS:,} that a run may have",
            hint="cut the listing into parts",
        )
    begins = {} if line is None else {"line": line}
    told = {"format": form, "source": source, **begins}
    told["imported_at"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    conditions = Conditions(
        run_id=name,
        perbyte_version=__version__,
        catalogue_version=load().version,
        protocol_version=0,
        started_at="",
        command=command,
        machine=machine or Machine(),
        policy=Policy(),
        plan=tuple(cell.address for cell in plan),
        identities=tuple(identities),
        input={**told, "missing": list(missing), "remarks": list(remarks)},
        origin=IMPORTED,
    )
    return Run(
        path=None, conditions=conditions, cells=tuple(figures), failures=tuple(failures), complete=not missing
    )
