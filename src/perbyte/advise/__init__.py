"""What to use for a piece of work, from figures that were measured and from what authorities have published.

Status filters first, for a profile and a date; speed ranks afterwards, by what is sure of it. This package reads
figures and statuses; it measures nothing, and it has no opinion of its own: whatever is ruled out is ruled out by
somebody who is named, except that ECB is never recommended and that 64-bit blocks are held to the volume of data.
"""

from perbyte.advise.decision import Case, Decision, Option, Ranked, Sure, View, decide
from perbyte.advise.mix import Mix, read_histogram
from perbyte.advise.passwords import (
    Attack,
    Beside,
    Parameters,
    PasswordDecision,
    attacks,
    beside,
    decide_passwords,
)
from perbyte.advise.standing import Asked, Quote, Standing
from perbyte.advise.together import Gain, Library, Together, decide_together
from perbyte.advise.whatif import Change, changes

__all__ = [
    "Asked",
    "Attack",
    "Beside",
    "Case",
    "Change",
    "Decision",
    "Gain",
    "Library",
    "Mix",
    "Option",
    "Parameters",
    "PasswordDecision",
    "Quote",
    "Ranked",
    "Standing",
    "Sure",
    "Together",
    "View",
    "attacks",
    "beside",
    "changes",
    "decide",
    "decide_passwords",
    "decide_together",
    "read_histogram",
]
