"""Long calls are cut where their contract and the runner allow it, and measured whole where not."""

from __future__ import annotations

import dataclasses

import pytest
from fake_scripts import row

from perbyte.measure.ways import Cut, cut_calls, first_piece
from perbyte.model import Cell, Doubt, Policy, Quality
from perbyte.stats.clean import Grounds
from perbyte.stats.figure import judge, summarise

POLICY = Policy()
RESTART = 400.0


def stream(size=10_000_000, contract="stream/1"):
    return Cell("alpha", "aes-128-ecb", "encrypt", size, contract)


@pytest.mark.parametrize(
    ("cell", "call_s", "expected"),
    [
        (stream(), 0.030, Cut(4096, 16384, 0.030)),
        (stream(), 0.0012, Cut(98304, 393216, 0.0012)),
        (stream(65536), 0.00013, Cut(6144, 24576, 0.00013)),
        (stream(65536), 0.0001, None),  # ten samples are not outlasted
        (stream(384), 0.0005, None),  # too short for two of the longer pieces
        (stream(contract="message/1"), 0.03, None),
        (stream(contract="oneshot/1"), 0.0009, None),  # what begins and ends a digest would count
        (stream(contract="oneshot/1"), 0.012, Cut(10240, 40960, 0.012)),
    ],
)
def test_lengths_follow_from_what_a_call_takes(cell, call_s, expected):
    assert cut_calls(cell, call_s, POLICY) == expected


def test_only_large_cells_that_can_be_cut_begin_with_a_piece():
    assert first_piece(stream()) > 0
    assert first_piece(stream(65536)) == 0
    assert first_piece(stream(contract="message/1")) == 0


def long_calls(**more):
    operation = row("aes-128-ecb", "encrypt", contract="stream/1", per_call=50.0, per_byte=9.0)
    noise = {"sample": 0.001, "probe": 0.0002}
    return {"name": "alpha", "operations": [operation], "noise": noise, **more}


def test_pieces_give_what_whole_calls_cost(lab):
    done = lab.run(
        long_calls(pieces={"restart": RESTART}), ask="alpha/*@1MiB+contract=stream", epochs=5, max_epochs=5
    )
    [figure] = done.outcome.cells
    true = 9.0 * 2**20
    assert figure.cycles_per_call == pytest.approx(true, rel=0.002)
    assert figure.interval.low <= true + RESTART
    assert true <= figure.interval.high
    assert figure.quality in (Quality.GOOD, Quality.IMPRECISE)
    assert [warning.kind for warning in figure.warnings if warning.kind is Doubt.PIECES]
    taken = [burst.piece_bytes for burst in done.notes.bursts if burst.epoch == 3]
    assert len(set(taken) - {0}) == 2
    assert max(taken) == 4 * min(set(taken) - {0})


def test_a_runner_that_cannot_cut_is_asked_once(lab):
    done = lab.run(long_calls(), ask="alpha/*@1MiB+contract=stream", epochs=3, max_epochs=3)
    [figure] = done.outcome.cells
    assert figure.cycles_per_call == pytest.approx(9.0 * 2**20, rel=0.003)
    assert {burst.piece_bytes for burst in done.notes.bursts} == {0}
    assert figure.quality in (Quality.LONG, Quality.IMPRECISE)


def test_calls_short_enough_are_also_taken_whole_once_an_epoch(lab):
    done = lab.run(
        long_calls(pieces={"restart": RESTART}), ask="alpha/*@1MiB+contract=stream", epochs=3, max_epochs=3
    )
    per_epoch = {e: [b for b in done.notes.bursts if b.epoch == e and not b.piece_bytes] for e in (1, 2)}
    assert all(len(bursts) == 1 for bursts in per_epoch.values())
    [warning] = [w for w in done.outcome.cells[0].warnings if w.kind is Doubt.PIECES]
    assert abs(warning.numbers[4]) < 0.005


def test_whole_calls_count_where_pieces_cost_more_than_they_do(lab):
    """As where the data fill the caches: what a piece finds there is not what a loop of calls finds."""
    done = lab.run(
        long_calls(pieces={"restart": RESTART, "dearer": 1.3}),
        ask="alpha/*@1MiB+contract=stream",
        epochs=5,
        max_epochs=5,
    )
    [figure] = done.outcome.cells
    assert figure.cycles_per_call == pytest.approx(9.0 * 2**20, rel=0.003)
    kinds = {warning.kind: warning for warning in figure.warnings}
    assert Doubt.PIECES not in kinds
    assert kinds[Doubt.WHOLE].numbers[0] == pytest.approx(0.3, abs=0.01)
    assert figure.epochs == 4  # the first one has pieces alone
    taken = {burst.epoch: burst.piece_bytes for burst in done.notes.bursts if burst.piece_bytes}
    assert sorted(taken) == [0, 1, 2]  # seen in the second and the third


def test_stored_pieces_give_the_same_figure(lab):
    done = lab.run(
        long_calls(pieces={"restart": RESTART}), ask="alpha/*@1MiB+contract=stream", epochs=3, max_epochs=3
    )
    [made] = done.outcome.cells
    grounds = Grounds(done.measurement.history.calibrations, done.measurement.policy)
    again = judge(summarise(made.cell, done.notes.bursts, grounds), done.measurement.policy)
    assert again.cycles_per_call == made.cycles_per_call
    assert dataclasses.replace(again.cell) == made.cell
