"""The scripted runner beside a neighbour: what is replayed, what it does to time, and how cores are changed."""

from __future__ import annotations

import gzip

import pytest
from fake_scripts import row

from perbyte.errors import RunnerRefused
from perbyte.model import Cell
from perbyte.runners.session import Session

CLOCK = {"contention_probe": "reorder-buffer", "tick_hz": 2e9, "core_hz": 2e9, "contention_cycles": 500.0}
QUIET = [["q", 1e6]]
BUSY = [["b", 1e6, 1.5]]


@pytest.fixture
def talk(fake_runners):
    """Start a runner with this neighbour; returns the session, its handle and its calibration."""
    sessions = []

    def start(*traces, cores=(), patience_ms=0.0, clock=CLOCK, **script):
        beside = {"cores": list(traces), "offset_s": 0.0, **script.pop("neighbour", {})}
        operations = [row(per_call=20_000, per_byte=0)]
        name = f"fake-{len(sessions)}"
        script = {"name": name, "operations": operations, "clock": clock, "neighbour": beside, **script}
        [spec] = fake_runners(script)
        session = Session(spec)
        sessions.append(session)
        session.hello()
        calibration = session.calibrate(1.0, epoch=0, cores=cores, patience_ms=patience_ms)
        handle = session.prepare("aes-128-ecb", "encrypt", "message/1", 16, seed=1)
        return session, handle, calibration

    yield start
    for session in sessions:
        session.close()


def measure(session, handle, calibration, **more):
    cell = Cell("fake", "aes-128-ecb", "encrypt", 16, "message/1")
    asked = {
        "samples": 8,
        "limit_ms": 50.0,
        "calls": 2,
        "patience": 40_000,
        "contention_floor": 500.0,
        "contention_tolerance": 0.2,
    }
    return session.measure(handle, cell=cell, epoch=0, round=1, **{**asked, **more}).burst


def test_a_quiet_trace_costs_nothing(talk):
    session, handle, calibration = talk(QUIET)
    assert (calibration.contention_probe, calibration.alone) == ("reorder-buffer", pytest.approx(1.0))
    burst = measure(session, handle, calibration)
    assert burst.waits == 0
    assert all(abs(ticks - 40_080) <= 4 for ticks in burst.ticks)
    assert set(burst.contention_before) <= {500, 502}
    assert burst.core == []


def test_beside_a_neighbour_both_modes_show_and_calls_are_slowed(talk):
    session, handle, calibration = talk(BUSY, neighbour={"slowed": 1.3})
    assert (calibration.contention_floor, calibration.contention_shared, calibration.alone) == (0, 0, 0)
    burst = measure(session, handle, calibration, patience=3)
    assert burst.waits == 3 * len(burst)
    assert all(abs(reading - 850) <= 4 for reading in burst.contention_before + burst.contention_after)
    assert all(abs(ticks - 1.3 * 40_080) <= 6 for ticks in burst.ticks)
    assert all(clock == burst.clock_before[0] for clock in burst.clock_after), "a chain of latencies is blind"


def test_the_front_end_probe_reads_what_was_recorded(talk):
    session, handle, calibration = talk(
        BUSY, clock={"tick_hz": 2e9, "core_hz": 2e9}, neighbour={"slowed": "front-end"}
    )
    assert calibration.contention_probe == "front-end"
    burst = measure(session, handle, calibration, contention_floor=0.0)
    assert all(abs(reading - 7500) <= 4 for reading in burst.contention_after)
    assert all(abs(ticks - 1.5 * 40_080) <= 6 for ticks in burst.ticks)


def test_nothing_is_done_while_the_core_is_taken_away(talk):
    session, handle, calibration = talk([["q", 1000.0], ["s", 300.0]])
    burst = measure(session, handle, calibration, samples=200, contention_floor=0.0)
    longer = [ticks for ticks in burst.ticks if ticks > 41_000]
    assert len(longer) > 3
    assert all(abs(ticks - 40_080 - 600_000) <= 4 for ticks in longer), "300 us at 2 GHz on top"


def test_a_runner_of_one_core_waits_and_one_of_two_goes_to_the_quiet_one(talk):
    half = [["b", 3000.0, 1.5], ["q", 3000.0]]
    session, handle, calibration = talk(half)
    alone = measure(session, handle, calibration)
    assert alone.waits > 100
    session, handle, calibration = talk(half, QUIET, cores=(0, 1))
    both = measure(session, handle, calibration)
    assert set(both.core) == {1}
    assert both.waits < alone.waits / 10
    assert both.start[-1] < alone.start[-1]


def test_looks_that_are_made_in_one_go_take_as_long_as_they_would(talk):
    """3 ms beside a neighbour at 425 ns a look; the wait ends in the first quiet moment."""
    session, handle, calibration = talk([["q", 2000.0], ["b", 3000.0]])
    burst = measure(session, handle, calibration, samples=100, limit_ms=10.0)
    assert burst.waits * 425e-9 == pytest.approx(0.006, abs=3.2e-3)
    inside = [tick / 2e3 % 5000 for tick in burst.start]
    assert all(moment <= 2000 for moment in inside), "samples begin when the core is quiet"


def test_caches_are_cold_after_a_neighbour_unless_calls_went_untimed(talk):
    trace = [["q", 200.0], ["b", 100.0]]
    session, handle, calibration = talk(
        trace, neighbour={"cold": {"relative": 0.05, "us": 15}, "slowed": 1.0}
    )
    warm = measure(session, handle, calibration, samples=50)
    cold = measure(session, handle, calibration, samples=50, patience=0, contention_floor=500.0)
    floor = 500 * 1.2 + 2
    clean = [
        ticks
        for ticks, before, after in zip(
            warm.ticks, warm.contention_before, warm.contention_after, strict=True
        )
        if max(before, after) <= floor
    ]
    assert max(clean) <= 40_080 * 1.001
    assert max(cold.ticks) > 40_080 * 1.04


def test_cores_may_differ_in_speed(fake_runners):
    [spec] = fake_runners(
        {"cores": {"1": 1.02}, "clock": CLOCK, "operations": [row(per_call=20_000, per_byte=0)]}
    )
    speeds = {}
    for core in (0, 1):
        with Session(spec) as session:
            session.hello()
            calibration = session.calibrate(1.0, epoch=0, cores=(core,))
            handle = session.prepare("aes-128-ecb", "encrypt", "message/1", 16, seed=1)
            burst = measure(session, handle, calibration)
            assert set(burst.core) == {core}
            speeds[core] = sum(burst.ticks)
    assert speeds[1] / speeds[0] == pytest.approx(1.02, rel=2e-4)


def test_watch_tells_the_trace_and_goes_on_to_the_next_core(talk):
    session, _, _ = talk([["q", 500.0], ["b", 300.0], ["s", 200.0]], QUIET, cores=(0, 1))
    seen = session.watch(10.0)
    if seen.core == 1:
        seen = session.watch(10.0)
    assert seen.core == 0
    assert set(seen.state) == set("qbs")
    assert sum(seen.ticks) == pytest.approx(10e-3 * 2e9, rel=1e-3)
    shared = sum(ticks for state, ticks in zip(seen.state, seen.ticks, strict=True) if state == "b")
    assert shared / sum(seen.ticks) == pytest.approx(0.3, abs=0.04)
    following = session.watch(10.0)
    assert (following.core, following.state) == (1, "q")


def test_a_script_without_any_of_it_has_no_watch(fake_runners):
    [spec] = fake_runners({})
    with Session(spec) as session:
        session.hello()
        assert session.calibrate(1.0, epoch=0, cores=(0, 1)).contention_probe == "front-end"
        with pytest.raises(RunnerRefused, match="no verb watch"):
            session.watch(1.0)


def test_a_trace_is_read_from_a_file_and_wraps(talk, tmp_path):
    path = tmp_path / "trace-core0.csv.gz"
    path.write_bytes(
        gzip.compress(b"state,duration_us,front_end_ratio\nq,100.00,1.00\nb,50.00,1.20\nq,50.00,1.00\n")
    )
    session, _, _ = talk(str(path))
    seen = session.watch(20.0)
    assert len(seen.state) == pytest.approx(200, abs=3), "the end of a trace is followed by its beginning"
    assert max(seen.ticks) == pytest.approx(150e-6 * 2e9, rel=1e-3)


def test_the_place_in_the_trace_is_drawn_from_seed_and_start(fake_runners):
    trace, seen = [["q", 400.0], ["b", 600.0]], []

    def first(seed, start):
        script = {"name": f"fake-{seed}-{start}-{len(seen)}", "seed": seed, "start": start}
        script |= {"clock": CLOCK, "neighbour": {"cores": [trace]}}
        seen.append(script["name"])
        [spec] = fake_runners(script)
        with Session(spec) as session:
            session.hello()
            session.calibrate(1.0, epoch=0)
            return session.watch(5.0).ticks

    assert first(1, 0) == first(1, 0)
    assert first(1, 0) != first(1, 1)
    assert first(1, 0) != first(2, 0)
