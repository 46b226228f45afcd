"""Calls too long to be watched, cut into pieces: which cells, and how long the pieces are.

The probes around a sample vouch for some tens of microseconds. A call on megabytes lasts a thousand times as long, and
is never alone on its core. Where its contract says that bytes are worked off one after the other, consecutive pieces of
the same data are timed, of two lengths: cost against length is a straight line, whose slope is the cost of a byte and
whose intercept is what starting a piece costs.
"""

from __future__ import annotations

from dataclasses import dataclass

from perbyte.model import Cell, Policy

LARGE_BYTES = 1 << 20  # taken for long until the first burst tells
CUT_FROM_SAMPLES = 10  # a call that outlasts so many samples is cut
WHOLE_DIGEST_S = (
    1e-3  # the same for whole digests, whose beginning and end are left out: below 0.05 % from here on
)
LONGER = 4  # times the shorter piece
FIRST_BYTES = 4096  # a piece by which the cost of a large call is learnt
# bytes; lengths are multiples of a power of two between these: whole blocks, whole vectors
_UNITS = (64, 4096)


def first_piece(cell: Cell) -> int:
    """Return the length of a piece that tells what a call of a large cell takes; 0 where a call may as well be made."""
    cuttable = cell.contract in ("stream/1", "oneshot/1")
    return FIRST_BYTES if cuttable and cell.size_bytes >= LARGE_BYTES else 0


@dataclass(frozen=True, slots=True)
class Cut:
    """How the calls of a cell are cut: two lengths of pieces in bytes; and what a whole call takes."""

    shorter: int
    longer: int
    call_s: float


def cut_calls(cell: Cell, call_s: float, policy: Policy) -> Cut | None:
    """Return how a cell's calls are cut; None where they stay whole.

    `call_s` is what a whole call takes, in seconds. The shorter piece lasts about `policy.sample_us`.
    """
    sample_s = policy.sample_us * 1e-6
    least = {"stream/1": CUT_FROM_SAMPLES * sample_s, "oneshot/1": WHOLE_DIGEST_S}.get(cell.contract)
    if least is None or call_s < least:
        return None
    goal = cell.size_bytes * sample_s / call_s
    unit = _UNITS[0]
    while 2 * unit <= min(_UNITS[1], goal / 8):
        unit *= 2
    shorter = max(1, round(goal / unit)) * unit
    longer = LONGER * shorter
    return Cut(shorter, longer, call_s) if 2 * longer <= cell.size_bytes else None
