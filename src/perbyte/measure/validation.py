"""Validation: nothing is timed before it has shown that it computes the right thing.

Four ways, all through the same handle that is timed later: known answers of the standard, and inputs that it
refuses; agreement of all implementations on the run's own input, at every size of the plan, and for randomised
operations that each takes what the others make; the inverse gives the input back; forged tags and changed data
are refused. After the timing the output of the last timed call is compared again, with
another implementation's where there is one. What fails is reported with expected and got and never timed. Where no
other library has a cell, or two differ, others that are built are asked (`referees`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from perbyte.catalogue import Catalogue
from perbyte.errors import RunnerError, RunnerRefused
from perbyte.measure import edges
from perbyte.measure.forgeries import TAKERS, Forgeries
from perbyte.measure.referees import Referees
from perbyte.measure.sessions import BROKE_OFF, Sessions, failure_of, incorrect
from perbyte.model import Cell, Failure, KnownAnswer, Policy, Process
from perbyte.protocol.messages import CheckAnswer
from perbyte.runners.taken import AskedCheck


@dataclass(frozen=True, slots=True)
class CallUnderWay:
    """A call that a process was asked for. `core`: where it works; `before`: the cores that it was pinned to."""

    cell: Cell
    asked: AskedCheck
    core: int | None
    before: frozenset[int]


class SideBySide:
    """Calls on much data that several processes make at once, each on a core of its own; nothing is timed.

    As many as there are `cores`; one where `crowded` says that others wait. Whoever asks receives each call before its
    process is asked anything else.
    """

    def __init__(
        self,
        sessions: Sessions,
        cores: Sequence[int] = (),
        crowded: Callable[[int], bool] = lambda working: False,
    ) -> None:
        """`crowded` is asked with the number of processes that work already."""
        self._sessions = sessions
        self._cores = tuple(cores)
        self._crowded = crowded
        self._under_way: list[CallUnderWay] = []

    def has(self, cell: Cell) -> bool:
        """True while a call of the cell is under way."""
        return any(call.cell == cell for call in self._under_way)

    def send(self, cell: Cell, handle: int) -> None:
        """Ask for one call of a cell, once `due` has left room for it. Raises RunnerError."""
        session = self._sessions.of(cell)
        pid = session.process.pid
        taken = {call.core for call in self._under_way}
        core = next((core for core in self._cores if core not in taken), None)
        before: frozenset[int] = frozenset()
        if core is not None and len(self._cores) > 1 and session.spec.native:
            with contextlib.suppress(OSError):
                before = frozenset(os.sched_getaffinity(pid))
                os.sched_setaffinity(pid, {core})
        self._under_way.append(CallUnderWay(cell, session.send_check(handle, 1), core, before))

    def due(self, process: Process | None = None) -> Iterator[CallUnderWay]:
        """Calls to be received before `process` is asked anything, and before one more is asked for: oldest first.

        None: all that are under way.
        """
        for call in list(self._under_way):
            working = len(self._under_way)
            full = working >= max(len(self._cores), 1) or self._crowded(working)
            if full or process in (None, call.cell.process):
                yield call

    def receive(self, call: CallUnderWay) -> tuple[CheckAnswer, float]:
        """Wait for a call: its answer, and the seconds of CPU time that it took. Raises RunnerError."""
        self._under_way.remove(call)
        session = self._sessions.of(call.cell)
        try:
            return session.receive_check(call.asked)
        finally:
            if call.before:
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(session.process.pid, call.before)


SMALL_BYTES = 1 << 16  # up to here two more calls are compared, so that chaining and nonces are seen too
MORE_CALLS = 18  # more than the ring of 16 keys and nonces
# what looks at the output of a randomised operation
_TAKERS = {"sign": "verify", "encapsulate": "decapsulate", "seal": "open"}
# a loop of known cost has no way back, and nobody knows what a user's routine should give, which its id says
_UNCHECKED = ("probe", "routine")
_DRAWN = ("handshake", "random")
ENOUGH_LIBRARIES = 3  # to be asked where two differ
LEAST_DRAWN = 8  # bytes that are not drawn twice by chance
_MESSAGE = "5a" * 32

Question = tuple[str, str, int, str, int]  # algorithm, operation, size, contract or "", calls


@dataclass(slots=True)
class Verdicts:
    """What the validation found. `digests` holds the output digest of one call of each cell that passed.

    `compared` counts outputs that were held against another runner's: digests, and signatures and secrets. `accepted`:
    runner, algorithm and kind of the forgeries that a runner declares to accept. `took_s`: seconds that the checks of a
    cell took.
    """

    passed: list[Cell] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    digests: dict[Cell, str] = field(default_factory=dict)
    alone: set[tuple[str, str]] = field(default_factory=set)
    compared: int = 0
    accepted: set[tuple[str, str, str]] = field(default_factory=set)
    took_s: dict[Cell, float] = field(default_factory=dict)


class Validation:
    """Checks the cells of an epoch. Untimed: may use any process as long as it likes."""

    def __init__(
        self,
        catalogue: Catalogue,
        sessions: Sessions,
        tell: Callable[[str], None] = lambda _: None,
        *,
        side_by_side: SideBySide | None = None,
        referees: Referees | None = None,
    ) -> None:
        """`side_by_side` makes calls on more than `SMALL_BYTES`; None: one after the other.

        `referees`: libraries that may be asked; None: nobody is.
        """
        self._referees = referees or Referees(Policy())
        self._catalogue = catalogue
        self._large = side_by_side or SideBySide(sessions)
        self._waiting: dict[Cell, tuple[Question, dict[Question, CheckAnswer]]] = {}
        self._took_s: dict[Cell, float] = defaultdict(float)
        self._sessions = sessions
        self._tell = tell
        self._failed: dict[Cell, Failure] = {}
        self._compared = 0
        self._forgeries = Forgeries(sessions, sessions.seed)
        self._shared: dict[tuple[object, ...], Failure | None] = {}

    def examine(self, cells: Sequence[Cell]) -> Verdicts:
        """Run every check on every cell. Faults of a runner cost the cell they happen at."""
        answers: dict[Cell, dict[Question, CheckAnswer]] = {}
        for cell in _by_turns(cells):
            self._tell(cell.address)
            self._gather(self._large.due(cell.process))
            began = time.monotonic()
            if (given := self._guarded(cell)) is not None:
                answers[cell] = given
            self._took_s[cell] += time.monotonic() - began
        self._gather(self._large.due())
        self._referees.begin(self._sessions, cells)
        self._agree({cell: answer for cell, answer in answers.items() if cell not in self._failed})
        self._referees.end()
        self._exchange([cell for cell in answers if cell not in self._failed])
        verdicts = Verdicts(
            failures=list(self._failed.values()),
            compared=self._compared,
            accepted=self._forgeries.accepted,
            took_s=dict(self._took_s),
        )
        implementations: dict[tuple[str, str], set[str]] = defaultdict(set)
        for cell in cells:
            if cell in self._failed or cell not in answers:
                continue
            verdicts.passed.append(cell)
            implementations[cell.algorithm, cell.operation].add(cell.runner)
            single = [answer for question, answer in answers[cell].items() if question[4] == 1]
            if single:
                verdicts.digests[cell] = single[0].digest
        verdicts.alone = {
            key
            for key, runners in implementations.items()
            if len(runners) == 1
            and not self._catalogue.known_answers(*key)
            and self._catalogue.find(key[0]).kind not in _UNCHECKED
        }
        return verdicts

    def _guarded(self, cell: Cell) -> dict[Question, CheckAnswer] | None:
        if not self._sessions.revive(cell.process):
            self._fail(cell, Failure("crashed", cell.runner, BROKE_OFF, cell.address))
            return None
        try:
            answers = self._own_checks(cell)
            if cell.size_bytes > SMALL_BYTES and not self._large.has(cell):
                self._sessions.release([cell])  # large buffers of hundreds of cells need not stay at once
            return answers
        except RunnerError as error:
            self._fail(cell, failure_of(cell, error))
            return None

    def _gather(self, calls: Iterable[CallUnderWay]) -> None:
        for call in calls:
            question, answers = self._waiting.pop(call.cell)
            try:
                answers[question], took_s = self._large.receive(call)
                self._took_s[call.cell] += took_s
                self._sessions.release([call.cell])
            except RunnerError as error:
                self._fail(call.cell, failure_of(call.cell, error))

    def _fail(self, cell: Cell, failure: Failure) -> None:
        self._failed.setdefault(cell, failure)

    def _own_checks(self, cell: Cell) -> dict[Question, CheckAnswer]:
        session, handle = self._sessions.of(cell), self._sessions.handle(cell)
        algorithm = self._catalogue.find(cell.algorithm)
        row = (cell.process, cell.algorithm, cell.operation, cell.contract)
        self._once(row, cell, lambda: self._known_answers(cell, handle))
        if not cell.contract.startswith("setup/"):
            self._once((*row, "edges"), cell, lambda: edges.of_row(self._sessions, cell, algorithm))
        # megabytes there and back would cost more than the measurement; there the implementations' agreement
        # speaks, and the way back is taken once per row
        way_back = (cell.process, cell.algorithm, cell.contract)
        if cell.size_bytes > SMALL_BYTES:
            self._once(way_back, cell, lambda: self._round_trip(cell, handle))
        elif failure := self._round_trip(cell, handle):
            self._fail(cell, failure)
        else:
            self._shared[way_back] = None
        if cell.operation == "derive":
            answers = self._catalogue.known_answers(cell.algorithm, cell.operation)
            self._once(
                (*row, "forgeries"), cell, lambda: self._forgeries.of_agreement(cell, algorithm, answers)
            )
        if cell.operation in TAKERS:
            self._once((*row, "forgeries"), cell, lambda: self._forgeries.of_row(cell, algorithm))
            if failure := self._forgeries.of_cell(cell, algorithm):
                self._fail(cell, failure)
        if algorithm.kind in _DRAWN and cell.size_bytes >= LEAST_DRAWN:
            # that both ends of a connection export one secret, and data come back, is the runner's to see
            first, second = (session.check_calls(handle, calls).digest for calls in (1, 2))
            if first == second:
                self._fail(cell, incorrect(cell, "two calls draw the same", "another output", first))
        if not algorithm.determined(cell.operation):
            return {}
        shared = "" if not cell.contract.startswith("setup/") else cell.contract
        single: Question = (cell.algorithm, cell.operation, cell.size_bytes, shared, 1)
        digests: dict[Question, CheckAnswer] = {}
        if cell.size_bytes > SMALL_BYTES:
            self._large.send(cell, handle)
            self._waiting[cell] = single, digests
            return digests
        digests[single] = session.check_calls(handle, 1)
        question = (cell.algorithm, cell.operation, cell.size_bytes, cell.contract, MORE_CALLS)
        digests[question] = session.check_calls(handle, MORE_CALLS)
        return digests

    def _once(self, what: tuple[object, ...], cell: Cell, check: Callable[[], Failure | None]) -> None:
        if what not in self._shared:
            # a runner that breaks off here leaves no verdict, so that the next cell asks again
            self._shared[what] = check()
        if verdict := self._shared[what]:
            self._fail(cell, dataclasses.replace(verdict, address=cell.address))

    def _known_answers(self, cell: Cell, handle: int) -> Failure | None:
        if cell.contract.startswith("setup/"):
            return None  # its output is not that of the operation
        fixed_key = self._catalogue.find(cell.algorithm).fixed_key
        accepts = self._sessions.of(cell).spec.accepts.get(cell.algorithm, ())
        for known in self._catalogue.known_answers(cell.algorithm, cell.operation):
            if known.kind in accepts:
                self._forgeries.accepted.add((cell.runner, cell.algorithm, known.kind))
                continue
            try:
                answer = self._sessions.of(cell).check_vector(handle, known)
            except RunnerRefused as refusal:
                if fixed_key and not known.refused and refusal.code == "library":
                    return None  # the runner's key pair is another one than that of the answers
                if refusal.code == "unsupported" or (known.refused and refusal.code == "library"):
                    continue
                raise
            if known.refused and not known.output:
                message = f"accepts what must be refused ({known.source})"
                return incorrect(cell, message, "a refusal", _text(answer))
            got = answer.output if isinstance(answer.output, str) else answer.head
            if got != known.output[: len(got)] or answer.length * 2 != len(known.output):
                return incorrect(cell, f"wrong answer to a known one ({known.source})", known.output, got)
        return None

    def _round_trip(self, cell: Cell, handle: int) -> Failure | None:
        try:
            verdict = self._sessions.of(cell).round_trip(handle)
        except RunnerRefused as refusal:
            if refusal.code == "unsupported":
                return None
            raise
        if verdict.passed:
            return None
        return incorrect(cell, f"round trip: {verdict.detail}", "the input", "something else")

    def _agree(self, answers: dict[Cell, dict[Question, CheckAnswer]]) -> None:
        by_question: dict[Question, dict[Cell, CheckAnswer]] = defaultdict(dict)
        for cell, given in answers.items():
            for question, answer in given.items():
                by_question[question][cell] = answer
        for question, of_cell in by_question.items():
            self._compare(question, of_cell)

    def _compare(self, question: Question, answers: Mapping[Cell, CheckAnswer]) -> None:
        if len({cell.runner for cell, answer in answers.items() if answer.length}) > 1:
            self._compared += len(answers)
        given = {cell: answer.digest for cell, answer in answers.items()}
        first, answer = next(iter(answers.items()))
        known = self._catalogue.find(first.algorithm)
        # a file of one's own may be larger than others should read once more
        if question[4] == 1 and answer.length and not known.fixed_key and not self._sessions.input_path:
            seed = self._sessions.seed_of(first)
            heard = {cell.runner for cell in (*answers, *self._failed)}
            ask_others(self._referees, first, given, lambda other: self._referees.output(other, seed), heard)
        for cell, kind, others in find_wrong(given, self._referees):
            if cell not in answers:
                continue
            got = answers[cell]
            agreed = next((_text(a) for c, a in answers.items() if given[c] != given[cell]), "another output")
            message = f"disagrees with {others} on the run's own input at {question[2]} bytes"
            expected = agreed if kind == "incorrect" else "agreement"
            self._fail(cell, Failure(kind, cell.runner, message, cell.address, expected, _text(got)))

    def _exchange(self, cells: Sequence[Cell]) -> None:
        """Let every runner verify what the others sign, and decapsulate what they encapsulate, one cell of each.

        Who fails with more than half of the others is wrong; of two that do not understand each other, both are.
        """
        givers, takers = (
            {(cell.runner, cell.algorithm): cell for cell in cells if cell.operation in operations}.values()
            for operations in (_TAKERS, list(_TAKERS.values()))
        )
        outcomes: dict[tuple[str, str], list[tuple[bool, str]]] = defaultdict(list)
        for giver in givers:
            algorithm = self._catalogue.find(giver.algorithm)
            if giver.operation == "seal" and algorithm.determined("seal"):
                continue  # outputs are compared; no additional data at all are none or an empty one in SIV
            others = [
                taker
                for taker in takers
                if (taker.algorithm, taker.operation) == (giver.algorithm, _TAKERS[giver.operation])
                and taker.runner != giver.runner
            ]
            for taker in () if algorithm.fixed_key else others:
                understood = self._understood(giver, taker)
                if understood is not None:
                    self._compared += 1
                    outcomes[giver.runner, giver.algorithm].append((understood, taker.runner))
                    outcomes[taker.runner, taker.algorithm].append((understood, giver.runner))
        for (runner, algorithm_id), exchanged in outcomes.items():
            missed = sorted({other for understood, other in exchanged if not understood})
            if 2 * len(missed) <= len({other for _, other in exchanged}):
                continue
            for cell in cells:
                if (cell.runner, cell.algorithm) == (runner, algorithm_id):
                    message = f"does not understand, or is not understood by, {', '.join(missed)}"
                    self._fail(cell, incorrect(cell, message, "a message that both take", "a refusal"))

    def _understood(self, giver: Cell, taker: Cell) -> bool | None:
        """Whether `taker` takes what `giver` makes under the run's key; None where it cannot be asked."""
        sent = KnownAnswer(giver.algorithm, giver.operation, "", input=_MESSAGE)
        try:
            made = self._sessions.of(giver).check_vector(self._sessions.handle(giver), sent).output
        except RunnerError:
            return None
        if not isinstance(made, str):
            return None
        if giver.operation == "sign":
            given, expected = _MESSAGE + made, ""
        elif giver.operation == "seal":
            given, expected = made, _MESSAGE
        else:
            border = 2 * self._catalogue.find(giver.algorithm).ciphertext_bytes
            given, expected = made[:border], made[border:]
        got = KnownAnswer(taker.algorithm, taker.operation, "", input=given)
        try:
            answer = self._sessions.of(taker).check_vector(self._sessions.handle(taker), got)
        except RunnerRefused as refusal:
            return None if refusal.code == "unsupported" else False
        except RunnerError:
            return None
        return not expected or answer.output == expected


def confirm(
    sessions: Sessions, cell: Cell, calls: int, digest: str, known: dict[Cell, str], others: Iterable[Cell]
) -> Failure | None:
    """Compare the output of the last timed call with what it must be; None when it is right.

    One call: the digest the validation agreed upon. Several: another implementation of the same cell is asked to
    make as many calls untimed; without one, the cell's own process is. Whoever breaks off when asked has failed
    itself: the failure then bears the address of the witness, and another one should be asked.
    """
    if calls == 1 and cell in known and sessions.seed_of(cell) == sessions.seed:
        expected, by = known[cell], "before the timing"
    else:
        witness = next((other for other in others if sessions.runs(other.process)), cell)
        if not sessions.runs(witness.process):
            return None
        try:
            expected = sessions.of(witness).check_calls(sessions.handle(witness), calls).digest
        except RunnerError as error:
            return failure_of(witness, error)
        by = witness.runner
    if expected == digest:
        return None
    return incorrect(cell, f"the output of the last timed call differs from that of {by}", expected, digest)


def ask_others(
    referees: Referees,
    cell: Cell,
    answers: dict[Cell, str],
    ask: Callable[[Cell], str],
    heard: Collection[str] = (),
) -> None:
    """Add what libraries other than those `heard` give, until two agree and the votes decide, or enough were asked.

    `ask` gives nothing, or raises RunnerError or KeyError, where a library refuses.
    """
    heard, before = {*heard, *(other.runner for other in answers)}, len(answers)
    for other in () if _is_settled(answers, referees) else referees.others(cell):
        if other.runner in heard:
            continue
        with contextlib.suppress(RunnerError, KeyError):
            if given := ask(other):
                answers[other] = given
        if len(answers) - before >= ENOUGH_LIBRARIES or _is_settled(answers, referees):
            break


def _is_settled(answers: Mapping[Cell, str], referees: Referees) -> bool:
    libraries = {referees.of(cell).identity().library for cell in answers}
    return len(libraries) > 1 and not is_disputed(find_wrong(answers, referees))


def is_disputed(wrong: Iterable[tuple[Cell, str, str]]) -> bool:
    """True where nobody knows who is right."""
    return any(kind == "disputed" for _, kind, _ in wrong)


def find_wrong(answers: Mapping[Cell, object], sessions: Sessions | Referees) -> list[tuple[Cell, str, str]]:
    """Return who is wrong among those that were asked the same: the cell, the kind of failure, whom it disagrees with.

    The majority of libraries is right, and the others are `incorrect`; without a majority all are `disputed`, because
    nobody knows. Tiers, twins and several runners of a library share its mistakes: they have one vote.
    """
    if len(set(answers.values())) < 2:
        return []
    votes: dict[object, set[str]] = defaultdict(set)
    for cell, answer in answers.items():
        votes[answer].add(sessions.of(cell).identity().library)
    ranked = sorted(votes, key=lambda answer: -len(votes[answer]))
    trusted = ranked[0] if len(votes[ranked[0]]) > len(votes[ranked[1]]) else None
    return [
        (
            cell,
            "disputed" if trusted is None else "incorrect",
            ", ".join(sorted({other.runner for other, theirs in answers.items() if theirs != answer})),
        )
        for cell, answer in answers.items()
        if answer != trusted
    ]


def _by_turns(cells: Iterable[Cell]) -> list[Cell]:
    """Cells by size, those of one size by turns of their processes, so that several of these can work at once."""
    turns: dict[tuple[object, ...], int] = defaultdict(int)
    keyed = []
    for cell in cells:
        turns[cell.process, cell.size_bytes] += 1
        turn = turns[cell.process, cell.size_bytes] if cell.size_bytes > SMALL_BYTES else 0
        keyed.append(((cell.size_bytes, turn), cell))
    return [cell for _, cell in sorted(keyed, key=lambda pair: pair[0])]


def _text(answer: CheckAnswer) -> str:
    return f"{answer.length} bytes, digest {answer.digest}, {answer.head}..."
