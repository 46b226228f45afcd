"""The audit from outside: what a runner says of its calls, beside what the kernel and our own clock say of them.

After the rounds of an epoch cells are looked at (`looks`): every cell until two epochs found nothing odd, from then on
in epochs that are drawn by lot, which nobody can know. What looks wrong is looked at again, for longer, in the same
epoch, and in every later one. What was seen is judged when the run ends (`stats.audit`): no cell is refused on what one
epoch showed. That the calls do their work is told by chains of calls: each has new data, made from what the last one
gave, and all that is made goes into one digest. Their cost from outside is held against that of the timed calls and of
Perbyte's own loop over data of the same length, and runners must agree: who is wrong is refused at once.

Whether the clock probes are right is told by Perbyte's own runner of known loops, asked at the same time.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from perbyte.catalogue import Catalogue
from perbyte.errors import PerbyteError, RunnerError
from perbyte.measure.answers import (
    BLOCK_BYTES,
    CHANCE,
    LONGER,
    OF_ONE_LENGTH,
    SHORTER,
    Answers,
    Elsewhere,
)
from perbyte.measure.fresh import Fresh
from perbyte.measure.looks import CONFIRM_S, CONFIRMATIONS, ONE_S, TIMES, Allowance, Looks, question
from perbyte.measure.referees import Referees
from perbyte.measure.rounds import EpochUnderWay
from perbyte.measure.sessions import Sessions, failure_of
from perbyte.measure.ways import Cut
from perbyte.measure.witness import Witness
from perbyte.model import Audit, Cell, Failure, Policy, Process
from perbyte.stats.audit import (
    exceeds_in_epochs,
    gross_lie,
    is_finished,
    is_settled,
    is_suspicious,
    is_unlike,
)
from perbyte.stats.newdata import (
    COPYING,
    LEAST_LOOKS,
    REFUSED,
    SETUP,
    SHORT_BYTES,
    Surroundings,
    cannot_tell,
    middle,
    surroundings,
)

# A call of this length is looked at in one epoch, and in later ones by lot; where it is cut its pieces are, in every
# epoch, and the whole calls of cells drawn by lot.
LONG_S, WHOLE_CALLS = 5e-3, 8  # calls that a look and a chain are made of
TRY_S = 2e-3  # that trying a row takes at the least
TRIED_FROM = 2  # epochs, from which on each row is tried once whatever the time
QUICK_S = 5e-3  # seconds: what takes less is then tried on long data too
# a byte, that looking at our own loop takes at the most, and that a pass of it takes at the least
COPY_S, PASS_S = 10e-9, 30e-12
COPY_LOOK_S = 0.2e-3
ALWAYS_BYTES = 8192  # of which it is looked at where no cell is as short: it tells who is on the core
COPY_SIZES = 3  # of which it is looked at in an epoch
# as many calls in a sample as in one of the rounds: no word of a runner's makes them last for minutes
MOST_TIMES = 256
AGAIN = 0.25  # of the later epochs, that a cell is looked at again which was never odd
TURNS, TURN_S = 3, 1e-4  # of chains in an epoch, where they tell nothing; of calls up to this length
CHAIN_AGAIN = 1 / 3  # and of these looks, that new data is among
# of a process's life, that it may work while nobody asks: more slows others on its core by more than refuses a figure
MOST_UNASKED = 1 - 1 / (1 + REFUSED)
# contracts whose calls have inputs made for each, which the kernel cannot tell from the calls; and whose calls have no
# data but their own
PREPARED, ROUTINE = "batch/", "routine/"
ONE_END = ("client", "server", "send", "receive")  # of a connection, whose other end works untimed


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
        referees: Referees | None = None,
    ) -> None:
        """`audits` is what is known of earlier epochs; each new one is added to it, and `note` is told of it.

        `referees`: who else can make a cell's calls; None: the other runners of the run.
        """
        self._catalogue = catalogue
        self._referees = referees or Referees(policy)
        self._fresh = Fresh(catalogue, self._referees)
        self._audits = audits
        self._note = note
        self._fail = fail
        self._witness = witness
        self._allowance = Allowance()
        self._looks = Looks(policy, witness, self._allowance, self._remember_chain)
        self._answers = Answers(policy, catalogue, self._looks.drawn)
        self._elsewhere = Elsewhere(catalogue, self._looks, self._answers)
        self._whole: set[Cell] = set()
        self._unasked: dict[Process, list[float]] = defaultdict(list)
        self.around = Surroundings()

    def audit(self, epoch: EpochUnderWay, lost: Collection[Cell], elapsed_s: float = math.inf) -> None:
        """Look at the cells of the epoch but those that are `lost`. One whose runner computes something else fails.

        `elapsed_s` is what the run has taken so far: what is more than a short look waits for its share.
        """
        self.begin(elapsed_s)
        self._looks.warmth = epoch.ways.warmth
        cells, short = [], []
        for cell, tally in epoch.tallies.items():
            if cell in lost or not tally.bursts:
                continue
            problem, is_short = _prepared(cell), cell in epoch.ways.cuts or tally.call_s < LONG_S
            if is_short and not problem and not cell.contract.startswith(ROUTINE):
                short.append(cell)
            if not self.is_due(cell):
                continue
            if problem:
                self._keep(Audit(cell, epoch.number, problem=problem))
                self._try(epoch, cell, partial(self._differ, epoch, cell))
            else:
                cells.append(cell)
        cuts = self._draw_whole(epoch, cells)
        self._referees.begin(epoch.sessions, sorted(epoch.tallies, key=lambda c: epoch.tallies[c].call_s))
        self.look_at_copying(epoch, cells)
        for cell in sorted(cells, key=lambda cell: cell.process):
            tally = epoch.tallies[cell]
            look = partial(
                self.look, epoch.sessions, cell, epoch.number, tally.calls, tally.call_s, cuts.get(cell)
            )
            self._try(epoch, cell, look)
            if why := gross_lie(self._audits.get(cell, []), self.around):
                self._fail(Failure("audit", cell.runner, why, address=cell.address))
        self._try_rows(epoch, short)
        self._see_idle(epoch)
        self._see_refusals(epoch)
        self._compare()
        self._referees.end()

    def look_before(self, epoch: EpochUnderWay, cell: Cell) -> None:
        """Look at what comes before calls in a state of their own."""
        with contextlib.suppress(PerbyteError):
            self._keep(self._looks.before(epoch.sessions, Audit(cell, epoch.number)))

    def _differ(self, epoch: EpochUnderWay, cell: Cell) -> str:
        sessions, call_s = epoch.sessions, epoch.tallies[cell].call_s
        session, handle, seed = sessions.of(cell), sessions.handle(cell), sessions.seed_of(cell)
        return self._fresh.differ(session, handle, cell, call_s, seed)

    def _see_idle(self, epoch: EpochUnderWay) -> None:
        for process in {cell.process for cell in epoch.tallies if epoch.sessions.runs(cell.process)}:
            cells = [cell for cell in epoch.tallies if cell.process == process]
            seen = self._unasked[process]
            seen.append(epoch.sessions.of(cells[0]).process.unasked_share())
            if exceeds_in_epochs(seen, MOST_UNASKED):
                took = f"takes {middle(seen):.2f} s of CPU time per second"
                text = f"{took} without a request, and so slows the others"
                for cell in cells:
                    self._fail(Failure("audit", cell.runner, text, address=cell.address))

    def _see_refusals(self, epoch: EpochUnderWay) -> None:
        for cell, why in self._elsewhere.refusals(epoch.sessions):
            for other in epoch.tallies:
                if (other.process, other.row) == (cell.process, cell.row):
                    self._keep(Audit(other, epoch.number, elsewhere=why))

    def begin(self, elapsed_s: float) -> None:
        """Begin with an epoch, when the run has taken so long."""
        self._allowance.elapsed_s = elapsed_s
        own = {cell: looks for cell, looks in self._audits.items() if cell.row == COPYING.row}
        self.around = surroundings(own)

    def is_due(self, cell: Cell) -> bool:
        """True unless nothing odd was ever seen of the cell and the lot spares it."""
        known = self._audits.get(cell, [])
        return not is_finished(known, self.around) or drawn(AGAIN)

    def _compare(self) -> None:
        for disagreement in self._answers.disagreements(self._referees):
            cell = disagreement.cell
            for other in self._audits if disagreement.everywhere or cell not in self._audits else (cell,):
                if (other.process, other.row) == (cell.process, cell.row):
                    message = disagreement.message
                    self._fail(Failure(disagreement.kind, other.runner, message, other.address))

    def look_at_copying(self, epoch: EpochUnderWay, cells: Sequence[Cell]) -> None:
        """Look at our own loop over data of the lengths that cells have: those that were seen least, by lot."""
        sizes = {
            cell.size_bytes * (2 if cell.operation == "open" else 1)
            for cell in cells
            if cell not in epoch.ways.cuts and cell.size_bytes
        }
        if cells and not any(size <= SHORT_BYTES for size in sizes):
            sizes.add(ALWAYS_BYTES)
        if any(size > SHORT_BYTES for size in sizes):
            sizes.add(SHORT_BYTES)  # beside shorter data than theirs (`Looks.shorter`)
        known = {size: len(self._audits.get(replace(COPYING, size_bytes=size), [])) for size in sizes}
        order = sorted(sizes, key=lambda size: (known[size], CHANCE.random()))
        for size in order[:COPY_SIZES]:
            if not self._allowance.has(COPY_S * size):
                continue
            cell = replace(COPYING, size_bytes=size)
            try:
                with self._allowance.spent():
                    audit = Audit(cell, epoch.number)
                    calls = max(1, round(COPY_LOOK_S / (PASS_S * size)))
                    turned, short = bool(epoch.number % 2), size <= SHORT_BYTES
                    for turn in range(LEAST_LOOKS if short else 1):  # as many as a cell is judged by
                        audit = self._looks.look(self._witness, audit, calls, turned=turned ^ bool(turn % 2))
                    audit = self._looks.chain(self._witness, audit, turned=turned)
                    if short:
                        audit = self._looks.short_samples(self._witness, audit)
            except PerbyteError:
                return  # without our own runner nobody knows what memory takes, and fewer are accused
            self._keep(audit)

    def _try_rows(self, epoch: EpochUnderWay, cells: list[Cell]) -> None:
        there = self._elsewhere
        for cell in CHANCE.sample(cells, len(cells)):
            anew_s = self._looks.anew_s.get(cell.process, 0.0)
            # whatever the time, each row once: one that works on the run's lengths alone must not owe it to a busy host
            if (cell.process, cell.row) in there.tried or not (
                epoch.number >= TRIED_FROM or self._allowance.has(max(TRY_S, 4 * anew_s))
            ):
                continue
            there.tried.add((cell.process, cell.row))
            with self._allowance.spent():
                self._try(epoch, cell, partial(there.ask, epoch.sessions, cell, *SHORTER))
            for span in LONGER:
                there.untried[(*question(cell)[:3], span)].append(cell)
        for asked in CHANCE.sample(list(there.untried), len(there.untried)):
            span = asked[-1]
            here = [c for c in there.untried[asked] if c in epoch.tallies]
            takes_s = sum(epoch.tallies[c].call_s * span[1] / max(c.size_bytes, 1) for c in here)
            quick = epoch.number >= TRIED_FROM and takes_s < QUICK_S
            if quick or self._allowance.has(TRY_S):
                with self._allowance.spent():
                    for cell in there.untried.pop(asked):
                        self._try(epoch, cell, partial(there.ask, epoch.sessions, cell, span))

    def _draw_whole(self, epoch: EpochUnderWay, cells: Sequence[Cell]) -> dict[Cell, Cut]:
        cuts = {
            cell: cut
            for cell in cells
            if (cut := epoch.ways.cuts.get(cell)) and epoch.tallies[cell].call_s > LONG_S
        }
        for cell in CHANCE.sample(list(cuts), len(cuts)):
            takes_s = WHOLE_CALLS * epoch.tallies[cell].call_s
            if cell not in self._whole and self._allowance.has(takes_s):
                self._allowance.spent_s += takes_s
                self._whole.add(cell)
                del cuts[cell]
        return cuts

    def _remember_chain(self, audit: Audit, digest: str) -> None:
        if audit.cell.row != COPYING.row:
            self._answers.remember((*question(audit.cell), audit.epoch), audit.cell, digest)

    def _try(self, epoch: EpochUnderWay, cell: Cell, look: Callable[[], str]) -> None:
        """Look at a cell, if its process is alive; who computes wrongly at one size is not believed at another."""
        if not epoch.sessions.runs(cell.process):
            return
        epoch.aside.leave(epoch.core_of(cell.process))
        try:
            what = look()
        except RunnerError as error:
            self._fail(failure_of(cell, error))
            return
        if not what:
            return
        self._answers.convicted.add(cell.runner)
        # less than a block of data is an odd case of its own
        whole_row = cell.size_bytes >= BLOCK_BYTES or " bytes" in what
        for tally in epoch.tallies:
            if (tally.process, tally.row) == (cell.process, cell.row) and (whole_row or tally == cell):
                self._fail(Failure("incorrect", tally.runner, f"audited: {what}", address=tally.address))

    def _keep(self, audit: Audit) -> None:
        self._note(audit)
        self._audits[audit.cell].append(audit)

    def look(
        self, sessions: Sessions, cell: Cell, epoch: int, calls: int, call_s: float, cut: Cut | None = None
    ) -> str:
        """Audit one cell; return what is wrong with its results, empty where nothing is.

        `calls` per sample and seconds per call are those of the rounds, by the runner's word. Given a `cut` it is
        pieces of calls that are looked at. Raises RunnerError.
        """
        known = self._audits.get(cell, [])
        self._looks.given.clear()
        if cut:
            unchained = f"a call takes {call_s:.2g} s; its row's was, on shorter data"
            audit = Audit(cell, epoch, unchained=unchained)
            audit = self._looks.look_at_pieces(
                sessions, audit, cut, lambda look: is_suspicious([*known, look])
            )
            if self._allowance.has(TRY_S) or not any(look.shorter_ns for look in known):
                audit = self._compared(self._shorter(sessions, audit))
            self._keep(audit)
            return audit.wrong
        audit = Audit(cell, epoch, long=call_s > LONG_S)
        odd = any(is_unlike(other, self.around) for other in known) or is_suspicious(known)
        if audit.long and any(other.claimed_ns for other in known) and not odd:
            return ""
        alone = call_s > ONE_S
        if (
            (alone or (audit.long and known and not odd))
            and cell not in self._whole
            and not self._allowance.has(2 * call_s)
        ):
            if not known:
                why = f"a call of {call_s:.2g} s is too long to be made again in a run of this length"
                self._keep(replace(audit, problem=why))
            return ""
        with self._allowance.spent() if alone and cell not in self._whole else contextlib.nullcontext():
            audit = self._look_and_confirm(sessions, audit, known, calls, call_s, odd=odd)
        self._keep(audit)
        return audit.wrong

    def _look_and_confirm(
        self,
        sessions: Sessions,
        audit: Audit,
        known: Sequence[Audit],
        calls: int,
        call_s: float,
        *,
        odd: bool,
    ) -> Audit:
        times = TIMES[:1] if call_s > ONE_S else TIMES
        looks, cell, epoch = self._looks, audit.cell, audit.epoch
        wanted, timed_calls = looks.lasting_s(cell) / max(call_s, 1e-12), max(calls, 1)
        calls = max(1, min(round(wanted), MOST_TIMES * max(calls, 1)))
        audit = looks.look(sessions, audit, calls, turned=bool(epoch % 2), times=times)
        if is_suspicious([*known, audit]):
            # by what the first look took, whatever was said of it
            more = max(1, min(1000, round(CONFIRM_S / max(looks.sample_s, calls * call_s, 1e-6))))
            for turn in range(2 if audit.long else CONFIRMATIONS):
                audit = looks.look(sessions, audit, calls * more, turned=bool(turn % 2), times=times)
                if is_settled(audit, 1):
                    break
        if call_s < LONG_S:
            audit = looks.like_rounds(sessions, audit, timed_calls)
        if cell.operation == "run" or (known and not odd and not drawn(CHAIN_AGAIN)):
            return audit
        if self._fresh.concerns(cell):
            session, handle, seed = sessions.of(cell), sessions.handle(cell), sessions.seed_of(cell)
            audit = self._fresh.look(session, handle, audit, 1e-9 * min(audit.claimed_ns), seed)
            if audit.wrong:
                return audit
        audit = looks.chain(sessions, audit, turned=bool(epoch % 2))
        for turn in range(2 if audit.long else CONFIRMATIONS):
            untold = turn < TURNS and call_s < TURN_S and cannot_tell([*known, audit], self.around)
            if audit.wrong or not audit.chained_ns or not (untold or is_unlike(audit, self.around)):
                break
            audit = looks.look(sessions, audit, calls, turned=bool(turn % 2), times=times)
            audit = looks.chain(sessions, audit, turned=bool(turn % 2))
            audit = looks.repeat(sessions, audit)
        if cell.size_bytes > SHORT_BYTES and not audit.wrong and audit.chained_ns:
            audit = self._shorter(sessions, audit)
        return self._compared(audit)

    def _shorter(self, sessions: Sessions, audit: Audit) -> Audit:
        cell = audit.cell
        if cell.operation in OF_ONE_LENGTH or cell.contract == SETUP or cell.size_bytes <= SHORT_BYTES:
            return audit
        return self._looks.shorter(
            sessions, audit, self._catalogue.find(audit.cell.algorithm).data_multiple_bytes
        )

    def _compared(self, audit: Audit) -> Audit:
        given, self._looks.given = self._looks.given, []
        if not given or audit.wrong or audit.compared > 0:
            return audit
        compared, why = self._answers.compare(audit.cell, audit.epoch, given, self._referees, self._allowance)
        return replace(audit, compared=compared, uncompared=why)


def _prepared(cell: Cell) -> str:
    """Why the kernel cannot tell a cell's calls from what its process does besides; empty where it can."""
    if cell.contract.startswith(PREPARED):
        return "it makes an input for each call, which takes CPU time"
    return "the other end of its connection works in the same process" if cell.operation in ONE_END else ""


def drawn(share: float) -> bool:
    """True with this probability, by a source that no runner can know."""
    return CHANCE.random() < share
