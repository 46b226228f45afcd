"""Where the time of a run goes: seconds by part, for `--profile` and for the benches. Decides nothing."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator

# in the order in which a run passes them; `other` is what is left of the whole
PARTS = (
    "starting",
    "checking",
    "samples",
    "probes",
    "warm-up",
    "waiting",
    "asking",
    "audit",
    "confirming",
    "statistics",
    "storing",
    "other",
)


class Timing:
    """Seconds of a run by part.

    Of a burst `samples` are the timed calls alone, `probes` what stands around them, `warm-up` the untimed calls,
    `waiting` the looks for a quiet core, and `asking` what messages and forks took besides.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inside: list[float] = []

    @contextlib.contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Count what happens within for `part`, parts inside it left out."""
        began = time.monotonic()
        self._inside.append(0.0)
        try:
            yield
        finally:
            took = time.monotonic() - began
            self.seconds[part] += took - self._inside.pop()
            if self._inside:
                self._inside[-1] += took

    def add_burst(
        self, took_s: float, *, samples_s: float, whole_s: float, warm_s: float, wait_s: float
    ) -> None:
        """Count a burst that took `took_s` from the question to the answer; the rest is what the runner says."""
        whole_s = min(max(whole_s, samples_s + warm_s + wait_s), took_s)
        parts = {
            "samples": samples_s,
            "warm-up": warm_s,
            "waiting": wait_s,
            "probes": whole_s - samples_s - warm_s - wait_s,
            "asking": took_s - whole_s,
        }
        for part, seconds in parts.items():
            self.seconds[part] += max(seconds, 0.0)
        if self._inside:
            self._inside[-1] += took_s

    def shares(self, whole_s: float) -> dict[str, float]:
        """Return the parts in seconds, in their order; what is left of `whole_s` is `other`."""
        known = {part: self.seconds.get(part, 0.0) for part in PARTS}
        known["other"] += max(0.0, whole_s - sum(known.values()))
        return known
