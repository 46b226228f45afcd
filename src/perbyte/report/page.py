"""What the HTML file shows of a run, as plain text in rows: the template only lays it out.

Every string that comes from a run passes `plain` here; escaping is the template's business.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from typing import Any

from perbyte.model import Machine, Quality, Run
from perbyte.model.cell import FULL
from perbyte.report.conditions import clean_share, library_names
from perbyte.report.points import Names
from perbyte.report.units import Reading, Unit, number, percent, plain, read, size_label
from perbyte.report.views import Entry, Mark, Place, Row, Table, failed_cells

_UNITS = (Unit.CYCLES_PER_BYTE, Unit.MEGABYTES_PER_SECOND, Unit.NS_PER_CALL, Unit.CYCLES_PER_CALL)
_BAD = ("incorrect", "crashed", "timed-out", "garbled", "refused")
_CLASSES = {Place.FASTEST: " fast", Place.TIED: " tie", Place.NONE: ""}
_QUALITIES = {
    Quality.GOOD: "clean samples, precision reached",
    Quality.IMPRECISE: "clean samples, but the interval is wider than asked for",
    Quality.LONG: "one call outlasts a sample, so the sample could not be kept short",
    Quality.NOISY: "too few clean samples: the figure comes from disturbed ones as well",
    Quality.UNSETTLED: "an epoch still showed a trend",
}
_COLUMNS = (
    ("algorithm", "text"),
    ("operation", ""),
    ("size", "n"),
    ("library", ""),
    ("tier", ""),
    ("contract", ""),
    ("cycles/byte", "n"),
    ("±", "n"),
    ("cycles/call", "n"),
    ("ns/call", "n"),
    ("MB/s", "n"),
    ("clean", "n"),
    ("epochs", "n"),
    ("quality", ""),
    ("remarks", "text"),
)


def counts(run: Run) -> list[tuple[str, str]]:
    """The few numbers that stand first."""
    good = sum(figure.quality == Quality.GOOD for figure in run.cells)
    clean, taken = clean_share(run)
    algorithms = {figure.cell.algorithm for figure in run.cells}
    floor = run.noise_floor
    measured = any(figure.samples for figure in run.cells) or not run.cells
    first = [
        (f"{len(run.cells):,}", "cells measured" if measured else "cells imported"),
        (f"{len(algorithms):,}", "algorithms"),
        (f"{len(library_names(run)):,}", "libraries"),
    ]
    if not measured:  # another program's: nothing is known of samples and precision
        return first
    return [
        *first,
        (f"{good / len(run.cells):.0%}" if run.cells else "–", "clean and precise"),
        (f"{clean / taken:.0%}" if taken else "–", "samples clean"),
        (percent(floor.relative) if floor and floor.pairs else "–", "noise floor"),
        (f"{run.measuring_s:.0f} s", "of measuring"),
    ]


def table_view(table: Table, names: Names | None = None) -> dict[str, Any]:
    """One results table: heading cells and rows, each entry in every unit."""
    operations: dict[str, int] = {}
    for column in table.columns:
        name = plain(column.operation, 24)
        operations[name] = operations.get(name, 0) + 1
    previous = ""
    rows = []
    for row in table.rows:
        rows.append({**_row(row, table, names or {}), "first": row.title != previous})
        previous = row.title
    return {
        "contract": plain(table.contract, 40),
        "unit": table.unit.value,
        "units": [{"name": unit.value, "chosen": unit is table.unit} for unit in _UNITS],
        "operations": list(operations.items()),
        "columns": [
            {"operation": plain(column.operation, 24), "size": column.size} for column in table.columns
        ],
        "rows": rows,
        "legend": _legend(table),
    }


def _row(row: Row, table: Table, names: Names) -> dict[str, Any]:
    said = names.get((row.algorithm, row.cpu))
    return {
        "title": plain(said or row.title, 60),
        "library": plain(row.runner, 40),
        "more": plain(row.title, 60) if said else "",
        "entries": [_entry(entry, table.unit) for entry in row.entries],
    }


def _entry(entry: Entry, unit: Unit) -> dict[str, str]:
    if entry.figure is None:
        failure = entry.failure
        kind = plain(failure.kind, 20) if failure else ""
        return {
            "every": "",
            "text": "–" if kind == "unsupported" else kind,
            "said": plain(failure.message, 200) if failure else "not asked for",
            "place": " bad" if kind in _BAD else " none",
        }
    readings = [read(entry.figure, one) for one in _UNITS]
    shown = read(entry.figure, unit)
    remarks = [mark.meaning for mark in entry.marks] + [plain(one, 120) for one in entry.figure.warnings]
    return {
        "every": "|".join(f"{_value(one)};{_exact(one)}" for one in readings),
        "text": _value(shown),
        "wide": f"±{percent(shown.relative)}" if shown and math.isfinite(shown.relative) else "",
        "marks": "".join(entry.marks),
        "said": "; ".join(remarks),
        "place": _CLASSES[entry.place],
    }


def _value(reading: Reading | None) -> str:
    return number(reading.value, reading.half_width) if reading else "n/a"


def _exact(reading: Reading | None) -> str:
    return f"{reading.value:.7g}" if reading else ""


def _legend(table: Table) -> list[tuple[str, str]]:
    places = {entry.place for row in table.rows for entry in row.entries}
    among = "of its algorithm in the column" if table.ranked_within == "algorithm" else "in the column"
    found = [("►", f"fastest {among}")] if Place.FASTEST in places else []
    if Place.TIED in places:
        found.append(("=", f"fastest {among}, a tie: no difference can be told"))
    kinds = {entry.failure.kind for row in table.rows for entry in row.entries if entry.failure}
    if "unsupported" in kinds:
        found.append(("–", "the library does not have it"))
    return found + [(str(mark), mark.meaning) for mark in Mark if mark in table.marks()]


def cell_columns() -> tuple[tuple[str, str], ...]:
    """Names of the columns of the list of all cells, each with its class in the style sheet."""
    return _COLUMNS


def cell_rows(run: Run) -> dict[str, Any]:
    """The list of all cells for the page's script: a row per figure and per failure that names a cell.

    A part is text, or a pair (number to sort by, text). Numbers that are not finite become null.
    """
    rows: list[list[Any]] = []
    for figure in run.cells:
        cell = figure.cell
        readings = {unit: read(figure, unit) for unit in _UNITS}
        first = readings[Unit.CYCLES_PER_BYTE] or readings[Unit.CYCLES_PER_CALL] or readings[Unit.NS_PER_CALL]
        clean = figure.clean_samples / figure.samples if figure.samples else 0.0
        rows.append(
            [
                *_names(cell.algorithm, cell.operation, cell.size_bytes, cell.runner, cell.cpu, cell.twin),
                plain(cell.contract, 30),
                _pair(readings[Unit.CYCLES_PER_BYTE]),
                [_finite(first.relative), percent(first.relative)] if first else [None, "–"],
                *(_pair(readings[unit]) for unit in (Unit.CYCLES_PER_CALL, Unit.NS_PER_CALL)),
                _pair(readings[Unit.MEGABYTES_PER_SECOND]),
                [clean, f"{figure.clean_samples} of {figure.samples}"],
                [figure.epochs, str(figure.epochs)],
                plain(figure.quality, 20),
                "; ".join(plain(one, 160) for one in figure.warnings),
            ]
        )
    for cell, failure in failed_cells(run):
        names = _names(cell.algorithm, cell.operation, cell.size_bytes, cell.runner, cell.cpu, cell.twin)
        gap = [None, "–"]
        message = plain(failure.message, 200)
        if failure.expected or failure.got:
            message += f"; expected {plain(failure.expected, 72)}, got {plain(failure.got, 72)}"
        kind = plain(failure.kind, 20)
        rows.append([*names, plain(cell.contract, 30), *([gap] * 5), gap, gap, kind, message])
    return {"kinds": [kind for _, kind in _COLUMNS], "bad": list(_BAD), "rows": rows}


def _names(algorithm: str, operation: str, size: int, runner: str, cpu: str, twin: int) -> list[Any]:
    return [
        plain(algorithm, 60),
        plain(operation, 24),
        [size, size_label(size)],
        plain(runner, 40) + (f" (twin {twin})" if twin else ""),
        "" if cpu == FULL else plain(cpu, 20),
    ]


def _pair(reading: Reading | None) -> list[Any]:
    return [_finite(reading.value), _value(reading)] if reading else [None, "–"]


def _finite(value: float) -> float | None:
    return float(f"{value:.7g}") if math.isfinite(value) else None


def qualities(run: Run) -> list[tuple[str, str, str]]:
    """Quality, its meaning, and how many cells have it."""
    found = Counter(figure.quality for figure in run.cells)
    return [(str(name), said, f"{found[name]:,}") for name, said in _QUALITIES.items() if found[name]]


def warning_counts(run: Run) -> list[tuple[str, int]]:
    """Each kind of warning once, as its first example, the most frequent first; kinds differ by more than numbers."""
    found: dict[str, tuple[str, int]] = {}
    for figure in run.cells:
        for one in figure.warnings:
            text = plain(one, 300)
            kind = re.sub(r"[-+]?[0-9][0-9.,]*(e[-+]?[0-9]+)?", "#", text)
            first, count = found.get(kind, (text, 0))
            found[kind] = (first, count + 1)
    return sorted(found.values(), key=lambda item: (-item[1], item[0]))


def identity_rows(run: Run) -> list[list[str]]:
    """Who answered for each runner and tier, with the hash of what was loaded."""
    return [
        [
            plain(one.runner, 40),
            plain(one.cpu, 20),
            plain(f"{one.library} {one.library_version}", 80),
            plain(one.license, 60),
            plain(f"{one.compiler} {one.flags}", 200),
            plain(one.cpu_features, 200) or "–",
            plain(one.object_path, 200),
            plain(one.object_sha256, 64),
        ]
        for one in run.conditions.identities
    ]


def condition_facts(run: Run) -> list[tuple[str, list[tuple[str, str]]]]:
    """Machine and policy as (heading, [(name, value)]); what is not known is left out."""
    machine, policy, conditions = run.conditions.machine, run.conditions.policy, run.conditions
    hardware = [
        ("processor", machine.cpu_model),
        ("vendor, family", " ".join(part for part in (machine.cpu_vendor, machine.cpu_family) if part)),
        ("microcode", machine.microcode),
        ("architecture", machine.architecture),
        (
            "cores",
            _cores(machine),
        ),
        ("clock observed", f"{machine.core_hz_observed / 1e9:.3f} GHz" if machine.core_hz_observed else ""),
        ("clock, nominal", f"{machine.clock_hz_nominal / 1e9:.3f} GHz" if machine.clock_hz_nominal else ""),
        ("tick counter", f"{machine.tick_hz / 1e9:.4f} GHz" if machine.tick_hz else ""),
        ("caches", ", ".join(machine.caches)),
        ("memory", f"{machine.memory_bytes / 2**30:.1f} GiB" if machine.memory_bytes else ""),
        ("virtualisation", machine.virtualisation),
        ("governor, turbo", ", ".join(part for part in (machine.governor, machine.turbo) if part)),
        ("kernel", machine.kernel),
        ("distribution", machine.distribution),
        ("load before", ", ".join(f"{one:.2f}" for one in conditions.load_before)),
        ("CPU features", " ".join(machine.cpu_flags)),
    ]
    protocol = [
        ("Perbyte", conditions.perbyte_version),
        ("catalogue", conditions.catalogue_version),
        ("protocol", str(conditions.protocol_version)),
        ("precision asked for", f"±{percent(policy.precision)} at the {policy.level:.0%} level"),
        ("epochs", f"{policy.epochs} to {policy.max_epochs} of fresh processes"),
        ("sample, burst", f"{policy.sample_us:g} µs, {policy.burst_samples} samples"),
        (
            "a sample is clean when",
            f"clock probes agree within {percent(policy.clock_tolerance)} and the contention probe is within "
            f"{percent(policy.contention_tolerance)} of its floor, without switch, migration or page fault",
        ),
        ("budget", f"{policy.budget_s:g} s (used {run.measuring_s:.1f} s)"),
        ("core", "chosen by Perbyte" if policy.core < 0 else str(policy.core)),
        ("seed", str(policy.seed)),
        ("input", ", ".join(f"{key}: {value}" for key, value in conditions.input.items())),
        ("origin", conditions.origin),
    ]
    return [
        (heading, [(name, plain(value, 1500)) for name, value in facts if value])
        for heading, facts in (("Machine", hardware), ("How it was measured", protocol))
    ]


def _cores(machine: Machine) -> str:
    threads = f", {machine.threads_per_core} threads each" if machine.threads_per_core > 1 else ""
    return f"{machine.cores}{threads}" if machine.cores else ""


def commands(run: Run) -> list[tuple[str, str]]:
    """What to type to do it again: (sentence, command)."""
    conditions = run.conditions
    seeded = f"--seed {conditions.policy.seed}"
    words = [plain(part, 300) for part in conditions.command] or ["measure"]
    if words[0].rpartition("/")[2] != "perbyte":
        words.insert(0, "perbyte")
    given = shlex.join(words)
    found = [("The command that made this run:", given)]
    if conditions.study:
        study = shlex.quote(plain(conditions.study, 80))
        found.append(("The whole study, its verdicts and figures:", f"perbyte study run {study}"))
    elif "--seed" not in given:
        found.append(("The same order of measuring as here:", f"{given} {seeded}"))
    run_name = shlex.quote(plain(run.path or conditions.run_id, 300))
    found.append(
        (
            "Compare a new run with this one; every figure as CSV; this report:",
            f"perbyte compare {run_name} NEW_RUN\nperbyte show {run_name} --csv\n"
            f"perbyte report {run_name} -o report.html",
        )
    )
    return found
