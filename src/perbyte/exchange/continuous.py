"""A run in the formats of tools that watch speed over time: benchfmt (benchstat), Bencher, github-action-benchmark.

Each holds less than a run does. benchfmt gets a line for each epoch, so that benchstat sees their spread; the others
get the figure and, where their format has room for one, its interval.
"""

from __future__ import annotations

import re
from typing import Any

from perbyte.model import CellFigure, Run
from perbyte.model.cell import LOOP


def to_benchfmt(run: Run) -> str:
    """Lines as `go test -bench` prints them, one for each epoch: ns/op, and B/s and cycles/op where there are such."""
    machine = run.conditions.machine
    head = [("goos", "linux"), ("goarch", machine.architecture), ("cpu", machine.cpu_model)]
    lines = [f"{key}: {_plain(value)}" for key, value in head if value]
    # no key that differs from run to run: benchstat would not compare them
    lines += ["unit cycles/op better=lower", ""]
    for figure in run.cells:
        for index, ns in enumerate(figure.epoch_ns):
            if not ns > 0:
                continue
            words = [_name(figure), str(max(figure.calls_per_sample, 1)), f"{ns:.6g} ns/op"]
            if figure.cell.size_bytes:
                words.append(f"{figure.cell.size_bytes / ns * 1e3:.6g} MB/s")
            if index < len(figure.epoch_cycles):
                words.append(f"{figure.epoch_cycles[index]:.6g} cycles/op")
            lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def to_bencher(run: Run) -> dict[str, Any]:
    """Bencher Metric Format: by address the measures `latency` (ns), `throughput` (bytes/s) and `cycles`, with ends."""
    report: dict[str, Any] = {}
    for figure in run.cells:
        measures = {"latency": _measure(figure, figure.ns_per_call)}
        if figure.cell.size_bytes and figure.ns_per_call > 0:
            rate = figure.cell.size_bytes / figure.ns_per_call * 1e9
            measures["throughput"] = {"value": rate}
        if figure.cycles_per_call is not None:
            measures["cycles"] = _measure(figure, figure.cycles_per_call)
        report[figure.cell.address] = measures
    return report


def to_action(run: Run) -> list[dict[str, Any]]:
    """A list for github-action-benchmark, tool `customSmallerIsBetter`: cycles per call, ns where there are none."""
    entries = []
    for figure in run.cells:
        entry: dict[str, Any] = {
            "name": figure.cell.address,
            "unit": "ns/call" if figure.cycles_per_call is None else "cycles/call",
            "value": figure.per_call,
        }
        if figure.interval.known:
            entry["range"] = f"± {100 * figure.relative_half_width:.2g} %"
        entries.append(entry)
    return entries


def _measure(figure: CellFigure, value: float) -> dict[str, float]:
    measure = {"value": value}
    if figure.interval.known and figure.per_call > 0:
        measure["lower_value"] = value * figure.interval.low / figure.per_call
        measure["upper_value"] = value * figure.interval.high / figure.per_call
    return measure


def _name(figure: CellFigure) -> str:
    """A name as benchfmt wants it: no blanks, keys as /key=value."""
    cell = figure.cell
    parts = [f"runner={cell.runner}", f"algorithm={cell.algorithm}", f"operation={cell.operation}"]
    parts += [f"size={cell.size_bytes}", f"contract={cell.contract.replace('/', '.')}", f"cpu={cell.cpu}"]
    parts += [f"state={cell.state}"] if cell.state != LOOP else []
    return "Benchmark" + "/".join(["Perbyte", *(re.sub(r"\s+", "_", part) for part in parts)])


def _plain(text: str) -> str:
    return " ".join(str(text).split())
