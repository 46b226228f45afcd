"""What calls on new data may cost: all of it follows from controls of the same run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from perbyte.model import Audit, Cell, Doubt
from perbyte.stats.audit import judge_audits
from perbyte.stats.newdata import (
    COPYING,
    Memory,
    Surroundings,
    exceeds,
    limits,
    middle,
    quantile,
    surroundings,
    work_of,
)

CELL = Cell("alpha", "aes-128-ctr", "encrypt", 4096, "message/1")
HZ = 2e9  # 200 cycles are 100 ns
QUIET = Surroundings({4096: Memory(0.0, 500.0, 900.0)}, 0.0, 1.0)


def chained(new: float, *, timed: float = 1000.0, control: float = 500.0, **more: Any) -> Audit:
    """Three looks at calls of `timed` ns of which those on new data cost `new`."""
    given = {
        "claimed_ns": [timed] * 3,
        "cpu_ns": [timed] * 3,
        "wall_ns": [timed] * 3,
        "threads": [1.0] * 3,
        "clock_hz": [HZ] * 3,
        "own_hz": [HZ] * 3,
        "chained_ns": [control + new] * 3,
        "control_ns": [control] * 3,
    }
    return Audit(more.pop("cell", CELL), more.pop("epoch", 0), **{**given, **more})


def outcome(audit: Audit, around: Surroundings = QUIET, epochs: int = 5) -> str:
    verdict = judge_audits([replace(audit, epoch=k) for k in range(epochs)], None, around)
    if verdict.refusal:
        return "refused"
    kinds = {warning.kind for warning in verdict.warnings}
    return "doubted" if Doubt.AUDIT in kinds else "w" if Doubt.UNCHAINED in kinds else ""


def again(new: float, **more: Any) -> Audit:
    """As `chained`, where calls whose data comes again cost as much."""
    audit = chained(new, **more)
    return replace(audit, repeated_ns=[new] * 3)


@pytest.mark.parametrize(
    ("new", "expected"), [(1000, ""), (1240, ""), (1260, "doubted"), (1590, "doubted"), (1610, "refused")]
)
def test_the_factors_are_beyond_what_waits_for_the_chain(new: float, expected: str) -> None:
    """Marked above 1.2, less 50 ns, refused above 1.5, less 100 ns."""
    assert outcome(again(new)) == expected


def test_three_epochs_are_a_doubt() -> None:
    assert outcome(again(3000), epochs=3) == "doubted"


def test_what_data_that_comes_again_does_not_cost_is_refused_only_beyond_what_a_predictor_can_spare() -> None:
    learnt = replace(chained(3000), repeated_ns=[1000.0] * 3)
    assert outcome(learnt) == "doubted"
    assert outcome(chained(3000)) == "doubted", "nobody asked"
    assert outcome(chained(7200)) == "refused"
    assert outcome(chained(600e3, timed=200e3)) == "refused", "too long to be learnt"


def test_memory_is_allowed_what_it_takes_of_our_own_loop() -> None:
    slow = Surroundings({4096: Memory(150.0, 500.0, 900.0)}, 0.0, 1.0)
    assert outcome(again(1390), slow) == ""
    assert outcome(again(1410), slow) == "doubted"
    assert outcome(again(1890), slow) == "doubted"
    assert outcome(again(1910), slow) == "refused"
    assert outcome(again(1000), Surroundings({4096: Memory(310.0, 500.0)}, 0.0, 1.0)) == "w"
    larger = Surroundings({65536: Memory(150.0, 500.0)}, 0.0, 1.0)
    assert outcome(again(1390), larger) == "", "what is known of more data"


def test_without_our_own_loop_a_runners_own_control_is_allowed_once_more() -> None:
    assert outcome(again(1600, control=300.0), Surroundings(slowed=1.0)) == "doubted"
    assert outcome(again(2250, control=300.0), Surroundings(slowed=1.0)) == "refused"


def test_an_opening_is_allowed_what_two_more_buffers_cost() -> None:
    opened = replace(CELL, operation="open")
    around = Surroundings({4096: Memory(0.0, 500.0), 8192: Memory(0.0, 900.0, 360.0)}, 0.0, 1.0)
    assert outcome(again(1420, cell=opened, control=1500.0), around) == ""
    assert outcome(again(1440, cell=opened, control=1500.0), around) == "doubted"
    assert outcome(again(1000, cell=opened, control=2100.0), around) == ""
    assert outcome(again(1000, cell=opened, control=2300.0), around) == "w", "sealing cost more than that"


def test_the_end_of_a_message_takes_a_block() -> None:
    stream = replace(CELL, operation="digest", contract="stream/1", size_bytes=512)
    assert outcome(again(1740, cell=stream)) == ""
    assert outcome(again(1760, cell=stream)) == "doubted"


def test_where_honest_looks_scatter_the_limits_are_wider() -> None:
    assert limits(0.0) == (0.2, 0.5)
    assert limits(0.3) == pytest.approx((0.6, 0.9))


def test_calls_too_short_for_half_a_reorder_buffer_are_still_not_free() -> None:
    around = Surroundings({16: Memory(0.0, 20.0)}, 0.0, 1.0)
    tiny = {"cell": replace(CELL, size_bytes=16), "control": 20.0}
    assert outcome(again(12, timed=4.0, **tiny), around) == ""
    assert outcome(again(30, timed=4.0, **tiny), around) == "w", (
        "more than thrice as long, and nobody can tell why"
    )
    assert outcome(again(20, timed=0.3, **tiny), around) == "doubted", "a pure call that was hoisted"


def test_chains_that_are_apart_tell_nothing() -> None:
    noisy = again(1000, control_ns=[500.0, 1300.0, 500.0])
    assert outcome(noisy) == "w"


def own(size: int, new: float, timed: float = 1000.0, **more: Any) -> Audit:
    return chained(new, timed=timed, cell=replace(COPYING, size_bytes=size), **more)


def test_our_own_loop_says_what_memory_and_neighbours_take() -> None:
    size = replace(COPYING, size_bytes=4096)
    told = {"alone_ns": [990.0, 1000.0], "shared_ns": [995.0]}
    looks = [own(4096, 1250, clean_ns=990.0, **told), own(4096, 1250, epoch=1, clean_ns=1000.0)]
    quiet = surroundings({size: looks})
    assert quiet.memory == {4096: Memory(250.0, 500.0, 1000.0)}
    assert quiet.spread == 0.0
    assert quiet.slowed == pytest.approx(1000 / 990)
    assert quiet.most_slowed == quiet.slowed
    noisy = surroundings({size: [own(4096, 1250, clean_ns=600.0), own(4096, 2250, epoch=1, clean_ns=0.0)]})
    assert noisy.spread == 0.0  # the upper median is the larger of two
    assert (noisy.slowed, noisy.most_slowed) == (2.0, 2.0)
    three = [own(4096, new, epoch=k, clean_ns=1000.0) for k, new in enumerate((1000, 1000, 1400))]
    assert surroundings({size: three}).spread == pytest.approx(0.3)  # 100 ns may have waited
    assert surroundings({}) == Surroundings()


def test_company_is_what_slows_the_own_loop_beyond_all_that_it_shows_alone() -> None:
    """An interrupt within a probe makes it read long and slows no sample."""
    size = replace(COPYING, size_bytes=4096)

    def shared(**told: Any) -> bool:
        return surroundings({size: [own(4096, 1250, clean_ns=1000.0, **told)]}).shared

    alone = [1000.0, 1010.0, 1020.0]
    assert shared(alone_ns=alone, shared_ns=[1005.0, 1100.0, 1100.0])
    assert not shared(alone_ns=alone, shared_ns=[1005.0, 1010.0, 1100.0])
    assert not shared(alone_ns=alone)
    assert shared(shared_ns=[1000.0]), "never alone"
    assert shared(), "no probe"


def test_own_looks_say_how_far_time_clock_and_clean_calls_are_off_where_nobody_lies() -> None:
    size = replace(COPYING, size_bytes=4096)
    looks = [
        own(
            4096, 1250, epoch=0, clean_ns=1000.0, cpu_ns=[1010.0, 1020.0, 1300.0], clock_hz=[HZ, HZ, 1.1 * HZ]
        ),
        own(4096, 1250, epoch=1, clean_ns=1050.0, cpu_ns=[900.0] * 3, wall_ns=[970.0] * 3),
    ]
    around = surroundings({size: looks})
    assert around.time == pytest.approx(0.5 / 3), "two epochs are no control"
    third = own(4096, 1250, epoch=2, cpu_ns=[1010.0] * 3)
    assert surroundings({size: [*looks, third]}).time == pytest.approx(0.03)
    assert around.clock == pytest.approx(0.1)
    assert around.clean == pytest.approx(0.05)
    assert around.on_core == pytest.approx(0.9)
    few = own(4096, 1250, epoch=3, claimed_ns=[1000.0], cpu_ns=[1500.0], wall_ns=[1500.0])
    assert surroundings({size: [*looks, third, few]}).time == pytest.approx(0.03), (
        "too few looks in that epoch"
    )


def test_a_runners_own_twins_say_nothing_of_its_noise() -> None:
    twin = replace(CELL, twin=1)
    pair = {CELL: [chained(1000)], twin: [chained(1500, cell=twin)]}
    assert surroundings(pair).spread == pytest.approx(0.4)
    assert surroundings(pair, without="alpha").spread == 0.0


def test_a_majority_of_enough_looks_is_beyond() -> None:
    assert exceeds([0.3, 0.3, 0.1], 0.2)
    assert not exceeds([0.3, 0.1, 0.1], 0.2)
    assert not exceeds([0.3, 0.3], 0.2)
    assert exceeds([0.3, 0.3], 0.2, long=True)
    assert (
        middle([1, 2]),
        quantile([], 0.99),
        quantile([3, 1, 2], 0.99),
        quantile([1] * 199 + [5], 0.99),
    ) == (
        2,
        0.0,
        3,
        1,
    )


def test_epochs_without_controls_are_none() -> None:
    assert not work_of([chained(1000, control_ns=[])], QUIET)


def test_what_a_control_is_dearer_counts_as_work_of_the_calls() -> None:
    """Beyond our own 500 ns and 280 cycles that overlap or make a nonce; a quarter of a call may hide there."""
    assert outcome(again(1000, control=930.0)) == ""
    assert outcome(again(1000, control=950.0)) == "w"
    assert outcome(again(1150, control=780.0)) == ""
    assert outcome(again(1150, control=800.0)) == "w", "together they are more"


def test_memory_is_no_reason_where_shorter_data_cost_no_more() -> None:
    slow = Surroundings({4096: Memory(310.0, 500.0), 1 << 16: Memory(0.0, 16 * 500.0)}, 0.0, 1.0)
    seen = {"shorter_ns": [1500.0], "shorter_control_ns": [450.0]}
    assert outcome(again(1000), slow) == "w"
    assert outcome(again(1000, **seen), slow) == ""
    assert outcome(again(1000, shorter_ns=[1900.0], shorter_control_ns=[450.0]), slow) == "w"


def test_a_runner_that_prepares_again_is_seen_by_its_control_and_never_accused_by_it() -> None:
    assert outcome(again(1000, afresh=True, control=600.0)) == ""
    assert outcome(again(5000, afresh=True, control=600.0)) == "w"


def test_short_cells_do_not_widen_the_limits_of_all() -> None:
    cell = replace(CELL, size_bytes=16)
    twin = replace(cell, twin=1)
    pair = {cell: [chained(40.0, timed=3.0, cell=cell)], twin: [chained(150.0, timed=3.0, cell=twin)]}
    assert surroundings(pair).spread == pytest.approx(0.1), "of what overlaps, and not of 3 ns"
