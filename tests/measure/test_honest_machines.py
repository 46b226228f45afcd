"""No honest figure is refused on machines that do not exist, and of half the work little is believed.

`bench/honest.py` asks as many machines as a bound needs.
"""

from __future__ import annotations

from collections import Counter

import pytest
from madeup import audit, verdicts

MACHINES = 60


@pytest.fixture(autouse=True)
def _true_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up machines put lots of their own in its place."""
    monkeypatch.setattr(audit, "CHANCE", audit.CHANCE)


def outcomes(honest: float) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in range(MACHINES):
        for _, verdict, _ in verdicts(seed, honest=honest):
            counts["refused" if verdict.refusal else "marked" if verdict.warnings else "as it is"] += 1
    return counts


def test_no_honest_cell_is_refused() -> None:
    counts = outcomes(1.0)
    assert counts["refused"] == 0
    assert counts["as it is"] > 0.4 * counts.total()  # of 9,000 cells 53 %


@pytest.mark.slow
def test_a_tenth_of_the_work_is_not_believed() -> None:
    counts = outcomes(0.1)
    assert counts["refused"] > 5 * counts["as it is"]
