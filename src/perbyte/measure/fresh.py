"""Calls of public-key operations on keys, messages and peers that were made for them, since they make no chains.

What one of them gives is no data of the next. So a runner is asked for single calls on material that is drawn at that
moment (SPEC 5, `vector`): the kernel counts their CPU time, keys set included, and what another library needs for the
same beside its own calls tells how much of it setting keys may take. An answer that is kept from an earlier call is of
no use there. Key pairs, ciphertexts and signatures that are drawn at random must differ from each other.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import secrets
from collections.abc import Callable
from dataclasses import replace

from perbyte.catalogue import Catalogue
from perbyte.errors import RunnerError, RunnerRefused
from perbyte.measure.referees import Referees
from perbyte.measure.signatures import modulus, nonces_related, weakness
from perbyte.model import Algorithm, Audit, Cell, KnownAnswer
from perbyte.protocol.material import stream
from perbyte.runners.session import Session

DRAWN_S, ASK_S = 20e-3, 50e-6  # what looking at drawn results may take, and a question at the least
FEWEST, MOST = 3, 256  # results that must differ
MESSAGES = 4  # by one key, whose signatures must not share a nonce
CALLS, SHORT_CALLS = 5, 15  # on fresh material, of a look; and where a call is shorter than a question
FIRST = 0.05  # of what a question takes, by which its first asking may be dearer than its second
MORE_CALLS = 8  # that tell what a call of another library takes
LONG_S = 20e-3  # calls of this length are not made so often
_WITH_NONCE = ("ecdsa-", "dsa-")  # their signatures are r, then s; r comes from a nonce that is used once
_KINDS = ("key-agreement", "kem", "signature", "handshake", "random")
_DRAWN = {"keygen": "public keys", "encapsulate": "ciphertexts", "sign": "signatures"}
_DRAWN |= {"draw": "draws"} | dict.fromkeys(("handshake", "client", "server"), "secrets")
_CHANCE = random.SystemRandom()
Vector = Callable[[], KnownAnswer]


class Fresh:
    """Asks for single calls on fresh material, and for results that must differ."""

    def __init__(self, catalogue: Catalogue, referees: Referees) -> None:
        self._catalogue = catalogue
        self._referees = referees

    def concerns(self, cell: Cell) -> bool:
        """True for the operations that are looked at so."""
        return self._catalogue.find(cell.algorithm).kind in _KINDS

    def look(self, session: Session, handle: int, audit: Audit, call_s: float, seed: int) -> Audit:
        """Add what calls on fresh material cost beside timed ones; `seed` made the handle's. Raises RunnerError."""
        cell, known = audit.cell, self._catalogue.find(audit.cell.algorithm)
        if not 0 < call_s < LONG_S:
            return audit
        if wrong := self.differ(session, handle, cell, call_s, seed):
            return replace(audit, wrong=wrong)
        if known.fixed_key:
            with contextlib.suppress(RunnerRefused):  # a library may sign digests of one length only
                weak = self._weakness(session, handle, cell, known, seed)
                audit = audit if weak is None else replace(audit, wrong=weak, compared=1)
            return audit
        vector = self._vectors(cell, known, _questions(call_s))
        if vector is None:
            return audit
        try:
            others = self._of_others(cell, vector)
            # where nobody says what preparing takes, the same call made again does
            own = self._ratio(session, handle, call_s, vector, again=not others)
        except RunnerRefused:
            return audit
        except _WrongVerdict as wrong:
            return replace(audit, wrong=str(wrong))
        return replace(audit, fresh=[*audit.fresh, own / max(1.0, others)])

    def differ(self, session: Session, handle: int, cell: Cell, call_s: float, seed: int) -> str:
        """What is wrong with results drawn at random on material of `seed`; empty: nothing. Raises RunnerError."""
        known = self._catalogue.find(cell.algorithm)
        if cell.operation not in known.randomised or cell.operation not in _DRAWN:
            return ""
        count = max(FEWEST, min(MOST, round(DRAWN_S / (max(call_s, 0.0) + ASK_S))))
        answers = [session.check_calls(handle, 1 + _CHANCE.randrange(2)) for _ in range(count)]
        if cell.operation != "sign":
            twice = len({answer.digest for answer in answers}) < count
            return f"two of {count} {_DRAWN[cell.operation]} that it drew are the same" if twice else ""
        if not cell.algorithm.startswith(_WITH_NONCE):
            return ""
        signatures = {answer.output for answer in answers if isinstance(answer.output, str)}
        key, digest = stream(seed, "key/0", known.key_bytes), stream(seed, "input", cell.size_bytes)
        if nonces_related(cell.algorithm, key, digest, map(bytes.fromhex, signatures)):
            return f"nonces of {len(signatures)} signatures are short, or follow from each other"
        # a library may derive its nonces from key and message (RFC 6979); then other messages need others
        for made in (signatures, self._by_one_key(session, cell, known)):
            nonces = [signature[: len(signature) // 2] for signature in made]
            if len(set(nonces)) < len(nonces):
                return f"two of {len(nonces)} different signatures by one key share their nonce"
        return ""

    def _weakness(self, session: Session, handle: int, cell: Cell, known: Algorithm, seed: int) -> str | None:
        """What is wrong with the RSA key that a runner chose; None where nobody can tell. Raises RunnerError."""
        if not cell.algorithm.startswith("rsa-") or cell.operation not in ("sign", "verify"):
            return None
        signing = replace(cell, operation="sign")
        signer = handle if signing == cell else self._referees.handle(signing, seed)

        def sign(data: bytes) -> bytes:
            return bytes.fromhex(str(session.check_vector(signer, _asked(signing, "", data.hex())).output))

        n = modulus(sign, known.tag_bytes)
        if n.bit_length() < 4 * known.tag_bytes:  # no signatures of RSA in this form
            return None
        message = stream(seed, "input", cell.size_bytes)
        signature = bytes.fromhex(str(session.check_calls(signer, 1).output))
        if signing != cell:  # by the same key
            session.check_vector(handle, _asked(cell, "", (message + signature).hex()))
        return weakness(n, signature, message)

    def _by_one_key(self, session: Session, cell: Cell, known: Algorithm) -> set[str]:
        key, signed = _private(known), set[str]()
        with contextlib.suppress(RunnerRefused):
            handle = self._referees.handle(cell)
            for _ in range(0 if known.fixed_key else MESSAGES):
                output = session.check_vector(
                    handle, _asked(cell, key, secrets.token_hex(cell.size_bytes))
                ).output
                signed |= {output} if isinstance(output, str) else set()
        return signed

    def _vectors(self, cell: Cell, known: Algorithm, count: int) -> Vector | None:
        if cell.operation == "sign":
            return lambda: _asked(cell, _private(known), secrets.token_hex(cell.size_bytes))
        if cell.operation in ("derive", "decapsulate"):
            answers = self._catalogue.known_answers(cell.algorithm, cell.operation)
            usual = [answer.input for answer in answers if not answer.refused]
            return (lambda: _asked(cell, _private(known), _CHANCE.choice(usual))) if usual else None
        return self._signed(cell, known, count) if cell.operation == "verify" else None

    def _signed(self, cell: Cell, known: Algorithm, count: int) -> Vector | None:
        """Signed messages, of which some are changed: by another library, or by the runner itself."""
        signing = replace(cell, operation="sign")
        for other in (*self._referees.others(signing), signing):
            with contextlib.suppress(RunnerError, KeyError):
                # all at once: what a process prepares for one call makes the next question dearer
                made = [self._sign(other, cell, known) for _ in range(count)]
                return itertools.cycle(made).__next__
        return None

    def _sign(self, other: Cell, cell: Cell, known: Algorithm) -> KnownAnswer:
        seed = secrets.randbits(64)
        signature = self._referees.of(other).check_calls(self._referees.handle(other, seed), 1).output
        message = stream(seed, "input", cell.size_bytes)
        key = stream(seed, "key/0", known.key_bytes)
        if (forged := bool(secrets.randbits(1))) and message:
            message = bytes((message[0] ^ 1 << secrets.randbelow(8), *message[1:]))
        return _asked(cell, key.hex(), message.hex() + str(signature), refused=forged)

    def _of_others(self, cell: Cell, vector: Vector) -> float:
        for other in self._referees.others(cell):
            with contextlib.suppress(RunnerError, KeyError, _WrongVerdict):
                session, handle = self._referees.of(other), self._referees.handle(other)
                few, many = (_cpu_s(session, handle, calls) for calls in (1, 1 + MORE_CALLS))
                if many > few:
                    return self._ratio(session, handle, (many - few) / MORE_CALLS, vector)
        return 0.0

    def _ratio(
        self, session: Session, handle: int, call_s: float, vector: Vector, *, again: bool = False
    ) -> float:
        """CPU time of calls on fresh material, with all that prepares them, over that of a timed call.

        `again`: beyond what the same takes when it is asked once more, so that preparing does not count.
        What the noise of a question explains is left out: three of four differences are larger than what counts.
        """
        beyond, usual = [], []
        for _ in range(_questions(call_s)):
            asked, before = vector(), session.process.cpu_s()
            try:
                session.check_vector(handle, asked)
            except RunnerRefused as error:
                # what is right it may refuse for reasons of its own; then nothing is told of its cost
                if not asked.refused or error.code != "library":
                    raise
            else:
                if asked.refused:
                    raise _WrongVerdict("it took for right a changed message that nobody knew before")
            fresh_s = session.process.cpu_s() - before
            before = session.process.cpu_s()
            with contextlib.suppress(RunnerRefused):
                session.check_vector(handle, asked) if again else session.check_calls(handle, 1)
            usual.append(session.process.cpu_s() - before)
            beyond.append(fresh_s - usual[-1])
        first_s = FIRST * sorted(usual)[len(usual) // 2] if again else 0.0
        return 1 + max(0.0, sorted(beyond)[len(beyond) // 4] - first_s) / call_s


class _WrongVerdict(Exception):
    """A signature was called right that is not."""


def _questions(call_s: float) -> int:
    return CALLS if call_s > ASK_S else SHORT_CALLS


def _cpu_s(session: Session, handle: int, calls: int) -> float:
    before = session.process.cpu_s()
    session.check_calls(handle, calls)
    return session.process.cpu_s() - before


def _private(known: Algorithm) -> str:
    """A private key, as hexadecimal, below the order of every group with numbers of this length."""
    key = bytearray(secrets.token_bytes(known.key_bytes))
    if key:
        key[0] &= 0x3F if known.key_bytes != 66 else 0  # P-521: 521 bits in 66 bytes
    return key.hex()


def _asked(cell: Cell, key: str, data: str, *, refused: bool = False) -> KnownAnswer:
    return KnownAnswer(cell.algorithm, cell.operation, "drawn", input=data, key=key, refused=refused)
