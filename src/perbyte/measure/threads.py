"""One cell on several cores at once: processes of one runner, each pinned to a core of its own, started together.

Each process answers a burst at the same time, and only samples that began while all of them were at work count: from
the latest beginning to the earliest end, by the tick counter that all cores share. Numbers of processes take turns
within a round, so that rounds are pairs. Nothing is stored. Samples are judged by their probes as everywhere; where
enough are clean these alone count, and their share is said: where two cores are threads of one, each shows the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from perbyte.errors import EnvironmentLacking
from perbyte.measure.sessions import CALIBRATION_MS, PATIENCE_MS, draw_layout
from perbyte.model import Burst, Calibration, Cell, Policy, Together
from perbyte.runners import RunnerSpec
from perbyte.runners.session import Session
from perbyte.stats.clean import clean_mask, ns_per_call
from perbyte.stats.samples import Bools, Floats

ROUNDS = 16
BURST_SAMPLES, BURST_MS = 1000, 40.0
LEAST_SAMPLES = 5  # of each process within the common window
CLEAN_SHARE = 0.1  # from here on the clean ones alone count


def measure_together(
    cell: Cell, spec: RunnerSpec, counts: Sequence[int], cores: Sequence[int], policy: Policy
) -> tuple[Together, ...]:
    """Measure `cell` by each number of processes in `counts`, on the first of `cores`.

    Raises EnvironmentLacking where there are fewer cores, RunnerError for whatever a runner may do wrong.
    """
    if max(counts) > len(cores):
        raise EnvironmentLacking(
            f"{max(counts)} threads need as many cores, and there are {len(cores)}",
            hint=f"--threads 1,{len(cores)}, or more --cores",
        )
    layout = draw_layout(policy.seed, 0)
    taken: dict[int, list[list[tuple[Burst, Calibration]]]] = {count: [] for count in counts}
    with ExitStack() as stack:
        sessions: list[tuple[Session, int, Calibration]] = []
        length = 0
        for core in cores[: max(counts)]:
            session = stack.enter_context(
                Session(spec, cpu=cell.cpu, core=core, environment=layout.environment)
            )
            session.hello()
            calibration = session.calibrate(
                CALIBRATION_MS, epoch=0, cores=[core], patience_ms=PATIENCE_MS, contention_length=length
            )
            length = length or calibration.contention_length
            handle = session.prepare(
                cell.algorithm,
                cell.operation,
                cell.contract,
                cell.size_bytes,
                seed=policy.seed,
                offset=layout.offset,
            )
            sessions.append((session, handle, calibration))
        for turn in range(ROUNDS):
            for count in counts if turn % 2 == 0 else counts[::-1]:
                asked = [
                    session.send_measure(
                        handle,
                        cell=cell,
                        epoch=0,
                        round=turn,
                        samples=BURST_SAMPLES,
                        limit_ms=BURST_MS,
                        sample_us=policy.sample_us,
                        warm_us=policy.warm_us,
                    )
                    for session, handle, _ in sessions[:count]
                ]
                taken[count].append(
                    [
                        (session.receive_measure(one).burst, calibration)
                        for one, (session, _, calibration) in zip(asked, sessions[:count], strict=True)
                    ]
                )
    return tuple(_summed(count, rounds, policy) for count, rounds in taken.items())


def _summed(count: int, rounds: Sequence[Sequence[tuple[Burst, Calibration]]], policy: Policy) -> Together:
    rounds_ns: list[tuple[float, ...]] = []
    clean = seen = 0
    for bursts in rounds:
        medians = []
        for times, mask in _within(bursts, policy):
            if len(times) < LEAST_SAMPLES:
                break
            clean, seen = clean + int(mask.sum()), seen + len(mask)
            enough = mask.sum() >= max(LEAST_SAMPLES, CLEAN_SHARE * len(mask))
            medians.append(float(np.median(times[mask] if enough else times)))
        rounds_ns.append(tuple(medians) if len(medians) == count else ())
    return Together(count, tuple(rounds_ns), clean / seen if seen else 0.0)


def _within(bursts: Sequence[tuple[Burst, Calibration]], policy: Policy) -> Iterator[tuple[Floats, Bools]]:
    """Times per call (ns) and the clean mask of each process's samples in the window that all have in common."""
    filled = [burst for burst, _ in bursts if len(burst)]
    if len(filled) < len(bursts):
        return
    begin = max(burst.start[0] for burst in filled)
    end = min(burst.start[-1] + burst.ticks[-1] for burst in filled)
    for burst, calibration in bursts:
        start = np.array(burst.start)
        inside = (start >= begin) & (start + np.array(burst.ticks) <= end)
        yield ns_per_call(burst, calibration)[inside], clean_mask(burst, calibration, policy)[inside]
