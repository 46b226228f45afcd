"""The words that every part of an answer shares: options, libraries, times, and what authorities say."""

from __future__ import annotations

from perbyte.advise import Option, Parameters, Quote, Standing
from perbyte.model import Algorithm, Estimate
from perbyte.model.text import plain
from perbyte.report.wording import number, percent, size_label, value_text

MIB = 1 << 20


def option_text(option: Option) -> str:
    """An algorithm with the library that it was measured in."""
    return f"{option.algorithm.name}, in {library_text(option)}"


def plain_name(algorithm: Algorithm) -> str:
    """The name; of password hashes without the parameters they were measured at, which are not those advised."""
    return algorithm.name.partition(",")[0] if algorithm.kind == "password-hash" else algorithm.name


def library_text(option: Option) -> str:
    """The library and its version."""
    named = option.version.startswith(option.library)  # some libraries call themselves by name and version
    return plain(option.version if named else f"{option.library} {option.version}", 60)


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
        limit = (
            "more than the 2^20 blocks (8 MiB) a key that SP 800-67 allows"
            if stands.too_much
            else "few blocks"
        )
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
    if stands.silent or stands.unlisted:
        return "unlisted"
    return "with reserve" if stands.effect == "discouraged" else stands.effect


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
    half = (
        parameters.time_ns.half_width / parameters.time_ns.value * parameters.guesses_s
        if parameters.time_ns.known
        else 0.0
    )
    return number(parameters.guesses_s, half)
