"""A listing of `openssl speed` as a run: its cells, what it lacks, and what is not known of it.

The tool prints one mean per row and nothing of its spread. So an imported figure has an interval from zero to infinity,
no samples, no cycles, and the quality `imprecise`: it can be shown and set beside others, but no comparison with it
is decided. Rows that mean nothing here are kept as remarks in the conditions (`input`), never dropped.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from perbyte import __version__
from perbyte.catalogue import load
from perbyte.catalogue.catalogue import INVERSES
from perbyte.exchange.listing import Listing, SpeedRow
from perbyte.exchange.openssl_names import (
    EVP,
    Meaning,
    Unknown,
    digest_bytes,
    mean_key,
    mean_row,
    parse_version,
)
from perbyte.model import (
    Cell,
    CellFigure,
    Conditions,
    Doubt,
    Failure,
    Interval,
    Machine,
    Policy,
    Quality,
    Run,
    RunnerIdentity,
    Warning,
)
from perbyte.model.cell import FULL

IMPORTED = "imported"
MASKED = "masked"  # the CPU tier of a listing whose header shows that OPENSSL_ia32cap was set
NO_INTERVAL = Warning(
    Doubt.NO_INTERVAL, "the interval is not known: openssl speed prints one mean and no spread"
)
_NOT_THERE = "openssl speed printed 0.00: the algorithm is not in that build"
_NO_FIGURE = "openssl speed printed a figure that no working call can have"


def make_run(listing: Listing, *, name: str, source: str = "", machine: Machine | None = None) -> Run:
    """Return `listing` as a run called `name`, not stored anywhere yet.

    `source` says where the text came from; facts of `machine` that the listing itself does not tell are added.
    """
    return _Maker(listing).make(name, source, machine or Machine())


class _Maker:
    """Collects cells, failures and remarks of one listing."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.version = parse_version(listing.version) if listing.library == "OpenSSL" else ()
        self.cpu = listing.cpu or (MASKED if " env:" in listing.cpu_info else FULL)
        self.figures: dict[Cell, CellFigure] = {}
        self.failures: dict[Cell, Failure] = {}
        self.lines: dict[Cell, int] = {}
        self.remarks = list(listing.remarks)

    def make(self, name: str, source: str, machine: Machine) -> Run:
        listing = self.listing
        old = not self.version and any(" cbc" in row.name or " ige" in row.name for row in listing.rows)
        for row in listing.rows:
            self._take_row(row, old)
        for key in listing.keys:
            for operation, seconds in key.seconds:
                meaning = mean_key(key.kind, key.bits, operation)
                if isinstance(meaning, Unknown):
                    shown = f"{seconds:.6g} s" if seconds else "no figure"
                    self.remarks.append(f"line {key.line}: {key.label}, {operation}: {shown}; {meaning.why}")
                else:
                    self._take(meaning, digest_bytes(key.kind), seconds * 1e9, key.line, 0)
        self._say_how()
        cells = tuple(self.figures.values())
        conditions = self._conditions(name, source, machine)
        return Run(
            path=None,
            conditions=conditions,
            cells=cells,
            failures=tuple(self.failures.values()),
            complete=not listing.faults,
        )

    def _take_row(self, row: SpeedRow, old: bool) -> None:
        sizes = [size for size, _ in row.bytes_per_second]
        meaning = mean_row(row.name, self.version, sizes, old=old)
        if isinstance(meaning, Unknown):
            shown = ", ".join(f"{size} bytes {rate / 1e3:.2f}k" for size, rate in row.bytes_per_second)
            self.remarks.append(f"line {row.line}: {row.name}: {shown}; {meaning.why}")
            return
        for size, rate in row.bytes_per_second:
            ns = math.nan if math.isnan(rate) else size * self.listing.processes / rate * 1e9 if rate else 0.0
            self._take(meaning, size, ns, row.line, self.listing.calls.get((row.name, size), (0, 0.0))[0])

    def _take(self, meaning: Meaning, size: int, ns: float, line: int, calls: int) -> None:
        runner = self.listing.runner or self._runner(meaning.runner)
        cell = Cell(runner, meaning.algorithm, meaning.operation, size, meaning.contract, self.cpu)
        if cell in self.lines:
            self.remarks.append(
                f"line {line}: {cell.address} stands on line {self.lines[cell]} already; left out"
            )
            return
        self.lines[cell] = line
        if not ns > 0:
            why = ("refused", _NO_FIGURE) if math.isnan(ns) else ("absent", _NOT_THERE)
            self.failures[cell] = Failure(why[0], runner, why[1], address=cell.address)
            return
        warnings = [NO_INTERVAL]
        if self.listing.processes > 1:
            count = self.listing.processes
            text = f"the mean of {count} processes that ran at once"
            warnings.append(Warning(Doubt.SEVERAL_PROCESSES, text, (count,)))
        self.figures[cell] = CellFigure(
            cell=cell,
            library=self.listing.library,
            library_version=self.listing.version,
            cycles_per_call=None,
            ns_per_call=ns,
            interval=Interval(0.0, math.inf, dominated_by="unknown"),
            samples=0,
            clean_samples=0,
            epochs=1,
            epoch_cycles=(),
            epoch_ns=(ns,),
            calls_per_sample=calls,
            quality=Quality.IMPRECISE,
            cycle_source="none",
            warnings=tuple(warnings),
        )

    def _runner(self, meant: str) -> str:
        """Forks of OpenSSL are no runner of ours, so they get a name of their own."""
        return (
            meant if self.listing.library == "OpenSSL" else meant.replace(EVP, self.listing.library.lower())
        )

    def _say_how(self) -> None:
        listing = self.listing
        if listing.wall_clock:
            self.remarks.append("times are wall-clock times (-elapsed), not the process's own")
        if self.cpu == MASKED:
            self.remarks.append("the environment masked features of the CPU while this was measured")
        if listing.processes > 1:
            self.remarks.append(
                f"rows are sums over {listing.processes} processes (-multi), divided by them here"
            )
        if "-decrypt" in listing.command:
            self._turn_round()

    def _turn_round(self) -> None:
        """Rows measured with -decrypt carry the same names; only the command line tells."""
        turned = {forward: backward for backward, forward in INVERSES.items() if forward != "sign"}
        figures, failures = {}, {}
        for cell, figure in self.figures.items():
            other = replace(cell, operation=turned.get(cell.operation, cell.operation))
            figures[other] = replace(figure, cell=other)
        for cell, failure in self.failures.items():
            other = replace(cell, operation=turned.get(cell.operation, cell.operation))
            failures[other] = replace(failure, address=other.address)
        self.figures, self.failures = figures, failures

    def _conditions(self, name: str, source: str, machine: Machine) -> Conditions:
        listing = self.listing
        told: dict[str, Any] = {"format": "openssl-speed", "source": source, "line": listing.line}
        told["imported_at"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        told["missing"] = [f"line {fault.line}: {fault.what}" for fault in listing.faults]
        told["remarks"] = self.remarks
        runners: Sequence[str] = sorted({cell.runner for cell in (*self.figures, *self.failures)})
        return Conditions(
            run_id=name,
            perbyte_version=__version__,
            catalogue_version=load().version,
            protocol_version=0,
            started_at="",
            command=listing.command,
            machine=_with(listing.machine, machine),
            policy=Policy(),
            plan=tuple(cell.address for cell in (*self.figures, *self.failures)),
            identities=tuple(self._identity(runner) for runner in runners),
            input=told,
            origin=IMPORTED,
        )

    def _identity(self, runner: str) -> RunnerIdentity:
        listing = self.listing
        return RunnerIdentity(
            runner=runner,
            cpu=self.cpu,
            library=listing.library,
            library_version=listing.version,
            license="",
            compiler=listing.compiler,
            flags="",
            object_path="",
            object_sha256="",
            cpu_features=listing.cpu_info,
            sdk="",
        )


def _with(machine: Machine, more: Machine) -> Machine:
    """`machine` with the facts of `more` that it lacks."""
    names = Machine.__slots__
    return replace(machine, **{name: getattr(more, name) for name in names if not getattr(machine, name)})
