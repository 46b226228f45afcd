"""The conditions of a run in a few plain sentences, the same for the terminal and the HTML file."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable

from perbyte.model import Doubt, Run, Warning
from perbyte.report.units import percent, plain
from perbyte.report.views import failures_by_cause

MEASURED = "measured"
"""The origin of a run that Perbyte measured itself."""


def noise_line(run: Run) -> str:
    """Say under which difference nothing is claimed, and where that figure comes from."""
    if run.noise_floor is None or not run.noise_floor.pairs or not math.isfinite(run.noise_floor.relative):
        return "noise floor: not known, no pair of identical cells was measured"
    count = len(run.noise_floor.pairs)
    pairs = "1 pair" if count == 1 else f"{count} pairs"
    return (
        f"noise floor: {percent(run.noise_floor.relative)} (the largest difference between identical, "
        f"precisely measured cells in {pairs} of processes; no smaller one is claimed)"
    )


def cycle_sources(run: Run) -> dict[str, int]:
    """Count the figures of each cycle source."""
    found: dict[str, int] = {}
    for figure in run.cells:
        found[figure.cycle_source] = found.get(figure.cycle_source, 0) + 1
    return found


_SOURCES = {
    "pmu": "the processor's cycle counter",
    "probe": "tick counter, calibrated by the clock probe around every sample",
    "none": "none that can be trusted, times only",
}


def clock_observed(run: Run) -> str:
    """The core's clock as the figures show it, cycles over time; empty where no figure has cycles.

    Their median, with their range where it is wider than the three decimals of a GHz that are given.
    """
    rates = sorted(
        rate
        for one in run.cells
        if one.cycles_per_call is not None
        and one.ns_per_call > 0
        and 0 < (rate := one.cycles_per_call / one.ns_per_call) < math.inf
    )
    if not rates:
        return ""
    low, middle, high = (f"{rate:.3f}" for rate in (rates[0], statistics.median(rates), rates[-1]))
    return f"{middle} GHz" + (f" ({low} to {high})" if low != high else "")


def tick_rate(run: Run) -> str:
    """The tick counter's rate, the median of the processes' calibrations; empty where there is none."""
    rates = [one.tick_hz for one in run.calibrations if 0 < one.tick_hz < math.inf]
    return f"{statistics.median(rates) / 1e9:.4f} GHz" if rates else ""


def kinds_of(warnings: Iterable[Warning]) -> list[tuple[str, int]]:
    """Each kind of warning once, as (first example, how many), the most frequent first.

    Of warnings without a kind, those that differ in numbers only are one.
    """
    found: dict[tuple[Doubt, str], tuple[str, int]] = {}
    for one in warnings:
        text = plain(one, 300)
        named = one.kind is not Doubt.OTHER
        kind = one.kind, "" if named else re.sub(r"[-+±]?[0-9][0-9.,]*(e[-+]?[0-9]+)?", "#", text)
        first, count = found.get(kind, (text, 0))
        found[kind] = (first, count + 1)
    return sorted(found.values(), key=lambda item: (-item[1], item[0]))


def condition_lines(run: Run) -> list[str]:
    """Machine, cycle source, libraries and the run itself, one sentence a line."""
    conditions, machine = run.conditions, run.conditions.machine
    clock = f", {observed} observed" if (observed := clock_observed(run)) else ""
    where = ", ".join(
        plain(part, 80) for part in (machine.virtualisation, machine.kernel, machine.distribution) if part
    )
    cpu = plain(machine.cpu_model, 80) or "unknown processor"
    lines = [f"machine: {cpu}{clock}" + (f" · {where}" if where else "")]
    sources = cycle_sources(run)
    if sources:
        lines.append(
            "cycles: "
            + "; ".join(
                f"{_SOURCES.get(name, plain(name, 40))}"
                + (f" ({counted(count)})" if len(sources) > 1 else "")
                for name, count in sorted(sources.items())
            )
        )
    if libraries := library_names(run):
        lines.append("libraries: " + ", ".join(libraries))
    clean, taken = clean_share(run)
    if conditions.origin != MEASURED:  # seed and duration would be those of a measurement that never was
        source = plain(conditions.input.get("source", ""), 80)
        lines.append(
            f"run: {plain(conditions.run_id, 60)}, {counted(len(run.cells))}, {plain(conditions.origin, 40)}"
            + (f" from {source}" if source else "")
        )
        return lines
    lines.append(
        f"run: {plain(conditions.run_id, 60)}, {counted(len(run.cells))}"
        + (f", {clean:,} of {taken:,} samples clean ({clean / taken:.0%})" if taken else "")
        + f", {run.measuring_s:.1f} s of measuring, seed {conditions.policy.seed}"
        + ("" if run.complete else "; INTERRUPTED: what was measured until then")
    )
    return lines


def counted(cells: int) -> str:
    """Write a number of cells: `1 cell`, `208 cells`."""
    return "1 cell" if cells == 1 else f"{cells:,} cells"


def library_names(run: Run) -> list[str]:
    """Each library with its version, once, in alphabetical order."""
    found = {(one.library, one.library_version) for one in run.conditions.identities}
    found |= {(one.library, one.library_version) for one in run.cells}
    return [f"{plain(name, 40)} {plain(version, 40)}".strip() for name, version in sorted(found) if name]


def clean_share(run: Run) -> tuple[int, int]:
    """Clean samples and all samples of the run."""
    return sum(one.clean_samples for one in run.cells), sum(one.samples for one in run.cells)


def failure_lines(run: Run) -> list[str]:
    """One line for each cause of missing figures; nothing for what a library simply does not have."""
    lines = []
    for failure, count in failures_by_cause(run):
        if failure.kind == "unsupported":
            continue
        cells = f" ({counted(count)})" if count > 1 else ""
        what = plain(failure.address if count == 1 else failure.runner, 100)
        line = f"{what}: {plain(failure.kind, 20)}{cells}: {plain(failure.message, 300)}"
        if failure.expected or failure.got:
            line += f"; expected {plain(failure.expected, 72)}, got {plain(failure.got, 72)}"
        lines.append(line)
    return lines
