"""The tables of docs/leak.md: AES with and without instructions, and private keys of every library in C built here.

    .venv/bin/python bench/leak_tables.py --into DIR [--budget 60] [--runners openssl,nettle] [--dry-run]

Prints Markdown. A row is a library in a CPU tier, and gets `--budget` seconds for all its columns. A row that was
measured is kept below DIR, with all pairs (`perbyte show DIR/ROW`), and is not measured again: the same command goes on
where it ended. A library that was changed since its build is built again. For each row it says how much the siblings of
the core were active in a second before and after it, as `perbyte doctor` sees it. `--dry-run` measures nothing: it
lists the rows that are missing, and prints the tables of those that are there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from neighbours import doctor

from perbyte.app.building import build_needed
from perbyte.app.leaking import draw_cases, find_leaks
from perbyte.app.listener import Listener
from perbyte.catalogue import parse_selector
from perbyte.cli.streams import note
from perbyte.measure import Request, Survey, find_cells
from perbyte.measure.leaks import LeakCase
from perbyte.model import Policy
from perbyte.model.cell import FULL
from perbyte.model.leak import Difference, LeakFigure
from perbyte.model.run import LeakRun
from perbyte.runners import locate
from perbyte.store.beside import is_leak_run, read_leaks

SIBLINGS = "siblings.json"


@dataclass(frozen=True, slots=True)
class LeakTable:
    """What a table asks of each library, in which CPU tiers; `cold`: with emptied caches besides."""

    name: str
    title: str
    asked: tuple[str, ...]
    cpus: tuple[str, ...] = (FULL,)
    cold: bool = False
    runners: tuple[str, ...] = ()  # none: every library in C or C++ that is built


TABLES = (
    LeakTable(
        "aes",
        "AES-128 on 64 bytes",
        ("aes-128-ecb/encrypt@64",),
        cpus=(FULL, "soft", "tables"),
        cold=True,
        runners=("openssl", "libgcrypt", "nettle", "cryptopp"),
    ),
    LeakTable(
        "keys",
        "Private keys",
        ("ecdsa-p256/sign@32", "x25519/derive@32", "rsa-2048/sign@32", "ml-kem-768/decapsulate@32"),
    ),
)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A library in a CPU tier, and the pairs to take of it."""

    table: LeakTable
    runner: str
    cpu: str
    cases: tuple[LeakCase, ...]

    @property
    def name(self) -> str:
        """The directory of its run."""
        return "-".join([self.table.name, self.runner, *([self.cpu] if self.cpu != FULL else [])])


def built_libraries() -> list[str]:
    """The runners in C and C++ that are built."""
    return [spec.name for spec in locate() if spec.language in ("c", "c++") and spec.out().is_dir()]


def rows_of(table: LeakTable, runners: Sequence[str]) -> tuple[list[TableRow], Survey]:
    """The rows that these runners have, and who answered."""
    glob = runners[0] if len(runners) == 1 else f"{{{','.join(runners)}}}"
    selectors = tuple(parse_selector(f"{glob}/{text}") for text in table.asked)
    plan, survey = find_cells(Request(selectors=selectors, cpus=table.cpus), lenient=True)
    rows = []
    for runner, cpu in sorted({(cell.runner, cell.cpu) for cell in plan.cells}):
        cells = [cell for cell in plan.cells if (cell.runner, cell.cpu) == (runner, cpu)]
        cases, _ = draw_cases(cells, None, (False, True) if table.cold else (False,))
        rows.append(TableRow(table, runner, cpu, tuple(cases)))
    return [row for row in rows if row.cases], survey


def take_row(row: TableRow, survey: Survey, into: Path, budget_s: float) -> bool:
    """Measure a row and keep it below `into`; False, and nothing kept, where nothing of it could be measured.

    Raises KeyboardInterrupt when it was interrupted, and keeps nothing then.
    """
    part = into / f"{row.name}.part"
    shutil.rmtree(part, ignore_errors=True)
    interrupted = []

    def urgent(text: str) -> None:
        print(text, file=sys.stderr)
        interrupted.extend([text] * text.startswith("interrupted"))

    before = doctor()["cores"]
    listener = Listener(urgent, command=("leak", row.name))
    run, _ = find_leaks(row.cases, survey, Policy(), budget_s=budget_s, out=part, listener=listener)
    if interrupted:  # what was taken so far would be judged, and the row never be finished
        raise KeyboardInterrupt
    if not run.figures:
        for failure in run.failures:
            print(f"not measured: {failure.address or failure.runner}: {failure.message}", file=sys.stderr)
        return False
    looks = {"before": before, "after": doctor()["cores"]}
    (part / SIBLINGS).write_text(json.dumps(looks), encoding="utf-8")
    part.rename(into / row.name)
    return True


def active(place: Path) -> list[float]:
    """The share of a second in which siblings of the measuring core were active, before and after a row."""
    looks = json.loads((place / SIBLINGS).read_text(encoding="utf-8"))
    return [max(core["shared"] for core in looks[when]) for when in ("before", "after") if looks[when]]


def render(table: LeakTable, into: Path) -> str:
    """The table of all rows that are kept, as Markdown; empty where there is none."""
    places = [place for place in sorted(into.glob(f"{table.name}-*")) if is_leak_run(place)]
    places = [place for place in places if place.suffix != ".part"]
    runs = {place: read_leaks(place) for place in places}
    columns = list(dict.fromkeys(column(figure) for run in runs.values() for figure in run.figures))
    if not columns:
        return ""
    lines = [f"{table.title}. {conditions(list(runs.values()))}", ""]
    lines.append("| " + " | ".join(["library", *columns, "siblings", "s"]) + " |")
    lines.append("|" + "---|" * (len(columns) + 3))
    for place, run in runs.items():
        figures = {column(figure): figure for figure in run.figures}
        shares = ", ".join(f"{share:.1%}" for share in active(place))
        seconds = sum(figure.seconds for figure in run.figures)
        words = [entry(figures[name]) if name in figures else "" for name in columns]
        lines.append("| " + " | ".join([label(run), *words, shares, f"{seconds:.0f}"]) + " |")
    lines += ["", siblings_line(places)]
    failures = [failure for run in runs.values() for failure in run.failures if failure.address]
    lines += [f"- not measured: `{failure.address}`: {failure.message}" for failure in failures]
    return "\n".join(lines) + "\n"


def column(figure: LeakFigure) -> str:
    """What a column is of."""
    cell, classes = figure.cell, str(figure.contrast).replace(" | ", " or ")
    return f"{cell.algorithm} {cell.operation}, {classes}" + ", emptied caches" * figure.cold


def label(run: LeakRun) -> str:
    """Library, version, runner and tier of a row."""
    cell = run.figures[0].cell
    identity = next(each for each in run.identities if (each.runner, each.cpu) == (cell.runner, cell.cpu))
    tier = f", `{cell.cpu}`" if cell.cpu != FULL else ""
    return f"{identity.library} {identity.library_version} (`{cell.runner}`{tier})"


def entry(figure: LeakFigure) -> str:
    """The verdict with the difference of the second class and its interval; of the spread where that leaks."""
    if not figure.found or figure.bound is None:
        return f"too few clean pairs of {figure.taken:,}"
    unit, shift, spread = " ns" * (figure.unit == "ns"), figure.found.shift, figure.found.spread
    verdict = {
        "leaks": "**leaks**",
        "none": f"none above {amount(figure.bound)}{unit}",
        "unknown": f"not known below {amount(figure.bound)}{unit}",
        "harness": "not known, the null differs",
    }[figure.verdict]
    widened = figure.verdict == "leaks" and spread.least > 0
    return f"{verdict}: {apart(shift)}{unit}" + f"; spread {apart(spread)}{unit}" * widened


def apart(shift: Difference) -> str:
    """How much more the second class takes, with the interval."""
    digits = 0 if shift.bound >= 100 else 1 if shift.bound >= 10 else 2
    return f"{shift.value:+,.{digits}f} ({shift.low:+,.{digits}f} to {shift.high:+,.{digits}f})"


def amount(value: float) -> str:
    """With as many digits as its difference has."""
    return apart(Difference(value, value, value, 0.0)).split(" ", 1)[0].lstrip("+")


def conditions(runs: Sequence[LeakRun]) -> str:
    """When, where, and for how long at the most."""
    days = sorted({run.started_at[:10] for run in runs})
    machines = sorted({f"{run.machine.cpu_model}, {run.machine.cores} cores" for run in runs})
    budgets = sorted({run.budget_s for run in runs})
    ends = f"{budgets[0]:.0f}" if len(budgets) == 1 else f"{budgets[0]:.0f} to {budgets[-1]:.0f}"
    return f"{' and '.join(days)}, {'; '.join(machines)}; at most {ends} s per row; in cycles, 95 %."


def siblings_line(places: Sequence[Path]) -> str:
    """How much the siblings were active around all rows."""
    shares = [share for place in places for share in active(place)]
    if not shares:
        return "No detector shows here whether siblings were active."
    middle = statistics.median(shares)
    return (
        f"Siblings were active {min(shares):.1%} to {max(shares):.1%} of the time (median {middle:.1%}), "
        f"in {len(shares)} seconds before and after the {len(places)} rows."
    )


def main() -> None:
    """Read the words and do it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--into", type=Path, required=True, help="where rows are kept")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of a row")
    parser.add_argument("--runners", default="", help="these alone, separated by commas")
    parser.add_argument("--table", choices=[table.name for table in TABLES], help="this one alone")
    parser.add_argument("--dry-run", action="store_true")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    tables = [table for table in TABLES if given.table in (None, table.name)]
    built = given.runners.split(",") if given.runners else built_libraries()
    for table in tables:
        runners = [name for name in built if given.runners or name in (table.runners or built)]
        if not runners:
            continue
        if not given.dry_run:
            build_needed(runners, note)
        rows, survey = rows_of(table, runners)
        for failure in survey.failures:
            print(f"  left out: {failure.runner}: {failure.message}", file=sys.stderr)
        missing = [row for row in rows if not (given.into / row.name).is_dir()]
        needed_s = len(missing) * given.budget
        print(f"{table.title}: {len(missing)} of {len(rows)} rows, {needed_s:.0f} s", file=sys.stderr)
        for row in missing:
            print(f"  {row.name}: {len(row.cases)} columns", file=sys.stderr, flush=True)
            if not given.dry_run:
                take_row(row, survey, given.into, given.budget)
    for table in tables:
        print(render(table, given.into))


if __name__ == "__main__":
    main()
