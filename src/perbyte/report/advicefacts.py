"""What stands beside the speed in an answer: how much a key may encrypt, what a cipher does not do, bytes on the wire.

Sentences only, each with the document it is from; the data are the catalogue's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.advise import Decision, Ranked
from perbyte.catalogue import pattern
from perbyte.catalogue.facts import (
    KeyLimit,
    WireUse,
    is_unnamed,
    limits_of,
    public_bytes,
    strength_of,
    uses_of,
)
from perbyte.model import Algorithm
from perbyte.report.advicewords import section_text
from perbyte.report.wording import size_label, three_digits

_NONCES = {
    "random": "random nonces",
    "counted": "counted nonces",
    "any": "random or counted nonces",
    "none": "",
}
_DECIMAL = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_REKEY = "rekey/"
_OWN_KEYS = (
    "Each message has a key of its own, so no number of messages is too many for one key, and a nonce that is always "
    "the same repeats nothing."
)
_MUCH = 2.0**80  # bytes: more than anybody stores


def key_texts(decision: Decision, chosen: Sequence[Ranked]) -> tuple[str, ...]:
    """What one key of each of `chosen` may encrypt, held against the volume and the sizes that were asked for."""
    task, volume = decision.case.task, decision.case.asked.volume_bytes
    if task.contract.startswith(_REKEY):
        return (_OWN_KEYS,) if chosen else ()
    smallest = min(decision.case.mix.sizes)
    sentences = []
    for entry in chosen:
        limits = limits_of(entry.algorithm.id, task.protocol)
        sentences += [_key_text(entry.algorithm, limit, smallest, volume) for limit in limits]
    return tuple(sentences)


def remark_texts(decision: Decision, chosen: Sequence[Ranked]) -> tuple[str, ...]:
    """What has to be known of `chosen`: the question's remarks on them."""
    return tuple(
        f"{remark.says.removesuffix('.')} ({remark.document})."
        for remark in decision.case.task.remarks
        if any(pattern.matches(entry.algorithm.id, remark.algorithms) for entry in chosen)
    )


def strength_texts(decision: Decision) -> tuple[str, ...]:
    """How strong what is allowed and measured is said to be, where that is not equal: cost does not tell it."""
    known = {entry.algorithm.name: strength_of(entry.algorithm.id) for entry in decision.ranking}
    by_name = {name: strength for name, strength in known.items() if strength}
    if not has_strengths([entry.algorithm for entry in decision.ranking]):
        return ()
    order = sorted(by_name.values(), key=lambda each: (each.category or 0, each.bits or 0))
    groups = [
        f"{text} {', '.join(name for name, strength in by_name.items() if strength.said == text)}"
        for text in dict.fromkeys(strength.said for strength in order)
    ]
    sources = "; ".join(dict.fromkeys(strength.document for strength in order))
    bits = "bits: what the best known attack takes without a quantum computer, as a power of two"
    categories = (
        "; categories 1, 3 and 5: as hard as the key of AES-128, 192 and 256, also for a quantum computer; "
        "category 2: as a collision of SHA-256"
    )
    rest = bits + (categories if any(strength.category for strength in order) else "")
    return (f"Not of equal strength, which the ranks do not show: {'; '.join(groups)} ({rest}; {sources}).",)


def has_strengths(algorithms: Sequence[Algorithm]) -> bool:
    """Whether strengths are known of `algorithms` and differ."""
    known = (strength_of(algorithm.id) for algorithm in algorithms)
    return len({strength.said for strength in known if strength}) > 1


def wire_texts(decision: Decision) -> tuple[str, ...]:
    """What each protocol sends of the algorithms that are allowed and measured, the least first."""
    measured = [entry.algorithm for entry in decision.ranking]
    protocols = dict.fromkeys(
        use for algorithm in measured for use in uses_of(algorithm, decision.case.task.protocol)
    )
    return tuple(_wire_text(use, measured) for use in protocols)


def wire_columns(algorithms: Sequence[Algorithm], protocol: str = "") -> tuple[str, ...]:
    """The heads of the columns of bytes that tables of `algorithms` have; none where nothing of them is sent."""
    uses = dict.fromkeys(use for algorithm in algorithms for use in uses_of(algorithm, protocol))
    if not uses:
        return ()
    second = "signature B" if next(iter(uses)).kind == "signature" else "reply B"
    return ("key B", second, *(f"{use.name} B" for use in uses))


def wire_cells(algorithm: Algorithm, protocol: str = "") -> tuple[str, ...]:
    """The cells of `wire_columns` for an algorithm."""
    reply = algorithm.ciphertext_bytes or algorithm.public_bytes
    second = algorithm.tag_bytes if algorithm.kind == "signature" else reply
    sums = [use.bytes(algorithm) for use in uses_of(algorithm, protocol)]
    if not sums:
        return ()
    return tuple(f"{size:,}" for size in (public_bytes(algorithm), second, *sums))


def power_text(exponent: float) -> str:
    """A power of two as people write it."""
    return f"2^{exponent:g}"


def volume_text(size: float) -> str:
    """A great many bytes, in binary units to three digits."""
    names = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB")
    step = min(int(math.log2(max(size, 1.0)) // 10), len(names) - 1)
    return f"{three_digits(size / 1024.0**step)} {names[step]}"


def _key_text(algorithm: Algorithm, limit: KeyLimit, smallest: int, volume: float) -> str:
    parts = []
    if limit.messages:
        parts.append(f"{power_text(limit.messages)} messages a key")
    if limit.bytes:
        parts.append(f"{volume_text(2.0**limit.bytes)} a key")
    if limit.message_bytes:
        parts.append(f"{volume_text(2.0**limit.message_bytes)} a message" if limit.nonces != "none" else "")
    text = ", ".join(part for part in parts if part)
    how = f" ({_NONCES[limit.nonces]})" if limit.nonces != "none" else ""
    source = f"{limit.document}, {limit.published}, {section_text(limit.section)}"
    source += "" if limit.confirmed else "; unconfirmed"
    most, asked = limit.most_bytes(smallest), _said(volume)
    if math.isinf(most):
        rest = ""
    elif volume > most:
        rest = f" {asked} is more than that: take a new key every {volume_text(most)}."
    elif most > _MUCH:
        rest = ""
    else:
        at = f" in messages of {size_label(smallest)}" if limit.messages else ""
        rest = f" {asked}{at} is within it."
    least = f": {text}" if text else ""
    return f"{algorithm.name}{how}{least}: {limit.means} ({source}).{rest}"


def _said(volume: float) -> str:
    """A volume as people say it, in decimal units."""
    scale, name = next((unit for unit in _DECIMAL if volume >= unit[0]), (1.0, "bytes"))
    return f"{volume / scale:.3g} {name}"


def _wire_text(use: WireUse, algorithms: Sequence[Algorithm]) -> str:
    here = [algorithm for algorithm in algorithms if use in uses_of(algorithm)]
    sizes = sorted((use.bytes(algorithm), algorithm.name) for algorithm in here)
    unnamed = {algorithm.name for algorithm in here if is_unnamed(use, algorithm)}
    listed = ", ".join(
        f"{name} {size:,}{' (!)' if size > use.limit_bytes else ''}{' (†)' if name in unnamed else ''}"
        for size, name in sizes
    )
    above = any(size > use.limit_bytes for size, _ in sizes)
    hurt = f" (!) is more than {use.limit_bytes:,} bytes: {use.limit}." if above else ""
    nobody = " (†) has no name in this protocol yet: the figure is what it would take." if unnamed else ""
    return f"{use.name}, {use.counts} ({use.document}), bytes: {listed}.{hurt}{nobody}"
