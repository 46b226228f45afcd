"""`perbyte try FILE --leak`: one's own function, checked first, then by time or under Valgrind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from perbyte.app.leaking import BUDGET_S, draw_cases, find_leaks, leak_code
from perbyte.app.trying.bench import Bench
from perbyte.cli.conduct import hands
from perbyte.cli.leaking import heard, print_leaks, read_failing
from perbyte.cli.options import note
from perbyte.errors import EXIT_INCORRECT, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from perbyte.cli.try_trial import Trial
    from perbyte.measure.leaks import LeakCase
    from perbyte.model import Cell

TAINT = "taint"
SIZES = (64,)


def try_leak(trial: Trial, how: str, fail_on: Sequence[str] | None, budget_s: float | None) -> int:
    """Look whether the time depends on secrets; with `taint` where branches and addresses do."""
    from perbyte.measure import survey
    from perbyte.model import Policy
    from perbyte.trial.bench import sizes_for
    from perbyte.trial.subject import managed
    from perbyte.trial.taint import require_memcheck, taint_of

    failing = read_failing(fail_on)
    if managed(trial.asked.files):
        raise UsageError("--leak looks at C, C++, assembly and Rust only")
    if how == TAINT:
        require_memcheck()
        trial.flags = [(*flags, "-g") for flags in trial.flags]  # lines; the code stays as it is
    specs = trial.build()
    algorithm = trial.asked.algorithm
    usual = sizes_for(algorithm, trial.sizes)
    sizes = usual if trial.sizes or len(usual) < 3 else SIZES
    policy = Policy(gentle=trial.gentle)
    bench = Bench(specs, [], algorithm, sizes, policy, trial.patience_s, **hands(quiet=trial.quiet))
    if faults := bench.check():
        trial.tell_faults(faults)
        return EXIT_INCORRECT
    surveyed = survey(specs, ["full"])
    cells = _one_contract_each(bench.cells(surveyed))
    told = []
    if how == TAINT:
        for spec in specs:
            for cell in (cell for cell in cells if cell.runner == spec.name):
                note(f"memcheck: {cell.address}", quiet=trial.quiet)
                told += taint_of(spec, cell, algorithm, trial.asked.files)
        if not told:
            raise UsageError(f"{algorithm.id}: no operation here works on a secret")
        cases: list[LeakCase] = []
    else:
        cases, _ = draw_cases(cells, None, (False, True))
        if not cases:
            raise UsageError(f"{algorithm.id}: no operation here works on a secret")
    run, place = find_leaks(
        cases,
        surveyed,
        policy,
        budget_s=budget_s or BUDGET_S * len(cases),
        taint=told,
        check=False,
        **heard(quiet=trial.quiet),
    )
    print_leaks(run, as_json=trial.as_json)
    note(f"run: {place}  (perbyte show {place.name})", quiet=trial.quiet)
    return leak_code(run, failing)


def _one_contract_each(cells: Iterable[Cell]) -> list[Cell]:
    """Of an operation under several contracts the one that sets no key in the call, where there is one."""
    first: dict[Cell, Cell] = {}
    for cell in sorted(cells, key=lambda cell: cell.contract == "rekey/1"):
        first.setdefault(replace(cell, contract=""), cell)
    return list(first.values())
