"""The second half of `perbyte conform`: a short run of one runner, so that it is audited just as `measure` audits it.

No look and no threshold is its own: it draws a plan, lets the run measure and audit it, and says what the audit saw.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perbyte.app.conducting import AUDIT_VARIABLE, conduct_plan
from perbyte.app.listener import Say, silent
from perbyte.catalogue import load
from perbyte.measure import Plan, survey
from perbyte.measure.machine import require_linux
from perbyte.measure.plan import default_sizes
from perbyte.model import NOT_REACHED, Audit, Cell, Doubt, Policy
from perbyte.runners import RunnerSpec, find, not_built
from perbyte.runners.conform import Complaint, conform
from perbyte.stats.audit_summary import Seen, sum_up_audits
from perbyte.store import stored_run

EPOCHS = 5  # as in a run of `measure`: chains in two of them, and a clock is looked at in each
BUDGET_S = 20.0
ENOUGH = 0.5  # precision at which a cell is done: no figure of this run is shown
_DOUBTS = (Doubt.AUDIT, Doubt.UNCHAINED, Doubt.THREADS)


@dataclass(frozen=True, slots=True)
class AuditOutcome:
    """What the audit of a runner gave. `why_not`: why there was none; `cells` are the addresses looked at."""

    why_not: str = ""
    cells: tuple[str, ...] = ()
    seen: Seen | None = None
    refused: tuple[tuple[str, str, str], ...] = ()  # address, kind and message
    doubts: tuple[tuple[str, str], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a runner keeps the protocol in a tier: complaints, found in `seconds`, and what an audit gave."""

    cpu: str
    complaints: Sequence[Complaint]
    seconds: float
    audited: AuditOutcome

    @property
    def broken(self) -> bool:
        """Whether a rule is broken, or a figure refused."""
        return bool(self.complaints or self.audited.refused)


def ready_runner(name: str, cpus: Sequence[str]) -> RunnerSpec:
    """The runner of that name. Raises UsageError for an unknown name or tier, EnvironmentLacking if it is not built."""
    spec = find(name)
    if spec.built and not spec.out().is_dir():
        raise not_built(name)
    for cpu in cpus:
        spec.tier(cpu)
    return spec


def check_tier(
    spec: RunnerSpec, cpu: str, *, every: bool = True, seed: int = 1, say: Say = silent
) -> Checked:
    """Check a runner against every rule of the protocol, as `runners.conform.conform`, and audit it."""
    label, began = f"{spec.name}, {cpu}: ", time.monotonic()
    complaints = conform(spec, cpu=cpu, every=every, seed=seed, tell=lambda what: say(label + what))
    took_s = time.monotonic() - began
    say(f"{label}audit")
    return Checked(cpu, complaints, took_s, audit_runner(spec, cpu, seed))


def audit_runner(spec: RunnerSpec, cpu: str, seed: int) -> AuditOutcome:
    """Measure and audit one operation of each kind that the catalogue knows; `seed` chooses them.

    Raises KeyboardInterrupt when it is interrupted.
    """
    if os.environ.get(AUDIT_VARIABLE) == "off":
        return AuditOutcome(f"{AUDIT_VARIABLE}=off")
    require_linux()
    surveyed = survey([spec], [cpu])
    if (spec.name, cpu) not in surveyed.hellos:
        return AuditOutcome(
            "; ".join(failure.message for failure in surveyed.failures) or "it does not answer"
        )
    cells = _draw(spec.name, cpu, surveyed.operations(spec.name, cpu), seed)
    if not cells:
        return AuditOutcome("none of its operations is in the catalogue")
    policy = Policy(precision=ENOUGH, budget_s=BUDGET_S, epochs=EPOCHS, seed=seed)
    with tempfile.TemporaryDirectory() as temporary:
        done = conduct_plan(Plan(cells), surveyed, policy, out=Path(temporary) / "run", cut=True).whole()
        audits: dict[Cell, list[Audit]] = defaultdict(list)
        for audit in stored_run(done.path).audits:
            if audit.cell in cells:  # and not Perbyte's own loop
                audits[audit.cell].append(audit)
    run = done.run
    costly = [failure for failure in run.failures if failure.kind == NOT_REACHED]
    return AuditOutcome(
        cells=tuple(cell.address for cell in cells if cell in audits),
        seen=sum_up_audits(audits.values()),
        refused=tuple(
            (failure.address or spec.name, failure.kind, failure.message)
            for failure in run.failures
            if failure not in costly
        ),
        doubts=tuple(
            (figure.cell.address, warning.text)
            for figure in run.cells
            for warning in figure.warnings
            if warning.kind in _DOUBTS
        ),
        left_out=tuple((failure.address, failure.message) for failure in costly),
        seconds=run.measuring_s,
    )


def _draw(runner: str, cpu: str, rows: Sequence[Any], seed: int) -> tuple[Cell, ...]:
    """A cell of each kind of operation under each contract."""
    known, rows = load().algorithms, list(rows)
    random.Random(seed).shuffle(rows)
    cells: dict[tuple[str, str], Cell] = {}
    for row in rows:
        if algorithm := known.get(row.algorithm):
            multiple = algorithm.data_multiple_bytes
            size = -(-default_sizes(algorithm)[-1] // multiple) * multiple
            cell = Cell(runner, row.algorithm, row.operation, size, row.contract, cpu)
            cells.setdefault((row.operation, row.contract), cell)
    return tuple(sorted(cells.values()))
