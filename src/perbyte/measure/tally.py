"""What one cell got in one epoch, and whether that is enough: by precision, never by what its figure is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from perbyte.model import Policy
from perbyte.stats.arrays import np
from perbyte.stats.estimate import midmean, midmean_half_width

SHARE_OF_PRECISION = 0.6  # of the precision asked for, that an epoch's samples may use up
LONG_SPENT_S = 0.05  # of an epoch; more calls of a long cell are not worth what they cost the others
_BURSTS_TO_STOP = 4


@dataclass(slots=True)
class Tally:
    """What one cell got in one epoch.

    `medians`: one value per burst, of its clean samples; where calls are cut one per pair of bursts. `scatter`: the
    variances of the clean samples of bursts, by their quartiles. `by_round`: those
    of bursts of several calls a sample, by the number of their round. `shorter` is the clean median of the pair's first
    burst until the second is there; `whole` that of calls which were not cut. `early`: bursts up to the first look.
    `sampling_s`: seconds of samples, their probes included.
    """

    medians: list[float] = field(default_factory=list)
    scatter: list[float] = field(default_factory=list)
    by_round: dict[int, float] = field(default_factory=dict)
    shorter: float = math.nan
    whole: float = math.nan
    bursts: int = 0
    early: int = 0
    samples: int = 0
    sampling_s: float = 0.0
    calls: int = 0
    digest: str = ""
    call_s: float = 0.0
    longest_s: float = 0.0
    shortest_s: float = math.inf
    spent_s: float = 0.0

    def precise(self, policy: Policy) -> bool:
        """True when the bursts fix the epoch's figure well within the precision asked for.

        Bursts are the units, not samples: what a core has learnt about a loop (predictors, alignment of its
        phases) stays for a burst and is drawn anew for the next, so samples of one burst agree too well.
        """
        if len(self.medians) < _BURSTS_TO_STOP:
            return False
        values = np.array(self.medians)
        centre = abs(midmean(values))
        # a call of a cycle or less cannot be fixed to a quarter of a per cent of itself, nor need it be
        allowed = max(SHARE_OF_PRECISION * policy.precision * centre, 0.01)
        return midmean_half_width(values, policy.level) <= allowed

    def costly(self, policy: Policy) -> bool:
        """True when single calls are long and more of them would cost more than they tell."""
        long = self.calls == 1 and self.longest_s > policy.burst_limit_ms * 1e-3
        return long and self.spent_s > LONG_SPENT_S
