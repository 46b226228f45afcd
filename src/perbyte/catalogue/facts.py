"""Facts about algorithms, as data with their sources: what is said beside figures and rules nothing out.

What the silicon has to do at the least, how much one key may encrypt, how strong an algorithm is said to be, what
protocols send of it, and what a guess at a password costs. Each is a file of the catalogue; one without it has none.
Functions with a `place` read the catalogue in that directory, Perbyte's own by default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct

from perbyte import datafile, places
from perbyte.catalogue import pattern
from perbyte.catalogue.status import Day
from perbyte.datafile import Problem, Text
from perbyte.model import Algorithm

T = TypeVar("T", bound=Struct)
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(gt=0)]
Log2 = Annotated[float, Meta(gt=0, le=128)]
KIB = 1024
FAMILIES = ("argon2id", "scrypt", "bcrypt", "pbkdf2-sha-256")  # as OWASP's cheat sheet orders them
_KINDS = {"signature": "signature", "kem": "kex", "key-agreement": "kex"}
_RSA_EXPONENT = 3  # bytes of 65537


def _read(place: Path | None, name: str, kind: type[T]) -> T:
    path = (place or places.data_dir("catalogue")) / name
    return datafile.read_toml(path, kind) if path.is_file() else kind(*((),) * len(kind.__struct_fields__))


class Need(Struct, frozen=True, forbid_unknown_fields=True):
    """What is needed of the silicon; `ways` are (instructions, bytes or calls) by the loop that measures them."""

    what: Text
    ways: Annotated[dict[str, tuple[Positive, Positive]], Meta(min_length=1)]


class Model(Struct, frozen=True, forbid_unknown_fields=True):
    """The needs of algorithms (a glob over ids) in operations (a glob); `model` says what is assumed.

    `per`: needs grow with the bytes of a message, or are those of a call.
    """

    algorithms: Text
    operations: Text
    model: Text
    needs: Annotated[tuple[Need, ...], Meta(min_length=1)]
    per: Literal["byte", "call"] = "byte"


class _Models(Struct, forbid_unknown_fields=True):
    models: tuple[Model, ...]


@cache
def models(place: Path | None = None) -> tuple[Model, ...]:
    """The models in `limits.toml`. Raises DataFileError."""
    return _read(place, "limits.toml", _Models).models


def model_of(algorithm: str, operation: str) -> Model | None:
    """The model of an operation, or None where there is none."""
    for model in models():
        if pattern.matches(algorithm, model.algorithms) and pattern.matches(operation, model.operations):
            return model
    return None


class KeyLimit(Struct, frozen=True, forbid_unknown_fields=True):
    """What one key may do, by a document: the powers of two of messages, of bytes, and of the bytes of a message.

    `nonces`: drawn at random, counted, either, or none (a sector's number). `means` says what is bounded.
    """

    algorithms: Text
    nonces: Literal["random", "counted", "any", "none"]
    document: Text
    section: Text
    published: Day
    means: Text
    messages: Log2 | None = None
    bytes: Log2 | None = None
    message_bytes: Log2 | None = None
    protocol: str = ""
    confirmed: bool = True

    def __post_init__(self) -> None:
        if self.messages is None and self.bytes is None and self.message_bytes is None:
            raise Problem("limits nothing", key="messages", hint="messages, bytes or message_bytes")

    def most_bytes(self, message_bytes: int) -> float:
        """The bytes that one key may encrypt in messages of `message_bytes`; infinite where nothing limits them."""
        ends = [2.0**self.bytes] if self.bytes else []
        ends += [2.0**self.messages * message_bytes] if self.messages else []
        return min(ends, default=float("inf"))


class _Limits(Struct, forbid_unknown_fields=True):
    limits: tuple[KeyLimit, ...]


@cache
def key_limits(place: Path | None = None) -> tuple[KeyLimit, ...]:
    """The limits of keys in `key-limits.toml`. Raises DataFileError."""
    return _read(place, "key-limits.toml", _Limits).limits


def limits_of(algorithm: str, protocol: str = "") -> tuple[KeyLimit, ...]:
    """The limits of a key of `algorithm`: those of `protocol` where there are any, else the general ones."""
    limits = [limit for limit in key_limits() if pattern.matches(algorithm, limit.algorithms)]
    special = tuple(limit for limit in limits if protocol and limit.protocol == protocol)
    return special or tuple(limit for limit in limits if not limit.protocol)


class Strength(Struct, frozen=True, forbid_unknown_fields=True):
    """The strength of `algorithms` (a glob) by `document`: a power of two (`bits`), or NIST's `category`."""

    algorithms: Text
    document: Text
    bits: Annotated[int, Meta(ge=1, le=512)] | None = None
    category: Annotated[int, Meta(ge=1, le=5)] | None = None

    def __post_init__(self) -> None:
        if (self.bits is None) == (self.category is None):
            raise Problem("bits or category, one of them", key="bits")

    @property
    def said(self) -> str:
        """`128 bits` or `category 3`."""
        return f"{self.bits} bits" if self.bits else f"category {self.category}"


class _Strengths(Struct, forbid_unknown_fields=True):
    strengths: tuple[Strength, ...]


@cache
def strengths(place: Path | None = None) -> tuple[Strength, ...]:
    """The strengths in `strength.toml`. Raises DataFileError."""
    return _read(place, "strength.toml", _Strengths).strengths


def strength_of(algorithm: str) -> Strength | None:
    """The strength of `algorithm`; None where none is known, or where a key's length says it."""
    return next((each for each in strengths() if pattern.matches(algorithm, each.algorithms)), None)


class WireUse(Struct, frozen=True, forbid_unknown_fields=True):
    """A protocol that sends so many public keys, signatures and replies (a KEM's ciphertext, the peer's share).

    Above `limit_bytes` something happens that `limit` says. `protocol` is what tasks call it. Algorithms that match
    `unnamed` (a glob) have no name in it yet. `rest_bytes` count beside them towards the limit: those of `rest`.
    """

    name: Text
    kind: Literal["signature", "kex"]
    publics: Count
    counts: Text
    limit_bytes: int
    limit: Text
    document: Text
    protocol: str = ""
    signatures: Count = 0
    replies: Count = 0
    unnamed: str = ""
    rest_bytes: Count = 0
    rest: str = ""

    def __post_init__(self) -> None:
        if (self.kind == "kex") == bool(self.signatures):
            raise Problem("key exchange sends replies, signatures are sent with signatures", key="kind")

    def bytes(self, algorithm: Algorithm) -> int:
        """Bytes that `algorithm` puts on the wire in this protocol."""
        reply = algorithm.ciphertext_bytes or algorithm.public_bytes
        return (
            self.publics * public_bytes(algorithm)
            + self.signatures * algorithm.tag_bytes
            + self.replies * reply
        )


class _Uses(Struct, forbid_unknown_fields=True):
    protocols: tuple[WireUse, ...]


@cache
def wire_uses(place: Path | None = None) -> tuple[WireUse, ...]:
    """The protocols in `wire.toml`. Raises DataFileError."""
    return _read(place, "wire.toml", _Uses).protocols


def uses_of(algorithm: Algorithm, protocol: str = "") -> tuple[WireUse, ...]:
    """The protocols that send something of `algorithm`: all, or the one that the work is for."""
    uses = (use for use in wire_uses() if use.kind == _KINDS.get(algorithm.kind))
    return tuple(use for use in uses if not protocol or use.protocol == protocol)


def is_unnamed(use: WireUse, algorithm: Algorithm) -> bool:
    """Whether the protocol has no name for `algorithm`, so that nobody can send it there."""
    return bool(use.unnamed) and pattern.matches(algorithm.id, use.unnamed)


def public_bytes(algorithm: Algorithm) -> int:
    """The length of a public key; of RSA modulus and exponent."""
    if algorithm.public_bytes or algorithm.family != "rsa":
        return algorithm.public_bytes
    return algorithm.key_bytes + _RSA_EXPONENT


class HashCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of a password hash of `family`, in its own terms; those of other families are 0."""

    family: Text
    memory_kib: Count = 0
    passes: Count = 0
    lanes: Count = 1
    n: Count = 0
    r: Count = 0
    p: Count = 0
    cost: Count = 0
    iterations: Count = 0

    def __post_init__(self) -> None:
        datafile.one_of(self.family, FAMILIES, "password hash", "family")

    @property
    def work(self) -> float:
        """What the time is proportional to: memory times passes, N r p, doublings, iterations."""
        return {
            "argon2id": float(self.memory_kib * self.passes),
            "scrypt": float(self.n * self.r * self.p),
            "bcrypt": 2.0**self.cost,
            "pbkdf2-sha-256": float(self.iterations),
        }[self.family]

    @property
    def words(self) -> str:
        """The parameters as people write them."""
        if self.family == "argon2id":
            passes = f"{self.passes} pass{'es' * (self.passes != 1)}"
            return f"{self.memory_kib / KIB:,.0f} MiB, {passes}, {self.lanes} lane{'s' * (self.lanes != 1)}"
        if self.family == "scrypt":
            return f"N = {self.n} (2^{self.n.bit_length() - 1}), r = {self.r}, p = {self.p}"
        return f"cost {self.cost}" if self.family == "bcrypt" else f"{self.iterations:,} iterations"


class RecommendedCost(HashCost, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `who` recommends; `least`: it is called a minimum."""

    who: Text
    section: Text
    published: Day
    least: bool = True


class AttackRate(HashCost, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Guesses a second of `device` at the parameters, or the `bandwidth` of its memory in bytes a second."""

    device: Text
    source: Text
    guesses_s: float = 0.0
    bandwidth: float = 0.0

    def __post_init__(self) -> None:
        HashCost.__post_init__(self)
        if bool(self.guesses_s) == bool(self.bandwidth):
            raise Problem("says guesses a second or the bandwidth of the memory", key="guesses_s")

    def guesses_of(self, asked: HashCost) -> float:
        """Guesses a second at the parameters `asked`, in proportion; by bandwidth the most that memory lets through."""
        if self.guesses_s:
            return self.guesses_s * self.work / asked.work
        return self.bandwidth / (asked.memory_kib * KIB * (3 * asked.passes - 1))


class _Passwords(Struct, forbid_unknown_fields=True):
    recommended: tuple[RecommendedCost, ...]
    attackers: tuple[AttackRate, ...]


@cache
def password_costs(place: Path | None = None) -> tuple[tuple[RecommendedCost, ...], tuple[AttackRate, ...]]:
    """What is recommended, and what attackers have, by `passwords.toml`. Raises DataFileError."""
    file = _read(place, "passwords.toml", _Passwords)
    return file.recommended, file.attackers


def check_facts(place: Path, algorithms: Mapping[str, Algorithm]) -> Iterator[str]:
    """Complain about facts of what the catalogue in `place` does not have, and about those that cannot be."""
    globs = {
        "limits.toml": [model.algorithms for model in models(place)],
        "key-limits.toml": [limit.algorithms for limit in key_limits(place)],
        "strength.toml": [strength.algorithms for strength in strengths(place)],
    }
    for file, texts in globs.items():
        for glob in texts:
            if not any(pattern.matches(name, glob) for name in algorithms):
                yield f"{file}: the catalogue has no algorithm '{glob}'"
    for model in models(place):
        for unit in (unit for need in model.needs for unit in need.ways):
            if getattr(algorithms.get(unit), "kind", "") != "probe":
                yield f"limits.toml: {model.algorithms}: '{unit}' is not a loop of known cost"
    for limit in key_limits(place):
        concerned = (each for name, each in algorithms.items() if pattern.matches(name, limit.algorithms))
        if any((each.kind == "aead") == (limit.nonces == "none") for each in concerned):
            yield f"key-limits.toml: {limit.algorithms}: an AEAD has nonces, and a cipher for sectors none"
