"""The audit from outside: what a runner says of its calls, beside what the kernel and our own clock say of them.

After the rounds of each epoch every cell is asked for a sample and for one of thrice the calls. What the longer one
takes more of the process's CPU time, as the kernel accounts it, went into calls; no clock of the runner's has a part in
it. A neighbour on the core slows both accounts of the same calls alike. What looks wrong is
looked at again, for longer, before anything is said of it (`stats.audit`).

That the calls do their work is told by chains of calls: each has new data, made from what the last one gave, and all
that is made goes into one digest. Their cost from outside must be that of the timed calls, and runners must agree.

Whether the clock probes are right is told by Perbyte's own runner of known loops, asked at the same time.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from perbyte import stats
from perbyte.catalogue import Catalogue
from perbyte.errors import RunnerError, RunnerRefused
from perbyte.measure.pieces import Cut
from perbyte.measure.rounds import Epoch
from perbyte.measure.sessions import Sessions, failure_kind
from perbyte.measure.validation import find_wrong
from perbyte.measure.witness import Witness, clock_hz
from perbyte.model import Audit, Cell, Failure, Policy, Process
from perbyte.runners.taken import Chained, Measured

# of calls in a sample of the first look: samples that follow each other within 40 us may share clock probes, which are
# taken off both accounts
LOOK_S, MOST_LOOK_S = 60e-6, 1e-3
CONFIRM_S, CONFIRMATIONS = 0.5e-3, 10  # and of those that follow where that one was odd
# A call of this length is looked at in one epoch only; where it is cut its pieces are, in every epoch, and the whole
# calls of cells drawn by lot.
LONG_S, WHOLE_CALLS = 5e-3, 8  # calls that a look and a chain are made of
TRY_S = 2e-3  # that trying a row takes at the least
ONE_S = 50e-3  # beside one of this length a question is nothing: one sample tells
# of the run's time, and besides, that is for long calls and for rows on other data
SHARE, GRACE_S = 0.02, 0.05
# as many calls in a sample as in one of the rounds: no word of a runner's makes them last for minutes
MOST_TIMES = 64
CHAIN_EVERY = 3  # epochs, from the first on
BARE_BYTES, BARE_CALLS, MOST_BARE_NS = 16, (68, 1024), 20e3  # of a chain on hardly any data
NOISE = 0.3  # of what a chain takes in CPU time
FEW_LINKS, MOST_LINKS, MOST_BYTES = 4, 1024, 1 << 20  # of calls in a chain, and of all their data
# lengths of data that no cell of the run has
SHORTER, LONGER = (1, 4096), ((1 << 20) + 1, (1 << 20) + 65536)
# HKDF gives at most 255 digests (RFC 5869), so calls on other lengths than the cell's may fail rightly
BOUNDED_OPERATION = "expand"
LARGER, LARGER_CALLS = (8192, 16384), 8  # data, and calls in a sample, of the look at a row's work
# CPU time over time while nothing is asked; compilers at work take less, for longer
MOST_IDLE, LEAST_IDLE_S = 0.5, 0.2
MOST_THREADS = 64.0
_LIMIT_MS = 60_000.0
_TIMES = (1, 3)
_CHANCE = random.SystemRandom()
_ELSEWHERE = -1  # in place of the epoch, of what is asked once a run


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
        self._extra_s = self._elapsed_s = self._sample_s = 0.0
        self._look_s: dict[Process, float] = defaultdict(lambda: LOOK_S)  # noise grows with a question's
        self._drawn: dict[tuple[object, ...], tuple[int, int]] = {}
        self._bare: dict[tuple[object, ...], float] = {}
        self._anew_s: dict[Process, float] = {}  # a link of a chain, of runners that prepare anew for each
        self._tried: set[tuple[object, ...]] = set()
        self._lengths: dict[tuple[object, ...], int] = {}
        self._whole: set[Cell] = set()
        self._untried: dict[tuple[object, ...], list[Cell]] = defaultdict(list)
        self._digests: dict[tuple[object, ...], dict[Cell, str]] = {}

    def audit(
        self, sessions: Sessions, epoch: Epoch, lost: Collection[Cell], elapsed_s: float = math.inf
    ) -> None:
        """Look at every cell of the epoch but those that are `lost`. One whose runner says something else fails.

        `elapsed_s` is what the run has taken so far: what is more than a short look waits for its share.
        """
        self._elapsed_s = elapsed_s
        cells = [cell for cell, tally in epoch.tallies.items() if cell not in lost and tally.bursts]
        cuts = self._draw_whole(epoch, cells)
        for cell in sorted(cells, key=lambda cell: cell.process):
            tally = epoch.tallies[cell]
            look = partial(self.look, sessions, cell, epoch.number, tally.calls, tally.call_s, cuts.get(cell))
            self._try(sessions, epoch, cell, look)
        self._try_rows(sessions, epoch, [c for c in cells if c in cuts or epoch.tallies[c].call_s < LONG_S])
        for process in {cell.process for cell in epoch.tallies if sessions.runs(cell.process)}:
            mine = [cell for cell in epoch.tallies if cell.process == process]
            share, idle_s = sessions.of(mine[0]).process.idle_share()
            if share > MOST_IDLE and idle_s > LEAST_IDLE_S:
                said = f"takes {share:.2f} s of CPU time per second while nobody asks it, and so slows the others"
                for cell in mine:
                    self._fail(Failure("audit", cell.runner, said, address=cell.address))
        for question, answers in self._digests.items():
            alive = {c: d for c, d in answers.items() if sessions.runs(c.process)}
            for cell, kind, others in find_wrong(alive, sessions):
                size = self._lengths.get(question, cell.size_bytes)
                said = f"disagrees with {others} on data of {size} bytes that nobody knew before"
                for one in (cell,) if question[-1] != _ELSEWHERE and cell in self._audits else self._audits:
                    if (one.process, one.row) == (cell.process, cell.row):
                        self._fail(Failure(kind, one.runner, said, address=one.address))
        # what rows were tried on elsewhere is compared in later epochs too
        self._digests = {
            question: found for question, found in self._digests.items() if question[-1] == _ELSEWHERE
        }

    def _try_rows(self, sessions: Sessions, epoch: Epoch, cells: list[Cell]) -> None:
        """Try rows on other data than the run's, while there is time: no runner knows which has its turn.

        Of more than a mebibyte an operation in all runners at a time, so that they can be compared.
        """
        for cell in _CHANCE.sample(cells, len(cells)):
            anew_s = self._anew_s.get(cell.process, 0.0)
            if (cell.process, cell.row) in self._tried or not self._has_time(max(TRY_S, 4 * anew_s)):
                continue
            self._tried.add((cell.process, cell.row))
            with self._extra():
                self._try(sessions, epoch, cell, partial(self.try_row, sessions, cell, epoch.number))
            self._untried[_question(replace(cell, size_bytes=LONGER[1]))].append(cell)
        for question in _CHANCE.sample(list(self._untried), len(self._untried)):
            if not self._has_time(TRY_S):
                return
            with self._extra():
                for cell in self._untried.pop(question):
                    self._try(sessions, epoch, cell, partial(self.try_elsewhere, sessions, cell, *LONGER))

    def _draw_whole(self, epoch: Epoch, cells: Sequence[Cell]) -> dict[Cell, Cut]:
        """Cells of long calls that are looked at in pieces in this epoch; the others are drawn by lot."""
        cuts = {
            cell: cut
            for cell in cells
            if (cut := epoch.cuts.get(cell)) and epoch.tallies[cell].call_s > LONG_S
        }
        for cell in _CHANCE.sample(list(cuts), len(cuts)):
            takes_s = WHOLE_CALLS * epoch.tallies[cell].call_s
            if cell not in self._whole and self._has_time(takes_s):
                self._extra_s += takes_s
                self._whole.add(cell)
                del cuts[cell]
        return cuts

    def _remember(self, question: tuple[object, ...], cell: Cell, digest: str) -> None:
        """Keep an answer that other runners must give too: nothing drawn at random, no key pair of the runner's own."""
        known = self._catalogue.find(cell.algorithm)
        if not known.fixed_key and cell.operation not in known.randomised:
            self._digests.setdefault(question, {})[cell] = digest

    def _try(self, sessions: Sessions, epoch: Epoch, cell: Cell, look: Callable[[], tuple[str, str]]) -> None:
        """Look at a cell, if its process is alive; who lies at one size is not believed at another."""
        if not sessions.runs(cell.process):
            return
        epoch.aside.leave(epoch.core_of(cell.process))
        try:
            for kind, what in zip(("audit", "incorrect"), look(), strict=True):
                for one in epoch.tallies if what else ():
                    if (one.process, one.row) == (cell.process, cell.row):
                        self._fail(Failure(kind, one.runner, f"audited: {what}", address=one.address))
        except RunnerError as error:
            self._fail(Failure(failure_kind(error), cell.runner, str(error), address=cell.address))

    @contextlib.contextmanager
    def _extra(self) -> Iterator[None]:
        """What takes more than one short look a cell."""
        began = time.monotonic()
        yield
        self._extra_s += time.monotonic() - began

    def _has_time(self, takes_s: float) -> bool:
        """True while there is time for more than one short look a cell."""
        return not takes_s or self._extra_s + takes_s < SHARE * self._elapsed_s + GRACE_S

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
    ) -> tuple[str, str]:
        """Audit one cell; return why its figure is refused and what is wrong, empty where nothing is.

        `calls` per sample and seconds per call are those of the rounds, by the runner's word. Given a `cut` it is
        pieces of calls that are looked at. Raises RunnerError.
        """
        known = self._audits.get(cell, [])
        if cut:
            unchained = f"a call takes {call_s:.2g} s; its row's was, on shorter data"
            self._keep(self._look_at_pieces(sessions, Audit(cell, epoch, unchained=unchained), cut, known))
            return stats.judge_audits(self._audits[cell]).refusal, ""
        audit = Audit(cell, epoch, long=call_s > LONG_S)
        if audit.long and any(one.claimed_ns for one in known):
            return "", ""
        alone = call_s > ONE_S
        if alone and cell not in self._whole and not self._has_time(2 * call_s):
            if not known:
                why = f"a call of {call_s:.2g} s is too long to be made again in a run of this length"
                self._keep(replace(audit, problem=why))
            return "", ""
        began = time.monotonic()
        times = _TIMES[:1] if alone else _TIMES
        wanted = self._look_s[cell.process] / max(call_s, 1e-12)
        calls = max(1, min(round(wanted), MOST_TIMES * max(calls, 1)))
        audit = self._look(sessions, audit, calls, turned=bool(epoch % 2), times=times)
        if stats.is_suspicious([*known, audit]):
            # by what the first look took, whatever was said of it
            more = max(1, min(1000, round(CONFIRM_S / max(self._sample_s, calls * call_s, 1e-6))))
            for turn in range(2 if audit.long else CONFIRMATIONS):
                audit = self._look(sessions, audit, calls * more, turned=bool(turn % 2), times=times)
                if stats.is_settled(audit, 1):
                    break
        if len(known) % CHAIN_EVERY == 0:
            audit = self._chain(sessions, audit)
        for turn in range(2 if audit.long else CONFIRMATIONS):
            if audit.wrong or not stats.is_unlike(audit):
                break
            if not audit.chain_ns:
                audit = replace(audit, chain_ns=self._bare_chain_ns(sessions, cell, epoch, call_s))
            audit = self._look(sessions, audit, calls, turned=bool(turn % 2), times=times)
            audit = self._chain(sessions, audit)
        self._keep(audit)
        if alone and cell not in self._whole:
            self._extra_s += time.monotonic() - began
        return stats.judge_audits(self._audits[cell]).refusal, audit.wrong

    def _look_at_pieces(self, sessions: Sessions, audit: Audit, cut: Cut, known: Sequence[Audit]) -> Audit:
        """Add looks at pieces of a cell's calls, in nanoseconds per whole call."""
        shorter_s = cut.call_s * cut.shorter / audit.cell.size_bytes
        pieces, times = max(1, math.ceil(LOOK_S / shorter_s)), _TIMES
        for turn in range(1 + CONFIRMATIONS):
            odd, length = bool((audit.epoch + turn) % 2), pieces * cut.shorter
            audit = self._look(sessions, audit, 1, turned=odd, piece_bytes=length, times=times)
            more = min(1000, math.ceil(2 * CONFIRM_S / (pieces * shorter_s)))
            times = 1, max(_TIMES[1], 1 + more)
            if not stats.is_suspicious([*known, audit]) or (turn and stats.is_settled(audit, 1)):
                break
        return audit

    def _chain(self, sessions: Sessions, audit: Audit) -> Audit:
        """Add the cost of a call of a chain on new data: a long chain less a short one, which all runners are given."""
        cell, call_ns = audit.cell, max(1.0, min(audit.cpu_ns), min(audit.claimed_ns) / 2)
        session, handle = sessions.of(cell), sessions.handle(cell)
        more = max(1, min(MOST_LINKS, round(LOOK_S * 1e9 / call_ns)))
        seed, calls = self._drawn.setdefault(
            (*_question(cell), audit.epoch),
            (secrets.randbits(64), max(1, min(more // 2, FEW_LINKS, MOST_BYTES // max(cell.size_bytes, 1)))),
        )
        if not self._has_time(calls * self._anew_s.get(cell.process, 0.0)):
            return replace(
                audit, unchained="preparing it anew for each call takes too long for a run of this length"
            )
        try:
            few = session.audit(handle, seed=seed, calls=calls)
            if few.answer.afresh:
                self._anew_s[cell.process] = few.cpu_s / calls
                self._extra_s += few.cpu_s
                return self._chained(audit, few)
            if call_ns > ONE_S * 1e9:  # beside such a call, what the chain takes besides is nothing
                return self._chained(audit, few, few.cpu_s / calls)
            # what it takes beyond its calls must not hide them, nor its noise decide where one look was odd
            least_s = max(CONFIRM_S if audit.chained_ns else self._look_s[cell.process], NOISE * few.cpu_s)
            more = max(more, min(MOST_LINKS, round(least_s * 1e9 / call_ns)))
            many = session.audit(handle, seed=secrets.randbits(64), calls=calls + more)
        except RunnerRefused as refused:
            return replace(audit, unchained=f"{refused.code}: {refused}")
        if problem := _problem(many):
            return replace(audit, wrong=problem)
        return self._chained(audit, few, (many.cpu_s - few.cpu_s) / more)

    def _chained(self, audit: Audit, few: Chained, *call_s: float) -> Audit:
        """Add a chain of calls whose output others can be compared with, and what one of its calls takes, if known."""
        if problem := _problem(few):
            return replace(audit, wrong=problem)
        self._remember((*_question(audit.cell), audit.epoch), audit.cell, few.answer.digest)
        chained_ns = [*audit.chained_ns, *(one * 1e9 for one in call_s)]
        return replace(audit, chained_ns=chained_ns, afresh=few.answer.afresh)

    def _bare_chain_ns(self, sessions: Sessions, cell: Cell, epoch: int, call_s: float) -> float:
        """What a call of a chain takes on hardly any data: slow languages need microseconds to make the next.

        0 where it is too little beside a call of `call_s` seconds. Anew in each epoch: a neighbour slows the core.
        """
        row = cell.process, cell.row, epoch
        if row not in self._bare:
            if call_s * stats.CHAINED > MOST_BARE_NS * 1e-9:
                return 0.0
            multiple = self._catalogue.find(cell.algorithm).data_multiple_bytes
            small = replace(cell, size_bytes=-(-BARE_BYTES // multiple) * multiple)
            self._bare[row] = 0.0
            with contextlib.suppress(RunnerRefused):
                session, handle = sessions.of(small), sessions.handle(small)
                less, more = FEW_LINKS, BARE_CALLS[self._look_s[cell.process] > LOOK_S]
                took = [session.audit(handle, seed=secrets.randbits(64), calls=n) for n in 3 * (less, more)]
                looks = [(b.cpu_s - a.cpu_s) * 1e9 / (more - less) for a, b in zip(took[::2], took[1::2])]  # noqa: B905
                self._bare[row] = min(max(sorted(looks)[1], 0.0), MOST_BARE_NS)
            if small != cell:
                sessions.release([small])
        return self._bare[row]

    def try_row(self, sessions: Sessions, cell: Cell, epoch: int) -> tuple[str, str]:
        """Try a cell's row on other data than the run's; as `look`."""
        _, wrong = self.try_elsewhere(sessions, cell, *SHORTER)
        if wrong or cell.process in self._anew_s:
            return "", wrong  # the cost of its chains tells nothing
        return self.look_larger(sessions, cell, epoch), ""

    def try_elsewhere(self, sessions: Sessions, cell: Cell, least: int, most: int) -> tuple[str, str]:
        """Make a short chain on data of another length, and at odd addresses, for one cell of a row.

        What is wrong with that by itself, as `look`; whether runners agree is compared later. Raises RunnerError.
        """
        once = cell.runner, cell.algorithm, cell.operation, most
        if cell.operation == BOUNDED_OPERATION or (most > MOST_BYTES and once in self._tried):
            return "", ""  # a mebibyte takes milliseconds: once for all tiers and contracts
        self._tried.add(once)
        session, question = sessions.of(cell), (*_question(replace(cell, size_bytes=most)), _ELSEWHERE)
        multiple = self._catalogue.find(cell.algorithm).data_multiple_bytes
        size = self._lengths.setdefault(question, _CHANCE.randrange(least, most) // multiple * multiple)
        seed, calls = self._drawn.setdefault(question, (secrets.randbits(64), 1 + (most <= MOST_BYTES)))
        try:
            handle = session.prepare(
                cell.algorithm, cell.operation, cell.contract, size, seed=seed, offset=seed % 1024 | 1
            )
        except RunnerRefused:
            return "", ""  # not every operation takes every length
        try:
            chained = session.audit(handle, seed=seed, calls=calls)
        except RunnerRefused:
            return "", ""
        finally:
            session.release(handle)
        if problem := _problem(chained):
            return "", f"{problem} on {size} bytes"
        self._remember(question, cell, chained.answer.digest)
        return "", ""

    def look_larger(self, sessions: Sessions, cell: Cell, epoch: int) -> str:
        """Audit a row once on data so long that half the work of a call can be told, whatever the run's sizes are.

        Returns why the row is refused. Raises RunnerError.
        """
        # what sets up a key does not look at the data, nor is the work of a public-key operation with them
        if cell.operation == BOUNDED_OPERATION or cell.contract in ("setup/1", "pk/1"):
            return ""
        question = _question(replace(cell, size_bytes=LARGER[1]))
        multiple = self._catalogue.find(cell.algorithm).data_multiple_bytes
        size = self._lengths.setdefault(question, _CHANCE.randrange(*LARGER) // multiple * multiple)
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

    def _look(
        self,
        sessions: Sessions,
        audit: Audit,
        calls: int,
        *,
        turned: bool,
        piece_bytes: int = 0,
        times: tuple[int, ...] = _TIMES,
    ) -> Audit:
        """Add one look: a sample of `calls` and one of thrice as many, the longer one first if `turned`.

        What a runner does for each sample, such as collecting garbage, is in both. Of pieces of `piece_bytes`, each of
        which counts as its share of a call, there are so many samples instead. Given one number of `times` the sample
        lasts so long that the question is nothing beside it.
        """
        cell = audit.cell
        session, handle = sessions.of(cell), sessions.handle(cell)
        calibration = sessions.calibrations[cell.process]
        taken: dict[int, Measured] = {}
        threads = [session.process.thread_cpu_s()]
        for count in sorted(times, reverse=turned):
            taken[count] = session.measure(
                handle,
                cell=cell,
                epoch=audit.epoch,
                round=0,
                samples=count if piece_bytes else 1,
                limit_ms=_LIMIT_MS,
                calls=calls if piece_bytes else count * calls,
                sample_us=self._policy.sample_us,
                piece_bytes=piece_bytes,
            )
            threads.append(session.process.thread_cpu_s())
        if audit.claimed_ns or self._asked_of != (cell.process, audit.epoch):
            self._asked_of = cell.process, audit.epoch  # once for all cells of a process, unless one is odd
            self._own_hz, self._children = self._witness.clock_hz(), session.process.children()
        if any(len(one.burst) != (count if piece_bytes else 1) for count, one in taken.items()):
            return replace(audit, problem="bursts of other lengths than were asked for")
        few, many = taken[min(times)] if len(times) > 1 else None, taken[max(times)]
        pieces = cell.size_bytes / piece_bytes if piece_bytes else 1.0  # of a call
        more = (max(times) - (min(times) if few else 0)) * calls / pieces
        tick_ns = 1e9 / calibration.tick_hz
        ticks, probes = (a - b for a, b in zip(_ticks(many), _ticks(few) if few else (0, 0), strict=True))
        cpu_s, wall_s = (
            (many.cpu_s - few.cpu_s, many.wall_s - few.wall_s) if few else (many.cpu_s, many.wall_s)
        )
        self._sample_s = cpu_s / (max(times) - (min(times) if few else 0))
        least = taken[min(times)]
        asking_s = least.cpu_s - sum(_ticks(least)) * tick_ns * 1e-9
        self._look_s[cell.process] = min(4 * asking_s, MOST_LOOK_S) if asking_s > LOOK_S else LOOK_S
        clean_ns = min(
            *(pieces * stats.lowest_clean_ns(one.burst, calibration, self._policy) for one in taken.values()),
            audit.clean_ns or math.inf,
        )
        return replace(
            audit,
            claimed_ns=[*audit.claimed_ns, ticks * tick_ns / more],
            cpu_ns=[*audit.cpu_ns, (cpu_s * 1e9 - probes * tick_ns) / more],
            wall_ns=[*audit.wall_ns, (wall_s * 1e9 - probes * tick_ns) / more],
            threads=[*audit.threads, many.cpu_s / many.wall_s],
            beside=[*audit.beside, _beside(cpu_s, threads, turned=turned)],
            clock_hz=[*audit.clock_hz, clock_hz(many, calibration)],
            own_hz=[*audit.own_hz, self._own_hz],
            clean_ns=clean_ns if math.isfinite(clean_ns) else 0.0,
            children=max(audit.children, self._children),
        )


def _beside(cpu_s: float, threads: Sequence[dict[int, float]], *, turned: bool) -> float:
    """CPU time of a process over that of its busiest thread in a look; 1 where nobody can tell.

    `threads` is what each had taken before, between and after the bursts. Threads on one core take no more CPU time
    than time goes by, and those that have ended are not there to be asked, so only this shows them.
    """
    if not all(threads) or cpu_s <= 0:
        return 1.0
    took = [
        [after.get(one, 0.0) - before.get(one, 0.0) for before, after in itertools.pairwise(threads)]
        for one in threads[-1]
    ]
    busiest = max(one[0] if len(one) == 1 else (one[0] - one[1]) * (1 if turned else -1) for one in took)
    return min(MOST_THREADS, max(1.0, cpu_s / max(busiest, 1e-9)))


def _question(cell: Cell) -> tuple[str, str, str, int]:
    """What runners are asked alike, whoever they are and in whatever CPU tier."""
    return cell.algorithm, cell.operation, cell.contract, cell.size_bytes


def _problem(chained: Chained) -> str:
    """What is wrong with a chain's answer by itself."""
    answer = chained.answer
    if answer.refused != answer.forged:
        return f"{answer.forged - answer.refused} of {answer.forged} forgeries were accepted"
    return f"{answer.failures} calls failed" if answer.failures else ""


def _ticks(taken: Measured) -> tuple[int, int]:
    """Ticks of the calls, and of the probes that stand between them."""
    burst = taken.burst
    probes = (burst.clock_before, burst.clock_after, burst.contention_before, burst.contention_after)
    return sum(burst.ticks), sum(map(sum, probes))
