"""What checks of runners say: broken promises by section, what an audit from outside saw, whether outputs are equal.

Complaints are those of `runners.conform`, an audited runner is an outcome of `app.auditing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from perbyte import places
from perbyte.model.text import counted, plain
from perbyte.report.listing import Listing, columns

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
    """The headings of the specification by number."""
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
