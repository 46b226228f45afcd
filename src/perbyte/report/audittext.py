"""What the audit saw of cells, and by which numbers it decided: each look with its control, and the limits of the run.

The looks are kept with a run, also of cells that were refused. Times are nanoseconds per call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from perbyte.model import Audit, Cell, CellFigure, Doubt, Failure, StoredRun
from perbyte.model.text import plain
from perbyte.stats.audit import time_limits, time_shares
from perbyte.stats.newdata import Surroundings, control_noise, limits, middle, surroundings, work_of

_DOUBTS = (Doubt.AUDIT, Doubt.THREADS, Doubt.UNCHAINED)
MARKED = "marked"  # in place of cells: all of which the audit has something to say


def explained(stored: StoredRun, figures: Sequence[CellFigure], cells: str) -> list[dict[str, Any]]:
    """What there is to say of the cells that `cells` means: a pattern of addresses, or `marked`."""
    audits: dict[Cell, list[Audit]] = defaultdict(list)
    for audit in stored.audits:
        audits[audit.cell].append(audit)
    words = {figure.cell.address: _doubts(figure) for figure in figures}
    for failure in stored.failures:
        words.setdefault(failure.address, []).insert(0, _refusal(failure))
    return [
        _explain(cell, looks, words.get(cell.address, []), surroundings(audits, without=cell.runner))
        for cell, looks in sorted(audits.items())
        if (bool(words.get(cell.address)) if cells == MARKED else fnmatchcase(cell.address, cells))
    ]


def explanation_lines(told: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The same as text."""
    if not told:
        yield "the audit has nothing to say of such cells"
    for each in told:
        yield each["cell"]
        yield from (f"  {plain(text, 600)}" for text in each["said"] or ["nothing is marked"])
        yield f"  limits here: {', '.join(f'{name} {value:.3g}' for name, value in each['limits'].items())}"
        for epoch in each["epochs"]:
            looked = ", ".join(f"{name} {_text(value)}" for name, value in epoch.items() if name != "epoch")
            yield f"  epoch {epoch['epoch'] + 1}: {looked}"


def _text(value: object) -> str:
    if isinstance(value, str):
        return plain(value, 300)
    numbers = value if isinstance(value, list) else [value]
    shown = " ".join(f"{number:.4g}" for number in numbers[:12])
    return shown + (f" and {len(numbers) - 12} more" if len(numbers) > 12 else "")


def _doubts(figure: CellFigure) -> list[str]:
    return [warning.text for warning in figure.warnings if warning.kind in _DOUBTS]


def _refusal(failure: Failure) -> str:
    return f"{failure.kind}: {failure.message}"


def _explain(cell: Cell, looks: Sequence[Audit], words: list[str], around: Surroundings) -> dict[str, Any]:
    near, far = limits(around.spread)
    time_near, time_far = time_limits(around)
    work = {
        of_epoch.epoch: of_epoch for of_epoch in work_of([look for look in looks if look.claimed_ns], around)
    }
    return {
        "cell": cell.address,
        "said": words,
        "limits": {
            "calls on new data marked above 1 +": near,
            "refused above 1 +": far,
            "CPU time marked above 1 +": time_near,
            "refused above 1 + ": time_far,
            "a neighbour slows by": around.slowed,
            "at the most": around.most_slowed,
            "noise of controls": control_noise(looks),
        },
        "epochs": [_epoch(look, work.get(look.epoch)) for look in looks],
    }


def _epoch(look: Audit, work: Any) -> dict[str, Any]:
    """The numbers of an epoch that decide, those that there are."""
    told: dict[str, Any] = {
        "said": look.claimed_ns,
        "CPU time": look.cpu_ns,
        "CPU time over said": time_shares([look])[0],
        "with new data": look.chained_ns,
        "its control": look.control_ns,
        "left over a timed call, all allowed for": [round(value, 4) for value in work.beyond] if work else [],
        "the most allowed for": [round(value, 4) for value in work.far] if work else [],
        "with recurring data": look.repeated_ns,
        "as in the rounds": look.like_rounds,
        "on shorter data": [x - k for x, k in zip(look.shorter_ns, look.shorter_control_ns, strict=True)],
        "on fresh material, times": look.fresh,
        "the least clean call": [look.clean_ns] if look.clean_ns else [],
        "compared with others": [float(look.compared)] if look.compared >= 0 else [],
    }
    words = {
        "not compared": look.uncompared,
        "no chains": look.unchained,
        "wrong": look.wrong,
        "no look": look.problem,
        "elsewhere": look.elsewhere,
    }
    clock = [a / b for a, b in zip(look.clock_hz, look.own_hz, strict=True) if a > 0 and b > 0]
    told["clock over Perbyte's own"] = [middle(clock)] if clock else []
    return {"epoch": look.epoch} | {name: value for name, value in (told | words).items() if value}
