"""Words without a number, and the one limit that each stands for in every study.

The table is `words.toml` beside the studies. A claim that names a word must have the limits of that word, so that
"much" is as much in one study as in the next; `perbyte.studies.load` asks `check` when a study is read.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from perbyte import places
from perbyte.datafile import Problem, Text, closest, no_duplicates, read_toml
from perbyte.studies.model import Claim
from perbyte.studies.wording import exact

WORDS_FILE = "words.toml"
_NOT = "not "
_CLOSE = 0.01  # limits are written with two or three digits: 0.67 is as good as 1/1.5


class Word(Struct, frozen=True, forbid_unknown_fields=True):
    """What a word means: of a ratio, how far from 1 it may or must be; of groups, how many have to agree.

    `from_` and `to` are limits of the larger cost over the smaller; `within_percent` allows so much either way. Words
    with `by_reading` have no limit of their own: the claim that says one must say how it is read.
    """

    word: Text
    also: tuple[Text, ...] = ()
    within_percent: Annotated[float, Meta(gt=0)] | None = None
    from_: Annotated[float, Meta(ge=1)] | None = field(name="from", default=None)
    to: Annotated[float, Meta(gt=1)] | None = None
    quantifier: Literal["every", "most", "some"] | None = None
    by_reading: bool = False

    def __post_init__(self) -> None:
        kinds = (self.within_percent, self.from_, self.quantifier, self.by_reading or None)
        if sum(kind is not None for kind in kinds) != 1:
            raise Problem("a word needs one of within_percent, from, quantifier, by_reading", key=self.word)

    @property
    def said(self) -> str:
        """What the word stands for, in words."""
        if self.by_reading:
            return "what the claim's reading says"
        if self.quantifier:
            return {
                "every": "every group of cells",
                "most": "more than half of the groups",
                "some": "at least one group",
            }[self.quantifier]
        if self.within_percent is not None:
            return f"at most {exact(self.within_percent)} % apart"
        percent, most = ((end - 1) * 100 if end else 0.0 for end in (self.from_, self.to))
        low = f"at least {exact(round(percent, 6))} %" if percent else "more than nothing"
        return f"{low}, at most {exact(round(most, 6))} %" if self.to else low

    @property
    def of_degree(self) -> bool:
        """True where the word says how far apart costs are, and not only which one is larger, or of how many."""
        return self.within_percent is not None or (self.from_ or 0) > 1 or self.to is not None

    def bounds(self, claim: Claim) -> bool:
        """True when the claim keeps costs closer than the word: 'not much' is less than where 'much' begins."""
        least = self.from_ or 0.0
        within = getattr(claim, "within_percent", None)
        if within is not None:
            return not claim.negate and math.isclose(1 + within / 100, least)
        low, high = getattr(claim, "low", 0.0) or 0.0, getattr(claim, "high", math.inf) or math.inf
        if claim.negate or least <= 1 or not (low <= 0 or math.isinf(high)):
            return False
        return math.isclose(high if low <= 0 else 1 / low, least, rel_tol=_CLOSE)

    def fits(self, claim: Claim) -> bool:
        """True when the claim has the limits of the word, whichever way round it divides."""
        if self.by_reading:
            return bool(claim.reading)
        if self.quantifier:
            return claim.quantifier == self.quantifier
        if getattr(claim, "first", None) is not None or getattr(claim, "last", None) is not None:
            return self.from_ == 1
        within = getattr(claim, "within_percent", None)
        if self.within_percent is not None:
            return within is not None and math.isclose(within, self.within_percent)
        if within is not None:  # negated, "more than so much apart"
            return claim.negate and self.from_ is not None and math.isclose(1 + within / 100, self.from_)
        if (differ := getattr(claim, "differ", None)) is not None:
            return math.isclose(differ, self.from_ or 0)
        low, high = getattr(claim, "low", 0.0), getattr(claim, "high", math.inf)
        least, most = self.from_ or 1.0, self.to or math.inf
        return any(
            math.isclose(low, ends[0], rel_tol=_CLOSE) and math.isclose(high, ends[1], rel_tol=_CLOSE)
            for ends in ((least, most), (1 / most, 1 / least))
        )


class _WordsFile(Struct, frozen=True, forbid_unknown_fields=True):
    words: tuple[Word, ...]

    def __post_init__(self) -> None:
        no_duplicates([name for word in self.words for name in (word.word, *word.also)], "word")


@lru_cache(maxsize=1)
def words() -> tuple[Word, ...]:
    """The table of words, in the file's order. Raises DataFileError."""
    return read_toml(places.data_dir("studies") / WORDS_FILE, _WordsFile).words


def meaning(word: str) -> Word:
    """The entry of a word, with or without `not` before it. Raises Problem when the table has none."""
    known = {name: entry for entry in words() for name in (entry.word, *entry.also)}
    bare = word.removeprefix(_NOT)
    if bare not in known:
        raise Problem(f"there is no word '{bare}' in {WORDS_FILE}", key="words", hint=closest(bare, known))
    return known[bare]


def check(claim: Claim) -> None:
    """Raise Problem when a claim has other limits than the table gives a word that it names or says."""
    for word in claim.words:
        entry = meaning(word)
        if not (entry.bounds(claim) if word.startswith(_NOT) else entry.fits(claim)):
            raise Problem(
                f"'{word}' stands for {_said(word)}, and the claim has other limits",
                key="words",
                hint="use those limits, or name the word in `figures_set` and say in `reading` which figure set it",
            )
    for word in claim.figures_set:
        meaning(word)
    if claim.figures_set and not claim.reading:
        raise Problem("says that figures set a limit, and not which", key="reading", hint="name the figure")
    for word in claim.other_sense:
        if word not in spoken(claim):
            raise Problem(f"the claim does not say '{word}'", key="other_sense")
    if unnamed := unread(claim):
        raise Problem(
            f"the claim says '{unnamed[0]}' and does not name the word",
            key="words",
            hint="name it in `words`, in `figures_set` where the authors' figures set the limit, or say it otherwise",
        )
    if unbound := misread(claim):
        raise Problem(
            f"the claim says '{unbound[0]}', which stands for {meaning(unbound[0]).said}, and is judged otherwise",
            key="reading" if meaning(unbound[0]).by_reading else "quantifier",
            hint="say so in `quantifier` or `reading`, or name the word in `other_sense` where it counts nothing",
        )


def spoken(claim: Claim) -> tuple[str, ...]:
    """The words of the table that a claim says, in its order."""
    return tuple(dict.fromkeys(_pattern().findall(claim.says.lower())))


def unread(claim: Claim) -> tuple[str, ...]:
    """The words of degree that a claim on costs says and names neither in `words` nor in `figures_set`."""
    if not getattr(claim, "limits_costs", False):
        return ()
    named = {name.removeprefix(_NOT) for name in (*claim.words, *claim.figures_set, *claim.other_sense)}
    return tuple(word for word in spoken(claim) if meaning(word).of_degree and word not in named)


def misread(claim: Claim) -> tuple[str, ...]:
    """The words that say how many groups, or that are left to the reading, and that the claim is not judged by."""
    if not claim.judged:
        return ()
    return tuple(
        word
        for word in spoken(claim)
        if ((entry := meaning(word)).quantifier or entry.by_reading)
        and word not in claim.other_sense
        and not entry.fits(claim)
    )


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    """Finds the table's words, the longest first: `very much` is not `much`, nor `above all` `all`."""
    names = [name for entry in words() for name in (entry.word, *entry.also)]
    return re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + r")\b")


def _said(word: str) -> str:
    entry = meaning(word)
    if not word.startswith(_NOT):
        return entry.said
    return f"less than {exact(round((entry.from_ - 1) * 100, 6))} %" if entry.from_ else f"not {entry.said}"


def read_as(claim: Claim) -> str:
    """What the words of a claim stand for, as the beginning of its reading; empty without words."""
    return " ".join(f"'{word.capitalize()}': {_said(word)}." for word in claim.words)
