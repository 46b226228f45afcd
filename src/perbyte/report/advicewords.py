"""The words of an answer: options, libraries, times, what authorities say, keys, bytes on the wire, password hashes.

Sentences only, each with the document it is from; the data are the catalogue's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.advise import (
    Asked,
    Decision,
    Option,
    Parameters,
    PasswordDecision,
    Quote,
    Ranked,
    Standing,
    attacks,
    beside,
)
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
from perbyte.catalogue.questions import Remark
from perbyte.model import Algorithm, CellFigure, Estimate
from perbyte.model.text import plain
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import number, percent, size_label, three_digits, value_text

MIB = 1 << 20
_ENOUGH = 0.995  # of a minimum: parameters are whole numbers
_NONCES = {"random": "random nonces", "counted": "counted nonces", "any": "random or counted nonces"}
_DECIMAL = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_REKEY = "rekey/"
_OWN_KEYS = (
    "Each message has a key of its own, so no number of messages is too many for one key, and a nonce that is always "
    "the same repeats nothing."
)
_MUCH = 2.0**80  # bytes: more than anybody stores


def option_text(option: Option) -> str:
    """An algorithm with the library that it was measured in."""
    return f"{option.algorithm.name}, in {library_text(option)}"


def plain_name(algorithm: Algorithm) -> str:
    """The name; of password hashes without the parameters they were measured at, which are not those advised."""
    return algorithm.name.partition(",")[0] if algorithm.kind == "password-hash" else algorithm.name


def library_text(of: Option | CellFigure) -> str:
    """The library and its version."""
    version = of.library_version if isinstance(of, CellFigure) else of.version
    named = version.startswith(of.library)  # some libraries call themselves by name and version
    return plain(version if named else f"{of.library} {version}", 120)


def quote_text(quote: Quote) -> str:
    """An authority's word, where and since when it stands, and what it means; drafts and doubts say so."""
    row = quote.row
    document, published = str(quote.document), quote.document.published
    dated = document if document.endswith(published) else f"{document}, {published}"
    where = f"{dated}, {section_text(row.section)}"
    days = f" from {row.from_}" if row.from_ else ""
    days += f" until {row.until}" if row.until else ""
    doubts = "" if row.confirmed else "; unconfirmed"
    return f"{quote.authority} says “{row.status}”{days} ({where}{doubts}): {row.means.removesuffix('.')}"


def section_text(section: str) -> str:
    """A section by its number; tables and annexes, and what has a name instead, say what they are."""
    numbered = section[0].isdigit() or section[1:2] == "."
    several = "s" * (" and " in section)
    return f"section{several} {section}" if numbered else section


def standing_texts(stands: Standing, profile: str) -> tuple[str, ...]:
    """What makes a standing, a sentence each without its end."""
    sentences = [quote_text(quote) for quote in stands.quotes]
    if stands.unlisted:
        rest = "" if stands.out else ", which rules nothing out"
        sentences.append(f"{stands.unlisted} does not list it for this use (profile {profile}){rest}")
    if stands.repeats:
        text = percent(stands.repeats) if stands.repeats > 1e-4 else f"{stands.repeats:.0e}"
        allowed = "more than the 2^20 blocks (8 MiB) a key that SP 800-67 allows"
        limit = allowed if stands.too_much else "few blocks"
        sentences.append(
            f"its blocks have 64 bits: at this volume of data two of them are equal with a chance of {text}; {limit}"
        )
    if stands.silent:
        sentences.append("unlisted: no authority that Perbyte quotes speaks of it")
    return tuple(sentences)


def status_word(stands: Standing) -> str:
    """One of four words for a standing, for tables and pictures."""
    if stands.out:
        return "ruled out"
    if stands.effect != "unrecommended" and (stands.silent or stands.unlisted):
        return "unlisted"
    return {"discouraged": "with reserve", "unrecommended": "not recommended"}.get(
        stands.effect, stands.effect
    )


def reserve_texts(decision: Decision) -> tuple[str, ...]:
    """What stands on the card beside the answer: reserves of authorities or their silence, strength, the task's own."""
    entry, task = decision.first, decision.case.task
    if entry is None or task.use is None:
        return ()
    name, stands = plain_name(entry.algorithm), entry.standing
    reserves = [quote for quote in stands.quotes if quote.row.effect != "allowed"]
    texts = [
        f"{quote.authority} says “{quote.row.status}”" for quote in reserves if stands.effect != "allowed"
    ]
    if stands.unlisted or stands.silent:
        texts.append(f"{stands.unlisted or 'every authority that Perbyte quotes'} does not list it")
    if entry.weak and (strength := strength_of(entry.algorithm.id)):
        texts.append(f"it is weaker than asked for: {strength.said}")
    texts += [remark.says for remark in _remarks(decision, [entry]) if remark.reserve]
    if task.prefer and not entry.preferred:
        preferred = [each for each in task.algorithms if pattern.matches(each, task.prefer.algorithms)]
        names = ", ".join(decision.case.catalogue.algorithms[each].name for each in preferred)
        missing = next((why for title, why in decision.missing if title in names), "")
        texts += [f"{names}: {missing}"] if missing else []
    return (f"With reserve, {name}: {'. '.join(text.removesuffix('.') for text in texts)}.",) if texts else ()


def with_article(unit: str) -> str:
    """`a record`, `an operation`."""
    return f"{'an' if unit[0] in 'aeiou' else 'a'} {unit}"


def time_text(ns: Estimate) -> str:
    """A time in the unit that suits it."""
    for scale, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns.value >= scale:
            return f"{value_text(ns.scaled(per=scale))} {name}"
    return f"{value_text(ns)} ns"


def memory_text(size: int) -> str:
    """Memory in MiB, or exactly where it is less than one."""
    return f"{size / MIB:,.0f} MiB" if size >= MIB else size_label(size)


def guesses_text(parameters: Parameters) -> str:
    """Guesses a second, with the digits that are known."""
    relative = parameters.time_ns.relative if parameters.time_ns.known else 0.0
    return number(parameters.guesses_s, relative * parameters.guesses_s)


def key_texts(decision: Decision, chosen: Sequence[Ranked]) -> tuple[str, ...]:
    """What one key of each of `chosen` may encrypt, held against the volume and the sizes that were asked for."""
    task, asked = decision.case.task, decision.case.asked
    if task.contract.startswith(_REKEY):
        return (_OWN_KEYS,) if chosen else ()
    smallest = min(decision.case.mix.sizes)
    sentences = []
    for entry in chosen:
        limits = limits_of(entry.algorithm.id, task.protocol)
        sentences += [_key_text(entry.algorithm, limit, smallest, asked) for limit in limits]
    return tuple(sentences)


def remark_texts(decision: Decision, chosen: Sequence[Ranked]) -> tuple[str, ...]:
    """What has to be known of `chosen`: the question's remarks on them."""
    return tuple(
        f"{remark.says.removesuffix('.')} ({remark.document})." for remark in _remarks(decision, chosen)
    )


def _remarks(decision: Decision, chosen: Sequence[Ranked]) -> list[Remark]:
    return [
        remark
        for remark in decision.case.task.remarks
        if any(pattern.matches(entry.algorithm.id, remark.algorithms) for entry in chosen)
    ]


def strength_texts(decision: Decision) -> tuple[str, ...]:
    """How strong what is allowed and measured is said to be, where that is not equal: cost does not tell it."""
    if not has_strengths([entry.algorithm for entry in decision.ranking]):
        return ()
    known = {entry.algorithm.name: strength_of(entry.algorithm.id) for entry in decision.ranking}
    by_name = {name: strength for name, strength in known.items() if strength}
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


def volume_text(size: float) -> str:
    """A great many bytes, in binary units to three digits."""
    names = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB")
    step = min(int(math.log2(max(size, 1.0)) // 10), len(names) - 1)
    return f"{three_digits(size / 1024.0**step)} {names[step]}"


def _key_text(algorithm: Algorithm, limit: KeyLimit, smallest: int, asked: Asked) -> str:
    parts = [f"2^{limit.messages:g} messages a key"] if limit.messages else []
    parts += [f"{volume_text(2.0**limit.bytes)} a key"] if limit.bytes else []
    if limit.message_bytes and limit.nonces != "none":
        parts.append(f"{volume_text(2.0**limit.message_bytes)} a message")
    text = ", ".join(parts)
    how = f" ({_NONCES[limit.nonces]})" if limit.nonces != "none" else ""
    source = f"{limit.document}, {limit.published}, {section_text(limit.section)}"
    source += "" if limit.confirmed else "; unconfirmed"
    most, whose = limit.most_bytes(smallest), "assumed; --volume sets it" if asked.assumed else "--volume"
    scale, unit = next((each for each in _DECIMAL if asked.volume_bytes >= each[0]), (1.0, "bytes"))
    volume = f"{asked.volume_bytes / scale:.4g} {unit} ({whose})"
    rest = ""
    if asked.volume_bytes > most:
        rest = f" {volume} is more than that: take a new key every {volume_text(most)}."
    elif most <= _MUCH:
        at = f" in messages of {size_label(smallest)}" if limit.messages else ""
        rest = f" {volume}{at} is within it."
    least = f": {text}" if text else ""
    return f"{algorithm.name}{how}{least}: {limit.means} ({source}).{rest}"


def _wire_text(use: WireUse, algorithms: Sequence[Algorithm]) -> str:
    here = [algorithm for algorithm in algorithms if use in uses_of(algorithm)]
    sizes = sorted((use.bytes(algorithm), algorithm.name) for algorithm in here)
    unnamed = {algorithm.name for algorithm in here if is_unnamed(use, algorithm)}
    listed = ", ".join(
        f"{name} {size:,}{' (!)' if size + use.rest_bytes > use.limit_bytes else ''}{' (†)' if name in unnamed else ''}"
        for size, name in sizes
    )
    above = any(size + use.rest_bytes > use.limit_bytes for size, _ in sizes)
    rest = f", with the {use.rest_bytes:,} of {use.rest}," if use.rest_bytes else ""
    hurt = f" (!){rest} is more than {use.limit_bytes:,} bytes: {use.limit}." if above else ""
    nobody = " (†) has no name in this protocol yet: the figure is what it would take." if unnamed else ""
    return f"{use.name}, {use.counts} ({use.document}), bytes: {listed}.{hurt}{nobody}"


def parameter_texts(decision: PasswordDecision) -> tuple[str, ...]:
    """The parameters of each hash, what they take here, and how many guesses one core makes."""
    return tuple(
        f"{_name(parameters)}: {parameters.words}: {time_text(parameters.time_ns)} a hash, "
        f"{memory_text(parameters.memory_bytes)} a guess; one core like this makes {guesses_text(parameters)} guesses "
        "a second."
        for parameters in decision.parameters
    )


def recommended_texts(decision: PasswordDecision) -> tuple[str, ...]:
    """What others recommend for each hash, what that takes here, and whether the chosen parameters are less."""
    sentences = []
    for parameters in decision.parameters:
        for each in beside(parameters):
            source = each.recommended
            least = source.least and each.share < _ENOUGH
            less = f"less than this minimum, ×{number(each.share)} of its work"
            share = less if least else f"×{number(each.share)} of its work"
            took = time_text(Estimate(each.time_ns, each.time_ns, each.time_ns))
            sentences.append(
                f"{_name(parameters)}: {source.words} ({source.who}, section {source.section}, {source.published}) "
                f"takes {took} on one core here; what is chosen here is {share}."
            )
    return tuple(sentences)


def attack_texts(decision: PasswordDecision) -> tuple[str, ...]:
    """What a device of an attacker makes of the chosen parameters, against one core like this one."""
    sentences = []
    for parameters in decision.parameters:
        for each in attacks(parameters):
            most = "at the most " if each.rate.bandwidth else ""
            sentences.append(
                f"{_name(parameters)}: a {each.rate.device} makes {most}{three_digits(each.guesses_s)} guesses a "
                f"second at these parameters, ×{three_digits(each.gain)} of one core like this ({each.rate.source})."
            )
    return tuple(sentences)


def password_table(decision: PasswordDecision) -> Listing:
    """A row for each hash with its parameters, here and on an attacker's device."""

    def row(parameters: Parameters, word: str) -> tuple[str, ...]:
        attacked = next(iter(attacks(parameters)), None)
        gain = (three_digits(attacked.guesses_s), f"×{three_digits(attacked.gain)}") if attacked else ("", "")
        return (
            _name(parameters),
            parameters.words,
            time_text(parameters.time_ns),
            memory_text(parameters.memory_bytes),
            guesses_text(parameters),
            *gain,
            library_text(parameters.ranked.best),
            word,
        )

    rows = [row(parameters, status_word(parameters.ranked.standing)) for parameters in decision.parameters]
    rows += [row(parameters, "ruled out") for parameters in decision.ruled_out]
    figures = ("time", "memory", "guesses/s", "GPU guesses/s", "GPU gain", "library")
    columns = [Head("hash"), Head("parameters"), *(Head(head, "n") for head in figures)]
    return Listing("Figures", [*columns, Head("status", once=True)], rows, lead=2)


def _name(parameters: Parameters) -> str:
    return plain_name(parameters.ranked.algorithm)
