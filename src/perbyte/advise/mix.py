"""The sizes that a user has: the question's, those that were named, or a histogram of the user's own messages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from perbyte.errors import UsageError

BINS = 5
LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Mix:
    """Sizes in bytes. With `counts` (messages of each size) their costs add up; without, each size counts equally."""

    sizes: tuple[int, ...]
    counts: tuple[float, ...] = ()
    messages: int = 0
    bytes: int = 0


def read_histogram(path: Path, multiple: int = 1) -> Mix:
    """Read lines of `size count` (or a size alone, counted once); `#` begins a comment.

    More than five sizes are put together in groups of equal bytes, each with the mean size of its messages, rounded up
    to `multiple` bytes. Raises UsageError naming the line that cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', 'it is not text')}") from None
    counts_of: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if len(words) > 2 or not all(word.isdecimal() for word in words) or not 0 < int(words[0]) <= LARGEST:
            raise UsageError(
                f"histogram '{path}': line {number}: {line.strip()[:60]!r} is not a size and a count",
                hint=f"a line is a size from 1 to {LARGEST} bytes and how many messages have it: 1350 20000",
            )
        counts_of[int(words[0])] = counts_of.get(int(words[0]), 0) + (int(words[1]) if len(words) > 1 else 1)
    counts_of = {size: count for size, count in counts_of.items() if count}
    if not counts_of:
        raise UsageError(
            f"histogram '{path}' holds no message", hint="a line is a size and a count: 1350 20000"
        )
    total = sum(size * count for size, count in counts_of.items())
    groups: list[tuple[float, float]] = []  # bytes, messages
    if len(counts_of) <= BINS:
        groups = [(float(size * count), float(count)) for size, count in sorted(counts_of.items())]
    else:
        groups = [(0.0, 0.0)] * BINS
        before = 0.0
        for size, count in sorted(counts_of.items()):
            group = min(int((before + size * count / 2) * BINS / total), BINS - 1)
            groups[group] = (groups[group][0] + size * count, groups[group][1] + count)
            before += size * count
    counts: dict[int, float] = {}
    for held, messages in groups:
        if messages:
            size = max(1, math.ceil(held / messages / multiple)) * multiple
            counts[size] = counts.get(size, 0.0) + messages
    return Mix(tuple(counts), tuple(counts.values()), sum(counts_of.values()), total)
