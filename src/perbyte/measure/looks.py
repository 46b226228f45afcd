"""Looks from outside at the calls of one cell: what the kernel counts for timed calls, and for calls on new data.

A look is two samples, the longer one of thrice the calls: what it takes more of the process's CPU time, as the kernel
accounts it, went into calls; no clock of the runner's has a part in it. Chains of calls on new data, and the same
chains without their calls (SPEC 11), are looked at likewise, by turns. This module takes looks and judges none.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from msgspec import UNSET

from perbyte.errors import RunnerRefused
from perbyte.measure.rounds import burst_request
from perbyte.measure.sessions import Sessions, material_seed
from perbyte.measure.ways import SETTLING_US, Cut, Warmth
from perbyte.measure.witness import Witness, clock_hz
from perbyte.model import Audit, Cell, Policy, Process
from perbyte.protocol.material import RING
from perbyte.runners.session import Session, prepare_cell
from perbyte.runners.taken import Chained, TakenBursts
from perbyte.stats.arrays import np
from perbyte.stats.audit import is_settled
from perbyte.stats.clean import by_company, judge_samples, own_quiet
from perbyte.stats.estimate import midmean
from perbyte.stats.newdata import COPYING

# of calls in a sample of the first look: samples that follow each other within 40 us may share clock probes, which are
# taken off both accounts
LOOK_S, MOST_LOOK_S = 60e-6, 1e-3
CONFIRM_S, CONFIRMATIONS = 0.5e-3, 10  # and of those that follow where that one was odd
# of the run's time, and besides, that is for long calls and for rows on other data
SHARE, GRACE_S = 0.02, 0.05
ONE_S = 50e-3  # beside a call of this length a question is nothing: one sample tells
NOISE = 0.3  # of what a chain takes in CPU time, that its calls take at the least
FEW_LINKS, MOST_LINKS, MOST_BYTES = 4, 8192, 1 << 20  # of calls in a chain, and of all their data
MOST_THREADS = 64.0
SHORT_SAMPLES = 16
LIKE_SAMPLES = 24  # of a burst that is asked for as in the rounds
LAID_NS = 0.1  # a byte, that laying out a chain's data anew may take: it decides only who is asked
TIMES = (1, 3)
# single calls of a look at what comes before them; no cache spares longer ones much
BEFORE_SAMPLES, BEFORE_TURNS, BEFORE_LONGEST_NS = (100, 300), 4, 1e5
_LIMIT_MS = 60_000.0
# runners that prepare anew for each call: so long is a chain, and so many links has it at the least
ANEW_S, ANEW_LINKS = 1e-3, 8
ANEW_FREE_S = 10e-3  # of such chains, that a look may take whatever the time
THREADED_TIMES = 4  # that a chain is made where threads work beside that of the calls
SHORTER_BYTES = (1 << 15, 1 << 16)  # that long calls are looked at on, too: they fit into a core's own caches


AuditPlace = Sessions | Witness
"""Where a cell can be asked: the processes of an epoch, or Perbyte's own."""


@dataclass(frozen=True, slots=True)
class Given:
    """A chain that a cell made: what was asked, what came out, and the seconds of CPU time that it took.

    `key_seed` is that of its handle, which key 0 comes from where the contract does not set one in the call.
    """

    cell: Cell
    key_seed: int
    seed: int
    calls: int
    digest: str
    cpu_s: float


class Allowance:
    """Time for more than one short look a cell: a share of what the run has taken."""

    def __init__(self) -> None:
        self.elapsed_s = self.spent_s = 0.0

    def has(self, takes_s: float) -> bool:
        """True while there is time for what takes so long."""
        return not takes_s or self.spent_s + takes_s < SHARE * self.elapsed_s + GRACE_S

    @contextlib.contextmanager
    def spent(self) -> Iterator[None]:
        """What is done inside is taken off."""
        began = time.monotonic()
        yield
        self.spent_s += time.monotonic() - began


class Looks:
    """Takes looks, and knows what a question takes of each process."""

    def __init__(
        self, policy: Policy, witness: Witness, allowance: Allowance, remember: Callable[[Audit, str], None]
    ) -> None:
        """`remember` is told what a chain gave that all runners are asked for."""
        self._policy = policy
        self._witness = witness
        self._allowance = allowance
        self._remember = remember
        self.warmth = Warmth(policy)  # that of the rounds, where there are some
        self._asked_of: tuple[Process, int] | None = None
        self._own_hz, self._children = 0.0, 0
        self.sample_s = 0.0  # CPU time of the calls in a sample of the last look
        self.look_s: dict[Process, float] = defaultdict(lambda: LOOK_S)  # noise grows with a question's
        self.drawn: dict[tuple[object, ...], tuple[int, int]] = {}
        self.anew_s: dict[Process, float] = {}  # a link of a chain, of runners that prepare anew for each
        self._threads: dict[int, int] = {}  # of a process, by its number
        self.given: list[Given] = []  # chains since somebody last took them, whose results can be compared

    def lasting_s(self, cell: Cell) -> float:
        """Seconds of calls in the shorter sample of a look; a loop that settles late has settled by its end."""
        return max(self.look_s[cell.process], 0.5e-6 * SETTLING_US if cell in self.warmth.scattered else 0.0)

    def short_samples(self, sessions: AuditPlace, audit: Audit) -> Audit:
        """Add times per call of samples as short as those of the rounds, by company on the core, and the least one."""
        calibration, call_ns = sessions.calibrations[audit.cell.process], max(min(audit.claimed_ns), 0.1)
        calls = max(1, round(self._policy.sample_us * 1e3 / call_ns))
        taken = self._sample(sessions, audit, calls, samples=SHORT_SAMPLES)
        alone, shared = by_company(taken.burst, calibration, self._policy)
        probed = own_quiet(calibration, self._policy).limit > 0
        return replace(
            audit,
            clean_ns=min([*alone, *([audit.clean_ns] if audit.clean_ns else [])], default=0.0),
            alone_ns=alone if probed else [],
            shared_ns=shared,
        )

    def like_rounds(self, sessions: AuditPlace, audit: Audit, calls: int) -> Audit:
        """Add what clean samples cost that the process itself takes when it is asked as in the rounds, without forks.

        So a runner that does other work in forks, or where it takes itself for audited, has two costs.
        """
        calibration, policy = sessions.calibrations[audit.cell.process], self._policy
        quiet = own_quiet(calibration, policy)
        session = sessions.of(audit.cell)
        request = burst_request(
            session,
            sessions.handle(audit.cell),
            policy,
            calibration,
            quiet,
            samples=LIKE_SAMPLES,
            clean=LIKE_SAMPLES // 2,
            calls=calls,
            warm=self.warmth.of(audit.cell),
        )
        taken = session.take(request, cell=audit.cell, epoch=audit.epoch, round=0)
        judged = judge_samples([taken.burst], calibration, policy, quiet)
        clean = judged.values[judged.clean]
        if len(clean) < LIKE_SAMPLES // 4:
            return audit
        return replace(audit, like_rounds=[*audit.like_rounds, midmean(clean)])

    def look_at_pieces(
        self, sessions: AuditPlace, audit: Audit, cut: Cut, odd: Callable[[Audit], bool]
    ) -> Audit:
        """Add looks at pieces of a cell's calls, in nanoseconds per whole call; more where what was seen is `odd`."""
        shorter_s = cut.call_s * cut.shorter / audit.cell.size_bytes
        pieces, times = max(1, math.ceil(LOOK_S / shorter_s)), TIMES
        # a runner compares pieces of another length with a whole call before the first one: that is no look's
        self._sample(sessions, audit, 1, pieces * cut.shorter)
        for turn in range(1 + CONFIRMATIONS):
            turned = bool((audit.epoch + turn) % 2)
            audit = self.look(
                sessions, audit, 1, turned=turned, piece_bytes=pieces * cut.shorter, times=times
            )
            more = min(1000, math.ceil(2 * CONFIRM_S / (pieces * shorter_s)))
            times = 1, max(TIMES[1], 1 + more)
            if not odd(audit) or (turn and is_settled(audit, 1)):
                break
        return audit

    def before(self, sessions: AuditPlace, audit: Audit) -> Audit:
        """Add what a process does untimed before each call, beyond our own loop's. Raises PerbyteError."""
        own, turns = Audit(COPYING, audit.epoch), range(BEFORE_TURNS)
        if self._beside_ns(sessions, audit)[1] > BEFORE_LONGEST_NS:
            return audit
        self._beside_ns(self._witness, own)  # the first one is dearer
        looks = [(self._beside_ns(sessions, audit), self._beside_ns(self._witness, own)) for _ in turns]
        before = [theirs - ours for (theirs, _), (ours, _) in looks]
        return replace(audit, before_ns=before, clean_ns=min(call for (_, call), _ in looks))

    def _beside_ns(self, sessions: AuditPlace, audit: Audit) -> tuple[float, float]:
        """CPU time of a sample of one call beside the call, its probes in it, and the call's, in ns."""
        few, many = (self._sample(sessions, audit, 1, samples=count) for count in BEFORE_SAMPLES)
        more = BEFORE_SAMPLES[1] - BEFORE_SAMPLES[0]
        tick_ns = 1e9 / sessions.calibrations[audit.cell.process].tick_hz
        call_ns = (sum(many.burst.ticks) - sum(few.burst.ticks)) * tick_ns / more
        return (many.cpu_s - few.cpu_s) * 1e9 / more - call_ns, call_ns

    def _sample(
        self, sessions: AuditPlace, audit: Audit, calls: int, piece_bytes: int = 0, samples: int = 1
    ) -> TakenBursts:
        return sessions.of(audit.cell).measure(
            sessions.handle(audit.cell),
            cell=audit.cell,
            epoch=audit.epoch,
            round=0,
            samples=samples,
            limit_ms=_LIMIT_MS,
            calls=calls,
            sample_us=self._policy.sample_us,
            piece_bytes=piece_bytes or UNSET,
        )

    def chain(self, sessions: AuditPlace, audit: Audit, *, turned: bool) -> Audit:
        """Add the cost of a call of a chain on new data, and of the chain without its calls, `turned`: this one first.

        Of each a long chain less a short one; the short one is what all runners are given.
        """
        cell, call_ns = audit.cell, max(1.0, min(audit.cpu_ns), min(audit.claimed_ns) / 2)
        more = max(1, min(MOST_LINKS, round(LOOK_S * 1e9 / call_ns)))
        seed, calls = self.drawn.setdefault(
            (*question(cell), audit.epoch),
            (secrets.randbits(64), max(1, min(more // 2, FEW_LINKS, MOST_BYTES // max(cell.size_bytes, 1)))),
        )
        if not self._allowance.has(max(0.0, calls * self.anew_s.get(cell.process, 0.0) - ANEW_FREE_S)):
            return replace(
                audit, unchained="preparing it again for each call takes too long for a run of this length"
            )
        session, handle = sessions.of(cell), sessions.handle(cell)
        try:
            key_seed = material_seed(self._policy.seed, audit.epoch, cell)
            few = self._ask(session, handle, cell, key_seed, calls, seed)
            if few.answer.afresh:
                link_s = self.anew_s[cell.process] = few.cpu_s / calls
                self._allowance.spent_s += max(0.0, few.cpu_s - ANEW_FREE_S)
                more = max(ANEW_LINKS, min(MOST_LINKS, round(ANEW_S / max(link_s, 1e-9))))
                if not self._allowance.has(max(0.0, 4 * more * link_s - ANEW_FREE_S)):
                    return self._chained(audit, few)
            # what it takes beyond its calls must not hide them, nor its noise decide where one look was odd
            least_s = max(CONFIRM_S if audit.chained_ns else self.look_s[cell.process], NOISE * few.cpu_s)
            if not few.answer.afresh:
                more = max(more, min(MOST_LINKS, round(least_s * 1e9 / call_ns)))
            if call_ns > ONE_S * 1e9:  # beside such calls a difference is as noisy and takes thrice the time
                beside = session.audit(handle, seed=secrets.randbits(64), calls=calls, control=True)
                control_s = beside.cpu_s / calls if beside.answer.control else None
                return self._chained(audit, few, few.cpu_s / calls, control_s)
            ask = partial(self._ask, session, handle, cell, key_seed)
            control_s = self._control_s(session, handle, calls, more) if turned else None
            many = self._least(session, partial(ask, calls + more))
            control_s = control_s if turned else self._control_s(session, handle, calls, more)
            least = self._least(session, partial(ask, calls), few)
        except RunnerRefused as refused:
            return replace(audit, unchained=f"{refused.code}: {refused}")
        if fault := problem(many) or problem(least):
            return replace(audit, wrong=fault)
        return self._chained(audit, few, (many.cpu_s - least.cpu_s) / more, control_s)

    def _least(self, session: Session, ask: Callable[[], Chained], *made: Chained) -> Chained:
        """Of several chains the one that took least, or has a fault.

        A language's compilers and collectors work during some.
        All threads count, and each chain has new data.
        """
        if session.process.pid not in self._threads:
            self._threads[session.process.pid] = len(session.process.thread_cpu_s())
        asked = [*made]
        while len(asked) < (THREADED_TIMES if self._threads[session.process.pid] > 1 else 1):
            asked.append(ask())
        return next(filter(problem, asked), min(asked, key=lambda each: each.cpu_s))

    def _ask(
        self, session: Session, handle: int, cell: Cell, key_seed: int, calls: int, seed: int | None = None
    ) -> Chained:
        seed = secrets.randbits(64) if seed is None else seed
        made = session.audit(handle, seed=seed, calls=calls)
        if not problem(made):
            self.given.append(Given(cell, key_seed, seed, calls, made.answer.digest, made.cpu_s))
        return made

    def shorter(self, sessions: AuditPlace, audit: Audit, multiple: int) -> Audit:
        """Add the cost of chains on data that fit into a core's own caches, for the cell's number of bytes.

        `multiple`: of which lengths must be. What a runner refuses adds nothing. Raises RunnerError.
        """
        cell, session = audit.cell, sessions.of(audit.cell)
        size = SHORTER_BYTES[0] + secrets.randbelow(SHORTER_BYTES[1] - SHORTER_BYTES[0])
        shorter = replace(cell, size_bytes=size // max(multiple, 1) * max(multiple, 1))
        with contextlib.suppress(RunnerRefused):
            key_seed = self._policy.seed
            handle = prepare_cell(session, shorter, seed=key_seed)
            try:
                ask = partial(self._ask, session, handle, shorter, key_seed)
                few = self._least(session, partial(ask, 2))
                more = max(2, min(32, round(CONFIRM_S / max(few.cpu_s / 2, 1e-9))))
                control_s = self._control_s(session, handle, 2, more)
                many = self._least(session, partial(ask, 2 + more))
            finally:
                session.release(handle)
            if few.answer.failures or many.answer.failures:
                return audit  # a library may refuse a length that no cell has
            if fault := problem(few) or problem(many):
                return replace(audit, wrong=f"{fault} on {shorter.size_bytes} bytes")
            if control_s is not None and not few.answer.afresh:
                scale = 1e9 * cell.size_bytes / shorter.size_bytes
                return replace(
                    audit,
                    shorter_ns=[*audit.shorter_ns, scale * (many.cpu_s - few.cpu_s) / more],
                    shorter_control_ns=[*audit.shorter_control_ns, scale * control_s],
                )
        return audit

    def repeat(self, sessions: AuditPlace, audit: Audit) -> Audit:
        """Add the cost of a call whose data comes again, as that of the timed calls does, in a chain less its control.

        Not where laying the data out anew would hide the call.
        """
        cell, call_ns = audit.cell, max(1.0, min(audit.cpu_ns), min(audit.claimed_ns) / 2)
        session, handle = sessions.of(cell), sessions.handle(cell)
        more = min(MOST_LINKS, round(CONFIRM_S * 1e9 / call_ns))
        if more < RING or LAID_NS * cell.size_bytes / RING > NOISE * call_ns:
            return audit
        took = []
        for control, links in itertools.product((False, True), (RING, RING + more)):
            ask = partial(session.audit, handle, calls=links, control=control, repeat=RING)
            answer = self._drawn(session, ask)
            if answer.answer.repeat != RING or answer.answer.control != control:
                return audit
            took.append(answer.cpu_s)
        call_s = (took[1] - took[0] - (took[3] - took[2])) / more
        return replace(audit, repeated_ns=[*audit.repeated_ns, call_s * 1e9])

    def _control_s(self, session: Session, handle: int, calls: int, more: int) -> float | None:
        """CPU time of a link without its call; None where the runner makes the call all the same."""
        took = []
        for links in (calls, calls + more):
            answer = self._drawn(session, partial(session.audit, handle, calls=links, control=True))
            if not answer.answer.control:
                return None
            took.append(answer.cpu_s)
        return (took[1] - took[0]) / more

    def _drawn(self, session: Session, ask: Callable[..., Chained]) -> Chained:
        return self._least(session, lambda: ask(seed=secrets.randbits(64)))

    def _chained(
        self, audit: Audit, few: Chained, call_s: float | None = None, control_s: float | None = None
    ) -> Audit:
        """Add a chain whose output others can be compared with, and what a link with and without its call takes."""
        if fault := problem(few):
            return replace(audit, wrong=fault)
        self._remember(audit, few.answer.digest)
        return replace(
            audit,
            chained_ns=[*audit.chained_ns, *([] if call_s is None else [call_s * 1e9])],
            control_ns=[*audit.control_ns, *([] if control_s is None else [control_s * 1e9])],
            afresh=few.answer.afresh,
        )

    def look(
        self,
        sessions: AuditPlace,
        audit: Audit,
        calls: int,
        *,
        turned: bool,
        piece_bytes: int = 0,
        times: tuple[int, ...] = TIMES,
    ) -> Audit:
        """Add one look: a sample of `calls` and one of thrice as many, the longer one first if `turned`.

        What a runner does for each sample, such as collecting garbage, is in both. Of pieces of `piece_bytes`, each of
        which counts as its share of a call, there are so many samples instead. Given one number of `times` the sample
        lasts so long that the question is nothing beside it. After a chain, whose data took the place of the timed
        calls' in whatever is kept, these come once round first, as they do in the rounds.
        """
        cell = audit.cell
        session = sessions.of(cell)
        calibration = sessions.calibrations[cell.process]
        if audit.chained_ns and not audit.long:
            self._sample(sessions, audit, RING)
        taken: dict[int, TakenBursts] = {}
        threads = [session.process.thread_cpu_s()]
        for count in sorted(times, reverse=turned):
            samples = count if piece_bytes else 1
            taken[count] = self._sample(
                sessions, audit, calls if piece_bytes else count * calls, piece_bytes, samples
            )
            threads.append(session.process.thread_cpu_s())
        if audit.claimed_ns or self._asked_of != (cell.process, audit.epoch):
            self._asked_of = cell.process, audit.epoch  # once for all cells of a process, unless one is odd
            self._own_hz, self._children = self._witness.clock_hz(), session.process.children()
        if any(len(reading.burst) != (count if piece_bytes else 1) for count, reading in taken.items()):
            return replace(audit, problem="bursts of other lengths than requested")
        least, many = taken[min(times)], taken[max(times)]
        # by one sample where there is no shorter one to take off
        shorter, taken_off = (min(times), _account(least)) if len(times) > 1 else (0, (0, 0, 0.0, 0.0))
        ticks, probes, cpu_s, wall_s = (a - b for a, b in zip(_account(many), taken_off, strict=True))
        pieces = cell.size_bytes / piece_bytes if piece_bytes else 1.0  # of a call
        more = (max(times) - shorter) * calls / pieces
        tick_ns = 1e9 / calibration.tick_hz
        self.sample_s = cpu_s / (max(times) - shorter)
        asking_s = least.cpu_s - sum(_account(least)[:2]) * tick_ns * 1e-9
        self.look_s[cell.process] = min(4 * asking_s, MOST_LOOK_S) if asking_s > LOOK_S else LOOK_S
        alone = [by_company(reading.burst, calibration, self._policy)[0] for reading in taken.values()]
        lowest = min(itertools.chain(*alone), default=math.inf)
        clean_ns = min(pieces * lowest, audit.clean_ns or math.inf)
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
        [after.get(thread, 0.0) - before.get(thread, 0.0) for before, after in itertools.pairwise(threads)]
        for thread in threads[-1]
    ]
    busiest = max(pair[0] if len(pair) == 1 else (pair[0] - pair[1]) * (1 if turned else -1) for pair in took)
    return min(MOST_THREADS, max(1.0, cpu_s / max(busiest, 1e-9)))


def question(cell: Cell) -> tuple[str, str, str, int]:
    """What runners are asked alike, whoever they are and in whatever CPU tier."""
    return cell.algorithm, cell.operation, cell.contract, cell.size_bytes


def problem(chained: Chained) -> str:
    """What is wrong with a chain's answer by itself."""
    answer = chained.answer
    if answer.refused != answer.forged:
        return f"{answer.forged - answer.refused} of {answer.forged} forgeries were accepted"
    return f"{answer.failures} calls failed" if answer.failures else ""


def _account(taken: TakenBursts) -> tuple[int, int, float, float]:
    """Ticks of the calls, and of the probes that stand around them; seconds of CPU time and on the clock."""
    burst = taken.burst  # whose neighbouring samples may share a reading of the clock probe
    before = np.add(burst.clock_before, burst.contention_before)
    after = np.add(burst.clock_after, burst.contention_after)
    between = np.subtract(burst.start[1:], np.add(burst.start, burst.ticks)[:-1])
    probes = before[0] + after[-1] + np.minimum(after[:-1] + before[1:], between).clip(0).sum()
    return sum(burst.ticks), int(probes), taken.cpu_s, taken.wall_s
