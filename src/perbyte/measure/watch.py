"""Who else was on the measuring cores: their hyper-thread siblings, and the hypervisor or kernel that took them away.

Asked of a runner by the `watch` verb. Nothing is measured here and nothing decided; `doctor` and the benchmarks say it
beside their figures, so that figures of different minutes can be compared.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.errors import RunnerRefused
from perbyte.runners import RunnerSpec, Session

SLICE_MS = 50.0


@dataclass(frozen=True, slots=True)
class CoreWatch:
    """What a core was, as shares of the time it was watched; `alone_us` is the median length of its quiet intervals."""

    core: int
    alone: float
    shared: float
    taken: float
    alone_us: float


def watch_cores(spec: RunnerSpec, cores: Sequence[int], seconds: float = 1.0) -> list[CoreWatch]:
    """Watch `cores` by turns, `seconds` in all. Empty where the runner has no detector that could tell.

    Raises RunnerError or EnvironmentLacking when the runner cannot be asked.
    """
    with Session(spec, core=cores[0]) as session:
        session.hello()
        calibration = session.calibrate(10.0, epoch=0, cores=cores, patience_ms=1000.0)
        if not calibration.contention_length:
            return []
        seen: dict[int, list[tuple[str, float]]] = {}
        try:
            for _ in range(max(len(cores), round(seconds * 1000 / SLICE_MS))):
                answer = session.watch(SLICE_MS)
                us = 1e6 / calibration.tick_hz
                spells = zip(answer.state, (ticks * us for ticks in answer.ticks), strict=True)
                seen.setdefault(answer.core, []).extend(spells)
        except RunnerRefused:
            return []
    return [_summary(core, spells) for core, spells in sorted(seen.items())]


def _summary(core: int, spells: Sequence[tuple[str, float]]) -> CoreWatch:
    whole = sum(us for _, us in spells) or 1.0
    alone, shared, taken = (sum(us for state, us in spells if state == one) / whole for one in "qbs")
    quiet = [us for state, us in spells if state == "q"]
    return CoreWatch(core, alone, shared, taken, statistics.median(quiet) if quiet else 0.0)
