"""The cores that were tried, side by side: writes the tables of docs/cores.md from the runs of the atlas.

    .venv/bin/python bench/cores.py             write them
    .venv/bin/python bench/cores.py --measure   measure what a core's run has; takes a minute, prints its directory

The atlas is `atlas/` of the repository, what the tables have is in bench/cores.toml. Of a machine's runs the newest
counts. Nothing is measured here but by --measure, and every figure of a table is in a run or in a document.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from answers import Made, told, wrapped

from perbyte.atlas import open_atlas, read_run
from perbyte.atlas.index import Atlas, RunRow
from perbyte.model import CellFigure, Quality, Run
from perbyte.model.cell import FULL
from perbyte.report.studyview import core_name
from perbyte.report.wording import number, ratio_text
from perbyte.stats.compare import compare
from perbyte.stats.quantity import Unit

TOP = Path(__file__).resolve().parents[1]
PAGE = TOP / "docs" / "cores.md"
ATLAS = TOP / "atlas"
CONTENT = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SOFT = "soft"
GAIN = 1.1  # times as fast with instructions: less is not shown
BEHIND = 1.5  # times the fastest library's cost from which on a library is far behind
SLOWER = 1.05  # times the other tier's cost from which on the full one is the wrong path
LONG = 4096  # bytes from which on the length hardly counts
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKED = re.compile(r"(<!-- made: (\w+) -->)\n.*?(<!-- /made -->)", re.DOTALL)


@dataclass(frozen=True)
class Core:
    """A core as the atlas has it: its name, the row of its newest run in the index, and the run."""

    name: str
    row: RunRow
    run: Run

    def figure(self, runner: str, work: str, size: int, cpu: str = FULL) -> CellFigure | None:
        """The figure of a cell, if the run has it."""
        algorithm, _, operation = work.partition("/")
        wanted = (runner, algorithm, operation, size, cpu, 0)
        for figure in self.run.cells:
            cell = figure.cell
            here = (cell.runner, cell.algorithm, cell.operation, cell.size_bytes, cell.cpu, cell.twin)
            if here == wanted:
                return figure
        return None

    def all_of(self, work: str, size: int, cpu: str = FULL) -> list[CellFigure]:
        """The figures of all runners for a work, cheapest first."""
        runners = sorted({figure.cell.runner for figure in self.run.cells})
        figures = [figure for name in runners if (figure := self.figure(name, work, size, cpu))]
        return sorted(figures, key=lambda figure: figure.cycles_per_call or figure.ns_per_call)


def cores(atlas: Atlas) -> list[Core]:
    """The cores in the order of bench/cores.toml. Raises KeyError where a machine has no name there."""
    newest: dict[str, RunRow] = {}
    for row in sorted(atlas.runs.values(), key=lambda row: row.started_at):
        newest[row.machine] = row
    order = list(CONTENT["cores"])
    machines = sorted(newest, key=order.index)
    return [
        Core(CONTENT["cores"][name], newest[name], read_run(atlas, newest[name].key)) for name in machines
    ]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cost_text(figure: CellFigure) -> str:
    """The cost a byte with the digits that its interval supports; in parentheses where the figure is in doubt."""
    size = figure.cell.size_bytes
    half = (figure.interval.high - figure.interval.low) / 2 if figure.interval else 0.0
    shown = number((figure.cycles_per_call or 0.0) / size, half / size)
    return f"({shown})" if figure.quality in (Quality.NOISY, Quality.UNSETTLED, Quality.DOUBTED) else shown


def name_of(work: str) -> str:
    return work if work.endswith("/decrypt") else work.partition("/")[0]


def machines_table(tried: Sequence[Core]) -> str:
    """What each run was measured on: processor, microcode, placement, detector, who else was on the core."""
    columns = []
    for core in tried:
        calibrations = core.run.calibrations
        filler, chain, length = calibrations[-1].contention_window.split()[:3]
        floor, shared = (
            statistics.median(getattr(each, name) for each in calibrations)
            for name in ("contention_floor", "contention_shared")
        )
        clean, samples = (
            sum(getattr(figure, name) for figure in core.run.cells) for name in ("clean_samples", "samples")
        )
        alone = statistics.mean(each.alone for each in calibrations)
        fixed = any(each.layout_fixed for each in calibrations)
        columns.append(
            (
                f"{core_name(core.run.conditions.machine)}, {core.row.provider or 'no hypervisor'}, "
                f"{core.row.cores} cores",
                core.row.microcode or "–",
                core.row.run,
                "fixed" if fixed else "by the system",
                f"{length} {filler} between chains of {chain} roots: {floor:.0f} cycles alone, {shared:.0f} shared",
                f"{100 * (1 - alone):.1f} % of the readings of {len(calibrations)} processes; "
                f"{100 * clean / samples:.0f} % of {samples:,} samples clean",
                ", ".join(core.row.libraries),
            )
        )
    facts = ("processor", "microcode", "run", "placement", "detector", "siblings active", "libraries")
    return table(["core", *(core.name for core in tried)], zip(facts, *columns, strict=True))


def costs_table(tried: Sequence[Core]) -> str:
    """The fastest library of each algorithm, on long and on short messages, and those that may be as fast."""
    rows = []
    for work in CONTENT["algorithms"]:
        row = [name_of(work)]
        for core in tried:
            for size in (CONTENT["unit"], CONTENT["call"]):
                figures = core.all_of(work, size)
                floor = core.run.noise_floor
                alike = [each for each in figures if not compare(figures[0], each, floor).ratio.above(1)]
                names = ", ".join(dict.fromkeys(each.cell.runner for each in (*figures[:1], *alike)))
                row.append(f"{cost_text(figures[0])} {names}" if figures else "–")
        rows.append(row)
    heads = [f"{core.name}, {size}" for core in tried for size in ("16 KiB", "16 B")]
    return table(["algorithm", *heads], rows)


def gains_table(tried: Sequence[Core]) -> str:
    """How many times as fast each library is with the processor's instructions, where that is anything."""
    rows = []
    for work in CONTENT["algorithms"]:
        row = [name_of(work)]
        for core in tried:
            gains = []
            for full in core.all_of(work, CONTENT["unit"]):
                soft = core.figure(full.cell.runner, work, CONTENT["unit"], SOFT)
                if soft and (ratio := compare(full, soft, core.run.noise_floor).ratio).value > GAIN:
                    gains.append(
                        f"{full.cell.runner} {cost_text(soft)} → {cost_text(full)}, ×{ratio_text(ratio)}"
                    )
            row.append("; ".join(gains) or "–")
        if any(entry != "–" for entry in row[1:]):
            rows.append(row)
    return table(["algorithm", *(core.name for core in tried)], rows)


def behind_table(tried: Sequence[Core]) -> str:
    """The libraries that take at least `BEHIND` times what the fastest of the same algorithm takes."""
    rows = []
    for work in CONTENT["algorithms"]:
        row = [name_of(work)]
        for core in tried:
            figures = core.all_of(work, CONTENT["unit"])
            ratios = {
                each.cell.runner: compare(figures[0], each, core.run.noise_floor).ratio
                for each in figures[1:]
            }
            behind = [f"{name} ×{ratio_text(ratio)}" for name, ratio in ratios.items() if ratio.above(BEHIND)]
            row.append(", ".join([f"{figures[0].cell.runner} 1", *behind]) if behind else "–")
        if any(entry != "–" for entry in row[1:]):
            rows.append(row)
    return table(["algorithm", *(core.name for core in tried)], rows)


def wrong_text(tried: Sequence[Core]) -> str:
    """Rows that are surely faster in another tier than with all instructions, and what bench/cores.toml says."""
    lines = []
    for core in tried:
        wrong = []
        for other in core.run.cells:
            work = f"{other.cell.algorithm}/{other.cell.operation}"
            full = core.figure(other.cell.runner, work, other.cell.size_bytes)
            if other.cell.cpu == FULL or other.cell.twin or full is None:
                continue
            ratio = compare(other, full, core.run.noise_floor).ratio
            if ratio.above(SLOWER):
                costs = f"{cost_text(full)}, under `{other.cell.cpu}` {cost_text(other)}"
                wrong.append(f"{name_of(work)} of {other.cell.runner} {costs}, ×{ratio_text(ratio)}")
        listed = "; ".join(wrong) or "none"
        lines += wrapped(f"- **{core.name}**, rows that are faster with fewer instructions: {listed}.")
    for finding in CONTENT["findings"]:
        core = next(each for each in tried if each.row.machine == finding["machine"])
        lines += wrapped(f"- **{core.name}.** {filled(finding['says'], core)}")
    return "\n".join(lines)


def filled(text: str, core: Core) -> str:
    """A sentence with its figures."""
    made = Made(core.run, "")
    return re.sub(r"\{([^}]+)\}", lambda named: told(named[1], made, Unit.CYCLES_PER_BYTE), text)


def earlier_table(tried: Sequence[Core]) -> str:
    """What documents have of cores whose runs were not kept, beside the runs of the atlas."""
    sources = CONTENT["earlier"]
    names = list(dict.fromkeys(source["core"] for source in sources))
    entries: dict[Row, dict[str, list[str]]] = {}
    for letter, source in zip(LETTERS, sources, strict=False):
        for cell, value, _ in source["figures"]:
            row, size = Row.of(cell)
            shown = number(float(value) / size, 0.1 / size) if source.get("calls") else value
            length = f" at {size >> 10} KiB" if size not in (CONTENT["unit"], CONTENT["call"]) else ""
            entries.setdefault(row, {}).setdefault(source["core"], []).append(f"{shown}{length} ({letter})")
    rows = []
    for row in sorted(entries):
        own = [core.figure(row.runner, row.work, row.size, row.cpu) for core in tried]
        costs = [cost_text(figure) if figure else "–" for figure in own]
        rows.append((row.text, *costs, *("; ".join(entries[row].get(name, ["–"])) for name in names)))
    return table(["row", *(f"{core.name}, atlas" for core in tried), *names], rows)


class Row(NamedTuple):
    """A row of the earlier figures: long messages, whose length hardly counts, stand in one row."""

    order: int
    runner: str
    cpu: str
    size: int

    @classmethod
    def of(cls, cell: str) -> tuple[Row, int]:
        """The row of a cell's address, and the cell's own size in bytes. Raises ValueError for an unknown one."""
        runner, algorithm, rest = cell.split("/")
        operation, _, size_text = rest.partition("@")
        size, _, cpu = size_text.partition("+cpu=")
        order = CONTENT["algorithms"].index(f"{algorithm}/{operation}")
        taken = CONTENT["unit"] if int(size) >= LONG else int(size)
        return cls(order, runner, cpu or FULL, taken), int(size)

    @property
    def work(self) -> str:
        return str(CONTENT["algorithms"][self.order])

    @property
    def text(self) -> str:
        """The row's name in the table."""
        size = "16 KiB" if self.size == CONTENT["unit"] else f"{self.size} B"
        return f"{name_of(self.work)}, {self.runner}, {size}" + ("" if self.cpu == FULL else f", {self.cpu}")


def sources_text() -> str:
    """Where the earlier figures are from."""
    lines = []
    for letter, source in zip(LETTERS, CONTENT["earlier"], strict=False):
        place = "address randomisation off" if source["fixed"] else "placed by the system"
        link = f"[{source['document']}](../{source['document']})"
        lines += wrapped(f"- ({letter}) {source['core']}, {source['about']}; {place}: {link}")
    return "\n".join(lines)


def made_page(text: str, tried: Sequence[Core]) -> str:
    """The page with each table between its marks made anew. Raises KeyError for a mark of no table."""
    tables = {
        "machines": machines_table(tried),
        "costs": costs_table(tried),
        "gains": gains_table(tried),
        "behind": behind_table(tried),
        "wrong": wrong_text(tried),
        "earlier": earlier_table(tried),
        "sources": sources_text(),
    }
    return MARKED.sub(lambda part: f"{part[1]}\n{tables[part[2]]}\n{part[3]}", text)


def measure() -> int:
    """Measure what the run of a core has; the last line names its directory."""
    by_operation: dict[str, list[str]] = {}
    for work in CONTENT["algorithms"]:
        algorithm, _, operation = work.partition("/")
        by_operation.setdefault(operation, []).append(algorithm)
    selectors = []
    for operation, names in by_operation.items():
        works = f"*/{{{','.join(names)}}}/{operation}"
        selectors += [f"{works}@16,1KiB,16KiB", f"{works}@16KiB+cpu={SOFT}"]
        selectors += [f"libgcrypt/{{{','.join(names)}}}/{operation}@16KiB+cpu=no-avx"]
    words = [sys.executable, "-m", "perbyte.cli", "measure", *selectors, "--budget", "50s"]
    return subprocess.run(words, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true", help="measure a run for the atlas")
    if parser.parse_args().measure:
        return measure()
    PAGE.write_text(
        made_page(PAGE.read_text(encoding="utf-8"), cores(open_atlas(str(ATLAS)))), encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
