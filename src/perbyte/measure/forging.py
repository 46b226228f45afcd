"""What is changed of genuine material to see whether it is authenticated: drawn from its structure, not listed.

Two lists of each: what every operation must stand, a bit in each 32 bytes and a dozen anywhere among it, and what is
tried where calls are quick: each bit of a tag, a bit of each byte. A comparison that joins differences wrongly (by xor,
by a sum that wraps) stands every single bit, so bytes of a tag are changed in twos and all at once, too. Pure: asks
nobody, and knows nothing of what is right.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from perbyte.model.algorithm import KnownAnswer
from perbyte.runners.changes import Change, Edit, Put

UNREDUCED = "unreduced"
BLOCK, GRAIN, DOZEN = 16, 32, 12
MOST_DRAWN = 2048  # parts of long material, drawn among all
_KEPT = (1, 2, 3, 4, 6, 8, 10, 12)  # bytes of a tag that a careless comparison may stop after
_EXCHANGED = 8  # pairs of bytes of a tag that are exchanged, or changed so that their sum stays


@dataclass(frozen=True, slots=True)
class Stretch:
    """`length` bytes of the material from `offset` on, in words."""

    name: str
    letter: str
    offset: int
    length: int

    def edit(self, at: int, bits: bytes) -> Edit:
        """Flip `bits` from byte `at` of the place on."""
        return Edit(self.letter, self.offset + at, bits)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A change, and words for it. `kind`: the name of what libraries are known to accept (`UNREDUCED`)."""

    change: Change
    what: str
    kind: str = ""


def bit(place: Stretch, number: int) -> Attempt:
    """Flip one bit, numbered from the lowest of byte 0 on."""
    at, which = divmod(number, 8)
    return Attempt((place.edit(at, bytes([1 << which])),), f"bit {which} of byte {at} of the {place.name}")


def anywhere(rng: random.Random, places: Sequence[Stretch], count: int = DOZEN) -> list[Attempt]:
    """Single bits of all the material, drawn."""
    there = [place for place in places if place.length]
    lengths = [place.length for place in there]
    return (
        [bit(p, rng.randrange(8 * p.length)) for p in rng.choices(there, lengths, k=count)] if there else []
    )


def in_each(rng: random.Random, places: Sequence[Stretch], grain: int = GRAIN) -> list[Attempt]:
    """A bit in each `grain` bytes of each place, in an order drawn too; the first and the last byte among them."""
    parts = [-(-place.length // grain) for place in places]
    attempts = []
    for drawn in rng.sample(range(sum(parts)), min(sum(parts), MOST_DRAWN)):
        index, part = 0, drawn
        while part >= parts[index]:
            part -= parts[index]
            index += 1
        place = places[index]
        attempts.append(
            bit(place, rng.randrange(8 * part * grain, 8 * min((part + 1) * grain, place.length)))
        )
    for place in places if grain > 1 else ():
        for at in {0, place.length - 1} if place.length else ():
            attempts.insert(rng.randrange(len(attempts) + 1), bit(place, 8 * at + rng.randrange(8)))
    return attempts


def at_ends(place: Stretch, parts: int) -> list[Attempt]:
    """Each bit of the first and the last byte of each of `parts` equal parts: signs and what goes beyond an order."""
    each = place.length // parts
    ends = {part * each + at for part in range(parts) for at in (0, each - 1)} if each else set()
    return [bit(place, 8 * at + which) for at in sorted(ends) for which in range(8)]


def behind_zero(rng: random.Random, place: Stretch, tag: bytes) -> Attempt | None:
    """All bytes of a tag changed that come behind a zero, at which a comparison of texts ends; None without one."""
    end = tag.find(0) + 1
    if not 0 < end < len(tag):
        return None
    bits = bytes(end) + _nonzero(rng, len(tag) - end)
    return Attempt((place.edit(0, bits),), f"all bytes behind the zero at byte {end - 1} of the {place.name}")


def in_twos(rng: random.Random, place: Stretch) -> list[Attempt]:
    """The same bit of two bytes at drawn places, at distances of words and registers among others."""
    near = [1 << power for power in range(place.length.bit_length() - 1)]
    attempts = []
    for apart in near + [rng.randrange(1, place.length) for _ in near]:
        first, bits = rng.randrange(place.length - apart), bytes([1 << rng.randrange(8)])
        both = place.edit(first, bits), place.edit(first + apart, bits)
        attempts.append(
            Attempt(both, f"the same bit of bytes {first} and {first + apart} of the {place.name}")
        )
    return attempts


def of_tag(rng: random.Random, place: Stretch, tag: bytes) -> list[Attempt]:
    """Changes of a tag or signature that comparisons have let through. `tag`: its bytes; without them bits alone."""
    attempts: list[Attempt] = []
    length, name = place.length, place.name

    def add(bits: bytes, what: str) -> None:
        if any(bits):
            attempts.append(Attempt((place.edit(0, bits),), f"{what} the {name}"))

    for apart in range(1, length):
        first, bits = rng.randrange(length - apart), rng.randrange(1, 256)
        both = place.edit(first, bytes([bits])), place.edit(first + apart, bytes([bits]))
        attempts.append(Attempt(both, f"the same bits of bytes {first} and {first + apart} of the {name}"))
    for which in range(8):
        add(bytes([1 << which]) * length, f"bit {which} of all bytes of")
    for kept in {*(kept for kept in _KEPT if kept < length), length - 1}:
        rest = _nonzero(rng, length - kept)
        add(bytes(kept) + rest, f"all bytes but the first {kept} of")
        add(rest + bytes(kept), f"all bytes but the last {kept} of")
    for half in range(2):
        some = bytes(rng.randrange(1, 256) * (at % 2 == half) for at in range(length))
        add(some, f"every second byte, from {half} on, of")
    add(bytes([0xFF]) * length, "all bits of")
    if not tag:
        return attempts
    add(tag, "to zeros,")
    add(bytes(255 - byte for byte in tag), "to ones,")
    add(_xor(tag, tag[::-1]), "to its reverse,")
    add(_xor(tag, tag[1:] + tag[:1]), "to its rotation,")
    add(_xor(tag, rng.randbytes(length)), "to random bytes,")
    for _ in range(_EXCHANGED if length > 1 else 0):
        lower, upper = sorted(rng.sample(range(length), 2))
        swap = bytearray(length)
        swap[lower] = swap[upper] = tag[lower] ^ tag[upper]
        add(bytes(swap), f"by an exchange of bytes {lower} and {upper},")
        more = rng.randrange(1, 256)
        kept_sum = bytearray(length)
        kept_sum[lower] = tag[lower] ^ (tag[lower] + more & 255)
        kept_sum[upper] = tag[upper] ^ (tag[upper] - more & 255)
        add(bytes(kept_sum), f"so that the sum of bytes {lower} and {upper} stays,")
    return attempts


def to_bytes(place: Stretch, there: bytes, wanted: bytes, what: str, kind: str = "") -> Attempt:
    """Change what is `there` to what is `wanted`."""
    return Attempt((place.edit(0, _xor(there, wanted)),), what, kind)


def of_blocks(rng: random.Random, place: Stretch, there: bytes) -> list[Attempt]:
    """Two blocks exchanged, of data that are authenticated block by block."""
    blocks = len(there) // BLOCK
    if blocks < 2:
        return []
    lower, upper = sorted(rng.sample(range(blocks), 2))
    first, second = (there[at * BLOCK : at * BLOCK + BLOCK] for at in (lower, upper))
    bits = _xor(first, second)
    change = place.edit(lower * BLOCK, bits), place.edit(upper * BLOCK, bits)
    return [Attempt(change, f"blocks {lower} and {upper} of the {place.name} exchanged")] if any(bits) else []


def of_sealed(rng: random.Random, material: KnownAnswer, tag_bytes: int, multiple: int) -> list[Attempt]:
    """What was sealed, of another length: truncated, extended, and with the borders of its parts moved.

    `tag_bytes` at the end of the input are the tag; the data come in multiples of `multiple` bytes.
    """
    aad, whole = bytes.fromhex(material.aad), bytes.fromhex(material.input)
    data, tag = whole[: len(whole) - tag_bytes], whole[len(whole) - tag_bytes :]
    cases: list[tuple[str, bytes, bytes]] = [
        ("without the last byte", aad, whole[:-1]),
        ("without the first byte", aad, whole[1:]),
        ("with a zero behind", aad, whole + b"\0"),
        ("with a random byte behind", aad, whole + rng.randbytes(1)),
        ("with a zero in front", aad, b"\0" + whole),
        ("with a zero behind the data", aad, data + b"\0" + tag),
        ("with its data padded by zeros", aad, _padded(data) + tag),
        ("with the tag twice", aad, whole + tag),
        ("with half of the tag", aad, data + tag[: tag_bytes // 2]),
        ("with additional data that have a zero behind", aad + b"\0", whole),
        ("with additional data padded by zeros", _padded(aad), whole),
        ("with additional data that have a random byte in front", rng.randbytes(1) + aad, whole),
        ("with a block of additional data more", aad + rng.randbytes(BLOCK), whole),
    ]
    if data:
        cases += [
            ("without its data", aad, tag),
            ("without the last byte of the data", aad, data[:-1] + tag),
            ("with the data as additional data", aad + data, tag),
            ("with the first byte of the data as additional data", aad + data[:1], data[1:] + tag),
        ]
    if len(data) >= BLOCK:
        cases += [
            ("without the last block of the data", aad, data[:-BLOCK] + tag),
            ("without the first block of the data", aad, data[BLOCK:] + tag),
            ("with a block of data as additional data", _padded(aad) + data[:BLOCK], data[BLOCK:] + tag),
        ]
    if aad:
        cases += [
            ("without additional data", b"", whole),
            ("without the last byte of the additional data", aad[:-1], whole),
            ("with the last byte of the additional data as data", aad[:-1], aad[-1:] + whole),
            ("with the additional data as data", b"", _padded(aad) + whole),
        ]
    if len(aad) > BLOCK:
        cases += [
            ("with the first block of the additional data alone", aad[:BLOCK], whole),
            ("without the first block of the additional data", aad[BLOCK:], whole),
            ("with the last block of the additional data as data", aad[:-BLOCK], aad[-BLOCK:] + whole),
        ]
    return [
        Attempt((Put("a", other), Put("i", sealed)), what)
        for what, other, sealed in cases
        if (other, sealed) != (aad, whole) and not max(0, len(sealed) - tag_bytes) % multiple
    ]


def of_signed(
    rng: random.Random, material: KnownAnswer, message_bytes: int, covered: int, *, digest: bool
) -> list[Attempt]:
    """A message and its signature, truncated and extended; the input of a call says only where both end.

    `digest`: the message is one, which is cut to the length of a group's order where it is longer: its first `covered`
    bytes count.
    """
    whole = bytes.fromhex(material.input)
    message, signature = whole[:message_bytes], whole[message_bytes:]
    cases = [
        ("a signature without its last byte", message + signature[:-1]),
        ("a signature with a zero behind", whole + b"\0"),
        ("a message with a random byte in front", rng.randbytes(1) + whole),
    ]
    if not digest:
        cases.append(("a message with a zero behind", message + b"\0" + signature))
    if message and not digest:
        cases.append(("a message that is there twice", message + whole))
    if covered and covered == message_bytes:
        cases.append(("a message without its last byte", message[:-1] + signature))
    if message:
        cases += [
            ("a message without its first byte", message[1:] + signature),
            ("no message at all", signature),
        ]
    return [Attempt((Put("i", each),), what) for what, each in cases]


def of_point(place: Stretch, there: bytes) -> list[Attempt]:
    """A point that is none: zeros, its coordinates exchanged or one of them zero, and encodings of other lengths."""
    half = len(there) // 2
    x, y, nothing = there[:half], there[half:], bytes(half)
    cases = [
        (nothing + nothing, "zeros as a public key"),
        (y + x, "a public key with its coordinates exchanged"),
        (x + nothing, "a public key without its second coordinate"),
        (nothing + y, "a public key without its first coordinate"),
        (x + x, "a public key of its first coordinate twice"),
        (bytes([255]) * len(there), "ones as a public key"),
    ]
    lengths = [
        (b"\0", "the point at infinity"),
        (b"", "no public key at all"),
        (b"\4" + there[:-1], "a public key without its last byte"),
        (b"\4" + there + b"\0", "a public key with a zero behind"),
        (b"\4" + x, "the first coordinate alone"),
    ]
    return [
        *(to_bytes(place, there, wanted, what) for wanted, what in cases if wanted != there),
        *(Attempt((Put("i", public),), what) for public, what in lengths),
    ]


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % BLOCK)


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _nonzero(rng: random.Random, length: int) -> bytes:
    return bytes(rng.randrange(1, 256) for _ in range(length))


def _order(digits: str) -> int:
    return int(digits.replace(" ", ""), 16)


# orders of the groups that signatures are made in (SEC 2, RFC 5639, RFC 8032)
_K1 = _order("ffffffff ffffffff ffffffff fffffffe baaedce6 af48a03b bfd25e8c d0364141")
ORDERS = {
    "ecdsa-p256": _order("ffffffff 00000000 ffffffff ffffffff bce6faad a7179e84 f3b9cac2 fc632551"),
    "ecdsa-secp256k1": _K1,
    "schnorr-secp256k1": _K1,
    "ecdsa-p384": (1 << 384) - _order("389cb27e 0bc8d220 a7e5f24d b74f58851313e695 333ad68d"),
    "ecdsa-p521": (1 << 521)
    - _order("5 ae79787c 40d06994 8033feb7 08f65a2f c44a3647 7663b851 449048e1 6ec79bf7"),
    "ecdsa-brainpoolp256r1": _order(
        "a9fb57db a1eea9bc 3e660a90 9d838d71 8c397aa3 b561a6f7 901e0e82 974856a7"
    ),
    "ecdsa-brainpoolp384r1": _order(
        "8cb91e82 a3386d28 0f5d6f7e 50e641df 152f7109 ed5456b3"
        "1f166e6c ac0425a7 cf3ab6af 6b7fc310 3b883202 e9046565"
    ),
    "ecdsa-brainpoolp512r1": _order(
        "aadd9db8 dbe9c48b 3fd4e6ae 33c9fc07 cb308db3 b3c9d20e d6639cca 70330870"
        "553e5c41 4ca92619 41866119 7fac1047 1db1d381 085ddadd b5879682 9ca90069"
    ),
    "ed25519": (1 << 252) + 27742317777372353535851937790883648493,
    "ed448": (1 << 446) - 13818066809895115352007386748515426880336692474882178609894547503885,
}
_MULTIPLES = 16  # of the order that are added, as far as they fit


def of_numbers(place: Stretch, signature: bytes, order: int, *, lowest_first: bool) -> Iterator[Attempt]:
    """Two numbers of the same length, zero, equal to the order and beyond it. EdDSA's first one is a point."""
    half = len(signature) // 2
    parts = signature[:half], signature[half:]
    byte_order: Literal["little", "big"] = "little" if lowest_first else "big"
    first, second = (int.from_bytes(part, byte_order) for part in parts)

    def made(r: int, s: int, what: str) -> Attempt | None:
        if max(r, s) >> (8 * half):
            return None
        there = r.to_bytes(half, byte_order) + s.to_bytes(half, byte_order)
        kind = UNREDUCED if (r - first) % order == 0 and (s - second) % order == 0 else ""
        return None if there == signature else to_bytes(place, signature, there, what, kind)

    cases = [
        (0, 0, "a signature of zeros"),
        (0, second, "a signature whose first half is zero"),
        (first, 0, "a signature whose second half is zero"),
        (1, 1, "a signature of two ones"),
        (first, first, "a signature of its first half twice"),
        (second, first, "a signature with its halves exchanged"),
        (order, order, "a signature of the group's order twice"),
        (order, second, "a signature whose first half is the group's order"),
        (first, order, "a signature whose second half is the group's order"),
        (first, (1 << 8 * half) - 1, "a signature whose second half is all ones"),
        ((1 << 8 * half) - 1, second, "a signature whose first half is all ones"),
    ]
    for times in range(1, _MULTIPLES):
        more = f"{times if times > 1 else ''} times the group's order".removeprefix(" times ")
        cases.append((first, second + times * order, f"a signature with {more} added to its second half"))
        if not lowest_first:
            cases.append((first + times * order, second, f"a signature with {more} added to its first half"))
    yield from (attempt for case in cases if (attempt := made(*case)))
