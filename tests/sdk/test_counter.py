"""What a tick counter can tell apart: the C SDK's arithmetic on readings of made-up counters, x86 to RISC-V."""

from __future__ import annotations

import ctypes
import random
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest

from perbyte import places

pytestmark = pytest.mark.native

SDK = places.data_dir("runners") / "sdk" / "c"
TOLERANCE = 0.005
LEAST, MOST = 40, 4000

# Ticks of a second as the counter is said to run; how often a second it really moves; nanoseconds between two readings.
COUNTERS = {
    "tsc": (2.6e9, 2.6e9, 18.0),
    "tsc in steps of 26": (2.6e9, 1e8, 18.0),
    "cntvct, 25 MHz": (25e6, 25e6, 12.0),
    "cntvct, 54 MHz": (54e6, 54e6, 40.0),
    "cntvct, 1 GHz": (1e9, 1e9, 12.0),
    "cntvct, 1 GHz made from 24 MHz": (1e9, 24e6, 12.0),
    "cntvct, 1 GHz made from 100 MHz": (1e9, 1e8, 7.0),
    "rdtime, 4 MHz": (4e6, 4e6, 100.0),
    "rdtime, 1 MHz, trapped": (1e6, 1e6, 700.0),
}


@pytest.fixture(scope="module")
def counter(tmp_path_factory) -> ctypes.CDLL:
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler")
    made = tmp_path_factory.mktemp("counter") / "counter.so"
    subprocess.run(
        ["cc", "-std=c11", "-O2", "-shared", "-fPIC", "-o", made, SDK / "counter.c", "-lm"], check=True
    )
    library = ctypes.CDLL(str(made))
    library.pb_counter_step.restype = ctypes.c_uint64
    library.pb_counter_blocks.restype = ctypes.c_uint
    library.pb_counter_mean.restype = ctypes.c_double
    return library


def ticks_at(name: str, second: float) -> int:
    """What a counter reads at a time: it moves `moves` times a second, by whatever makes up for `hz`."""
    hz, moves, _ = COUNTERS[name]
    return int(int(second * moves) * hz / moves)


def step_of(counter: ctypes.CDLL, name: str, seed: int = 1) -> int:
    chance = random.Random(seed)
    gap_ns, second, readings = COUNTERS[name][2], 7.0, []
    for _ in range(2000):
        second += gap_ns * chance.uniform(0.97, 1.1) * 1e-9
        if chance.random() < 0.002:
            second += 4e-6  # somebody else had the core
        readings.append(ticks_at(name, second))
    return counter.pb_counter_step((ctypes.c_uint64 * len(readings))(*readings), len(readings))


@pytest.mark.parametrize("name", COUNTERS)
def test_the_step_is_that_of_the_counter(counter: ctypes.CDLL, name: str) -> None:
    hz, moves, _ = COUNTERS[name]
    assert abs(step_of(counter, name) - hz / moves) < 1


def test_a_counter_that_stands_still_has_a_step_all_the_same(counter: ctypes.CDLL) -> None:
    readings = (ctypes.c_uint64 * 5)(*[9] * 5)
    assert counter.pb_counter_step(readings, 5) == 1


@pytest.mark.parametrize("core_hz", [0.6e9, 1.5e9, 3.0e9, 5.7e9])
@pytest.mark.parametrize("name", COUNTERS)
def test_one_step_is_at_most_the_tolerance_of_a_clock_probe(
    counter: ctypes.CDLL, name: str, core_hz: float
) -> None:
    step, a_block = step_of(counter, name), 300 * COUNTERS[name][0] / core_hz
    blocks = counter.pb_counter_blocks(
        ctypes.c_uint64(step), ctypes.c_double(a_block), ctypes.c_double(TOLERANCE), LEAST, MOST
    )
    assert LEAST <= blocks <= MOST
    assert step <= TOLERANCE * blocks * a_block * 1.0001
    assert blocks == LEAST or step > 0.9 * TOLERANCE * blocks * a_block, "longer than it must be"


def test_a_counter_that_does_not_move_gives_the_longest_probe_and_no_more(counter: ctypes.CDLL) -> None:
    blocks = counter.pb_counter_blocks(
        ctypes.c_uint64(1), ctypes.c_double(0), ctypes.c_double(TOLERANCE), LEAST, MOST
    )
    assert blocks == MOST


@pytest.mark.parametrize("length", [200.0, 200.1, 200.3, 200.5, 200.7, 200.97])
def test_a_length_between_two_steps_is_found(counter: ctypes.CDLL, length: float) -> None:
    """Of 60 readings a fifth is disturbed: the mean errs by a tenth of a step, the lower half by up to a whole one."""
    chance, errors = random.Random(5), []
    for _ in range(200):
        readings = []
        for _ in range(60):
            longer = chance.uniform(2, 30) if chance.random() < 0.2 else 0.0
            begin = chance.random()
            readings.append(float(int(begin + length + longer)))
        values = (ctypes.c_double * len(readings))(*readings)
        mean = counter.pb_counter_mean(
            values, len(readings), ctypes.c_double(0.05), ctypes.c_double(0.5), ctypes.c_double(1.0)
        )
        errors.append(mean - length)
    assert abs(statistics.fmean(errors)) < 0.1
    assert statistics.pstdev(errors) < 0.15


def test_without_a_step_the_lower_half_is_taken(counter: ctypes.CDLL) -> None:
    values = (ctypes.c_double * 100)(*[float(i) for i in range(100)])
    mean = counter.pb_counter_mean(
        values, 100, ctypes.c_double(0.05), ctypes.c_double(0.5), ctypes.c_double(0.0)
    )
    assert mean == statistics.fmean(range(5, 50))


def test_the_sdk_is_compiled_with_it(tmp_path: Path) -> None:
    """The Java runner names the sources one by one."""
    named = (SDK.parent.parent / "jca" / "build.sh").read_text(encoding="utf-8")
    assert '"$c/counter.c"' in named
