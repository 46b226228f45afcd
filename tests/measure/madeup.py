"""Machines that do not exist, with an honest library on each: what the audit would see there.

A machine has a clock, caches and bandwidths, a neighbour on the core, other programs on it and a neighbour on the
memory that come and go, a question that costs CPU time, interrupts, a kernel that may account more or less time than
goes by, and a collector of garbage in some runners. Some libraries lower the core's clock, foresee data that comes
again, set up keys that a predictor has learnt in the rounds, or take in a new nonce lazily. All are drawn from wide
ranges, so that no rule of the audit can lean on the machines at hand. The audit's own code asks
(`perbyte.measure.looks`, `stats.audit`); only the processes are made up. A library may lie by a factor, so that the
same machines show what is caught.
"""

from __future__ import annotations

import copy
import math
import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from perbyte.measure import audit
from perbyte.measure.audit import Auditor
from perbyte.measure.witness import Witness
from perbyte.model import Audit, Burst, Calibration, Cell, Policy
from perbyte.protocol.messages import AuditAnswer, Measure
from perbyte.runners.taken import Chained, TakenBursts
from perbyte.stats.audit import AuditVerdict, Printed, gross_lie, judge_audits
from perbyte.stats.newdata import COPYING, surroundings

EPOCHS = 5
TICK_HZ = 1e9
PROBE_CYCLES, ALONE, BESIDE = 30_000, 100, 200  # of the clock probe, and what the other one reads
FEW_KEYS = ("setup/1", "rekey/1")
SIZES = (16, 64, 512, 1350, 8192, 65536, 1 << 20, 10_000_000, 16_000_000)
KINDS = (
    ("aes-128-ctr", "encrypt", "message/1"),
    ("aes-128-ecb", "decrypt", "message/1"),
    ("aes-128-gcm", "seal", "message/1"),
    ("aes-128-gcm", "open", "message/1"),
    ("aes-128-cbc", "encrypt", "rekey/1"),
    ("aes-128-gcm", "seal", "rekey/1"),
    ("aes-128-cbc", "encrypt", "setup/1"),
    ("aes-128-ctr", "encrypt", "stream/1"),
    ("sha-256", "digest", "oneshot/1"),
    ("sha-256", "digest", "stream/1"),
)


@dataclass
class Coming:
    """Somebody who comes and goes: away and there for exponentially distributed times."""

    draw: random.Random
    share: float
    there_s: float
    there: bool = False
    until: float = 0.0

    def active(self, start: float, end: float) -> float:
        """The share of the time from `start` to `end` that he is there."""
        if not 0 < self.share < 1:
            return float(self.share >= 1)
        if end - start > 50 * self.there_s:
            return self.share
        total, now = 0.0, start
        while now < end:
            if self.until <= now:
                self.there = not self.there
                mean = self.there_s if self.there else self.there_s * (1 - self.share) / self.share
                self.until = now + self.draw.expovariate(1 / mean)
            step = min(self.until, end)
            total += (step - now) * self.there
            now = step
        return total / (end - start)


@dataclass
class Machine:
    """A machine drawn from `seed`."""

    seed: int
    now: float = 0.0

    def __post_init__(self) -> None:
        """Draw it."""
        d = self.draw = random.Random(self.seed)
        self.hz = d.uniform(0.8e9, 5.7e9)
        self.levels = [
            (d.choice((16, 32, 48, 128)) * 1024, d.uniform(16, 96)),
            (d.choice((256, 512, 1024, 2048, 4096)) * 1024, d.uniform(8, 40)),
            (d.choice((0, 2, 4, 8, 32, 96)) << 20, d.uniform(2, 24)),
            (1 << 50, d.uniform(0.3, 8)),
        ]
        busy = d.choice((0.0, 0.02, 0.3, 0.6, 0.9, 0.97, 1.0))
        self.sibling = Coming(d, busy, 10 ** d.uniform(-4.5, 0.5))
        self.memory = Coming(d, d.choice((0.0, 0.1, 0.5, 1.0)), 10 ** d.uniform(-4, 0.5))
        # other programs of this machine, which take the core away; the kernel says so of most samples, not of all
        self.others = Coming(d, d.choice((0.0, 0.0, 0.0, 0.1, 0.5)), 10 ** d.uniform(-3.5, -1.5))
        self.accounting = d.choice(
            (1.0, 1.0, 1.0, d.uniform(0.9, 1.1))
        )  # CPU time by the kernel, over what it is
        self.crowding = d.uniform(1, 4)  # of bandwidth, while the memory's neighbour is at work
        self.question_s = 10 ** d.uniform(-5.2, -4.0)
        self.jitter_s = self.question_s * d.uniform(0.01, 0.15)
        self.interrupts = 10 ** d.uniform(1, 3.3)  # a second
        self.interrupt_s = 10 ** d.uniform(-6, -4.3)

    def moving_s(self, size: float, buffers: int) -> float:
        """Seconds to read and write `size` bytes where so many buffers of that length are in use."""
        working, best = size * buffers, 0.0
        for capacity, bytes_per_cycle in self.levels:
            if capacity >= working:
                best = bytes_per_cycle
                break
        return 2 * size / best / self.hz

    def spend(self, quiet_s: float, moved_s: float, slowing: float) -> float:
        """CPU seconds that a stretch takes which would take `quiet_s`, of them `moved_s` for memory."""
        start, end = self.now, self.now + quiet_s
        took = quiet_s * (1 + self.sibling.active(start, end) * (slowing - 1))
        took += moved_s * self.memory.active(start, end) * (self.crowding - 1)
        hits = self.interrupts * took
        count = int(hits) + (self.draw.random() < hits % 1)
        took += count * self.interrupt_s * self.draw.uniform(0.3, 3)
        self.now += took
        return took

    def asking(self) -> float:
        """CPU seconds of a question and its answer, beside what is asked."""
        noise = abs(self.draw.gauss(0, self.jitter_s))
        if self.draw.random() < 0.02:
            noise += self.draw.uniform(0, 20) * self.jitter_s
        took = self.question_s + noise
        self.now += took + self.draw.uniform(0, 3 * took)
        return took


@dataclass
class Library:
    """An honest library's cell on a machine, or Perbyte's own loop; `honest` below 1: the timed calls do less.

    Times are quiet, in seconds: `call_s` of a timed call, `link_s` of a link of a chain without it.
    """

    machine: Machine
    cell: Cell
    honest: float = 1.0
    dear_control: float = 0.0
    process: Any = field(
        default_factory=lambda: SimpleNamespace(thread_cpu_s=dict, children=lambda: 0, pid=1)
    )

    def __post_init__(self) -> None:
        """Draw it."""
        m, d, size = self.machine, self.machine.draw, self.cell.size_bytes
        own = self.cell.row == COPYING.row
        digest = self.cell.operation == "digest"
        per_byte = d.uniform(0.15, 1.5) if own else 10 ** d.uniform(-1.3, 1.7)
        per_call = d.uniform(1, 4) if own else 10 ** d.uniform(0.7, 3.5)
        self.per_byte, self.per_call = per_byte, per_call
        # vector code may have the core run slower, for its own probes as well
        self.pace = 1.0 if own or d.random() < 0.9 else d.uniform(0.7, 1)  # Intel's tables: 0.72 at the least
        # how much of the traffic stands beside the computing instead of hiding behind it
        self.exposed = 1.0 if own else d.uniform(0, 1)
        self.slowing = d.uniform(1.2, 2) if own else d.uniform(1, 2)
        self.collector = 0.0 if own or d.random() < 0.7 else 10 ** d.uniform(0, 2.5)  # times a second
        if self.cell.contract == "setup/1":
            size, per_byte = 0, 0.0
        compute = (per_call + per_byte * size) / m.hz / self.pace
        parts = 0.5 if digest else 1.0  # digests read and do not write
        in_rounds = 2 - digest
        in_chain = in_rounds + 2 * (self.cell.operation == "open")
        self.moved_s = parts * self.exposed * m.moving_s(size, in_rounds)
        moved_new_s = parts * self.exposed * m.moving_s(size, in_chain)
        self.call_s = compute + self.moved_s
        overlap = d.uniform(0, 180) / m.hz * min(1.0, 7 * compute * m.hz / 180)
        unlike = d.uniform(-0.05, 0.12) * compute  # other keys, nonces, branches
        self.new_s = self.again_s = compute + moved_new_s + overlap + unlike
        # a predictor knows data that comes again: up to four times as much was seen for keys, twice for data
        if compute < 100e-6 and not own and d.random() < (0.5 if self.cell.contract in FEW_KEYS else 0.05):
            self.new_s += compute * d.uniform(0, 3 if self.cell.contract in FEW_KEYS else 1)
        if self.cell.contract == "stream/1" and not own and not digest and d.random() < 0.3:
            lazily_s = 10 ** d.uniform(1.5, 3.5) / m.hz  # taken in by the first call after a new nonce
            self.new_s, self.again_s = self.new_s + lazily_s, self.again_s + lazily_s
        copied = 32 if digest else size
        self.link_s = d.uniform(15, 120) / m.hz + m.moving_s(copied, in_chain) + self.dear_control
        self.moved_new_s, self.moved_link_s = moved_new_s, m.moving_s(copied, in_chain)
        if self.cell.operation == "open":
            self.link_s += d.uniform(0.8, 1.2) * self.call_s
        if self.cell.contract == "stream/1" and not own:
            self.new_s, self.again_s = (
                seconds + min(1.0, 128 / max(size, 1)) * compute for seconds in (self.new_s, self.again_s)
            )
        self.setup_s = size * 2e-9 + 5e-6
        self.link_s *= d.uniform(0.97, 1.03)
        self.drift = [d.uniform(0.97, 1.04) for _ in range(EPOCHS)]  # layouts: of calls on new data

    def prepare(self, *_row: Any, **_more: Any) -> int:
        """The length of the data, as the handle."""
        return int(_row[3])

    def release(self, _handle: int) -> None:
        """Nothing is kept."""

    def _at(self, size: int) -> Library:
        """The same library on data of another length."""
        other, m = copy.copy(self), self.machine
        digest, opens = self.cell.operation == "digest", self.cell.operation == "open"
        in_chain, parts = 2 - digest + 2 * opens, 0.5 if digest else 1.0
        compute = (self.per_call + self.per_byte * size) / m.hz / self.pace
        other.moved_new_s = parts * self.exposed * m.moving_s(size, in_chain)
        other.moved_link_s = m.moving_s(32 if digest else size, in_chain)
        other.new_s = other.again_s = 1.04 * compute + other.moved_new_s
        other.link_s = 60 / m.hz + other.moved_link_s + (compute if opens else 0.0) + self.dear_control
        return other

    def measure(self, _handle: int, *, calls: int, samples: int, **more: Any) -> TakenBursts:
        """A burst of a sample."""
        cpu_s, ticks, flags, clocks, probes = self.machine.asking(), [], [], [], []
        sibling, others = self.machine.sibling, self.machine.others
        away_s = 0.0
        for _ in range(samples):
            beside = sibling.there or sibling.share >= 1
            took = self._spend(calls * self.call_s * self.honest, calls * self.moved_s)
            there = others.active(self.machine.now, self.machine.now + took)
            away = took * there
            ticks.append(max(1, round((took + away) * TICK_HZ)))
            flags.append(int(there > 0 and self.machine.draw.random() < 0.9))
            rate = self.machine.hz * self.pace * self.machine.draw.uniform(0.998, 1.002)
            clocks.append(round(PROBE_CYCLES * TICK_HZ / rate))
            probes.append(
                round((BESIDE if (beside or sibling.there) and sibling.share > 0 else ALONE) * TICK_HZ / rate)
            )
            cpu_s += took + 2 * (clocks[-1] + probes[-1]) / TICK_HZ
            away_s += away
        whole = [sum(parts) for parts in zip(clocks, probes, ticks, probes, clocks, strict=True)]
        starts = [sum(whole[:i]) + clocks[i] + probes[i] for i in range(samples)]
        burst = Burst(
            self.cell,
            more["epoch"],
            0,
            calls,
            starts,
            ticks,
            clocks,
            clocks,
            probes,
            probes,
            flags,
            [],
        )
        said_s = cpu_s * self.machine.accounting
        return TakenBursts(
            (burst,), "0" * 16, said_s, max(cpu_s, said_s) + away_s + 0.1 * self.machine.question_s
        )

    def take(self, request: Measure, *, epoch: int, **_more: Any) -> TakenBursts:
        """The same, by a request."""
        return self.measure(request.handle, calls=request.calls, samples=request.samples, epoch=epoch)

    def next_id(self) -> int:
        """Requests have no numbers here."""
        return 1

    def audit(
        self, _handle: int, *, seed: int, calls: int, control: bool = False, repeat: int = 0
    ) -> Chained:
        """A chain."""
        if _handle > 1:
            return self._at(_handle).audit(1, seed=seed, calls=calls, control=control, repeat=repeat)
        cpu_s = self.machine.asking()
        cpu_s += self.machine.spend(self.setup_s, 0.0, self.slowing) * self.machine.draw.uniform(0.97, 1.03)
        call_s = self.again_s if repeat else self.new_s
        quiet = self.link_s + (0.0 if control else call_s * self.drift[self.epoch])
        moved = self.moved_link_s + (0.0 if control else self.moved_new_s)
        cpu_s += self._spend(calls * quiet, calls * moved)
        answer = AuditAnswer(
            id=1, ok=True, length=1, digest="0" * 16, failures=0, control=control, repeat=repeat
        )
        return Chained(answer, cpu_s * self.machine.accounting)

    def _spend(self, quiet_s: float, moved_s: float) -> float:
        took = self.machine.spend(quiet_s, moved_s, self.slowing)
        if self.collector and self.machine.draw.random() < min(0.5, self.collector * quiet_s):
            took += self.machine.draw.uniform(0.05, 0.3) * quiet_s
        return took

    epoch: int = 0


class Processes:
    """What stands in for the processes of an epoch, and for Perbyte's own runner."""

    def __init__(self, machine: Machine, libraries: dict[Cell, Library]) -> None:
        """`libraries`: by cell; own loops are made where they are asked for."""
        self._machine = machine
        self._libraries = libraries
        self._own = Calibration(
            "x", "full", 0, 0, "probe", "", TICK_HZ, 1, PROBE_CYCLES, float(ALONE) * 1.05, 0.0, {}
        )

    @property
    def calibrations(self) -> Any:
        """One for all."""
        from collections import defaultdict

        return defaultdict(lambda: self._own)

    def of(self, cell: Cell) -> Any:
        """The library behind a cell."""
        if cell not in self._libraries:
            self._libraries[cell] = Library(self._machine, cell)
        return self._libraries[cell]

    def handle(self, cell: Cell) -> int:
        """Any."""
        return 1

    def clock_hz(self) -> float:
        """The core's rate."""
        return self._machine.hz * self._machine.draw.uniform(0.995, 1.005)


class Agreeing:
    """Other libraries that give the same."""

    seed = 1

    def others(self, cell: Cell) -> list[Cell]:
        """One."""
        return [Cell("beta", cell.algorithm, cell.operation, cell.size_bytes, cell.contract)]

    def of(self, cell: Cell) -> Any:
        """A session of a library of its own."""
        return SimpleNamespace(identity=lambda: SimpleNamespace(library=cell.runner))

    def digest(self, *_: object) -> str:
        """What all give."""
        return "0" * 16


def verdicts(seed: int, *, honest: float = 1.0, cells: int = 6) -> list[tuple[Cell, AuditVerdict, int]]:
    """Audit cells of made-up libraries on the machine of `seed`: cell, verdict and looks of each."""
    machine = Machine(seed)
    draw = machine.draw
    chosen = [
        Cell("alpha", algorithm, operation, draw.choice(SIZES), contract)
        for algorithm, operation, contract in draw.sample(KINDS, min(cells, len(KINDS)))
    ]
    libraries = {cell: Library(machine, cell, honest, draw.choice((0.0, 0.0, 0.0, 3e-6))) for cell in chosen}
    place: Any = Processes(machine, libraries)

    class Known(dict[Cell, list[Audit]]):
        def __missing__(self, cell: Cell) -> list[Audit]:
            self[cell] = []
            return self[cell]

    known = Known()
    witness: Witness = place
    audit.CHANCE = draw  # type: ignore[assignment] # the same seed, the same machine and the same lots
    agreeing: Any = Agreeing()
    auditor = Auditor(Policy(), CATALOGUE, known, _ignore, _ignore, witness, agreeing)
    gross: dict[Cell, AuditVerdict] = {}
    for epoch in range(EPOCHS):
        machine.now += draw.uniform(0.5, 3)
        auditor.begin(elapsed_s=machine.now)
        tallies: Any = SimpleNamespace(number=epoch, ways=SimpleNamespace(cuts={}))
        for library in libraries.values():
            library.epoch = epoch
        due = [cell for cell in chosen if auditor.is_due(cell)]
        auditor.look_at_copying(tallies, due)
        for cell in due:
            call_s = libraries[cell].call_s * honest
            auditor.look(place, cell, epoch, max(1, round(12e-6 / call_s)), call_s)
            machine.now += 0.01
            if why := gross_lie(known[cell], auditor.around):
                gross[cell] = AuditVerdict(why)
    around = surroundings(known)
    return [
        (
            cell,
            gross.get(cell) or judge_audits(known[cell], printed(libraries[cell]), around),
            sum(len(burst.claimed_ns) for burst in known[cell]),
        )
        for cell in chosen
    ]


def printed(library: Library) -> Printed:
    """The figure that an honest instrument prints: that of quiet samples, or of all where none was quiet."""
    machine = library.machine
    quiet = library.call_s * library.honest
    share = machine.sibling.share
    if share > 0:  # a neighbour who is seldom away for as long as a sample is in the clean ones too
        away_s = machine.sibling.there_s * (1 - share) / share
        quiet *= 1 + share * math.exp(-away_s / 12e-6) * (library.slowing - 1)
    # nobody sees who uses the memory, so that a figure holds as much of it as the rounds met
    quiet += library.honest * library.moved_s * machine.memory.share * (machine.crowding - 1)
    quiet *= machine.draw.uniform(0.99, 1.01)
    return Printed(quiet * 1e9, quiet * machine.hz * library.pace, 0.01)


def _ignore(*_: object) -> None: ...


def _load() -> Any:
    from perbyte.catalogue import load

    return load()


CATALOGUE = _load()
