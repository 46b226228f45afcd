"""Scripted figures for decisions: what each algorithm costs in each library is written down by the test."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from perbyte.advise import Asked, Case, Mix
from perbyte.catalogue import load
from perbyte.catalogue.questions import find_question
from perbyte.model import Cell, CellFigure, Conditions, Interval, Machine, NoiseFloor, Policy, Quality, Run

TODAY = datetime.date(2026, 11, 22)
LATE = datetime.date(2036, 6, 1)
SPREAD = (-0.001, 0.0005, 0.0, 0.001, -0.0005)
RUN = Run(
    None,
    Conditions("made-up", "0", "0", 1, "2026-11-22", ("advise", "hash"), Machine(), Policy(), ()),
    (),
)


def figure(cell: Cell, cycles: float, **changes: Any) -> CellFigure:
    """A good figure of `cycles` a call at 2 GHz."""
    given: dict[str, Any] = {
        "cell": cell,
        "library": cell.runner.title(),
        "library_version": "1.0",
        "cycles_per_call": cycles,
        "ns_per_call": cycles / 2,
        "interval": Interval(cycles * 0.998, cycles * 1.002),
        "samples": 400,
        "clean_samples": 390,
        "epochs": 5,
        "epoch_cycles": tuple(cycles * (1 + part) for part in SPREAD),
        "epoch_ns": tuple(cycles * (1 + part) / 2 for part in SPREAD),
        "calls_per_sample": 10,
        "quality": Quality.GOOD,
        "cycle_source": "probe",
    }
    return CellFigure(**(given | changes))


def case(
    question: str,
    costs: Mapping[str, float],
    *,
    task: int = 0,
    setup: float = 0.0,
    mix: Mix | None = None,
    **more: Any,
) -> Case:
    """The case of a task in which `library/algorithm` costs so many cycles a byte, and `setup` cycles a call more.

    `+soft` behind it means the tier soft. Where work has no data, the cost is that of a call.
    """
    asked = find_question(question).tasks[task]
    mix = mix or Mix(asked.sizes)
    figures = []
    for name, cost in costs.items():
        path, _, cpu = name.partition("+")
        runner, algorithm = path.split("/")
        for operation in asked.operations(load().algorithms[algorithm]):
            for size in mix.sizes:
                cell = Cell(runner, algorithm, operation, size, asked.contract, cpu or "full")
                data = 1 if asked.contract.startswith(("pk/", "password/")) else size
                figures.append(figure(cell, setup + cost * data))
    asks = {name: more.pop(name) for name in ("profile", "date", "volume_bytes") if name in more}
    given = Case(asked, Asked(**({"date": TODAY} | asks)), tuple(figures), load(), mix, NoiseFloor(0.002, ()))
    return replace(given, **more)
