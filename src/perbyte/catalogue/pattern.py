"""Globs with brace alternatives: `aes-{128,256}-*`.

`*`, `?` and `[...]` mean what they mean in a shell, and case counts. Nothing here knows what the names stand
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache

from perbyte.errors import UsageError

_SPECIAL = re.compile(r"[*?\[{}]")
MOST_ALTERNATIVES = 4096
_MOST_CHARACTERS = 1 << 18  # of all alternatives together
_MOST_BRACES = 100


def is_pattern(text: str) -> bool:
    """True when `text` holds anything that is not taken literally."""
    return _SPECIAL.search(text) is not None


@lru_cache(maxsize=128)
def expand_braces(pattern: str) -> tuple[str, ...]:
    """Return the alternatives of `pattern` without braces, in order: `a{b,c}` gives `ab`, `ac`.

    Braces may nest. Raises UsageError when they do not pair up, and when they mean more than 4,096 alternatives.
    """
    if pattern.count("{") > _MOST_BRACES:
        raise _too_many(pattern)
    return _expanded(pattern, pattern)


def _too_many(pattern: str) -> UsageError:
    return UsageError(
        f"the braces of '{pattern[:80]}' mean more than {MOST_ALTERNATIVES:,} alternatives, or very long ones",
        hint="use * for what may be anything, or several selectors",
    )


def _expanded(pattern: str, whole: str) -> tuple[str, ...]:
    """The alternatives of a part of the pattern `whole`."""
    opening = pattern.find("{")
    closing = pattern.find("}")
    if opening < 0 and closing < 0:
        return (pattern,)
    end = _closing(pattern, opening) if 0 <= opening < closing else -1
    if end < 0:
        raise UsageError(f"the braces of '{pattern[:200]}' do not pair up", hint="{one,other}, no slash")
    before, inside, after = pattern[:opening], pattern[opening + 1 : end], pattern[end + 1 :]
    rests = _expanded(after, whole)
    middles: list[str] = []
    for choice in _split_top(inside):
        middles += _expanded(choice, whole)
        if len(middles) * len(rests) > MOST_ALTERNATIVES:
            raise _too_many(whole)
    characters = len(before) * len(middles) * len(rests)
    characters += sum(map(len, middles)) * len(rests) + sum(map(len, rests)) * len(middles)
    if characters > _MOST_CHARACTERS:
        raise _too_many(whole)
    alternatives = [before + middle + rest for middle in middles for rest in rests]
    return tuple(dict.fromkeys(alternatives))


def matches(name: str, pattern: str) -> bool:
    """True when `name` is `pattern` itself or fits one of its alternatives."""
    return name == pattern or _expression(pattern).fullmatch(name) is not None


@lru_cache(maxsize=128)
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile("|".join(translate(alternative) for alternative in expand_braces(pattern)))


def any_of(names: Iterable[str]) -> str:
    """The pattern that means `names` and nothing else: a name as it is, several in braces."""
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{{{','.join(listed)}}}"


def _closing(pattern: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(pattern)):
        if pattern[place] == "{":
            depth += 1
        elif pattern[place] == "}":
            depth -= 1
            if depth == 0:
                return place
    return -1


def _split_top(inside: str) -> list[str]:
    parts, depth = [""], 0
    for letter in inside:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
