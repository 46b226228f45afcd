"""What checks of runners say: broken promises by section, what the audit saw of cells, whether outputs are equal.

Complaints are those of `runners.conform`, an audited runner is an outcome of `app.auditing`. What the audit saw is kept
with a run, also of cells that were refused; times are nanoseconds per call.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from perbyte import places
from perbyte.model import Audit, Cell, CellFigure, Doubt, StoredRun
from perbyte.model.text import counted, plain
from perbyte.report.listing import Listing, columns
from perbyte.stats.audit import time_limits, time_shares
from perbyte.stats.newdata import Surroundings, control_noise, limits, middle, surroundings, work_of

_UNPROVED = (
    "Not proved: other operations and sizes than these; outputs without a known answer, since no other library was "
    "asked; that the runner does not tell the audit from the rounds, or cuts less than the audit tells from noise "
    "(docs/trust.md lists what was not seen)."
)


def checked_lines(name: str, checked: Any, *, quick: bool) -> Iterator[str]:
    """What an `app.auditing.Checked` says of the runner `name`."""
    yield from verdict_lines(f"{name}, tier {checked.cpu}", checked.complaints, quick, checked.seconds)
    yield from audit_lines(checked.audited)


def checked_json(name: str, checked: Any) -> dict[str, Any]:
    """The same for programs."""
    return {"runner": name, "cpu": checked.cpu, "complaints": checked.complaints, "audit": checked.audited}


def replay_lines(label: str, file: str, complaints: Sequence[str] | None) -> Iterator[str]:
    """What went otherwise than in a transcript."""
    text = "is not meant for it" if complaints is None else "does not hold:" if complaints else "holds"
    yield f"{label}: {plain(file)} {text}"
    for what in complaints or ():
        yield f"  {plain(what)}"


def verdict_lines(label: str, complaints: Sequence[Any], quick: bool, took_s: float) -> Iterator[str]:
    """Whether every promise of the protocol is kept, or which are not, by sections of the specification."""
    what = "an operation of each kind" if quick else "all operations"
    if not complaints:
        yield f"{label}: keeps every promise of protocol/SPEC.md ({what}, {took_s:.1f} s)"
        return
    promises = counted(len(complaints), "promise is", "promises are")
    yield f"{label}: {promises} not kept ({what}, {took_s:.1f} s)"
    titles = _sections()
    for section in sorted({complaint.section for complaint in complaints}):
        yield f"  SPEC.md, section {section}: {titles.get(section, '')}".rstrip(": ")
        for complaint in complaints:
            if complaint.section == section:
                yield f"    - {plain(complaint.what, 2000)}"


def _sections() -> dict[int, str]:
    text = (places.data_dir("protocol") / "SPEC.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\d+)\. (.+)$", text, re.MULTILINE)
    return {int(number): title.replace("`", "") for number, title in headings}


def audit_lines(audited: Any) -> Iterator[str]:
    """What people are told, line by line: each check, what was refused, and what stays unproved."""
    seen = audited.seen
    if audited.why_not or not seen:
        yield f"  not audited from outside: {plain(audited.why_not, 300)}"
        return
    size = f"operations: {len(audited.cells)}, looks: {seen.looks}, {audited.seconds:.1f} s"
    yield f"  audited from outside as in a run of `measure` ({size})"
    if seen.looks:
        yield f"    time      the kernel's CPU time is {_span(seen.time)} times what the runner says"
        yield f"    new data  a call on data never seen before costs {_span(seen.new_data)} times a timed one"
        yield f"    place     threads at work: {_span(seen.threads)}; other processes: {seen.children or 'none'}"
        clock = f"{_span(seen.clock)} times the rate of Perbyte's own probe"
        yield f"    clock     {clock if seen.clock else 'not compared: no clock probe, or none beside it'}"
    for address, kind, message in audited.refused:
        yield f"    REFUSED ({kind}) {plain(address)}: {plain(message, 1000)}"
    for address, text in audited.doubts:
        yield f"    doubt: {plain(address)}: {plain(text, 1000)}"
    for address, text in audited.left_out:
        yield f"    left out: {plain(address)}: {plain(text)}"
    yield f"  {_UNPROVED}"


def _span(values: tuple[float, float] | None) -> str:
    if values is None:
        return "(unknown)"
    low, high = (f"{value:.2f}" for value in values)
    return low if low == high else f"{low} to {high}"


_HEADS = columns("algorithm | runners:n | libraries:n | tiers:n | cells:n | known answers:n | outputs")


def agreement_listing(agreement: Any) -> Listing:
    """A row for each algorithm of an `app.agreeing.Agreement`."""
    rows = []
    for each in agreement.algorithms:
        counts = (len(each.runners), len(each.libraries), each.tiers, each.cells, each.answers)
        rows.append((each.algorithm, *counts, _outputs(each)))
    return Listing("", _HEADS, rows)


def _outputs(each: Any) -> str:
    if each.failures:
        return f"{len(each.failures)} DIFFER"
    if each.compared:
        return "equal"
    return "right by known answers" if each.answers else "alone: only the round trip"


def agreement_lines(agreement: Any) -> Iterator[str]:
    """What differs and what could not be asked, and the sums."""
    for each in agreement.algorithms:
        for failure in each.failures:
            yield f"{plain(failure.address)}: {failure.kind}: {plain(failure.message, 400)}"
            if failure.expected:
                yield f"  expected {plain(failure.expected, 80)}"
                yield f"  got      {plain(failure.got, 80)}"
    for failure in agreement.absent:
        yield f"{plain(failure.runner)} was not asked: {plain(failure.message, 400)}"
    algorithms: Sequence[Any] = agreement.algorithms
    cells = sum(each.cells for each in algorithms)
    lone = sum(not each.compared for each in algorithms)
    yield (
        f"{counted(len(algorithms), 'algorithm')}, {counted(agreement.runners, 'runner')}: {counted(cells)} right, "
        f"{agreement.compared} outputs compared, {sum(len(each.failures) for each in algorithms)} differ; "
        f"{lone} with no other output to compare ({agreement.seconds:.0f} s)"
    )


_DOUBTS = (Doubt.AUDIT, Doubt.THREADS, Doubt.UNCHAINED)
MARKED = "marked"  # in place of cells: all of which the audit has something to say


def explained(stored: StoredRun, figures: Sequence[CellFigure], cells: str) -> list[dict[str, Any]]:
    """What there is to say of the cells that `cells` means: a pattern of addresses, or `marked`."""
    audits: dict[Cell, list[Audit]] = defaultdict(list)
    for audit in stored.audits:
        audits[audit.cell].append(audit)
    words = {
        figure.cell.address: [warning.text for warning in figure.warnings if warning.kind in _DOUBTS]
        for figure in figures
    }
    for failure in stored.failures:
        words.setdefault(failure.address, []).insert(0, f"{failure.kind}: {failure.message}")
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
