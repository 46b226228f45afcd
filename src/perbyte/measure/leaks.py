"""Take pairs of calls on two classes of a secret, in several processes, the null of each row among them.

An epoch is a fresh process, placed by the system. In it every contrast gets its share of the time in bursts, or less
where fewer pairs tell; one burst in NULL_ONE_IN compares the second class with itself. The runner takes the pairs
(SPEC 14); `perbyte.stats.leak` judges them. `Leaks` checks nothing: whoever asks has seen that the function computes
the right thing, by `unfit` or otherwise.
"""

from __future__ import annotations

import itertools
import random
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from msgspec import UNSET

from perbyte.catalogue import load
from perbyte.errors import RunnerError, RunnerTimedOut
from perbyte.measure.learnt import Learnt, recall
from perbyte.measure.machine import own_cache_bytes
from perbyte.measure.pairs_audit import BLOCK_MS, PairsAudit
from perbyte.measure.plan import Survey
from perbyte.measure.rounds import PATIENCE
from perbyte.measure.sessions import (
    CALIBRATION_MS,
    PATIENCE_MS,
    RESTARTS,
    STARTING_FAILS,
    Sessions,
    draw_offset,
    failure_of,
)
from perbyte.measure.validation import Validation
from perbyte.model import Algorithm, Calibration, Cell, Failure, Policy, Process, RunnerIdentity
from perbyte.model.leak import Contrast, LeakFigure
from perbyte.protocol.messages import TakePairs
from perbyte.runners.pairs import TakenPairs, take_pairs
from perbyte.runners.session import Session, prepare_cell
from perbyte.stats.clean import own_quiet
from perbyte.stats.leak import judge_row, pairs_wanted
from perbyte.stats.pairs import Drawn, Pairs, pair_figures, pair_samples

KEY = Contrast("key", "fixed", "random")
SCALAR = Contrast("key", "sparse", "random")
DATA = Contrast("data", "zeros", "random")
MESSAGE = Contrast("data", "fixed", "random")
TAG = Contrast("input", "late", "early")  # a wrong tag, whose last or first byte is the wrong one
REJECTION = Contrast("input", "genuine", "changed")

_CIPHERS = ("block-cipher", "stream-cipher")
_CONTRASTS = {
    "open": (TAG,),
    "decapsulate": (REJECTION,),
    **dict.fromkeys(("digest", "squeeze", "hash"), (DATA,)),
    "run": (DATA, MESSAGE),
    "expand": (KEY,),
    **dict.fromkeys(("seal", "mac"), (KEY, DATA)),
}


def contrasts_of(algorithm: Algorithm, operation: str) -> tuple[Contrast, ...]:
    """The contrasts of an operation; none where it works on nothing secret, as `verify` and `encapsulate`.

    A key that is the runner's own cannot be another: what is signed with it varies instead, or which of several is
    loaded. A ciphertext belongs to one
    key, so that of `decapsulate` only the ciphertext varies: whether it is refused has to stay secret. Of `open` both
    classes are refused; how far the tag was right has to stay secret.
    """
    if operation == "derive":
        return () if algorithm.fixed_key else (KEY, SCALAR)
    if operation in ("sign", "load"):
        more = (SCALAR,) if operation == "load" else ()
        return (MESSAGE,) if algorithm.fixed_key else (KEY, *more)
    if operation in ("encrypt", "decrypt"):
        return (KEY, DATA) if algorithm.kind in _CIPHERS else ()
    return _CONTRASTS.get(operation, ())


EVICTED_TIMES, EVICTED_BYTES = (
    3,
    1 << 20,
)  # of the largest cache of a core's own; the SDK adds pages for the TLB
EPOCHS = 4
NULL_ONE_IN = 4
BURST_PAIRS, BURST_MS = 2000, 200.0
WANTED_FROM = 4  # bursts, the last ones, from which it is told how many pairs are wanted


@dataclass(slots=True)
class LeakCase:
    """One cell and one contrast, and what was taken of it."""

    cell: Cell
    contrast: Contrast
    cold: bool = False
    real: list[Pairs] = field(default_factory=list)
    null: list[Pairs] = field(default_factory=list)
    unit: str = "cycles"
    seconds: float = 0.0
    failures: list[int] = field(default_factory=lambda: [0, 0])
    audit: PairsAudit = field(default_factory=PairsAudit)

    @property
    def name(self) -> str:
        """What people read."""
        return f"{self.cell.address}, {self.contrast}{', emptied caches' * self.cold}"


@dataclass(frozen=True, slots=True)
class _Place:
    """A process that is asked in one epoch, and what it found out about its clock."""

    session: Session
    calibration: Calibration
    epoch: int


@dataclass(slots=True)
class Leaks:
    """Takes the pairs of cases. `keep` is given every burst with the case it belongs to and whether it is a null."""

    survey: Survey
    cores: Sequence[int]
    policy: Policy
    seed: int
    target: float | None = None
    above: float | None = None
    learnt: Learnt | None = None
    keep: Callable[[LeakCase, int, bool, TakenPairs, Pairs], None] = lambda *_: None
    say: Callable[[str], None] = lambda _: None
    identities: dict[Process, RunnerIdentity] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    _broken: set[Cell] = field(default_factory=set)
    _faults: Counter[Cell] = field(default_factory=Counter)

    def take(self, cases: Sequence[LeakCase], budget_s: float) -> None:
        """Take pairs of all cases for `budget_s` seconds.

        A fault costs the case that it befell the rest of an epoch; a refusal, or one fault too many, the whole case.
        """
        share_s = budget_s / max(len(cases), 1) / EPOCHS
        processes = list(dict.fromkeys(case.cell.process for case in cases))
        for epoch in range(EPOCHS):
            for process in processes:
                own_cases = [case for case in cases if case.cell.process == process]
                self._epoch(process, own_cases, epoch, share_s)
        for case in cases if self.policy.audit else ():
            self._refuse(case)

    def _refuse(self, case: LeakCase) -> None:
        if not case.real or not (told := pair_figures(case.real, self.seed)):
            return
        if why := case.audit.wrong(told.shift.value):
            case.real.clear()
            self._fail(Failure("audit", case.cell.runner, f"{case.contrast}: {why}", case.cell.address), case)

    def _epoch(self, process: Process, cases: Sequence[LeakCase], epoch: int, share_s: float) -> None:
        left = [case for case in cases if case.cell not in self._broken]
        random.Random(f"leaks/{self.seed}/{epoch}").shuffle(left)
        while left:
            try:
                with self._session(process, epoch) as session:
                    place = _Place(session, self._calibrate(session, epoch), epoch)
                    while left:
                        self._case(place, left.pop(), share_s)
            except STARTING_FAILS as error:
                for case in left:
                    self._fail(failure_of(case.cell, error), case)
                return
            except _ProcessEnded:
                continue

    def _session(self, process: Process, epoch: int) -> Session:
        return Session(
            self.survey.specs[process.runner],
            cpu=process.cpu,
            core=self.cores[0],
            gentle=self.policy.gentle,
        )

    def _calibrate(self, session: Session, epoch: int) -> Calibration:
        session.hello()
        identity = session.identity()
        self.identities[Process(identity.runner, identity.cpu, 0)] = identity
        learnt = self.learnt or recall(self.cores[0])
        return learnt.calibrate(
            session, CALIBRATION_MS, epoch=epoch, cores=self.cores, patience_ms=PATIENCE_MS
        )

    def _case(self, place: _Place, case: LeakCase, share_s: float) -> None:
        cell, session, began = case.cell, place.session, time.monotonic()
        case.unit = "ns" if place.calibration.cycle_source == "none" else "cycles"
        try:
            offset = draw_offset(self.seed, place.epoch)
            handle = prepare_cell(session, cell, seed=self.policy.seed, offset=offset)
            if self.policy.audit:
                case.audit.look(session, handle, cell, place.calibration)
                if not case.cold:
                    case.audit.compare(partial(self._of_class, place, handle, case), share_s)
            for number in itertools.count():
                left_s = share_s - (time.monotonic() - began)
                if number >= NULL_ONE_IN and (left_s <= 0 or self._enough(case, place.epoch)):
                    break
                limit_ms = min(BURST_MS, 1e3 * share_s / NULL_ONE_IN, max(1e3 * left_s, 1.0))
                self._burst(place, handle, case, number, limit_ms)
            session.release(handle)
        except RunnerError as error:
            self._faults[cell] += 1
            silent = isinstance(error, RunnerTimedOut)  # and would be so again, for as long
            if session.alive or silent or self._faults[cell] > RESTARTS:
                self._fail(failure_of(cell, error), case)
            if not session.alive:
                raise _ProcessEnded from None
        finally:
            case.seconds += time.monotonic() - began

    def _enough(self, case: LeakCase, epoch: int) -> bool:
        there = sum(int(pairs.clean.sum()) for pairs in case.real)
        cycles = case.unit == "cycles"
        wanted = pairs_wanted(
            case.real[-WANTED_FROM:], self.target, cycles=cycles, above=self.above, cold=case.cold
        )
        return there >= wanted * (epoch + 1) / EPOCHS

    def _of_class(self, place: _Place, handle: int, case: LeakCase, which: int) -> TakenPairs:
        seed = secrets.randbits(64)
        request = pairs_request(place.session, handle, case.contrast, seed, BLOCK_MS, warm=True, only=which)
        return take_pairs(place.session, request, cell=case.cell, epoch=place.epoch, round=0)

    def _burst(self, place: _Place, handle: int, case: LeakCase, number: int, limit_ms: float) -> None:
        contrast, policy, null = case.contrast, self.policy, number % NULL_ONE_IN == NULL_ONE_IN - 1
        calibration, epoch = place.calibration, place.epoch
        quiet = own_quiet(calibration, policy)
        seed = random.Random(f"{self.seed}/{case.name}/{epoch}/{number}").getrandbits(64)
        request = pairs_request(
            place.session,
            handle,
            Contrast(contrast.role, contrast.second, contrast.second) if null else contrast,
            seed,
            limit_ms,
            warm=UNSET if case.cold else True,
            evict_bytes=max(EVICTED_BYTES, EVICTED_TIMES * own_cache_bytes()) if case.cold else UNSET,
            contention_floor=quiet.floor or UNSET,
            contention_tolerance=quiet.tolerance(policy),
            patience=PATIENCE[calibration.contention_probe],
        )
        taken = take_pairs(place.session, request, cell=case.cell, epoch=epoch, round=number)
        length = secret_bytes(case.cell, contrast)
        drawn = Drawn(seed, length) if length else None
        pairs = pair_samples(taken.burst, taken.order, calibration, policy, drawn)
        if not null:
            case.audit.note(taken, calibration)
        (case.null if null else case.real).append(pairs)
        if not null:
            case.failures[0] += taken.failures[0]
            case.failures[1] += taken.failures[1]
        self.keep(case, epoch, null, taken, pairs)
        self.say(case.name)

    def _fail(self, failure: Failure, case: LeakCase) -> None:
        self._broken.add(case.cell)
        self.failures.append(failure)


def unfit(cells: Sequence[Cell], survey: Survey, policy: Policy) -> list[Failure]:
    """Say which cells compute anything wrong, or cannot be asked, by the validation of a run."""
    faults: list[Failure] = []
    with Sessions(survey, policy) as sessions:
        for process in dict.fromkeys(cell.process for cell in cells):
            try:
                sessions.start(process)
            except STARTING_FAILS as error:
                of_process = [cell for cell in cells if cell.process == process]
                faults += [Failure("absent", cell.runner, str(error), cell.address) for cell in of_process]
        there = [cell for cell in cells if sessions.runs(cell.process)]
        return faults + list(Validation(load(), sessions).examine(there).failures)


def pairs_request(
    session: Session, handle: int, contrast: Contrast, seed: int, limit_ms: float, **fields: Any
) -> TakePairs:
    """The request for a burst of pairs; `fields`: more of `messages.TakePairs`."""
    return TakePairs(
        id=session.next_id(),
        handle=handle,
        seed=seed,
        role=contrast.role,
        first=contrast.first,
        second=contrast.second,
        pairs=BURST_PAIRS,
        limit_ms=limit_ms,
        **fields,
    )


class _ProcessEnded(Exception):
    """The process ended; another goes on with what is left."""


def secret_bytes(cell: Cell, contrast: Contrast) -> int:
    """The length of the secrets of a contrast's second class; 0 where they are not random."""
    if contrast.second != "random":
        return 0
    return load().algorithms[cell.algorithm].key_bytes if contrast.role == "key" else cell.size_bytes


def leak_figures(
    cases: Sequence[LeakCase], seed: int, *, target: float | None = None, above: float | None = None
) -> list[LeakFigure]:
    """Judge all cases, those of a row together. Cases of which nothing was taken are left out.

    `target` is the difference that is looked for; with `above` it is asked whether what the secret costs is beyond it.
    """
    leaks: list[LeakFigure] = []
    rows: dict[object, list[LeakCase]] = defaultdict(list)
    for case in cases:
        if case.real:
            rows[case.cell.row, case.cold].append(case)
    for row in rows.values():
        told = [(pair_figures(case.real, seed), pair_figures(case.null, seed)) for case in row]
        cycles = row[0].unit == "cycles"
        seconds, cold = [case.seconds for case in row], row[0].cold
        judged = judge_row(told, seconds, target=target, cycles=cycles, above=above, cold=cold)
        for case, (real, null), judgement in zip(row, told, judged, strict=True):
            leaks.append(
                LeakFigure(
                    cell=case.cell,
                    contrast=case.contrast,
                    cold=case.cold,
                    unit=case.unit,
                    seconds=case.seconds,
                    taken=sum(len(pairs.clean) for pairs in case.real),
                    null_taken=sum(len(pairs.clean) for pairs in case.null),
                    found=real,
                    null=null,
                    **asdict(judgement),
                    failures=(case.failures[0], case.failures[1]),
                    above=above,
                )
            )
    return leaks
