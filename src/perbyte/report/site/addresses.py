"""Addresses of pages: made of a name alone, so that they stay when anything else comes or goes.

A name that is no plain word keeps what it can and gets a digest of the whole, so that two names never share a page and
no name leads out of its directory. Libraries are written differently by different machines, in capitals or with
spaces; these are one.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import unicodedata

UNKNOWN = "unknown"
_WORD = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,78}[a-z0-9])?")
_MONTH = re.compile(r"(\d{4}-(?:0[1-9]|1[0-2]))-(?:0[1-9]|[12]\d|3[01])(?!\d)")
_NOT_WORD = re.compile(r"[^a-z0-9]+")
# names that some systems keep for devices, with any ending
_KEPT = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


def word(name: str) -> str:
    """A name as a word for an address: itself where it is one, else what is left of it and a digest."""
    if _WORD.fullmatch(name) and ".." not in name and not _KEPT.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return f"{_NOT_WORD.sub('-', plain)[:48].strip('-') or 'x'}-{digest}"


def algorithm(name: str) -> str:
    """The page of an algorithm, from the top of the site."""
    return f"algorithm/{word(name)}.html"


def library(name: str) -> str:
    """The page of a library."""
    return f"library/{word(' '.join(name.split()).casefold().replace(' ', '-'))}.html"


def machine(name: str) -> str:
    """The page of a machine."""
    return f"machine/{word(name)}.html"


def month_of(started_at: str) -> str:
    """The month in which a run began, `2026-11`; `unknown` where its time is none."""
    match = _MONTH.match(started_at)
    return match[1] if match else UNKNOWN


def month(name: str) -> str:
    """The page of a month."""
    return f"date/{word(name)}.html"


def anchor(*parts: str) -> str:
    """The name of a place within a page."""
    return word("-".join(parts).replace("/", "-"))


def ordinal(started_at: str) -> float | None:
    """A time as a number of days; None where it is none."""
    try:
        moment = datetime.datetime.fromisoformat(started_at)
    except ValueError:
        return None
    return moment.toordinal() + (moment.hour * 60 + moment.minute) / 1440
