"""One call in a state that no loop has: with cold caches, or the first one that a process makes.

Warm loops give what a call costs in a program that makes many; these give what the first record costs. *cold*: before
each call another process reads more than the caches hold, by other code; then a single call is timed. *first*: a fresh
process makes one call of its own. Nothing is warmed, nothing is stored; samples are judged by their probes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np

from perbyte.measure.sessions import CALIBRATION_MS, PATIENCE_MS, alike, draw_layout
from perbyte.model import Calibration, Cell, Once, Policy
from perbyte.runners import RunnerSpec, find
from perbyte.runners.session import Session
from perbyte.stats.clean import clean_mask, cycles_per_call, ns_per_call

COLD, FIRST = "cold", "first"
STATES = (COLD, FIRST)
CALLS = 100
CALIBRATIONS = 6
EVICTED_BYTES = 48 << 20  # more than the caches of most cores hold
WAITS_MS = 50.0


def measure_state(
    cell: Cell, spec: RunnerSpec, state: str, core: int, policy: Policy, calls: int = CALLS
) -> Once:
    """Time `calls` single calls of `cell` in `state` (`cold` or `first`) on `core`.

    Raises EnvironmentLacking where the reference runner is not built (it empties the caches), RunnerError for
    whatever a runner may do wrong.
    """
    taken = list(
        _cold(cell, spec, core, policy, calls) if state == COLD else _first(cell, spec, core, policy, calls)
    )
    ns, cycles, clean = zip(*taken, strict=True) if taken else ((), (), ())
    return Once(state, ns, cycles if np.isfinite(cycles).all() else (), clean)


def _cold(
    cell: Cell, spec: RunnerSpec, core: int, policy: Policy, calls: int
) -> Iterator[tuple[float, float, bool]]:
    with ExitStack() as stack:
        other = stack.enter_context(Session(find("reference"), core=core))
        other.hello()
        reading = other.prepare("ripemd", "digest", "oneshot/1", EVICTED_BYTES, seed=policy.seed)
        session, calibration = _start(stack, cell, spec, core, policy, 0)
        handle = _prepare(session, cell, policy, 0)
        for number in range(calls):
            other.check_calls(reading, 1)
            yield _one(session, handle, cell, calibration, policy, number)


def _first(
    cell: Cell, spec: RunnerSpec, core: int, policy: Policy, calls: int
) -> Iterator[tuple[float, float, bool]]:
    length = 0
    for number in range(calls):
        with ExitStack() as stack:
            session, calibration = _start(stack, cell, spec, core, policy, number, length)
            length = calibration.contention_length
            yield _one(session, _prepare(session, cell, policy, number), cell, calibration, policy, number)


def _start(
    stack: ExitStack, cell: Cell, spec: RunnerSpec, core: int, policy: Policy, number: int, length: int = 0
) -> tuple[Session, Calibration]:
    layout = draw_layout(policy.seed, number)
    session = stack.enter_context(Session(spec, cpu=cell.cpu, core=core, environment=layout.environment))
    session.hello()
    before = None
    for _ in range(
        CALIBRATIONS
    ):  # until two looks at the clock agree: single calls have no others to be held against
        calibration = session.calibrate(
            CALIBRATION_MS, epoch=number, cores=[core], patience_ms=PATIENCE_MS, contention_length=length
        )
        if before and alike(before, calibration, policy):
            break
        before, length = calibration, calibration.contention_length
    return session, calibration


def _prepare(session: Session, cell: Cell, policy: Policy, number: int) -> int:
    return session.prepare(
        cell.algorithm,
        cell.operation,
        cell.contract,
        cell.size_bytes,
        seed=policy.seed,
        offset=draw_layout(policy.seed, number).offset,
    )


def _one(
    session: Session, handle: int, cell: Cell, calibration: Calibration, policy: Policy, number: int
) -> tuple[float, float, bool]:
    """Time a single call: nanoseconds, core cycles (NaN without a cycle source), and whether it was clean."""
    burst = session.measure(
        handle,
        cell=cell,
        epoch=number,
        round=0,
        samples=1,
        limit_ms=WAITS_MS,
        calls=1,
        sample_us=policy.sample_us,
    ).burst
    values = ns_per_call(burst, calibration), cycles_per_call(burst, calibration)
    return float(values[0][0]), float(values[1][0]), bool(clean_mask(burst, calibration, policy)[0])
