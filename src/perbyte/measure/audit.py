"""The audit from outside: what a runner says of its calls, beside what the kernel and our own clock say of them.

After the rounds of each epoch every cell is asked for a burst of few samples and one of more, all of them long. What
the longer one takes more of the process's CPU time, as the kernel accounts it, went into calls; no clock of the
runner's has a part in it. A neighbour on the core slows both accounts of the same calls alike. What looks wrong is
looked at again, for longer, before anything is said of it (`stats.audit`).

That the calls do their work is told by chains of calls: each has new data, made from what the last one gave, and all
that is made goes into one digest. Their cost from outside must be that of the timed calls, and runners must agree.

Whether the clock probes are right is told by Perbyte's own runner of known loops, asked at the same time.
"""

from __future__ import annotations

import contextlib
import math
import random
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Self

from perbyte import places, stats
from perbyte.catalogue import Catalogue
from perbyte.errors import PerbyteError, RunnerError, RunnerRefused
from perbyte.measure.pieces import Cut
from perbyte.measure.rounds import Epoch
from perbyte.measure.sessions import Sessions, failure_kind
from perbyte.measure.validation import find_wrong
from perbyte.model import Audit, Calibration, Cell, Failure, Policy, Process
from perbyte.runners import find
from perbyte.runners.session import Chained, Measured, Session

# of calls in a sample of the first look: samples that follow each other within 40 us may share clock probes, which are
# taken off both accounts
LOOK_S = 60e-6
CONFIRM_S, CONFIRMATIONS = 0.25e-3, 10  # and of those that follow where that one was odd
# A call of this length is looked at in the first epoch only; where it is cut its pieces are, in every epoch, and the
# whole calls of cells drawn by lot, as far as that takes no more than this share of the budget.
LONG_S = 5e-3
WHOLE_SHARE, WHOLE_CALLS = 0.02, 8  # calls that a look and a chain are made of
LONGEST_S = 1.0  # and one of this length not at all
MOST_TIMES = (
    64  # as many calls in a sample as in one of the rounds: no word of a runner's makes them last for minutes
)
CHAIN_S = 60e-6  # what a long chain of calls on new data takes more than a short one
CHAIN_EVERY = 3  # epochs, from the first on
BARE_BYTES, BARE_CALLS, MOST_BARE_NS = 16, (4, 68), 20e3  # of a chain on hardly any data
NOISE = 0.3  # of what a chain takes in CPU time
MOST_LINKS, MOST_BYTES = 1024, 1 << 20  # of calls in a chain, and of all their data
# lengths of data that no cell of the run has; the share of the budget that the longer ones may take
SHORTER, LONGER, LONGER_SHARE = (1, 4096), ((1 << 20) + 1, (1 << 20) + 65536), 0.01
# HKDF gives at most 255 digests (RFC 5869), so calls on other lengths than the cell's may fail rightly
BOUNDED_OPERATION = "expand"
LARGER, LARGER_CALLS = (8192, 16384), 8  # data, and calls in a sample, of the look at a row's work
MOST_IDLE, LEAST_IDLE_S = (
    0.5,
    0.2,
)  # CPU time over time while nothing is asked; compilers at work take less, for longer
_LIMIT_MS = 60_000.0
_SAMPLES = (1, 3)
_WITNESS = Cell("reference", "probe-imul", "run", 64, "stream/1")


class Witness:
    """Perbyte's own runner of loops of known cost: what is the core's clock? A context manager; it may be absent."""

    def __init__(self, cores: Sequence[int]) -> None:
        self._cores = cores
        self._session: Session | None = None
        self._calibration: Calibration | None = None
        self._handle = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session:
            self._session.close()

    def clock_hz(self) -> float:
        """The rate of the core's clock now; 0 where nobody can tell."""
        if self._session is None and self._calibration is None:
            self._start()
        if not self._session or not self._calibration:
            return 0.0
        try:
            taken = self._session.measure(
                self._handle, cell=_WITNESS, epoch=0, round=0, samples=3, limit_ms=5.0, sample_us=5.0
            )
        except PerbyteError:
            self._session.close()
            self._session = None
            return 0.0
        return clock_hz(taken, self._calibration)

    def _start(self) -> None:
        with contextlib.suppress(PerbyteError):
            spec = find(_WITNESS.runner, [places.data_dir("runners")])
            session = Session(spec, core=self._cores[0])
            try:
                session.hello()
                self._calibration = session.calibrate(10.0, epoch=0, cores=self._cores, patience_ms=20.0)
                row = _WITNESS.row
                self._handle = session.prepare(
                    row.algorithm, row.operation, row.contract, _WITNESS.size_bytes, seed=1
                )
            except BaseException:
                session.close()
                raise
            self._session = session
        self._calibration = self._calibration or _NOBODY


_NOBODY = Calibration("", "", 0, 0, "none", "", 0.0, 0, 0.0, 0.0, 0.0, {})


class Auditor:
    """Looks at cells and keeps what it saw."""

    def __init__(
        self,
        policy: Policy,
        catalogue: Catalogue,
        audits: dict[Cell, list[Audit]],
        note: Callable[[Audit], None],
        fail: Callable[[Failure], None],
        witness: Witness,
    ) -> None:
        """`audits` is what is known of earlier epochs; each new one is added to it, and `note` is told of it."""
        self._policy = policy
        self._catalogue = catalogue
        self._audits = audits
        self._note = note
        self._fail = fail
        self._witness = witness
        self._asked_of: tuple[Process, int] | None = None
        self._own_hz, self._children = 0.0, 0
        self._drawn: dict[tuple[object, ...], tuple[int, int]] = {}
        self._bare: dict[tuple[object, ...], float] = {}
        self._tried: set[tuple[object, ...]] = set()
        self._lengths: dict[tuple[object, ...], int] = {}
        self._digests: dict[tuple[str, str, str, int], list[tuple[Cell, str]]] = {}
        self._whole_s = WHOLE_SHARE * policy.budget_s
        self._whole: set[Cell] = set()
        self._longer_s = 0.0
        self._untried: dict[tuple[object, ...], list[Cell]] = defaultdict(list)

    def audit(self, sessions: Sessions, epoch: Epoch, lost: Collection[Cell]) -> None:
        """Look at every cell of the epoch but those that are `lost`. One whose runner says something else fails."""
        cuts = self._draw_whole(epoch)
        for cell, tally in sorted(epoch.tallies.items(), key=lambda item: item[0].process):
            if cell in lost or not tally.bursts or not sessions.runs(cell.process):
                continue
            epoch.aside.leave(epoch.core_of(cell.process))
            try:
                refusal = self.look(sessions, cell, epoch.number, tally.calls, tally.call_s, cuts.get(cell))
                wrong, row = self._audits[cell][-1].wrong, (cell.process, cell.row)
                if not wrong and row not in self._tried and (cuts.get(cell) or tally.call_s < LONG_S):
                    self._tried.add(row)
                    multiple = self._catalogue.find(cell.algorithm).data_multiple_bytes
                    wrong = self.try_elsewhere(sessions, cell, multiple, *SHORTER)
                    self._untried[_question(replace(cell, size_bytes=LONGER[1]))].append(cell)
                    refusal = refusal or self.look_larger(sessions, cell, epoch.number, multiple)
            except RunnerError as error:
                self._fail(Failure(failure_kind(error), cell.runner, str(error), address=cell.address))
                continue
            self._refuse(epoch, cell, "audit", refusal)
            self._refuse(epoch, cell, "incorrect", wrong)
        self._try_longer(sessions, epoch, lost)
        for process in {cell.process for cell in epoch.tallies if sessions.runs(cell.process)}:
            mine = [cell for cell in epoch.tallies if cell.process == process]
            share, idle_s = sessions.of(mine[0]).process.idle_share()
            if share > MOST_IDLE and idle_s > LEAST_IDLE_S:
                said = f"takes {share:.2f} s of CPU time per second while nobody asks it, and so slows the others"
                for cell in mine:
                    self._fail(Failure("audit", cell.runner, said, address=cell.address))
        for answers, size in self.disagreements():
            alive = {cell: digest for cell, digest in answers if sessions.runs(cell.process)}
            for cell, kind, others in find_wrong(alive, sessions):
                said = f"disagrees with {others} on data of {size} bytes that nobody knew before"
                self._fail(Failure(kind, cell.runner, said, address=cell.address))

    def _refuse(self, epoch: Epoch, cell: Cell, kind: str, what: str) -> None:
        """Fail all cells of a row where something was found: who lies at one size is not believed at others."""
        for one in epoch.tallies if what else ():
            if (one.process, one.row) == (cell.process, cell.row):
                self._fail(Failure(kind, one.runner, f"audited: {what}", address=one.address))

    def _try_longer(self, sessions: Sessions, epoch: Epoch, lost: Collection[Cell]) -> None:
        """Try rows on more than a mebibyte, an operation in all runners at a time, by lot while their share lasts."""
        for question in random.SystemRandom().sample(list(self._untried), len(self._untried)):
            if self._longer_s > LONGER_SHARE * self._policy.budget_s:
                return
            began = time.monotonic()
            for cell in self._untried.pop(question):
                if cell in lost or not sessions.runs(cell.process):
                    continue
                multiple = self._catalogue.find(cell.algorithm).data_multiple_bytes
                try:
                    wrong = self.try_elsewhere(sessions, cell, multiple, *LONGER)
                except RunnerError as error:
                    self._fail(Failure(failure_kind(error), cell.runner, str(error), address=cell.address))
                else:
                    self._refuse(epoch, cell, "incorrect", wrong)
            self._longer_s += time.monotonic() - began

    def _draw_whole(self, epoch: Epoch) -> dict[Cell, Cut]:
        """Cells of long calls that are looked at in pieces in this epoch; the others are drawn by lot."""
        cuts = {
            cell: cut
            for cell, tally in epoch.tallies.items()
            if (cut := epoch.cuts.get(cell)) and tally.call_s > LONG_S
        }
        for cell in random.SystemRandom().sample(list(cuts), len(cuts)):
            takes_s = WHOLE_CALLS * epoch.tallies[cell].call_s
            if cell not in self._whole and takes_s <= self._whole_s:
                self._whole_s -= takes_s
                self._whole.add(cell)
                del cuts[cell]
        return cuts

    def _keep(self, audit: Audit) -> None:
        self._note(audit)
        self._audits[audit.cell].append(audit)

    def look(
        self,
        sessions: Sessions,
        cell: Cell,
        epoch: int,
        calls: int,
        call_s: float,
        cut: Cut | None = None,
    ) -> str:
        """Audit one cell; return why its figure is refused, empty where it is not.

        `calls` per sample and seconds per call are those of the rounds, by the runner's word. Given a `cut` it is
        pieces of calls that are looked at. Raises RunnerError.
        """
        known = self._audits.get(cell, [])
        if cut:
            unchained = f"a call takes {call_s:.2g} s; its row's was, on shorter data"
            audit = self._look_at_pieces(sessions, Audit(cell, epoch, unchained=unchained), cut, known)
            self._keep(audit)
            return stats.judge_audits(self._audits[cell]).refusal
        if call_s > LONG_S and known:
            return ""
        audit = Audit(cell, epoch, long=call_s > LONG_S)
        if call_s > LONGEST_S:
            self._keep(replace(audit, problem=f"a call of {call_s:.1f} s is too long to be made again"))
            return ""
        wanted = LOOK_S / max(call_s, 1e-12)
        calls = max(1, min(round(wanted), MOST_TIMES * max(calls, 1)))
        audit = self._look(sessions, audit, calls, turned=bool(epoch % 2))
        if stats.is_suspicious([*known, audit]):
            # by what the first look took, whatever was said of it
            took = max(audit.cpu_ns[-1], audit.claimed_ns[-1], 1.0) * 1e-9 * calls
            more = max(1, min(1000, round(CONFIRM_S / took)))
            for turn in range(2 if audit.long else CONFIRMATIONS):
                audit = self._look(sessions, audit, calls * more, turned=bool(turn % 2))
                if stats.is_settled(audit, 1):
                    break
        if len(known) % CHAIN_EVERY == 0:
            audit = self._chain(sessions, audit)
        for turn in range(2 if audit.long else CONFIRMATIONS):
            if audit.wrong or not stats.is_unlike(audit):
                break
            audit = self._chain(sessions, self._look(sessions, audit, calls, turned=bool(turn % 2)))
        self._keep(audit)
        return stats.judge_audits(self._audits[cell]).refusal

    def _look_at_pieces(self, sessions: Sessions, audit: Audit, cut: Cut, known: Sequence[Audit]) -> Audit:
        """Add looks at pieces of a cell's calls, in nanoseconds per whole call."""
        shorter_s = cut.call_s * cut.shorter / audit.cell.size_bytes
        pieces = max(1, math.ceil(LOOK_S / shorter_s))
        samples = _SAMPLES
        for turn in range(1 + CONFIRMATIONS):
            odd = bool((audit.epoch + turn) % 2)
            length = pieces * cut.shorter
            audit = self._look(sessions, audit, 1, turned=odd, piece_bytes=length, samples=samples)
            more = min(1000, math.ceil(2 * CONFIRM_S / (pieces * shorter_s)))
            samples = _SAMPLES[0], max(_SAMPLES[1], _SAMPLES[0] + more)
            if not stats.is_suspicious([*known, audit]) or (turn and stats.is_settled(audit, 1)):
                break
        return audit

    def _chain(self, sessions: Sessions, audit: Audit) -> Audit:
        """Add the cost of a call of a chain on new data: a long chain less a short one, which all runners are given."""
        cell, call_ns = audit.cell, max(1.0, min(audit.cpu_ns))
        if not audit.chain_ns:
            audit = replace(audit, chain_ns=self._bare_chain_ns(sessions, cell))
        session, handle = sessions.of(cell), sessions.handle(cell)
        more = max(1, min(MOST_LINKS, round(CHAIN_S * 1e9 / call_ns)))
        seed, calls = self._drawn.setdefault(
            (*_question(cell), audit.epoch),
            (secrets.randbits(64), max(1, min(more // 2, 256, MOST_BYTES // max(cell.size_bytes, 1)))),
        )
        try:
            few = session.audit(handle, seed=seed, calls=calls)
            # what it takes beyond its calls must not hide them, nor its noise decide where one look was odd
            least_s = max(CHAIN_S if not audit.chained_ns else CONFIRM_S, NOISE * few.cpu_s)
            more = max(more, min(MOST_LINKS, round(least_s * 1e9 / call_ns)))
            many = session.audit(handle, seed=secrets.randbits(64), calls=calls + more)
        except RunnerRefused as refused:
            return replace(audit, unchained=f"{refused.code}: {refused}")
        if problem := next(filter(None, (_problem(one) for one in (few, many))), ""):
            return replace(audit, wrong=problem)
        self._remember(cell, cell, few.answer.digest)
        return replace(
            audit,
            chained_ns=[*audit.chained_ns, (many.cpu_s - few.cpu_s) * 1e9 / more],
            afresh=few.answer.afresh,
        )

    def _bare_chain_ns(self, sessions: Sessions, cell: Cell) -> float:
        """What a call of a chain takes on hardly any data: slow languages need microseconds to make the next."""
        row = cell.process, cell.row
        if row not in self._bare:
            multiple = self._catalogue.find(cell.algorithm).data_multiple_bytes
            small = replace(cell, size_bytes=-(-BARE_BYTES // multiple) * multiple)
            self._bare[row] = 0.0
            with contextlib.suppress(RunnerRefused):
                session, handle = sessions.of(small), sessions.handle(small)
                looks = []
                for _ in range(3):
                    few, many = (
                        session.audit(handle, seed=secrets.randbits(64), calls=n).cpu_s for n in BARE_CALLS
                    )
                    looks.append((many - few) * 1e9 / (BARE_CALLS[1] - BARE_CALLS[0]))
                self._bare[row] = min(max(sorted(looks)[1], 0.0), MOST_BARE_NS)
            if small != cell:
                sessions.release([small])
        return self._bare[row]

    def try_elsewhere(self, sessions: Sessions, cell: Cell, multiple: int, least: int, most: int) -> str:
        """Make a short chain on data of another length, and at odd addresses, for one cell of a row.

        Returns what is wrong with that by itself; whether runners agree is told by `disagreements`. Raises RunnerError.
        """
        once = cell.runner, cell.algorithm, cell.operation, most
        if cell.operation == BOUNDED_OPERATION or (most > MOST_BYTES and once in self._tried):
            return ""  # a mebibyte takes milliseconds: once for all tiers and contracts
        self._tried.add(once)
        session, question = sessions.of(cell), (*_question(replace(cell, size_bytes=most)), -1)
        if question not in self._lengths:
            self._lengths[question] = random.SystemRandom().randrange(least, most) // multiple * multiple
        size = self._lengths[question]
        seed, calls = self._drawn.setdefault(question, (secrets.randbits(64), 2))
        try:
            handle = session.prepare(
                cell.algorithm, cell.operation, cell.contract, size, seed=seed, offset=seed % 1024 | 1
            )
        except RunnerRefused:
            return ""  # not every operation takes every length
        try:
            chained = session.audit(handle, seed=seed, calls=calls)
        except RunnerRefused:
            return ""
        finally:
            session.release(handle)
        if problem := _problem(chained):
            return f"{problem} on {size} bytes"
        asked = replace(cell, size_bytes=size)
        self._remember(cell, asked, chained.answer.digest)
        return ""

    def look_larger(self, sessions: Sessions, cell: Cell, epoch: int, multiple: int) -> str:
        """Audit a row once on data so long that half the work of a call can be told, whatever the run's sizes are.

        Returns why the row is refused. Raises RunnerError.
        """
        if cell.operation == BOUNDED_OPERATION:
            return ""
        size = random.SystemRandom().randrange(*LARGER) // multiple * multiple
        audit = Audit(replace(cell, size_bytes=size), epoch)
        try:
            tried = self._look(sessions, audit, LARGER_CALLS, turned=False)
            call_ns = max(tried.claimed_ns[-1], tried.cpu_ns[-1], 1.0)
            calls = min(MOST_LINKS, math.ceil(LOOK_S * 1e9 / call_ns))
            for turn in range(CONFIRMATIONS):
                audit = self._look(sessions, audit, calls, turned=bool(turn % 2))
                audit = self._chain(sessions, audit)
                if audit.wrong or not stats.is_unlike(audit):
                    return audit.wrong and f"{audit.wrong} on {size} bytes"
        except RunnerRefused:
            return ""  # not every operation takes every length
        finally:
            sessions.release([audit.cell])
        verdict = stats.judge_audits([audit]).refusal
        return f"on {size} bytes {verdict}" if verdict else ""

    def _remember(self, cell: Cell, asked: Cell, digest: str) -> None:
        """Keep an answer that other runners must give too: nothing drawn at random, no key pair of the runner's own."""
        known = self._catalogue.find(cell.algorithm)
        if not known.fixed_key and cell.operation not in known.randomised:
            self._digests.setdefault(_question(asked), []).append((cell, digest))

    def disagreements(self) -> list[tuple[list[tuple[Cell, str]], int]]:
        """The answers since the last call to questions that were answered differently, with the size of the data."""
        found = [
            (answers, question[3])
            for question, answers in self._digests.items()
            if len({digest for _, digest in answers}) > 1
        ]
        self._digests.clear()
        return found

    def _look(
        self,
        sessions: Sessions,
        audit: Audit,
        calls: int,
        *,
        turned: bool,
        piece_bytes: int = 0,
        samples: tuple[int, int] = _SAMPLES,
    ) -> Audit:
        """Add one look: two bursts that differ in their number of samples, the longer one first if `turned`.

        A piece of `piece_bytes` counts as its share of a call.
        """
        cell = audit.cell
        session, handle = sessions.of(cell), sessions.handle(cell)
        calibration = sessions.calibrations[cell.process]
        taken: dict[int, Measured] = {}
        for count in reversed(samples) if turned else samples:
            taken[count] = session.measure(
                handle,
                cell=cell,
                epoch=audit.epoch,
                round=0,
                samples=count,
                limit_ms=_LIMIT_MS,
                calls=calls,
                sample_us=self._policy.sample_us,
                piece_bytes=piece_bytes,
            )
        if audit.claimed_ns or self._asked_of != (cell.process, audit.epoch):
            self._asked_of = cell.process, audit.epoch  # once for all cells of a process, unless one is odd
            self._own_hz, self._children = self._witness.clock_hz(), session.process.children()
        few, many = (taken[count] for count in samples)
        pieces = cell.size_bytes / piece_bytes if piece_bytes else 1.0  # of a call
        more = (len(many.burst) - len(few.burst)) * calls / pieces
        if more <= 0:
            return replace(audit, problem="bursts of other lengths than were asked for")
        tick_ns = 1e9 / calibration.tick_hz
        ticks, probes = (_ticks(many)[i] - _ticks(few)[i] for i in (0, 1))
        clean_ns = min(
            pieces * stats.lowest_clean_ns(many.burst, calibration, self._policy),
            audit.clean_ns or math.inf,
        )
        return replace(
            audit,
            claimed_ns=[*audit.claimed_ns, ticks * tick_ns / more],
            cpu_ns=[*audit.cpu_ns, ((many.cpu_s - few.cpu_s) * 1e9 - probes * tick_ns) / more],
            wall_ns=[*audit.wall_ns, ((many.wall_s - few.wall_s) * 1e9 - probes * tick_ns) / more],
            threads=[*audit.threads, many.cpu_s / many.wall_s],
            clock_hz=[*audit.clock_hz, clock_hz(many, calibration)],
            own_hz=[*audit.own_hz, self._own_hz],
            clean_ns=clean_ns if math.isfinite(clean_ns) else 0.0,
            children=max(audit.children, self._children),
        )


def _question(cell: Cell) -> tuple[str, str, str, int]:
    """What runners are asked alike, whoever they are and in whatever CPU tier."""
    return cell.algorithm, cell.operation, cell.contract, cell.size_bytes


def _problem(chained: Chained) -> str:
    """What is wrong with a chain's answer by itself."""
    answer = chained.answer
    if answer.refused != answer.forged:
        return f"{answer.forged - answer.refused} of {answer.forged} forgeries were accepted"
    return f"{answer.failures} calls failed" if answer.failures else ""


def clock_hz(taken: Measured, calibration: Calibration) -> float:
    """The rate of the core's clock by the counters of a burst, or by its clock probes; 0 where it has neither."""
    burst = taken.burst
    if burst.cycles and sum(burst.ticks) > 0:
        return sum(burst.cycles) / sum(burst.ticks) * calibration.tick_hz
    readings = [min(pair) for pair in zip(burst.clock_before, burst.clock_after, strict=True)]
    # what disturbs a probe makes it longer
    if calibration.cycle_source == "none" or not readings or min(readings) <= 0:
        return 0.0
    return calibration.tick_hz * calibration.probe_cycles / min(readings)


def _ticks(taken: Measured) -> tuple[int, int]:
    """Ticks of the calls, and of the probes that stand between them."""
    burst = taken.burst
    probes = (burst.clock_before, burst.clock_after, burst.contention_before, burst.contention_after)
    return sum(burst.ticks), sum(map(sum, probes))
