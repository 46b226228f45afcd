"""What is said of a core that was watched."""

import pytest

from perbyte.measure.cores import CoreWatch, summarise


def test_a_single_odd_look_does_not_end_a_quiet_interval():
    spells = [("q", 60.0), ("b", 0.4), ("q", 40.0), ("b", 50.0), ("q", 20.0), ("s", 20.0), ("q", 9.6)]
    assert summarise(3, spells) == CoreWatch(
        3, pytest.approx(129.6 / 200), pytest.approx(50.4 / 200), 0.1, 20.0
    )


def test_a_core_that_was_never_alone_has_no_quiet_interval():
    assert summarise(0, [("b", 0.4), ("b", 80.0), ("s", 19.6)]).alone_us == 0.0
