"""Does the time of a user's own function depend on secrets: checked first, then by time or under Valgrind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte.app.leaking import BUDGET_S, draw_cases, find_leaks
from perbyte.app.trying.trial import NoFigure, Trial
from perbyte.errors import EXIT_INCORRECT, UsageError
from perbyte.model import Cell, Policy

if TYPE_CHECKING:
    from perbyte.measure.leaks import LeakCase
    from perbyte.model.run import LeakRun

TAINT = "taint"
SIZES = (64,)


def find_own_leaks(trial: Trial, how: str, budget_s: float | None, **heard: Any) -> tuple[LeakRun, Path]:
    """Look whether the time depends on secrets, with `taint` where branches and addresses do; the run and its place.

    `heard` is what `app.leaking.find_leaks` is told. Raises NoFigure for a program that is wrong, UsageError where
    nothing is secret or the language is not one of C, C++, assembly and Rust.
    """
    from perbyte.measure import survey
    from perbyte.trial.bench import sizes_for
    from perbyte.trial.subject import managed
    from perbyte.trial.taint import require_memcheck, taint_of

    if managed(trial.asked.files):
        raise UsageError("--leak looks at C, C++, assembly and Rust only")
    if how == TAINT:
        require_memcheck()
        trial.flags = [(*flags, "-g") for flags in trial.flags]  # lines; the code stays as it is
    specs, algorithm, policy = trial.build(), trial.asked.algorithm, Policy(gentle=trial.gentle)
    usual = sizes_for(algorithm, trial.sizes)
    bench = trial.bench(specs, [], usual if trial.sizes or len(usual) < 3 else SIZES, policy)
    if faults := bench.check():
        raise NoFigure(EXIT_INCORRECT, faults)
    surveyed = survey(specs, ["full"])
    cells = _one_contract_each(bench.cells(surveyed))
    cases: list[LeakCase] = []
    taint = []
    if how == TAINT:
        for spec in specs:
            for cell in (cell for cell in cells if cell.runner == spec.name):
                trial.listener.say(f"memcheck: {cell.address}")
                taint += taint_of(spec, cell, algorithm, trial.asked.files)
    else:
        cases, _ = draw_cases(cells, None, (False, True))
    if not taint and not cases:
        raise UsageError(f"{algorithm.id}: no operation here works on a secret")
    budget_s = budget_s or BUDGET_S * len(cases)
    return find_leaks(cases, surveyed, policy, budget_s=budget_s, taint=taint, check=False, **heard)


def _one_contract_each(cells: Iterable[Cell]) -> list[Cell]:
    """Of an operation under several contracts the one that sets no key in the call, where there is one."""
    first: dict[Cell, Cell] = {}
    for cell in sorted(cells, key=lambda cell: cell.contract == "rekey/1"):
        first.setdefault(replace(cell, contract=""), cell)
    return list(first.values())
