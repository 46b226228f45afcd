"""What authorities have published about algorithms: one row per authority, use and document.

A row quotes its authority's own word; `effect` is how it is read here: allowed, discouraged (allowed with a reserve),
unrecommended (left out of the authority's recommendation by name) or forbidden. There is no flag "secure". Nothing here
chooses anything: `perbyte.advise` does, for a profile and a date.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field, structs

from perbyte import datafile, places
from perbyte.catalogue import pattern
from perbyte.datafile import Problem, Text, one_of
from perbyte.errors import DataFileError

Use = Literal[
    "encrypt", "decrypt", "sign", "verify", "hash-collision", "hmac", "mac", "kdf", "kex", "password"
]
Effect = Literal["allowed", "discouraged", "unrecommended", "forbidden"]
Day = Annotated[str, Meta(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")]
_SENTENCE = re.compile(r"[A-Z0-9][^.!?\n]*(?:[.](?=\d)[^.!?\n]*)*[.]")  # points within numbers end none
OWN = "project"  # the file of Perbyte's own rule, which counts under every profile
ANY = "none"  # the profile of who follows no one authority


class Document(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a status stands. `retrieved` is when it was looked up, empty where nobody did; a day may be a month."""

    title: Text
    published: Day
    retrieved: Day = ""
    revision: str = ""
    draft: bool = False

    def __str__(self) -> str:
        """Title and revision, a draft as a draft."""
        draft = " (draft)" if self.draft and "draft" not in self.revision else ""
        return self.title + (f", {self.revision}" if self.revision else "") + draft


class StatusRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A status for some uses, from the first to the last day on which it holds; both are open where None.

    `algorithms` is a glob over ids. `means` says in one sentence what follows for a user. `protocol`: the row is of
    that protocol alone, and there it takes the place of what the same authority allows or discourages in general.
    `general`: False where it counts under its authority's profile only. `confirmed` is False where nobody has held
    the row against the document itself.
    """

    algorithms: Text
    uses: Annotated[tuple[Use, ...], Meta(min_length=1)]
    status: Text
    effect: Effect
    document: Text
    section: Text
    means: Text
    protocol: str = ""
    general: bool = True
    from_: datetime.date | None = field(name="from", default=None)
    until: datetime.date | None = None
    confirmed: bool = True

    def __post_init__(self) -> None:
        if self.from_ and self.until and self.until < self.from_:
            raise Problem(
                "ends before it begins", key="until", hint="`until` is the last day on which it holds"
            )
        if not _SENTENCE.fullmatch(self.means):
            raise Problem("is not one sentence", key="means", hint="state the consequence in one sentence")

    def holds(self, date: datetime.date) -> bool:
        """True when `date` is within its days."""
        return (self.from_ is None or self.from_ <= date) and (self.until is None or date <= self.until)


class Authority(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of `status/`, or a profile of a user's own; its stem is the profile's name.

    `profile`: it can be followed. `closed`: its list is complete, and what is not on it is not allowed; without, what
    it does not list comes behind what it lists. `general`: what it forbids counts for people who follow no profile
    too. `extends` names authorities whose rows count as well under this profile.
    """

    authority: Text
    title: Text
    documents: Annotated[dict[str, Document], Meta(min_length=1)]
    rows: Annotated[tuple[StatusRow, ...], Meta(min_length=1)]
    profile: bool = False
    closed: bool = False
    general: bool = True
    extends: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            place = f"[[rows]] {row.algorithms}"
            one_of(row.document, self.documents, "document", f"{place}: document")
            if self.documents[row.document].draft and row.effect == "forbidden":
                raise Problem(
                    "a draft forbids nothing yet", key=f"{place}: effect", hint='effect = "discouraged"'
                )


@cache
def statuses(place: Path | None = None) -> Mapping[str, Authority]:
    """Read `status/` of a catalogue (Perbyte's own by default): authorities by the stems of their files.

    Raises DataFileError.
    """
    paths = sorted((place or places.data_dir("catalogue")).glob("status/*.toml"))
    return {path.stem: datafile.read_toml(path, Authority) for path in paths}


def profiles() -> tuple[str, ...]:
    """The names of the profiles: authorities that list what they allow, and `none`."""
    return (*(name for name, authority in statuses().items() if authority.profile), ANY)


def own_profile(path: Path, ids: Collection[str]) -> tuple[str, Mapping[str, Authority]]:
    """Read a profile of the user's own: its name, and all statuses with it. `ids` are those of the catalogue.

    Raises DataFileError for a file that cannot be read, and for rows that mean no algorithm.
    """
    authority = datafile.read_toml(path, Authority, path.name)
    name, shipped = path.stem, statuses()
    if name in shipped or name == ANY:
        raise DataFileError(
            f"{path.name}: '{name}' is a profile of Perbyte's", hint="give the file another name"
        )
    if unknown := [name for name in authority.extends if name not in shipped]:
        hint = f"there are: {', '.join(shipped)}"
        raise DataFileError(f"{path.name}: extends: there is no '{unknown[0]}'", hint=hint)
    if complaints := list(check_statuses({name: authority}, ids)):
        raise DataFileError(complaints[0].replace(f"status/{name}.toml", path.name))
    return name, {**shipped, name: structs.replace(authority, profile=True, general=False)}


def doubted(algorithm: str) -> bool:
    """True where some authority, or Perbyte's own rule, advises against `algorithm` today, for whatever use."""
    today = datetime.datetime.now(datetime.UTC).date()
    return any(
        row.effect != "allowed" and row.holds(today) and pattern.matches(algorithm, row.algorithms)
        for authority in statuses().values()
        for row in authority.rows
    )


def check_statuses(authorities: Mapping[str, Authority], ids: Collection[str]) -> Iterator[str]:
    """Complain about rows that mean no algorithm of `ids`, and documents that nobody quotes or saw too early."""
    for stem, authority in authorities.items():
        for row in authority.rows:
            place = f"status/{stem}.toml: {row.algorithms} ({', '.join(row.uses)})"
            if row.confirmed and not authority.documents[row.document].retrieved:
                yield f"{place}: confirmed by a document that was not retrieved"
            if not any(pattern.matches(name, row.algorithms) for name in ids):
                yield f"{place}: the catalogue has no such algorithm"
        for name, document in authority.documents.items():
            if document.retrieved and document.retrieved < document.published:
                yield f"status/{stem}.toml: {name}: retrieved before it was published"
            if not any(row.document == name for row in authority.rows):
                yield f"status/{stem}.toml: {name}: no row quotes this document"
