"""Several cores at once: which samples count; aggregate, per core, and efficiency with its interval."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perbyte.model import Burst, Cell, CellFigure, Interval, Quality
from perbyte.report.beside import threads_texts
from perbyte.stats.compare import Answer
from perbyte.stats.cores import in_common, scaling

CELL = Cell("openssl", "aes-128-ctr", "encrypt", 1024, "message/1")
ALONE = (100.0, 100.1, 100.2, 100.0, 100.1)


def figure(threads: int, *epochs: float) -> CellFigure:
    middle = sorted(epochs)[len(epochs) // 2]
    return CellFigure(
        cell=replace(CELL, state=f"threads-{threads}"),
        library="OpenSSL",
        library_version="3.0",
        cycles_per_call=2 * middle,
        ns_per_call=middle,
        interval=Interval(2 * middle * 0.999, 2 * middle * 1.001),
        samples=100,
        clean_samples=90,
        epochs=len(epochs),
        epoch_cycles=tuple(2 * epoch for epoch in epochs),
        epoch_ns=tuple(epochs),
        calls_per_sample=10,
        quality=Quality.GOOD,
        cycle_source="probe",
    )


def test_perfect_scaling_is_one():
    single, two = scaling([figure(1, *ALONE), figure(2, *ALONE)])
    assert single.efficiency is None
    assert two.efficiency.ratio.value == pytest.approx(1.0)
    assert two.efficiency.answer is Answer.TIED
    assert two.all.value == pytest.approx(2 * single.all.value)
    assert two.each.value == pytest.approx(1e9 / 100.1)
    assert two.all.low < two.all.value < two.all.high


def test_cores_that_are_threads_of_one_do_half_each():
    _, two = scaling([figure(1, *ALONE), figure(2, *(2 * each for each in ALONE))])
    assert two.efficiency.ratio.value == pytest.approx(0.5)
    assert two.efficiency.ratio.high < 1


def test_threads_of_one_process_are_compared_with_one_of_them():
    def shared(threads: int, *epochs: float) -> CellFigure:
        return replace(figure(threads, *epochs), cell=replace(CELL, state=f"shared-{threads}"))

    figures = [
        figure(1, *ALONE),
        shared(1, *(2 * each for each in ALONE)),
        shared(2, *(3 * each for each in ALONE)),
    ]
    assert scaling(figures)[2].efficiency.ratio.value == pytest.approx(2 / 3)
    [_, alone, two] = threads_texts(figures)
    assert alone.startswith("1 thread of one process: ")
    assert two.startswith("2 threads of one process: ")
    assert "a call ×1.5" in two


def test_without_one_alone_there_is_nothing_to_compare_with():
    assert scaling([figure(2, *ALONE)])[0].efficiency is None
    assert scaling([replace(figure(2, *ALONE), cell=CELL)]) == ()


def burst(first: int, count: int, turn: int = 1) -> Burst:
    start = [first + 10 * place for place in range(count)]
    some = [1] * count
    return Burst(CELL, 0, turn, 1, start, [8] * count, some, some, some, some, [0] * count, [])


def test_samples_count_while_all_were_at_work():
    early, late = in_common([burst(0, 10), burst(35, 10)], 2)
    assert early.start == [40, 50, 60, 70, 80, 90], "from the latest beginning"
    assert late.start == [35, 45, 55, 65, 75, 85], "to the earliest end"
    assert in_common([burst(0, 3), burst(100, 3)], 2) == [], "they never met"
    assert in_common([burst(0, 3), burst(0, 3, turn=2)], 2) == [], "a round that lacks one"
    assert in_common([burst(0, 3)], 2) == []
