"""The fake runner shows what its script says: what is built on it would otherwise be tested on sand."""

from __future__ import annotations

import statistics

import pytest
from fake_scripts import answers, fault, lie, row, starts

from perbyte.errors import RunnerCrashed, RunnerRefused
from perbyte.model import Cell, Flag, KnownAnswer
from perbyte.runners import Session, TimeLimits

TICK, CORE = 2.1e9, 2.7e9
FIXED = 80


def taken(spec, *, size=100, samples=40, calls=1000, cpu="full", offset=0, before=(), **more):
    with Session(spec, cpu=cpu) as session:
        listed = session.hello().operations[0]
        name = (listed.algorithm, listed.operation, listed.contract)
        handle = session.prepare(*name, size, seed=7, offset=offset)
        cell = Cell(spec.name, name[0], name[1], size, name[2], cpu)
        asked = {"limit_ms": 1e6, "contention_floor": 5000.0, **more}
        return session.measure(
            handle, cell=cell, epoch=0, round=0, samples=samples, calls=calls, **asked
        ).burst


def cycles(burst):
    return [(ticks - FIXED) / burst.calls * CORE / TICK for ticks in burst.ticks]


OPERATION = row("aes-128-ctr", per_call=200, per_byte=1.5)


def test_a_quiet_sky_shows_the_true_cost(fake_runners):
    [spec] = fake_runners({"operations": [OPERATION]})
    burst = taken(spec)
    assert cycles(burst) == pytest.approx([350.0] * 40, rel=1e-4)
    assert burst.clock_before == [pytest.approx(6000 * TICK / CORE, abs=2)] * 40
    assert burst.contention_after == [pytest.approx(5000 * TICK / CORE, abs=2)] * 40
    assert set(burst.flags) == {0}
    assert burst.cycles == []


def test_calls_are_chosen_to_fill_a_sample(fake_runners):
    [spec] = fake_runners({"operations": [OPERATION]})
    assert taken(spec, calls=0, sample_us=50).calls == round(50e-6 * CORE / 350)


def test_noise_has_the_spread_it_should_have_and_repeats(fake_runners):
    script = {"operations": [OPERATION], "noise": {"sample": 0.01}}
    first, second, other = fake_runners(
        {"name": "a", **script}, {"name": "b", **script}, {"name": "c", "seed": 2, **script}
    )
    burst = taken(first, samples=400)
    values = cycles(burst)
    assert statistics.mean(values) == pytest.approx(350, rel=0.003)
    assert statistics.stdev(values) / 350 == pytest.approx(0.01, rel=0.2)
    assert taken(second, samples=400).ticks == burst.ticks
    assert taken(other, samples=400).ticks != burst.ticks


def test_a_layout_belongs_to_a_process(fake_runners):
    [spec] = fake_runners({"operations": [OPERATION], "layout": 0.05})
    bursts = [cycles(taken(spec, samples=5)) for _ in range(8)]
    assert starts(spec.here) == 8
    for values in bursts:
        assert max(values) == pytest.approx(min(values), rel=1e-4)
        assert 350 * 0.9499 <= values[0] <= 350 * 1.0501
    assert len({round(values[0], 2) for values in bursts}) == 8


def test_a_change_of_frequency_shows_in_clock_and_ticks(fake_runners):
    clock = {"frequency": [[0.001, CORE / 2]]}
    [spec] = fake_runners({"operations": [OPERATION], "clock": clock})
    burst = taken(spec, samples=20, calls=350)
    assert burst.clock_after[-1] == pytest.approx(2 * burst.clock_before[0], abs=4)
    assert burst.ticks[-1] - FIXED == pytest.approx(2 * (burst.ticks[0] - FIXED), rel=0.01)


def test_contention_shows_in_the_probe_unless_it_hides(fake_runners):
    spell = {"from_s": 0.0, "to_s": 0.001, "factor": 1.5}
    seen, hidden = fake_runners(
        {"name": "seen", "operations": [OPERATION], "contention": [spell]},
        {"name": "hidden", "operations": [OPERATION], "contention": [{**spell, "hidden": True}]},
    )
    for spec, shown in ((seen, 1.5), (hidden, 1.0)):
        burst = taken(spec, samples=30, calls=350)
        assert cycles(burst)[0] == pytest.approx(350 * 1.5, rel=0.001)
        assert cycles(burst)[-1] == pytest.approx(350, rel=0.001)
        assert burst.contention_before[0] == pytest.approx(shown * burst.contention_before[-1], abs=4)
        assert burst.clock_before[0] == burst.clock_before[-1]


def test_bursts_of_contention_fill_their_share_and_can_be_waited_out(fake_runners):
    spell = {"share": 0.3, "burst_s": 0.0002, "factor": 2.0}
    [spec] = fake_runners({"operations": [OPERATION], "contention": [spell]})
    slow = [value > 400 for value in cycles(taken(spec, samples=1000, calls=350))]
    # 30 % of the time, in samples that take twice as long: 0.15 / 0.85 of them
    assert 0.12 < sum(slow) / len(slow) < 0.24
    patient = taken(spec, samples=1000, calls=350, patience=200)
    assert patient.waits > 100
    assert sum(value > 400 for value in cycles(patient)) < sum(slow) / 3


def test_a_burst_ends_early_when_enough_is_clean_or_time_is_up(fake_runners):
    [spec] = fake_runners({"operations": [OPERATION]})
    assert len(taken(spec, samples=40, clean=7)) == 7
    assert len(taken(spec, samples=40, limit_ms=0)) == 1
    assert 5 < len(taken(spec, samples=1000, limit_ms=2)) < 20


def test_flags_trend_and_a_counter(fake_runners):
    script = {"flags": {"switched": 0.25, "collected": 0.25}, "clock": {"pmu": True}}
    [spec] = fake_runners(
        {"operations": [row("aes-128-ctr", trend={"relative": 0.5, "samples": 30})], **script}
    )
    burst = taken(spec, samples=300)
    assert 0.15 < sum(bool(flag & Flag.SWITCHED) for flag in burst.flags) / 300 < 0.35
    assert set(burst.flags) == {0, 1, 8, 9}
    quiet = [value for value, flag in zip(cycles(burst), burst.flags, strict=True) if not flag & 1]
    assert quiet[0] > 1.4 * quiet[-1]
    assert burst.cycles[0] == pytest.approx(burst.ticks[0] * CORE / TICK, abs=4)


def test_lies_stay_where_they_were_told(fake_runners):
    [spec] = fake_runners(
        {
            "operations": [OPERATION],
            "lies": [lie("check", sizes=[32]), lie("measure", cpu=["soft"], starts=[1])],
        }
    )
    right = {}
    for start, cpu in enumerate(("full", "soft")):
        with Session(spec, cpu=cpu) as session:
            for size in (16, 32):
                handle = session.prepare("aes-128-ctr", "encrypt", "message/1", size, seed=7)
                cell = Cell(spec.name, "aes-128-ctr", "encrypt", size, "message/1")
                digest = session.measure(
                    handle, cell=cell, epoch=0, round=0, samples=1, calls=2, limit_ms=1
                ).digest
                right[start, size] = digest == session.check_calls(handle, 2).digest
    # at 32 bytes under `soft` both lie in the same way, and so agree again
    assert right == {(0, 16): True, (0, 32): False, (1, 16): False, (1, 32): True}


def test_known_answers_can_be_given(fake_runners):
    known = KnownAnswer(
        "aes-128-ecb", "encrypt", "FIPS 197", input="00" * 16, output="ab" * 16, key="11" * 16
    )
    knowing, ignorant = fake_runners({"name": "knowing", "answers": answers([known])}, {"name": "ignorant"})
    with Session(knowing) as session:
        handle = session.prepare("aes-128-ecb", "encrypt", "message/1", 16, seed=7)
        assert session.check_vector(handle, known).output == "ab" * 16
    with Session(ignorant) as session:
        handle = session.prepare("aes-128-ecb", "encrypt", "message/1", 16, seed=7)
        with pytest.raises(RunnerRefused) as refused:
            session.check_vector(handle, known)
        assert refused.value.code == "unsupported"


def test_a_fault_can_wait_for_a_start_and_a_size(fake_runners):
    [spec] = fake_runners({"faults": [fault("prepare", "crash", starts=[1], sizes=[32], nth=2)]})
    for start in range(3):
        with Session(spec) as session:
            for size in (32, 16):
                session.prepare("aes-128-ctr", "encrypt", "message/1", size, seed=7)
            if start == 1:
                with pytest.raises(RunnerCrashed):
                    session.prepare("aes-128-ctr", "encrypt", "message/1", 32, seed=7)
            else:
                session.prepare("aes-128-ctr", "encrypt", "message/1", 32, seed=7)


def test_large_work_is_given_more_time(fake_runners):
    [spec] = fake_runners({"faults": [fault("check", "slow", seconds=0.6)]})
    with Session(spec, limits=TimeLimits(check=0.1, per_byte=1e-3)) as session:
        handle = session.prepare("aes-128-ctr", "encrypt", "message/1", 1600, seed=7)
        assert session.check_calls(handle, 1).length == 1600
