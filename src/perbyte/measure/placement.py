"""Draw places in memory for the calls of cells, and measure each place twice.

Many processes of a runner are started, placed by the system as a user's program is, and all stay alive: their bursts
are taken in turn and in random order, so that what drifts with time belongs to no process. Within a process each burst
is a fork that lies at a place of its own (SPEC 7): stack, heap, input and output are drawn independently of each other,
on the 16 bytes that allocators keep to. A further burst at each place, by another fork and later, tells what belongs to
the place. A few more processes are started through the loader, which puts the program beside its libraries.

Runners that cannot fork, and long data, have one place a process. Nothing is validated or audited here: the cells have
a figure of the same run.
"""

from __future__ import annotations

import contextlib
import random
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from perbyte.errors import RunnerError, RunnerRefused
from perbyte.measure.learnt import Learnt, recall
from perbyte.measure.rounds import burst_request
from perbyte.measure.sessions import CALIBRATION_MS, PATIENCE_MS, STARTING_FAILS, draw_offset
from perbyte.measure.ways import Warm
from perbyte.model import Calibration, Cell, Policy, Process
from perbyte.model.placement import PAGE_BYTES, MemoryPlace, Placement
from perbyte.runners import RunnerSpec, Session
from perbyte.runners.session import prepare_cell
from perbyte.stats.arrays import np
from perbyte.stats.clean import judge_samples, own_quiet
from perbyte.stats.placement import error_of, judge_placement

PROCESSES, NEAR_PROCESSES = 24, 8
HEAVY_PROCESSES = 12  # of a runner with a virtual machine or an interpreter
DRAWS, NEAR_DRAWS = 10, 4  # places of a process, where it can fork
BLOCK = 3  # of them, between which the time is looked at
GRAIN = 16
SAMPLES, CLEAN, TRIES = 8, 3, 3  # of a burst, and how often a place is tried that was never clean
CELL_S = 4.0  # of a cell, once its processes are started
LARGEST_BYTES = 1 << 20  # of data, which every process holds
DRAWN = "each of its calls costs something else, at random"
LARGE = "its data are longer than 1 MiB"


@dataclass(slots=True)
class _Alive:
    """A process that is alive, what it found out about its clock, and whether its program lies near its libraries."""

    number: int
    session: Session
    calibration: Calibration
    near: bool
    handle: int = 0


@dataclass(slots=True)
class _Spot:
    """A place that was drawn in a process, and what was seen there."""

    process: _Alive
    places: tuple[int, int, int, int]
    costs: list[float] = field(default_factory=list)
    placed: tuple[int, ...] = ()


@dataclass(slots=True)
class PlaceDrawing:
    """Draws places of cells; `take` does it. `near_command` gives what starts a program beside its libraries."""

    specs: Mapping[str, RunnerSpec]
    policy: Policy
    cores: Sequence[int]
    tell: Callable[[Cell], None] = lambda cell: None
    learnt: Learnt | None = None
    near_command: Callable[[RunnerSpec, str], list[str]] = lambda spec, cpu: loaded_command(spec, cpu)

    def take(self, cells: Sequence[Cell]) -> tuple[Placement, ...]:
        """Say of each cell how its cost is spread over places, in order. What cannot be told says why."""
        error = error_of(len(cells))
        placements: dict[Cell, Placement] = {}
        for process in dict.fromkeys(cell.process for cell in cells):
            of_process = [cell for cell in cells if cell.process == process]
            try:
                with contextlib.ExitStack() as stack:
                    alive = self._start(process, stack)
                    for cell in of_process:
                        self.tell(cell)
                        placements[cell] = self._cell(cell, alive, error)
            except STARTING_FAILS as fault:
                for cell in of_process:
                    placements.setdefault(cell, Placement(cell, error=error, unknown=str(fault)))
        return tuple(placements[cell] for cell in cells)

    def _start(self, process: Process, stack: contextlib.ExitStack) -> list[_Alive]:
        spec = self.specs[process.runner]
        self.learnt = self.learnt or recall(self.cores[0])
        count = PROCESSES if spec.native else HEAVY_PROCESSES
        alive = [self._open(spec, process, number, stack) for number in range(count)]
        if near := self.near_command(spec, process.cpu):
            with contextlib.suppress(*STARTING_FAILS):  # without them the question stays open
                for number in range(count, count + NEAR_PROCESSES):
                    alive.append(self._open(spec, process, number, stack, near))
        # one program has one fixed cost: what processes found differs by noise, which would be theirs for good
        fixed = float(np.median([each.calibration.fixed_ticks for each in alive]))
        probe = float(np.median([each.calibration.probe_cycles for each in alive]))
        for each in alive:
            each.calibration = replace(each.calibration, fixed_ticks=fixed, probe_cycles=probe)
        return alive

    def _open(
        self,
        spec: RunnerSpec,
        process: Process,
        number: int,
        stack: contextlib.ExitStack,
        command: list[str] | None = None,
    ) -> _Alive:
        first = number % len(self.cores)
        cores = [*self.cores[first:], *self.cores[:first]]
        session = stack.enter_context(
            Session(spec, cpu=process.cpu, core=cores[0], command=command, gentle=self.policy.gentle)
        )
        session.hello()
        assert self.learnt
        calibration = self.learnt.calibrate(
            session, CALIBRATION_MS, epoch=number, cores=cores, patience_ms=PATIENCE_MS
        )
        return _Alive(number, session, calibration, command is not None)

    def _cell(self, cell: Cell, alive: list[_Alive], error: float) -> Placement:
        if cell.drawn or cell.size_bytes > LARGEST_BYTES:
            return Placement(cell, error=error, unknown=DRAWN if cell.drawn else LARGE)
        try:
            with self._prepared(cell, alive) as ready:
                spots = self._draw(cell, ready)
        except RunnerError as fault:
            return Placement(cell, error=error, unknown=str(fault))
        unit: Literal["cycles", "ns"] = "cycles"
        if any(each.calibration.cycle_source == "none" for each in alive):
            unit = "ns"
        whole = [spot for spot in spots if len(spot.costs) == 2]
        places = [
            MemoryPlace(spot.process.number, (spot.costs[0], spot.costs[1]), spot.process.near, *spot.placed)
            for spot in whole
        ]
        return judge_placement(cell, places, unit=unit, error=error, lost=len(spots) - len(whole))

    @contextlib.contextmanager
    def _prepared(self, cell: Cell, alive: list[_Alive]) -> Iterator[list[_Alive]]:
        ready = []
        for each in alive:
            if each.session.alive:
                offset = draw_offset(self.policy.seed, each.number)
                each.handle = prepare_cell(each.session, cell, seed=self.policy.seed, offset=offset)
                ready.append(each)
        yield ready
        for each in ready:
            if each.session.alive:
                each.session.release(each.handle)

    def _draw(self, cell: Cell, ready: Sequence[_Alive]) -> list[_Spot]:
        draw = random.Random(f"places/{self.policy.seed}/{cell.address}")
        deadline = time.monotonic() + CELL_S
        spots: list[_Spot] = []
        calls = done = 0
        while done < DRAWS and (not done or time.monotonic() < deadline):
            count = BLOCK if done else 1
            block = []
            for each in ready:
                most = NEAR_DRAWS if each.near else DRAWS
                block += [_Spot(each, _somewhere(draw)) for _ in range(min(count, most - done))]
            for _ in range(2):
                draw.shuffle(block)
                for spot in block:
                    calls = self._burst(cell, spot, calls)
            spots += block
            done += count
            if not any(spot.placed for spot in block):
                break  # the process cannot fork: it has one place
        return spots

    def _burst(self, cell: Cell, spot: _Spot, calls: int) -> int:
        process, session, policy = spot.process, spot.process.session, self.policy
        quiet = own_quiet(process.calibration, policy)
        for _ in range(TRIES if session.alive else 0):
            try:
                request = burst_request(
                    session,
                    process.handle,
                    policy,
                    process.calibration,
                    quiet,
                    samples=SAMPLES,
                    clean=CLEAN,
                    calls=calls,
                    warm=Warm(policy.warm_us, policy.warm_least_us),
                    forks=1,
                    places=",".join(map(str, spot.places)),
                )
                taken = session.take(request, cell=cell, epoch=process.number, round=len(spot.costs))
            except RunnerRefused:
                raise
            except RunnerError:
                return calls  # the others go on without this process
            judged = judge_samples([taken.burst], process.calibration, policy)
            clean = judged.values[judged.clean]
            calls = calls or taken.burst.calls
            if len(clean):
                spot.costs.append(float(np.median(clean)))
                spot.placed = taken.placed or spot.placed
                break
        return calls


def _somewhere(draw: random.Random) -> tuple[int, int, int, int]:
    """How far stack and heap are moved, and where input and output begin in a page."""
    places = PAGE_BYTES // GRAIN
    stack, heap, data, result = (GRAIN * draw.randrange(places) for _ in range(4))
    return stack, heap, data, result


def loaded_command(spec: RunnerSpec, cpu: str) -> list[str]:
    """What starts a runner through its loader, so that the program lies among its libraries; empty where it has none.

    The kernel places a program that names a loader far from where libraries are mapped. Started by hand, the loader
    maps the program as it maps libraries.
    """
    command = [spec.fill(part) for part in (*spec.command, *spec.tier(cpu).arguments)]
    try:
        loader = interpreter(Path(command[0]).read_bytes()) if spec.native else ""
    except OSError:
        return []
    return [loader, *command] if loader else []


def interpreter(program: bytes) -> str:
    """The loader that a 64-bit little-endian ELF program names; empty where it names none, or is another file."""
    if program[:6] != b"\x7fELF\x02\x01" or len(program) < 64:
        return ""
    with contextlib.suppress(struct.error, UnicodeDecodeError):
        start, size, count = *struct.unpack_from("<Q", program, 32), *struct.unpack_from("<HH", program, 54)
        for number in range(count):
            kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", program, start + number * size)
            if kind == 3:  # PT_INTERP
                return program[offset : offset + length].rstrip(b"\0").decode("ascii")
    return ""
