"""What must hold between the values of the catalogue.

Every rule gives a sentence that names file or id and says what is wrong. The rules know lengths and names
only: whether a known answer is right is for an implementation to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from perbyte.model import Algorithm, Contract, KnownAnswer
from perbyte.model.algorithm import CPU_FLAGS

OPERATIONS: dict[str, tuple[str, ...]] = {
    "block-cipher": ("encrypt", "decrypt"),
    "stream-cipher": ("encrypt", "decrypt"),
    "aead": ("seal", "open"),
    "hash": ("digest",),
    "checksum": ("digest",),
    "xof": ("digest", "squeeze"),
    "mac": ("mac",),
    "kdf": ("expand",),
    "permutation": ("permute",),
    "password-hash": ("hash",),
    "key-agreement": ("derive", "keygen"),
    "kem": ("encapsulate", "decapsulate", "keygen"),
    "signature": ("sign", "verify", "keygen", "load", "store", "aggregate", "sum"),
    "public-encryption": ("seal", "open"),
    "handshake": ("handshake", "client", "server"),
    "records": ("transfer", "send", "receive"),
    "random": ("draw",),
    "probe": ("run",),
    "routine": ("call",),
}
"""The kinds of algorithms, and what each of them does."""

OPTIONAL = frozenset({"keygen", "load", "store", "squeeze", "aggregate", "sum", "sign"})
"""Operations that an algorithm of a kind may leave out; `sign`, where a signature changes the private key."""

MODES = frozenset({"ecb", "cbc", "ctr", "ofb", "cfb", "ige", "xts", "gcm", "ccm", "ocb", "gcm-siv", "siv"})
LONGEST_VECTOR = 65_536
"""Bytes of data in a known answer: what fits a protocol line with room."""

_UNKEYED = (
    "hash",
    "checksum",
    "xof",
    "permutation",
    "handshake",
    "records",
    "random",
    "probe",
    "routine",
    "password-hash",
)
_UNTAGGED = ("block-cipher", "stream-cipher", "kdf", "permutation", "records", "random", "probe", "routine")
_WITHOUT_ANSWERS = (
    "decrypt",
    "encapsulate",
    "keygen",
    "load",
    "store",
    *OPERATIONS["handshake"],
    *OPERATIONS["records"],
    "run",
    "call",
)
_LENGTH_ONLY = ("expand", "squeeze")
_ANY_LENGTH = {"expand": ("key", "nonce"), "hash": ("nonce",), "derive": ("nonce",), "aggregate": ("key",)}
_ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
_CONTRACT_ID = re.compile(r"[a-z]+/[1-9]\d*")
_HEX = re.compile(r"([0-9a-f]{2})*")


def check_algorithms(algorithms: Mapping[str, Algorithm]) -> Iterator[str]:
    """Complain about ids, aliases, kinds, operations, lengths, modes and missing sources."""
    owners = dict.fromkeys(algorithms, "")
    for known in algorithms.values():
        for alias in known.aliases:
            plain = alias.lower()
            if plain in owners:
                yield f"{known.id}: the alias '{alias}' already means {owners[plain] or plain}"
            if plain != alias or not _ID.fullmatch(alias):
                yield f"{known.id}: the alias '{alias}' is not lower-case letters, digits, dots and dashes"
            owners.setdefault(plain, known.id)
    for known in algorithms.values():
        for group in known.groups:
            if group in owners or not _ID.fullmatch(group):
                yield f"{known.id}: the group '{group}' is no new name of lower-case letters, digits, dots and dashes"
    for known in algorithms.values():
        yield from (f"{known.id}: {complaint}" for complaint in _complaints(known))


def _complaints(known: Algorithm) -> Iterator[str]:
    if not _ID.fullmatch(known.id):
        yield "an id is made of lower-case letters, digits, dots and dashes"
    if known.kind not in OPERATIONS:
        yield f"unknown kind '{known.kind}'"
        return
    every = set(OPERATIONS[known.kind])
    if not every - OPTIONAL <= set(known.operations) <= every:
        yield f"operations {_listed(known.operations)} do not fit kind '{known.kind}'"
    if not known.name:
        yield "the name is missing"
    if not known.sources or not all(source.strip() for source in known.sources):
        yield "sources are missing"
    if not known.origin:
        yield "the origin is missing"
    if not 1900 < known.year < 2100:
        yield f"{known.year} is not a year"
    if strangers := set(known.accelerated_by) - {*CPU_FLAGS}:
        yield f"unknown CPU feature {_listed(sorted(strangers))}"
    if strangers := set(known.randomised) - set(known.operations):
        yield f"randomised is {_listed(sorted(strangers))}, which it does not do"
    if min(known.block_bytes, known.key_bytes, known.nonce_bytes, known.tag_bytes, known.public_bytes) < 0:
        yield "a length is negative"
    if known.data_multiple_bytes < 1:
        yield "data come in multiples of at least 1 byte"
    yield from _length_complaints(known)
    yield from _mode_complaints(known)


def _length_complaints(known: Algorithm) -> Iterator[str]:
    kind = known.kind
    if kind not in _UNKEYED and not known.key_bytes and not known.fixed_key:
        yield f"a {kind} has a key length"
    if kind in ("hash", "checksum", "permutation", "probe", "routine") and (
        known.key_bytes or known.nonce_bytes
    ):
        yield f"a {kind} has neither key nor nonce"
    if kind in ("block-cipher", "hash", "xof", "permutation") and not known.block_bytes:
        yield f"a {kind} has a block length"
    if kind not in _UNTAGGED and not known.tag_bytes and not known.fixed_key:
        yield f"a {kind} has a tag length"
    if kind in _UNTAGGED and known.tag_bytes:
        yield f"a {kind} has no tag"
    if kind == "aead" and known.mode != "siv" and not known.nonce_bytes:
        yield "an aead has a nonce length"
    if kind == "password-hash" and not known.nonce_bytes:
        yield "a password-hash has a nonce length: that of its salt"
    if kind == "key-agreement" and known.nonce_bytes != known.key_bytes:
        yield "the nonce of a key-agreement is the peer's private key and as long as the own one"
    if (kind == "kem") != bool(known.ciphertext_bytes):
        yield "a kem has a ciphertext length, and nothing else has one"


def _mode_complaints(known: Algorithm) -> Iterator[str]:
    mode, block = known.mode, known.block_bytes
    if known.kind != "block-cipher" and not mode:
        return
    if mode not in MODES:
        yield f"unknown mode '{mode}'"
        return
    if not block:
        return
    if not known.id.endswith(f"-{mode}"):
        yield f"an id ends with the mode: '-{mode}'"
    multiple = block if mode in ("ecb", "cbc", "ige", "xts") else 1
    if known.data_multiple_bytes != multiple:
        yield f"data in mode {mode} come in multiples of {multiple}, not {known.data_multiple_bytes}"
    given = {"ecb": 0, "ige": 2 * block, "gcm": 12, "ccm": 12, "ocb": 12, "gcm-siv": 12, "siv": 0}
    nonce = given.get(mode, block)
    if known.nonce_bytes != nonce:
        yield f"mode {mode} has a nonce of {nonce} bytes, not {known.nonce_bytes}"


def check_defaults(algorithms: Mapping[str, Algorithm], contracts: Mapping[str, Contract]) -> Iterator[str]:
    """Complain about algorithms whose own default contract does not exist or does not fit their kind."""
    for known in algorithms.values():
        for own in filter(None, (known.contract, *known.contracts.values())):
            if known.kind not in getattr(contracts.get(own), "kinds", ()):
                yield f"{known.id}: the contract '{own}' is none for kind '{known.kind}'"
        if strangers := set(known.contracts) - set(known.operations):
            yield f"{known.id}: a contract of its own for {_listed(sorted(strangers))}, which it does not have"


def check_contracts(contracts: Mapping[str, Contract]) -> Iterator[str]:
    """Complain about ids, kinds and defaults of contracts."""
    for contract in contracts.values():
        if not _CONTRACT_ID.fullmatch(contract.id):
            yield f"contract {contract.id}: an id is a name, a slash and a version: 'stream/1'"
        if strangers := set(contract.kinds) - set(OPERATIONS):
            yield f"contract {contract.id}: unknown kind {_listed(sorted(strangers))}"
        if strangers := set(contract.default_for) - set(contract.kinds):
            yield f"contract {contract.id}: default for {_listed(sorted(strangers))}, which it does not fit"
        if not contract.title or not contract.meaning:
            yield f"contract {contract.id}: title or meaning is missing"
    for kind in OPERATIONS:
        defaults = [contract.id for contract in contracts.values() if kind in contract.default_for]
        if len(defaults) != 1:
            yield f"kind '{kind}' has {len(defaults)} default contracts instead of 1"


def check_vectors(
    algorithms: Mapping[str, Algorithm], vectors: Mapping[str, tuple[KnownAnswer, ...]]
) -> Iterator[str]:
    """Complain about known answers, by family, whose names or lengths cannot be right or that stand twice."""
    seen: set[KnownAnswer] = set()
    for family, answers in vectors.items():
        for number, answer in enumerate(answers, start=1):
            place = f"vectors/{family}.toml, vector {number} ({answer.algorithm})"
            known = algorithms.get(answer.algorithm)
            if known is None or known.family != family:
                yield f"{place}: the family '{family}' has no such algorithm"
                continue
            yield from (f"{place}: {complaint}" for complaint in _answer_complaints(known, answer))
            question = replace(answer, source="", output="", refused=False)
            if question in seen:
                yield f"{place}: duplicate"
            seen.add(question)


def _answer_complaints(known: Algorithm, answer: KnownAnswer) -> Iterator[str]:
    if not answer.source.strip():
        yield "the source is missing"
    if answer.operation not in known.operations or answer.operation in _WITHOUT_ANSWERS:
        with_answers = [operation for operation in known.operations if operation not in _WITHOUT_ANSWERS]
        yield f"known answers are given for {_listed(with_answers)}, not for '{answer.operation}'"
        return
    for name in ("input", "output", "key", "nonce", "aad"):
        if not _HEX.fullmatch(getattr(answer, name)):
            yield f"{name} is not lower-case hexadecimal of whole bytes"
            return
    key, nonce, data, output = (
        len(text) // 2 for text in (answer.key, answer.nonce, answer.input, answer.output)
    )
    loose = _ANY_LENGTH.get(answer.operation, ())
    if known.fixed_key and key:
        yield "there is a key, though each runner has its own: answers are for those that have that of the answers"
    elif not known.fixed_key and key != known.key_bytes and "key" not in loose:
        yield f"the key has {key} bytes, not {known.key_bytes}"
    wanted = 0 if answer.operation == "digest" else known.nonce_bytes
    if nonce != wanted and "nonce" not in loose:
        yield f"the nonce has {nonce} bytes, not {wanted}"
    if answer.aad and known.kind not in ("aead", "kdf", "public-encryption"):
        yield f"a {known.kind} takes no additional data"
    if data % known.data_multiple_bytes:
        yield f"{data} bytes of input are no multiple of {known.data_multiple_bytes}"
    if not data and known.kind in ("block-cipher", "stream-cipher"):
        yield "the input is missing"
    if data > LONGEST_VECTOR:
        yield f"{data} bytes of input are more than {LONGEST_VECTOR}"
    if answer.refused:
        if answer.operation not in ("open", "verify", "derive"):
            yield "what is refused is an input of open, verify or derive"
        elif output and (answer.operation != "derive" or output != known.tag_bytes):
            yield "what is refused has no output, but for a secret of derive that a library may give instead"
    elif answer.operation == "open" and known.determined("seal"):
        yield "known answers of open are those of seal, or refused"
    elif output != (expected := _output_bytes(known, answer.operation, data)):
        yield f"the output has {output} bytes, not {expected}"
    if answer.operation == "verify" and data < known.tag_bytes:
        yield f"an input of {data} bytes holds no signature"
    if answer.operation == "decapsulate" and data != known.ciphertext_bytes:
        yield f"the ciphertext has {data} bytes, not {known.ciphertext_bytes}"


def _output_bytes(known: Algorithm, operation: str, data: int) -> int:
    if operation == "verify":
        return 0
    if operation == "open":
        return data - known.tag_bytes
    if operation in ("encrypt", "seal", "permute", *_LENGTH_ONLY):
        return data + (known.tag_bytes if operation == "seal" else 0)
    return known.tag_bytes


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
