"""A run that looked whether times depend on secrets: under which conditions, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perbyte.model.leak import LeakFigure
from perbyte.model.run import Failure, Machine, RunnerIdentity


@dataclass(frozen=True, slots=True)
class LeakRun:
    """A whole run: when, where, by which command, and what was found. `alpha` is the rate of false alarms of a row."""

    run_id: str
    started_at: str
    perbyte_version: str
    command: tuple[str, ...]
    machine: Machine
    cores: tuple[int, ...]
    seed: int
    budget_s: float
    alpha: float
    identities: tuple[RunnerIdentity, ...]
    figures: tuple[LeakFigure, ...]
    failures: tuple[Failure, ...]
    taint: tuple[dict[str, Any], ...] = ()
