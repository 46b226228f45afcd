"""A recorded neighbour, replayed: what else is on a core at a virtual moment, and how long work takes beside it.

A trace is a list of intervals that follow each other: `q` (alone on the core), `b` (another hardware thread is
active), `s` (the core was taken away), for so many microseconds, with the factor by which the front end is slowed
meanwhile. Its end is followed by its beginning. Standard library only.
"""

from bisect import bisect_right
from itertools import accumulate

_read = {}


class Neighbour:
    """Who else is on one core. Times are virtual seconds; `offset_s` is where in the trace time 0 lies."""

    def __init__(self, intervals, offset_s):
        """`intervals`: path of a csv or csv.gz file, or rows [state, microseconds, front_end_ratio (1 if absent)]."""
        self.states, self.ratios, self.ends = (
            load(intervals) if isinstance(intervals, str) else laid(intervals)
        )
        self.offset_s = offset_s

    def at(self, now):
        """(state, front-end ratio, seconds left) of the interval at `now`."""
        phase = (now + self.offset_s) % self.ends[-1]
        here = min(bisect_right(self.ends, phase), len(self.ends) - 1)
        return self.states[here], self.ratios[here], max(self.ends[here] - phase, 0.0)

    def end_of_work(self, now, seconds, slowed=None):
        """Work that takes `seconds` alone and `slowed` times that beside another (None: as the front end is slowed).

        Returns when it ends, and for how many seconds until then the core was not its own. Nothing is done while
        the core is taken away.
        """
        disturbed = 0.0
        phase = (now + self.offset_s) % self.ends[-1]
        here = min(bisect_right(self.ends, phase), len(self.ends) - 1)
        left = max(self.ends[here] - phase, 0.0)
        while True:
            state = self.states[here]
            if state != "s":
                factor = 1.0 if state == "q" else slowed or self.ratios[here]
                if seconds * factor <= left:
                    spent = seconds * factor
                    return now + spent, disturbed + (spent if state == "b" else 0.0)
                seconds -= left / factor
            now += left
            disturbed += 0.0 if state == "q" else left
            here = (here + 1) % len(self.ends)
            left = self.ends[here] - (self.ends[here - 1] if here else 0.0)

    def intervals(self, now, seconds):
        """The (state, seconds) pairs of a stretch, cut at its ends."""
        while seconds > 0:
            state, _, left = self.at(now)
            spent = min(max(left, 1e-9), seconds)
            yield state, spent
            now, seconds = now + spent, seconds - spent


def laid(rows):
    """(states, front-end ratios, ends in seconds) of the rows of a trace."""
    states = [row[0] for row in rows]
    ratios = [max(1.0, float(row[2]) if len(row) > 2 else 1.0) for row in rows]
    ends = list(accumulate(float(row[1]) * 1e-6 for row in rows))
    if not ends or ends[-1] <= 0 or set(states) - set("qbs"):
        raise ValueError("a trace has intervals of q, b and s that take time")
    return states, ratios, ends


def load(path):
    """`laid` of the rows of a csv or csv.gz file with a head line; read once."""
    if path not in _read:
        if path.endswith(".gz"):
            import gzip

            with gzip.open(path, "rt") as file:
                lines = file.read().split()
        else:
            with open(path) as file:  # noqa: PTH123 - pathlib would take longer to import than all the rest
                lines = file.read().split()
        _read[path] = laid([line.split(",") for line in lines[1:]])
    return _read[path]
