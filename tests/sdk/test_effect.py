"""A detector of neighbours is chosen by its effect, on a recording of a Zen 3 whose siblings were mostly active.

Each row of the recording is a piece of work, its ticks, and what five windows read before and after it. Two windows are
right there (225 no-ops, 128 vector additions), three are wrong: one refuses all, two take anything.
"""

from __future__ import annotations

import csv
import ctypes
import gzip
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SDK = HERE.parents[1] / "runners" / "sdk" / "c"
KINDS = {"adds": 0, "aes": 1, "vec": 2, "mem": 3}
WINDOWS = ("n105", "n225", "v116", "v128", "v141")
RIGHT = {"n225", "v128"}
UNSEEN, USELESS, TELLS = range(3)


class Look(ctypes.Structure):
    """pb_look of effect.h."""

    _fields_ = (
        ("work", ctypes.c_uint),
        *((name, ctypes.c_float) for name in ("ticks", "before", "after")),
    )


class Effect(ctypes.Structure):
    """pb_effect."""

    _fields_ = (("verdict", ctypes.c_int), *((n, ctypes.c_double) for n in ("kept", "pure", "costs")))


class Modes(ctypes.Structure):
    """pb_modes."""

    _fields_ = (("low", ctypes.c_double), ("high", ctypes.c_double))


class Judge:
    """The SDK's own effect.c."""

    def __init__(self, library: ctypes.CDLL) -> None:
        library.pb_effect_modes.restype = Modes
        library.pb_effect_judge.restype = Effect
        library.pb_effect_judge.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_double)
        self.library = library

    def judge(self, looks: Sequence[tuple[int, float, float, float]], limit: float = 0.0) -> Effect:
        """Judge by `limit`, or by the middle between the modes of the readings; without two modes nothing is seen."""
        array = (Look * len(looks))(*looks)
        modes = self.library.pb_effect_modes(array, len(looks))
        limit = limit or (modes.low * modes.high) ** 0.5
        return self.library.pb_effect_judge(array, len(looks), limit) if limit else Effect(UNSEEN, 0, 0, 0)

    def better(self, a: Effect, b: Effect) -> bool:
        return bool(self.library.pb_effect_better(ctypes.byref(a), ctypes.byref(b)))


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    target = tmp_path_factory.mktemp("effect") / "effect.so"
    command = ["cc", "-std=c11", "-O2", "-fPIC", "-shared", "-o", str(target), str(SDK / "effect.c"), "-lm"]
    subprocess.run(command, check=True)
    return Judge(ctypes.CDLL(str(target)))


@pytest.fixture(scope="module", params=[0, 1])
def recording(request: pytest.FixtureRequest) -> list[dict[str, str]]:
    place = HERE / "recordings" / f"zen3-by-effect-core{request.param}.csv.gz"
    with gzip.open(place, "rt") as handle:
        return [row for row in csv.DictReader(handle) if row["work"] in KINDS]


def chosen(judge: Judge, rows: Sequence[dict[str, str]]) -> str:
    """The window that is chosen by these rows; empty where none is seen to tell."""
    best, name = None, ""
    for window in WINDOWS:
        looks = [
            (KINDS[row["work"]], float(row["ticks"]), float(row[window]), float(row[f"{window}_after"]))
            for row in rows
        ]
        effect = judge.judge(looks)
        if effect.verdict == TELLS and (best is None or judge.better(effect, best)):
            best, name = effect, window
    return name


def test_any_two_thousand_samples_choose_a_right_window(
    judge: Judge, recording: list[dict[str, str]]
) -> None:
    draw = random.Random(2007)
    names = [chosen(judge, draw.sample(recording, 1600)) for _ in range(6)]
    assert set(names) <= RIGHT, names


def test_a_stretch_without_a_moment_alone_chooses_none_and_never_a_wrong_one(
    judge: Judge, recording: list[dict[str, str]]
) -> None:
    names = [
        chosen(judge, recording[first : first + 1600]) for first in range(0, len(recording) - 1600, 1000)
    ]
    assert set(names) <= {*RIGHT, ""}, names


def looks(alone: float, shared: float, *, read: tuple[float, float], share: float, count: int = 800):
    """Made-up looks: what the work costs alone and shared, and what the window reads then, 2 % of noise in both."""
    draw = random.Random(7)

    def noisy(value: float) -> float:
        return value * (1 + 0.02 * draw.random())

    made = []
    for i in range(count):
        busy = draw.random() < share
        reading = read[busy]
        made.append((i % 4, noisy((alone, shared)[busy]), noisy(reading), noisy(reading)))
    return made


def test_where_refusing_changes_nothing_a_window_does_not_qualify(judge: Judge) -> None:
    effect = judge.judge(looks(600, 600, read=(300, 500), share=0.5))
    assert effect.verdict != TELLS
    assert effect.costs == pytest.approx(1, abs=0.02)


def test_a_window_that_tells_says_what_a_refused_sample_costs(judge: Judge) -> None:
    effect = judge.judge(looks(600, 840, read=(300, 500), share=0.4))
    assert effect.verdict == TELLS
    assert effect.costs == pytest.approx(1.4, rel=0.02)
    assert effect.kept == pytest.approx(0.6, abs=0.05)


def test_a_window_that_takes_both_kinds_is_useless(judge: Judge) -> None:
    both = looks(600, 840, read=(300, 300), share=0.5, count=760) + looks(
        600, 900, read=(500, 500), share=1, count=40
    )
    assert judge.judge(both).verdict == USELESS


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_one_mode_shows_nothing(judge: Judge, share: float) -> None:
    assert judge.judge(looks(600, 840, read=(300, 500), share=share)).verdict == UNSEEN
