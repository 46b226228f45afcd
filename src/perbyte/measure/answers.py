"""What runners gave on data that no run has: held against each other, and against hashlib where it can tell.

CPython's own hashlib settles disputes over SHA-2, SHA-3, BLAKE2, HMAC with SHA-2, PBKDF2 and scrypt; the chain is that
of SPEC 11. Every chain that is timed can be compared, whatever its length and whoever else is in the run: hashlib or
another library (`referees`) makes some of them again, drawn by lot. Rows are asked about data of other lengths, too:
what works on the run's alone was made for a benchmark.
"""

from __future__ import annotations

import contextlib
import random
import secrets
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from perbyte.catalogue import Catalogue
from perbyte.errors import RunnerError, RunnerRefused
from perbyte.measure.known_calls import call_of
from perbyte.measure.looks import MOST_BYTES, Allowance, Given, Looks, problem, question
from perbyte.measure.referees import Referees
from perbyte.measure.sessions import Sessions, material_seed
from perbyte.measure.validation import ask_others, find_wrong, is_disputed
from perbyte.model import Algorithm, Cell, Policy
from perbyte.protocol.material import stream
from perbyte.runners.session import prepare_cell

_BASIS_FREE = 64  # bytes of an output that the value goes on with
_PRIME, _MASK = 0x100000001B3, 2**64 - 1
_MOST_BYTES = 1 << 27  # of data in all: a dispute is not worth seconds
_USUAL_BYTES = 1 << 22  # and where nobody disputes
# Of the chains of a cell's epoch one is always compared that takes no longer, and more where they are short. Another
# library may take some times as long
ALWAYS_S, SHORT_S, SLOWER = 20e-3, 2e-3, 4.0
RANDOM = "its results are drawn at random, so that nobody else can make them"
OWN_KEY = "its runner chose its key pair, and no other library here signs with the same"
NOBODY = "no other library here can make the same calls"
TOO_LONG = "its calls are too long to be made by another library in a run of this length"


def known_digest(cell: Cell, algorithm: Algorithm, seed: int, calls: int, *, key_seed: int) -> str | None:
    """The digest of a chain of `calls` calls from `seed`; None where hashlib does not know.

    `key_seed` is that of the handle, which key 0 comes from where the contract does not set one in the call.
    """
    call = call_of(cell, algorithm)
    if call is None or calls * cell.size_bytes > _MOST_BYTES:
        return None
    value, data, output = seed, bytearray(stream(seed, "input", cell.size_bytes)), b""
    key, nonce = stream(key_seed, "key/0", algorithm.key_bytes), b""
    for _ in range(calls):
        if cell.contract == "rekey/1":
            key = stream(value, "key/0", algorithm.key_bytes)
        if algorithm.nonce_bytes:
            nonce = stream(value, "nonce/0", algorithm.nonce_bytes)
        try:
            output = call(key, nonce, bytes(data))
        except (ValueError, MemoryError):
            return None
        data[: min(len(output), len(data))] = output[: len(data)]
        value = _fold(value, output[-_BASIS_FREE:])
    return f"{_fold(value, output):016x}"


def _fold(value: int, output: bytes) -> int:
    """FNV-1a over words, then over the rest, begun with `value` (SPEC 5)."""
    whole = len(output) // 8 * 8
    for at in range(0, whole, 8):
        value = (value ^ int.from_bytes(output[at : at + 8], "little")) * _PRIME & _MASK
    for byte in output[whole:]:
        value = (value ^ byte) * _PRIME & _MASK
    return value


ELSEWHERE = -1  # in place of the epoch, of what is asked once a run
Asked = tuple[object, ...]
"""What was asked, and in which epoch."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`cell` gave something else than `others`; of `everywhere` it was asked once for all cells of the row."""

    cell: Cell
    kind: str
    message: str
    everywhere: bool


class Answers:
    """Digests by what was asked. `lengths` of data that no cell has, `convicted` the runners that computed wrongly."""

    def __init__(self, policy: Policy, catalogue: Catalogue, drawn: Mapping[Asked, tuple[int, int]]) -> None:
        """`drawn`: seed and calls of each question."""
        self._policy = policy
        self._catalogue = catalogue
        self._drawn = drawn
        self._digests: dict[Asked, dict[Cell, str]] = {}
        self._asked: dict[Asked, Given] = {}  # chains that others were asked for
        self.lengths: dict[Asked, int] = {}
        self.convicted: set[str] = set()

    def of(self, asked: Asked) -> Mapping[Cell, str]:
        """What was given to a question."""
        return self._digests.get(asked, {})

    def remember(self, asked: Asked, cell: Cell, digest: str) -> None:
        """Keep an answer that other runners must give too: nothing drawn at random, no key pair of the runner's own."""
        if self.comparable(cell):
            self._digests.setdefault(asked, {})[cell] = digest

    def comparable(self, cell: Cell) -> bool:
        """True where another library must give the same: nothing is drawn at random, and the key is everybody's."""
        known = self._catalogue.find(cell.algorithm)
        return not known.fixed_key and cell.operation not in known.randomised

    def compare(
        self, cell: Cell, epoch: int, given: Sequence[Given], referees: Referees, allowance: Allowance
    ) -> tuple[int, str]:
        """Have chains that a cell made be made by others, some by lot: how many were, and why none was.

        What they gave is judged by `disagreements`.
        """
        known = self._catalogue.find(cell.algorithm)
        if cell.operation in known.randomised:
            return 0, RANDOM
        if known.fixed_key:
            quickest = min(given, key=lambda each: each.cpu_s)
            alike = quickest.cpu_s < ALWAYS_S or allowance.has(SLOWER * quickest.cpu_s)
            return (1, "") if alike and self._same_key(quickest, referees) else (0, OWN_KEY)
        compared, why = 0, NOBODY
        for made in CHANCE.sample(given, len(given)):
            takes_s = SLOWER * made.cpu_s
            if takes_s > (SHORT_S if compared else ALWAYS_S) and not allowance.has(takes_s):
                why = TOO_LONG
                continue
            with allowance.spent() if takes_s > SHORT_S else contextlib.nullcontext():
                compared += self._make_again(epoch, made, referees)
        quickest = min(given, key=lambda each: each.cpu_s)
        if not compared and why == TOO_LONG and quickest.cpu_s < ALWAYS_S:
            compared += self._make_again(epoch, quickest, referees)
        return compared, "" if compared else why

    def _same_key(self, given: Given, referees: Referees) -> bool:
        """True where another library signs the same with a key pair that both have, so that it is a true one.

        Who differs may have another one, and is not wrong.
        """
        for other in referees.others(given.cell):
            with contextlib.suppress(RunnerError, KeyError):
                if referees.digest(given, other) == given.digest:
                    return True
        return False

    def _make_again(self, epoch: int, given: Given, referees: Referees) -> bool:
        asked = (*question(given.cell), epoch, given.seed, given.calls)
        answers = self._digests.setdefault(asked, {})
        answers[given.cell] = given.digest
        self._asked[asked] = given
        known = self._known(given, _USUAL_BYTES)
        if known != given.digest:
            ask_others(referees, given.cell, answers, partial(referees.digest, given))
        return len(answers) > 1 or known is not None

    def disagreements(self, sessions: Referees) -> Iterator[Disagreement]:
        """Who gave something else than others. Who was found wrong by itself has no vote."""
        for asked, answers in self._digests.items():
            alive = {cell: digest for cell, digest in answers.items() if sessions.runs(cell.process)}
            of_chain = asked in self._asked
            if not alive or (len(set(alive.values())) < 2 and not (of_chain and len(alive) == 1)):
                continue
            given = self._question(asked, next(iter(alive)))
            known = self._known(given)
            if known and (known in alive.values() or len(alive) == 1):
                wrong = [(c, "incorrect", "hashlib of CPython") for c, d in alive.items() if d != known]
            else:
                trusted = {c: d for c, d in alive.items() if c.runner not in self.convicted} or alive
                # an own runner that was asked has a vote as those of the run have
                wrong = find_wrong(trusted, sessions)
                if is_disputed(wrong):  # who is asked later, or is not in the run, may know
                    ask_others(sessions, given.cell, trusted, partial(sessions.digest, given))
                    wrong = find_wrong(trusted, sessions)
            for cell, kind, others in wrong:
                self.convicted |= {cell.runner} if kind == "incorrect" else set()
                message = f"disagrees with {others} on data of {given.cell.size_bytes} bytes that nobody knew before"
                if of_chain:
                    message += f", in a chain of {given.calls} calls"
                yield Disagreement(cell, kind, message, asked[-1] == ELSEWHERE)
        # what rows were tried on elsewhere is compared in later epochs too
        self._digests = {asked: given for asked, given in self._digests.items() if asked[-1] == ELSEWHERE}
        self._asked.clear()

    def _question(self, asked: Asked, cell: Cell) -> Given:
        if asked in self._asked:
            return self._asked[asked]
        (seed, calls), epoch = self._drawn[asked], cast("int", asked[-1])
        key_seed = seed ^ 1 if epoch == ELSEWHERE else material_seed(self._policy.seed, epoch, cell)
        cell = replace(cell, size_bytes=self.lengths.get(asked, cell.size_bytes))
        return Given(cell, key_seed, seed, calls, "", 0.0)

    def _known(self, given: Given, most_bytes: int = _MOST_BYTES) -> str | None:
        cell = given.cell
        if given.calls * cell.size_bytes > most_bytes:
            return None
        algorithm = self._catalogue.find(cell.algorithm)
        return known_digest(cell, algorithm, given.seed, given.calls, key_seed=given.key_seed)


# lengths of data that no cell of the run has, of a block at the least: what code may take another path at lies in some
# of these ranges or about the end of a block of a hash or of a parallel cipher
BLOCK_BYTES, SHORTER = 16, ((16, 1024), (1024, 4096))
LONGER = (4096, 1 << 16), ((1 << 20) + 1, (1 << 20) + 65536)
Span = tuple[int, int]
BORDERS = (1, 64, 64)  # of which lengths are about a multiple, one of them drawn
# HKDF gives at most 255 digests (RFC 5869), so calls on other lengths than the cell's may fail rightly; a state has one
# length, and its words may have to lie aligned; a user's benchmark takes what it takes
OF_ONE_LENGTH = ("expand", "permute", "run")
CHANCE = random.SystemRandom()


class Elsewhere:
    """Which rows were tried where, which were not yet on long data, and which did not work on a length."""

    def __init__(self, catalogue: Catalogue, looks: Looks, answers: Answers) -> None:
        self._catalogue = catalogue
        self._looks = looks
        self._answers = answers
        self.tried: set[Asked] = set()
        self.untried: dict[tuple[str, str, str, Span], list[Cell]] = defaultdict(list)
        self._refused: dict[Asked, set[Cell]] = defaultdict(set)

    def ask(self, sessions: Sessions, cell: Cell, *spans: Span) -> str:
        """Make a short chain on data of another length in each span, and at odd addresses, for one cell of a row.

        Returns what is wrong with that by itself; whether runners agree is compared later. Raises RunnerError.
        """
        multiple = self._catalogue.find(cell.algorithm).data_multiple_bytes
        faults = (self._ask(sessions, cell, span, multiple) for span in spans if span[1] > multiple)
        return next(filter(None, faults), "")

    def _ask(self, sessions: Sessions, cell: Cell, span: Span, multiple: int) -> str:
        least, most = span
        once = cell.runner, cell.algorithm, cell.operation, most
        if cell.operation in OF_ONE_LENGTH or (most > MOST_BYTES and once in self.tried):
            return ""  # a mebibyte takes milliseconds: once for all tiers and contracts
        self.tried.add(once)
        session, asked = sessions.of(cell), (*question(replace(cell, size_bytes=most)), ELSEWHERE)
        size = self._answers.lengths.setdefault(asked, _length(max(least, multiple), most, multiple))
        seed, calls = self._looks.drawn.setdefault(asked, (secrets.randbits(64), 1 + (most <= MOST_BYTES)))
        try:  # by another seed than the chain's, whose first nonce would be the prepared one again
            other = replace(cell, size_bytes=size)
            handle = prepare_cell(session, other, seed=seed ^ 1, offset=seed % 1024 | 1)
        except RunnerRefused:
            self._refused[asked].add(cell)  # not every operation takes every length
            return ""
        try:
            chained = session.audit(handle, seed=seed, calls=calls)
        except RunnerRefused:
            return ""
        finally:
            session.release(handle)
        if chained.answer.failures:
            self._refused[asked].add(cell)  # a library may refuse a length that no cell has
            return ""
        if wrong := problem(chained):
            return f"{wrong} on {size} bytes"
        self._answers.remember(asked, cell, chained.answer.digest)
        return ""

    def refusals(self, sessions: Sessions) -> Iterator[tuple[Cell, str]]:
        """Rows that did not work on a length where another library did, each once, with why it matters."""
        for asked, refusing in self._refused.items():
            alive = [cell for cell in self._answers.of(asked) if sessions.runs(cell.process)]
            took = {sessions.of(cell).identity().library for cell in alive}
            for cell in [each for each in refusing if sessions.runs(each.process)]:
                if not took - {sessions.of(cell).identity().library}:
                    continue
                refusing.discard(cell)
                yield cell, f"it does not work on {self._answers.lengths[asked]} bytes, which others take"


def _length(least: int, most: int, multiple: int) -> int:
    size, border = CHANCE.randrange(least, most), CHANCE.choice(BORDERS)
    about = size // border * border + CHANCE.choice((0, *((-1, 1) if border > 1 else ())))
    return int(max(least, min(about, most - 1)) // multiple * multiple)
