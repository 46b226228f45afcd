"""One estimate over another: by interval arithmetic, and where the two err independently."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perbyte.model import Estimate
from perbyte.stats.compare import quotient, ratio_of_ratios


def test_a_ratio_of_ratios_adds_their_widths_in_quadrature():
    ratio = ratio_of_ratios(Estimate(6.0, 5.94, 6.06), Estimate(2.0, 1.98, 2.02))
    assert ratio.value == 3.0
    assert ratio.relative == pytest.approx(0.01 * math.sqrt(2), rel=1e-3)
    assert ratio_of_ratios(Estimate(6.0, 5.0, 8.0), Estimate(2.0, 0.0, 4.0)) == Estimate(3.0, 0.0, math.inf)


def test_a_ratio_of_ratios_holds_the_truth_in_19_of_20():
    draw = np.random.default_rng(5)
    held = 0
    for above, below in draw.normal(0.0, 0.01, (2000, 2)):
        ends = [Estimate(v, v * math.exp(-0.0196), v * math.exp(0.0196)) for v in np.exp([above, below])]
        ratio = ratio_of_ratios(*ends)
        held += ratio.low <= 1 <= ratio.high
    assert 0.94 < held / 2000 < 0.96


def test_quotients_reach_from_end_to_end():
    ratio = quotient(Estimate(6.0, 5.0, 8.0), Estimate(2.0, 0.5, 4.0))
    assert (ratio.value, ratio.low, ratio.high) == (3.0, 1.25, 16.0)
    assert quotient(Estimate(6.0, 5.0, 8.0), Estimate(2.0, 0.0, 4.0)) == Estimate(3.0, 0.0, math.inf)
    assert quotient(Estimate(6.0, 0.0, 8.0), Estimate(2.0, 1.0, 4.0)) == Estimate(3.0, 0.0, math.inf)
    assert quotient(Estimate(6.0, 5.0, 8.0), Estimate(0.0, 0.0, 0.0)).value == math.inf
