"""Forgeries: what authenticates must refuse all that is not genuine, and a KEM must give another secret for it.

A row is tried once a process, on messages of drawn lengths, the empty one among them, without additional data, with
short and with long ones, which its own producer (`seal`, `sign`, `encapsulate`) makes: `forging` says what is changed.
Each cell is tried at its own length. What must be tried is tried whatever it takes, up to `HARD_S`; more than that only
while it is quick. Bits are drawn from the run's seed.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from perbyte.errors import RunnerRefused
from perbyte.measure import forging
from perbyte.measure.forging import BLOCK, Attempt, Stretch
from perbyte.measure.sessions import Sessions, incorrect
from perbyte.model import Algorithm, Cell, Failure, KnownAnswer
from perbyte.protocol.material import digest
from perbyte.runners import Session
from perbyte.runners.changes import Edit, ask, changed

ROW_S, CELL_S = 10e-3, 3e-3  # that forgeries of a row and of a cell may take where calls are quick
KEM_S = 40e-3  # a row of a KEM, whose ciphertext is compared byte by byte
KEM_GRAIN = 8  # bytes of a ciphertext, in each of which a bit is flipped
HARD_S = 0.25  # that they take at the most: public keys of hash-based signatures and of codes
MOST_WALL = 16.0  # times as long by the clock, beside others; a runner that sleeps is ended before
EDGES = (1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 127, 128, 129, 255, 256, 257)  # bytes of data
MOST_SEALED = 60  # until the tag has a zero: none has it in one run of 40
FEWEST, MOST, CHUNK_S = 2, 600, 5e-3  # changes of a question, and seconds that it should take
SLOW_S = 20e-3  # that making something genuine takes: then one will do
PRODUCERS = {"open": "seal", "verify": "sign", "decapsulate": "encapsulate"}
TAKERS = tuple(PRODUCERS)
_DIGESTS = ("rsa-", "dsa-", "ecdsa-")  # sign a digest as it is
_TAKES_ANY = ("x25519", "x448", "ffdhe")  # any public key is one, or nearly
_DIGEST_BYTES = 32
_SHORTEST_ORDER = 20
_TAG_BITS = 64 * 8  # of a tag or signature, each of which is tried


@dataclass(frozen=True, slots=True)
class Genuine:
    """What a producer made: material that the taker must accept, its parts, and the secret of a KEM."""

    material: KnownAnswer
    message_bytes: int
    secret: str = ""

    def words(self) -> str:
        """The material's lengths."""
        aad = len(self.material.aad) // 2
        return f" ({self.message_bytes} bytes of data, {aad} of additional data)"


class TimeSpent:
    """What forgeries took of the time that they may take: CPU time, so that others at work hide none of them."""

    def __init__(self, session: Session, soft_s: float, hard_s: float = HARD_S) -> None:
        self._session = session
        self._began, self._began_cpu_s = time.monotonic(), self._cpu_s()
        self.soft_s, self.hard_s = soft_s, hard_s

    def _cpu_s(self) -> float:
        return time.process_time() + self._session.process.cpu_s()

    @property
    def so_far_s(self) -> float:
        """Seconds of CPU time of both processes."""
        return self._cpu_s() - self._began_cpu_s

    def has(self, *, must: bool) -> bool:
        """True while there is time for what must be tried, or for more."""
        if time.monotonic() - self._began > MOST_WALL * self.hard_s:
            return False
        return self.so_far_s < (self.hard_s if must else self.soft_s)


class Forgeries:
    """Tries to forge; every method returns what is wrong with a cell, None where nothing is. Raises RunnerError."""

    def __init__(self, sessions: Sessions, seed: int) -> None:
        self._sessions = sessions
        self._seed = seed
        self.accepted: set[tuple[str, str, str]] = (
            set()
        )  # runner, algorithm, kind: declared, and so not tried

    def of_cell(self, cell: Cell, known: Algorithm) -> Failure | None:
        """Changes of the run's own input, at the length that is timed."""
        row = self._row(cell, known, cell.address, CELL_S, HARD_S / 2)
        try:
            outcomes = ask(row.session, row.handle, [])
        except RunnerRefused as refusal:
            if refusal.code not in ("unsupported", "malformed"):
                raise
            verdict = row.session.forgery(row.handle)
            return None if verdict.passed else _accepted(cell, verdict.detail)
        whole = outcomes.input_bytes
        tag_bytes = whole - cell.size_bytes if cell.operation != "decapsulate" else 0
        places = [place for place in _places(cell, known, whole - tag_bytes, whole) if place.letter == "i"]
        must = forging.anywhere(row.rng, places) + forging.in_each(row.rng, places[-1:])
        words = f" ({cell.size_bytes} bytes of data)"
        judge = Judge(row, outcomes.digests[0], row.spent.so_far_s / 2, None, words)
        return judge.all(must, must=True) or judge.all(forging.in_each(row.rng, places[:-1]), must=False)

    def of_row(self, cell: Cell, known: Algorithm) -> Failure | None:
        """Everything else, once for all cells of a row."""
        name = f"{cell.algorithm}/{cell.operation}/{cell.contract}"
        row = self._row(cell, known, name, KEM_S if cell.operation == "decapsulate" else ROW_S)
        makes = self._producer(row.session, cell)
        if makes is None:
            return None
        self.accepted |= {(cell.runner, cell.algorithm, kind) for kind in row.accepts}
        shapes = _shapes(row.rng, cell, known)
        try:
            for count, (data, aad) in enumerate(shapes):
                if count and not row.spent.has(must=True):
                    break
                began_s = row.spent.so_far_s
                genuine = row.make(makes, data, aad)
                if genuine is None:
                    continue
                call_s = row.spent.so_far_s - began_s
                grain = 1 if count == min(1, len(shapes) - 1) else forging.GRAIN
                if wrong := row.forge(genuine, call_s, grain):
                    return wrong
                if call_s > SLOW_S:
                    break
            return row.at_edges(makes) if cell.operation == "open" else None
        finally:
            row.session.release(makes)

    def of_agreement(self, cell: Cell, known: Algorithm, answers: Sequence[KnownAnswer]) -> Failure | None:
        """Another public key must give another secret, or be refused; a point beside its curve must be refused.

        `answers`: known ones, whose keys are taken. Once for all cells of a row.
        """
        genuine = next((answer for answer in answers if not answer.refused), None)
        if genuine is None:
            return None
        row = self._row(cell, known, f"{cell.algorithm}/{cell.operation}/{cell.contract}", ROW_S)
        peer = bytes.fromhex(genuine.input)
        point = cell.algorithm.startswith("ecdh-")
        first = 1 if point else 0  # the form of a point, which libraries may take in several ways
        public = Stretch("public key", "i", first, len(peer) - first)
        attempts = forging.in_each(row.rng, [public]) + forging.anywhere(row.rng, [public])
        if point:
            attempts += forging.of_point(public, peer[1:])
        masked = 1 if cell.algorithm == "ecdh-p521" else 0
        private = [Stretch("private key", "k", masked, len(genuine.key) // 2 - masked)]
        judge = Judge(row, digest(bytes.fromhex(genuine.output)), SLOW_S, genuine)
        if wrong := judge.all(attempts, must=True):
            return wrong
        judge.refuses = False
        return judge.all(forging.anywhere(row.rng, private), must=True)

    def _row(self, cell: Cell, known: Algorithm, name: str, soft_s: float, hard_s: float = HARD_S) -> _Row:
        session, handle = self._sessions.of(cell), self._sessions.handle(cell)
        spent, accepts = TimeSpent(session, soft_s, hard_s), session.spec.accepts.get(cell.algorithm, ())
        return _Row(random.Random(f"{self._seed}/{name}"), session, handle, cell, known, spent, accepts)

    def _producer(self, session: Session, cell: Cell) -> int | None:
        wanted = PRODUCERS[cell.operation]
        contracts = [
            row.contract
            for row in session.hello().operations
            if (row.algorithm, row.operation) == (cell.algorithm, wanted)
        ]
        for contract in sorted(contracts, key=lambda contract: contract != cell.contract):
            try:
                return session.prepare(
                    cell.algorithm,
                    wanted,
                    contract,
                    cell.size_bytes if cell.size_bytes < 4096 else 32,
                    seed=self._seed,
                )
            except RunnerRefused:
                continue
        return None


@dataclass(frozen=True, slots=True)
class _Row:
    """What is tried, in what time. `accepts`: kinds of forgeries that the library is known to accept."""

    rng: random.Random
    session: Session
    handle: int
    cell: Cell
    known: Algorithm
    spent: TimeSpent
    accepts: Collection[str]

    def judge(self, genuine: Genuine, call_s: float = SLOW_S) -> Judge:
        """What judges changes of something genuine."""
        expected = digest(bytes.fromhex(genuine.secret))
        return Judge(self, expected, call_s, genuine.material, genuine.words())

    def make(self, makes: int, data: int, aad: int) -> Genuine | None:
        """Something genuine by producer `makes`, or None: under a drawn key and nonce, with a zero in its data."""
        drawn = enumerate(self.rng.randbytes(data))
        message = bytes(byte * (at != data // 3) for at, byte in drawn).hex()
        sent = KnownAnswer(
            self.cell.algorithm,
            self.cell.operation,
            "",
            input=message,
            key="" if self.known.fixed_key else self.rng.randbytes(self.known.key_bytes).hex(),
            nonce=self.rng.randbytes(self.known.nonce_bytes).hex(),
            aad=self.rng.randbytes(aad).hex(),
        )
        try:
            output = self.session.check_vector(makes, sent).output
        except RunnerRefused as refusal:
            if refusal.code not in ("library", "unsupported", "bad-size"):
                raise
            return None
        if not isinstance(output, str):
            return None
        if self.cell.operation == "open":
            return Genuine(replace(sent, input=output), data, message)
        if self.cell.operation == "verify":
            return Genuine(replace(sent, input=message + output), data)
        border = 2 * self.known.ciphertext_bytes
        return Genuine(replace(sent, input=output[:border]), 0, output[border:])

    def at_edges(self, makes: int) -> Failure | None:
        """Forge at each length about the ends of blocks, then until a tag has a zero, and change what is behind it."""
        zero, multiple = False, self.known.data_multiple_bytes
        for data in (*EDGES, *[0] * MOST_SEALED):
            length = data // multiple * multiple
            made = None if zero and not data else self.make(makes, length, self.rng.choice((0, BLOCK)))
            if made is None or not self.spent.has(must=True):
                return None
            there = bytes.fromhex(made.material.input)
            tag = _places(self.cell, self.known, length, len(there))[-1]
            attempts = forging.anywhere(self.rng, [tag], 1 if data else 0)
            if behind := forging.behind_zero(self.rng, tag, there[length:]):
                zero = True
                attempts.append(behind)
            if wrong := self.judge(made).all(attempts, must=True):
                return wrong
        return None

    def forge(self, genuine: Genuine, call_s: float, grain: int) -> Failure | None:
        """Try all kinds of changes on something genuine, with a bit in each `grain` bytes of a short tag."""
        rng, cell, known = self.rng, self.cell, self.known
        material, message = genuine.material, genuine.message_bytes
        whole = bytes.fromhex(material.input)
        places = _places(cell, known, message, len(whole), len(material.aad) // 2)
        data, tag = places[0], places[-1]
        there = whole[tag.offset :]
        # of SIV's two keys one encrypts, which is nothing without data (RFC 5297)
        letters = "kn" if message or known.mode != "siv" else "n"
        keys = [place for place in places if place.letter in letters]
        others = [place for place in places if place.letter != "k"]
        must = forging.anywhere(rng, others) + forging.in_each(rng, others)
        if 8 * len(there) <= _TAG_BITS:
            must += forging.in_each(rng, [tag], grain)
        must += forging.in_each(rng, keys)[: 4 if cell.operation != "open" else None]
        if cell.operation == "open":
            must += forging.of_tag(rng, tag, there)
            must += forging.of_blocks(rng, data, whole[: tag.offset])
            must += forging.of_sealed(rng, material, len(there), known.data_multiple_bytes)
        elif cell.operation == "verify":
            if order := forging.ORDERS.get(cell.algorithm):
                small_first = known.family == "eddsa" or cell.algorithm.startswith("ed")
                must += forging.of_numbers(tag, there, order, lowest_first=small_first)
            must += forging.at_ends(tag, 2)
            must += [
                forging.to_bytes(tag, there, bytes(len(there)), "a signature of zeros"),
                forging.to_bytes(tag, there, bytes([255]) * len(there), "a signature of ones"),
            ]
            must += forging.of_signed(
                rng, material, message, data.length, digest=cell.algorithm.startswith(_DIGESTS)
            )
        else:
            must += [
                forging.to_bytes(tag, there, bytes(len(there)), "a ciphertext of zeros"),
                forging.to_bytes(tag, there, there[::-1], "a ciphertext in reverse"),
            ]
            # a bit that changes what is decrypted changes all of the comparison: the others are fewer
            must += forging.in_each(rng, [tag], KEM_GRAIN)
            must += forging.in_twos(rng, tag) + forging.in_twos(rng, tag)
        bits = 8 * len(there)
        more = [forging.bit(tag, number) for number in range(bits if bits <= _TAG_BITS else 0)]
        more += forging.in_each(rng, others, grain=1)
        judge = self.judge(genuine, call_s)
        return judge.all(must, must=True) or judge.all(more, must=False)


class Judge:
    """Whether what came out of changed material may come out."""

    def __init__(
        self, row: _Row, genuine: str, call_s: float, material: KnownAnswer | None = None, words: str = ""
    ) -> None:
        """`genuine`: the digest of what the unchanged material gives, in about `call_s` seconds.

        `material`: None is the run's own, in `words`.
        """
        self._row, self._call_s, self._material, self._words = row, call_s, material, words
        self._cell = cell = row.cell
        self._genuine = genuine
        self._secrets: dict[str, str] = {}
        self._free = _free_bits(cell, row.known)
        self.refuses = cell.operation != "decapsulate" and not cell.algorithm.startswith(_TAKES_ANY)
        self._exact = cell.operation == "decapsulate" and cell.algorithm.startswith("ml-kem-")

    def all(self, attempts: Sequence[Attempt], *, must: bool) -> Failure | None:
        """Ask for the attempts in as many questions as there is time for."""
        material, words = self._material, self._words
        left = [each for each in attempts if not self._free(each) and each.kind not in self._row.accepts]
        while left and self._row.spent.has(must=must):
            size = max(FEWEST, min(MOST, int(CHUNK_S / self._call_s)))
            now, left = left[:size], left[size:]
            began = time.monotonic()
            outcomes = ask(self._row.session, self._row.handle, [each.change for each in now], material)
            self._call_s = (time.monotonic() - began) / len(outcomes.digests)
            # what verifies gives nothing to compare
            ends = {outcomes.digests[0], outcomes.digests[-1]}
            if "" in ends or (ends != {self._genuine} and self._cell.operation != "verify"):
                what = "refuses" if not outcomes.digests[0] else "gives something else for"
                return incorrect(
                    self._cell,
                    f"forgery: {what} what its own runner made{words}",
                    "an acceptance",
                    "a refusal",
                )
            for attempt, outcome in zip(now, outcomes.changed, strict=True):
                sealed = changed(material, attempt.change) if material and self._exact else None
                if wrong := self._wrong(outcome, attempt.what + words, sealed):
                    return wrong
        return None

    def _wrong(self, outcome: str, what: str, material: KnownAnswer | None) -> Failure | None:
        if self.refuses:
            return _accepted(self._cell, f"{what} ACCEPTED") if outcome else None
        if not outcome:
            text = f"{what} REFUSED, where another secret is due"
            return _secret(self._cell, text, "a refusal") if self._exact else None
        if outcome == self._genuine:
            return _secret(self._cell, f"{what}: THE SAME secret as without a change", "the same secret")
        before = self._secrets.setdefault(outcome, what)
        if before != what:
            return _secret(self._cell, f"{what}: THE SAME secret as for {before}", "the same secret")
        if self._exact and material and material.key and outcome != _rejected(material):
            return _secret(self._cell, f"{what}: not the secret of FIPS 203", "another")
        return None


def _accepted(cell: Cell, detail: str) -> Failure:
    return incorrect(cell, f"forgery: {detail}", "a refusal", "an acceptance")


def _secret(cell: Cell, detail: str, got: str) -> Failure:
    of = "ciphertext" if cell.operation == "decapsulate" else "key"
    return incorrect(cell, f"forgery: changed {of}, {detail}", "another secret", got)


def _rejected(material: KnownAnswer) -> str:
    """The digest of ML-KEM's secret for a ciphertext that nobody made (FIPS 203, algorithm 18, step 7)."""
    z = bytes.fromhex(material.key)[32:]
    return digest(hashlib.shake_256(z + bytes.fromhex(material.input)).digest(32))


def _shapes(rng: random.Random, cell: Cell, known: Algorithm) -> list[tuple[int, int]]:
    if cell.operation == "decapsulate":
        return [(_DIGEST_BYTES, 0)]
    if cell.operation == "verify":
        if cell.algorithm.startswith(_DIGESTS):
            return [(_DIGEST_BYTES, 0)]
        return [(0, 0), (rng.randrange(600, 1200), 0), (rng.randrange(1, 32), 0), (_DIGEST_BYTES, 0)]
    shapes = [
        (rng.randrange(100, 200), rng.randrange(100, 300)),
        (rng.randrange(33, 99), 0),
        (0, 0),
        (0, rng.randrange(1, 100)),
        (rng.randrange(1, 16), rng.randrange(1, 16)),
        (64, 32),
        (rng.randrange(17, 64), rng.randrange(4100, 5000)),
    ]
    multiple = known.data_multiple_bytes
    return [(data // multiple * multiple, aad) for data, aad in shapes]


def _places(cell: Cell, known: Algorithm, message: int, whole: int, aad: int = 0) -> list[Stretch]:
    first = 1 if cell.algorithm == "ecdsa-p521" else 0  # 521 bits of 528: runners mask the others
    key = Stretch("key", "k", first, 0 if known.fixed_key else known.key_bytes - first)
    nonce = Stretch("nonce", "n", 0, known.nonce_bytes)
    if cell.operation == "decapsulate":
        return [Stretch("ciphertext", "i", 0, whole)]  # of other keys the secret may be the same
    if cell.operation == "verify":
        signature = whole - message
        covered = message
        if cell.algorithm.startswith(("ecdsa-", "dsa-")):
            # a digest is cut to the length of the group's order: of DSA the shortest is meant, whose form varies
            covered = min(message, signature // 2 if cell.algorithm.startswith("ecdsa-") else _SHORTEST_ORDER)
        return [Stretch("message", "i", 0, covered), key, Stretch("signature", "i", message, signature)]
    sealed = [Stretch("data", "i", 0, message), Stretch("additional data", "a", 0, aad), nonce, key]
    return [*sealed, Stretch("tag", "i", message, whole - message)]


def _free_bits(cell: Cell, known: Algorithm) -> Callable[[Attempt], bool]:
    """Whether an attempt changes nothing but bits that the standard ignores (RFC 7748, 5)."""
    clamped = {("k", 0): 0x07, ("k", 31): 0xC0}
    free: dict[tuple[str, int], int] = {
        "x25519mlkem768": {("i", known.ciphertext_bytes - 1): 0x80},
        "x25519": {("i", 31): 0x80, **clamped},
        "bls12-381-min-pk": {("k", 0): 0xC0},  # its runner masks them
        "x448": {("k", 0): 0x03, ("k", 55): 0x80},
        "hpke-x25519-aes-128-gcm": clamped,
        "hpke-x25519-chacha20-poly1305": clamped,
    }.get(cell.algorithm, {})
    return lambda attempt: (
        bool(free)
        and all(
            isinstance(edit, Edit)
            and len(edit.bits) == 1
            and not edit.bits[0] & ~free.get((edit.place, edit.offset), 0)
            for edit in attempt.change
        )
    )
