"""Where forks lay their stack, the library's state and their buffers (SPEC 7): numbers that fill a page evenly.

A layout has three parts of 21 bits, fractions of a page for stack, heap and buffers, the lowest first. Each fork adds a
step to each, so that few forks see all places: the steps are the inverse powers of the root of x^4 = x + 1, which
generalise the golden section to three dimensions (an additive recurrence, Niederreiter, "Random Number Generation and
Quasi-Monte Carlo Methods", 1992, chapter 3). With a random first layout an epoch's mean is without bias.
"""

from __future__ import annotations

_FIELD = 21
STEPS = (1717937, 1407290, 1152806)  # 0.8191725, 0.6710436 and 0.5497005 times 2^21
LAYOUT_BITS = _FIELD * len(STEPS)


def further_layout(layout: int, forks: int) -> int:
    """Return the layout that comes `forks` forks after `layout`."""
    parts = (
        ((layout >> place * _FIELD) + forks * step) % (1 << _FIELD) << place * _FIELD
        for place, step in enumerate(STEPS)
    )
    return sum(parts)
