"""How other tools decide whether two classes of times differ, from their published definitions, for bench/leaks.py.

dudect (Reparaz, Balasch, Verbauwhede 2017; `dudect.h` of 2024): Welch's t of all samples, of those below 100 upper
quantiles and of squared distances; above 10 is a leak. tlsfuzzer (Kario 2023, `analysis.py` of 2026): sign test,
Wilcoxon's test and paired t, a p below 1e-5. RTLF (Dunsche and others 2024, `rtlf.R` of 2025): differences of deciles
beyond what resamples of one class differ by, 9 % of all. SILENT (Dunsche, Lamp, Pöpper 2025, `functions.R` of
2025): the largest difference of 91 quantiles beyond Delta, by a bootstrap of blocks, 10 %. tacet (2026) is a library in
Rust: `Tacet` asks a program that calls its `analyze_single_pass`.

Times are what a counter shows, in its steps; a rule gets both classes in the order in which they were taken.
"""

from __future__ import annotations

import math
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from perbyte.stats.paired import normal_p, sign_p, signed_rank
from perbyte.stats.samples import Floats

DUDECT_T, TLSFUZZER_P = 10.0, 1e-5
RTLF_ALPHA, RTLF_ROUNDS = 0.09, 10_000
SILENT_ALPHA, SILENT_ROUNDS = 0.1, 1000
SILENT_LEVELS = np.arange(0.05, 0.951, 0.01)
DECILES = np.arange(0.1, 0.91, 0.1)
CUTS = 100
Rule = Callable[[Floats, Floats], str]
LEAK, NONE = "leak", "none"


def welch(a: Floats, b: Floats) -> float:
    """Welch's t (1947)."""
    spread = math.sqrt(float(a.var(ddof=1)) / len(a) + float(b.var(ddof=1)) / len(b))
    return float(b.mean() - a.mean()) / spread if spread else 0.0


def largest_t(a: Floats, b: Floats) -> float:
    """The largest |t| of dudect's 102 tests."""
    cuts = np.unique(np.quantile(np.concatenate([a, b]), 1 - 0.5 ** (10 * np.arange(1, CUTS + 1) / CUTS)))
    statistics = [abs(welch(a, b)), abs(welch((a - a.mean()) ** 2, (b - b.mean()) ** 2))]
    for cut in cuts:
        below, above = a[a < cut], b[b < cut]
        if min(len(below), len(above)) > CUTS:
            statistics.append(abs(welch(below, above)))
    return max(statistics)


def dudect(a: Floats, b: Floats) -> str:
    """A leak above 10."""
    return LEAK if largest_t(a, b) > DUDECT_T else NONE


def least_p(a: Floats, b: Floats) -> float:
    """The least p of tlsfuzzer's sign test, Wilcoxon's test and paired t."""
    apart = b - a
    t = float(apart.mean()) / (float(apart.std(ddof=1)) / math.sqrt(len(apart)) or 1.0)
    return min(sign_p(apart), normal_p(signed_rank(apart)), normal_p(t))


def tlsfuzzer(a: Floats, b: Floats) -> str:
    """A leak where any is below 1e-5."""
    return LEAK if least_p(a, b) < TLSFUZZER_P else NONE


def rtlf(a: Floats, b: Floats) -> str:
    """A leak where any decile differs by more than 99 % of pairs of resamples of one class do."""
    draws = np.random.default_rng(1)
    values, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    counts = [np.bincount(part, minlength=len(values)) for part in (codes[: len(a)], codes[len(a) :])]
    limits = []
    for count in counts:
        chances = count / count.sum()
        sides = [draws.multinomial(count.sum(), chances, RTLF_ROUNDS) for _ in range(2)]
        apart = np.abs(_type_2(values, sides[0]) - _type_2(values, sides[1]))
        limits.append(np.quantile(apart, 1 - RTLF_ALPHA / len(DECILES), axis=0))
    deciles = [_type_2(values, count[None, :])[0] for count in counts]
    return LEAK if (np.abs(deciles[0] - deciles[1]) > np.maximum(*limits)).any() else NONE


def _type_2(values: Floats, counts: np.ndarray) -> np.ndarray:
    """R's quantiles of type 2 at the deciles: the mean of both neighbours where a step is met exactly."""
    below = np.cumsum(counts, axis=1)
    total = below[:, -1:]
    lower, upper = [], []
    for level in DECILES:
        goal = np.round(level * total, 6)
        lower.append(np.minimum((below < goal - 1e-6).sum(axis=1), len(values) - 1))
        upper.append(np.minimum((below <= goal + 1e-6).sum(axis=1), len(values) - 1))
    return (values[np.array(lower).T] + values[np.array(upper).T]) / 2


def silent(delta: float, *, anywhere: bool = False) -> Rule:
    """SILENT with a difference that does not matter; samples in few steps by its way for discrete data.

    For these its code draws all blocks from the first n^(2/3) samples; with `anywhere` they come from all.
    """

    def rule(a: Floats, b: Floats) -> str:
        draws = np.random.default_rng(1)
        values, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
        both = (codes[: len(a)], codes[len(a) :])
        length = len(a)
        discrete = min(len(np.unique(a)), len(np.unique(b))) < 0.1 * length
        block = max(1, math.ceil(max(_block_length(a), _block_length(b))))
        size = int(length ** (2 / 3)) if discrete else length
        block = min(block, size)
        last = (length if anywhere else size) - block
        starts = draws.integers(0, last + 1, (SILENT_ROUNDS, math.ceil(size / block)))
        apart = _levels(values, both[0]) - _levels(values, both[1])
        picks = ((row[:, None] + np.arange(block)).ravel() for row in starts)
        again = np.array([_levels(values, both[0][pick]) - _levels(values, both[1][pick]) for pick in picks])
        scale = math.sqrt(block * starts.shape[1]) if discrete else 1.0
        boot = scale * (np.abs(again) - np.abs(apart) if delta > 0 else np.abs(again - apart))
        square = boot.var(axis=0, ddof=1)
        square = np.where(square > 0, square, np.inf if not square.any() else square[square > 0].min())
        size_of = np.abs(apart)
        kept = square <= 5 * square.mean()
        near = size_of / np.sqrt(square) + 30 * math.sqrt(math.log(length) ** 1.5 / length)
        kept &= near >= delta / np.sqrt(square)
        if not kept.any():
            return NONE
        tested = (math.sqrt(length) if discrete else 1.0) * (size_of - delta) / np.sqrt(square)
        limit = np.quantile((boot / np.sqrt(square))[:, kept].max(axis=1), 1 - SILENT_ALPHA)
        return LEAK if tested[kept].max() > limit else NONE

    return rule


def _levels(values: Floats, codes: np.ndarray) -> Floats:
    """Mid-quantiles (Ma, Genton, Parzen 2011): the middle of a step belongs to its value."""
    counts = np.bincount(codes, minlength=len(values))
    there = counts > 0
    share = counts[there] / counts.sum()
    return np.interp(SILENT_LEVELS, np.cumsum(share) - share / 2, values[there])


def _block_length(x: Floats) -> float:
    """The block length of Politis and White (2004), as Patton, Politis and White (2009) corrected it."""
    n = len(x)
    runs, most = max(5, math.ceil(math.log10(n))), math.ceil(math.sqrt(n)) + max(5, math.ceil(math.log10(n)))
    band = 2 * math.sqrt(math.log10(n) / n)
    centred = x - x.mean()
    lags = np.array([float(centred[: n - k] @ centred[k:]) / n for k in range(most + 1)])
    if not lags[0]:
        return 1.0
    small = np.abs(lags[1:] / lags[0]) < band
    first = next((k for k in range(len(small) - runs + 1) if small[k : k + runs].all()), None)
    last = np.flatnonzero(~small)
    reach = first if first is not None else int(last[-1]) + 1 if len(last) else 1
    m = min(2 * max(reach, 1), most)
    k = np.arange(-m, m + 1)
    window = np.where(np.abs(k) / m <= 0.5, 1.0, 2 * (1 - np.abs(k) / m))
    covariances = lags[np.abs(k)]
    slope, long_run = float((window * np.abs(k) * covariances).sum()), float((window * covariances).sum())
    if not long_run:
        return 1.0
    return min((slope**2 / long_run**2) ** (1 / 3) * n ** (1 / 3), math.ceil(min(3 * math.sqrt(n), n / 3)))


@dataclass(slots=True)
class Tacet:
    """A program that reads lines `FILE THETA STEP` and answers each with tacet's outcome; FILE has both classes.

    Times are told as nanoseconds, whatever their unit is: tacet knows no other. `theta` is its threshold.
    """

    program: Path
    theta: float
    step: float = 1.0
    _running: subprocess.Popen[str] | None = field(default=None)

    def __call__(self, a: Floats, b: Floats) -> str:
        """The outcome: `leak`, `none`, or `not known`."""
        if self._running is None:
            self._running = subprocess.Popen(
                [self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self._running.stdin
        assert self._running.stdout
        with tempfile.NamedTemporaryFile() as file:
            file.write(np.concatenate([a, b]).astype("<f8").tobytes())
            file.flush()
            self._running.stdin.write(f"{file.name} {self.theta} {self.step}\n")
            self._running.stdin.flush()
            outcome = self._running.stdout.readline().split()[0]
        return {"Fail": LEAK, "Pass": NONE}.get(outcome, "not known")


def timed(rule: Rule, a: Floats, b: Floats) -> tuple[str, float]:
    """What a rule says, and the seconds that it took to say it."""
    began = time.monotonic()
    return rule(a, b), time.monotonic() - began
