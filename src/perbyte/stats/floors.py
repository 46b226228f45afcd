"""Is what a process found out about a quiet core like what its siblings found? Judged before any sample depends on it.

A process whose floor is 1.5 % too low calls all honest samples disturbed; one whose floor was learnt beside a neighbour
calls all of them clean. Its siblings are all processes of the run whose probe is the same, and the epochs before. A
difference counts where it is more than noise and where it matters: where the one would call disturbed what for the
others is a quiet core, or the other way round. Nothing is corrected here: whoever measures asks the process to look
again, whoever computes figures takes what the others found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from perbyte.model import Calibration, Policy
from perbyte.stats.arrays import np
from perbyte.stats.clean import IN_VAIN, LEAST_SIBLINGS, Quiet, own_quiet
from perbyte.stats.estimate import beyond_scatter


@dataclass(frozen=True, slots=True)
class OutOfLine:
    """A calibration unlike its siblings': what it takes for quiet, and what they do (medians), in core cycles."""

    calibration: Calibration
    own: Quiet
    usual: Quiet
    siblings: int

    def __str__(self) -> str:
        """The sentence that people read."""
        calibration = self.calibration
        return (
            f"{calibration.runner} (tier {calibration.cpu}) takes {self.own.floor:,.0f} to "
            f"{self.own.limit:,.0f} cycles of its contention probe for a quiet core, {self.siblings} like it "
            f"{self.usual.floor:,.0f} to {self.usual.limit:,.0f}"
        )


def out_of_line(
    calibration: Calibration, others: Iterable[Calibration], policy: Policy, *, wrong: float = IN_VAIN
) -> OutOfLine | None:
    """Return by what `calibration` is unlike its siblings among `others`; None where it is not, or nobody can tell.

    Unlike is a floor or a limit that lies beyond what the siblings' scatter explains in all but `wrong` of cases (see
    `beyond_scatter`) and that matters: its limit below the siblings' floor, its floor above their limit, or its limit
    above what they read beside another thread. A process that was never alone found no floor and is not judged, and
    neither is one with fewer than LEAST_SIBLINGS. Others of the same process and epoch are earlier looks: they do not
    count.
    """
    if calibration.contention_floor <= 0:
        return None
    own_place = (calibration.process, calibration.epoch)
    alike = [
        other
        for other in others
        if _probe(other) == _probe(calibration)
        and (other.process, other.epoch) != own_place
        and own_quiet(other, policy).floor > 0
    ]
    own = own_quiet(calibration, policy)
    if len(alike) < LEAST_SIBLINGS or own.floor <= 0:
        return None
    quiet = [own_quiet(other, policy) for other in alike]
    usual = Quiet(
        float(np.median([pair_quiet.floor for pair_quiet in quiet])),
        float(np.median([quiet_one.limit for quiet_one in quiet])),
    )
    shared = float(np.median([other.contention_shared for other in alike])) or math.inf
    if not (own.limit < usual.floor or own.floor > usual.limit or own.limit > shared):
        return None
    odd = any(
        beyond_scatter(math.log(value), [math.log(value) for value in theirs], wrong / 2)
        for value, theirs in (
            (own.floor, [other_quiet.floor for other_quiet in quiet]),
            (own.limit, [other_quiet.limit for other_quiet in quiet]),
        )
    )
    return OutOfLine(calibration, own, usual, len(alike)) if odd else None


def _probe(calibration: Calibration) -> tuple[str, int, str]:
    """Which probe a process uses: the last word of its window only says how sure it is of that."""
    return (
        calibration.contention_probe,
        calibration.contention_length,
        calibration.contention_window.rpartition(" ")[0],
    )
