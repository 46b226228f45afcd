"""Frozen values that all packages share: cells, samples, calibrations, figures, conditions.

The measuring half and the reading half of Perbyte never import each other; they meet here. Nothing in this
package computes, reads or prints, and it needs the standard library only. Units: ticks of the time-stamp
counter and core cycles are never mixed; times are seconds unless a name says otherwise; sizes are bytes.
"""

from perbyte.model.algorithm import Algorithm, Contract, KnownAnswer
from perbyte.model.behaviour import Behaviour, Counted
from perbyte.model.cell import Cell, Process, Row, parse_address
from perbyte.model.figure import CellFigure, Doubt, Estimate, Interval, NoiseFloor, Quality, Quantile, Warning
from perbyte.model.run import (
    NOT_REACHED,
    WRONG,
    Conditions,
    Failure,
    Machine,
    Policy,
    Run,
    RunnerIdentity,
    Sink,
    StoredRun,
    UnprovenTier,
)
from perbyte.model.sample import Audit, Burst, Calibration, Flag, KnownProbe

__all__ = [
    "NOT_REACHED",
    "WRONG",
    "Algorithm",
    "Audit",
    "Behaviour",
    "Burst",
    "Calibration",
    "Cell",
    "CellFigure",
    "Conditions",
    "Contract",
    "Counted",
    "Doubt",
    "Estimate",
    "Failure",
    "Flag",
    "Interval",
    "KnownAnswer",
    "KnownProbe",
    "Machine",
    "NoiseFloor",
    "Policy",
    "Process",
    "Quality",
    "Quantile",
    "Row",
    "Run",
    "RunnerIdentity",
    "Sink",
    "StoredRun",
    "UnprovenTier",
    "Warning",
    "parse_address",
]
