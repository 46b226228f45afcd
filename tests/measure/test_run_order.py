"""Order, layout and events of a run: random where it must be, repeatable from the seed, told in order."""

from __future__ import annotations

import pytest
from fake_scripts import row, starts

from perbyte.measure.sessions import LINE_BYTES, PAGE_BYTES, draw_offset

ASK = "*/aes-128-ecb@16,32,48,64+contract=message"


def scripts(*names, **more):
    """Runners whose processes are all start number 0: what differs between epochs is the layout alone."""
    return [{"name": name, "operations": [row()], "start": 0, **more} for name in names]


@pytest.fixture
def surveyed(lab):
    return lab.survey(*scripts("alpha", "beta", layout=0.01, noise={"sample": 0.001}))


def by_round(done):
    rounds = {}
    for epoch, number, address in done.notes.order:
        rounds.setdefault((epoch, number), []).append(address)
    return rounds


def test_every_round_has_every_cell_once_in_an_order_of_its_own(lab, surveyed):
    done = lab.run(surveyed=surveyed, ask=ASK)
    rounds = by_round(done)
    assert len(rounds) == 12  # two epochs of six rounds
    everything = {cell.address for cell in done.plan.cells}
    for order in rounds.values():
        assert set(order) == everything
        assert len(order) == len(everything)
    assert len({tuple(order) for order in rounds.values()}) >= 11


def test_no_cell_and_no_runner_has_a_favourite_place(lab, surveyed):
    """Libraries are compared under the same conditions: nobody may always come first."""
    done = lab.run(surveyed=surveyed, ask=ASK, looks=(24,))
    firsts = {order[0] for order in by_round(done).values()}
    assert len(firsts) >= 5
    assert {address.split("/")[0] for address in firsts} == {"alpha", "beta"}


def test_the_same_seed_repeats_the_run_to_the_last_tick(lab, surveyed):
    first, second = lab.run(surveyed=surveyed, ask=ASK, seed=5), lab.run(surveyed=surveyed, ask=ASK, seed=5)
    assert first.notes.order == second.notes.order
    assert first.notes.bursts == second.notes.bursts
    assert first.outcome.cells == second.outcome.cells


def test_another_seed_is_another_order_layout_and_material(lab, surveyed):
    first, second = lab.run(surveyed=surveyed, ask=ASK, seed=5), lab.run(surveyed=surveyed, ask=ASK, seed=6)
    assert first.notes.order != second.notes.order
    assert [figure.cell for figure in first.outcome.cells] == [figure.cell for figure in second.outcome.cells]
    assert all(
        a.cycles_per_call != b.cycles_per_call
        for a, b in zip(first.outcome.cells, second.outcome.cells, strict=True)
    )


def test_all_runners_of_an_epoch_share_a_layout_and_epochs_differ(lab):
    surveyed = lab.survey(*scripts("alpha", "beta", layout=0.05))
    done = lab.run(surveyed=surveyed, ask=ASK, epochs=4, max_epochs=4, seed=11)
    for a, b in zip(done.of("alpha"), done.of("beta"), strict=True):
        assert a.epoch_cycles == pytest.approx(b.epoch_cycles, rel=1e-3)
        assert len(set(a.epoch_cycles)) == 4


def test_offsets_are_whole_cache_lines_within_a_page_and_drawn_from_the_seed():
    offsets = [draw_offset(7, epoch) for epoch in range(64)]
    assert all(offset % LINE_BYTES == 0 for offset in offsets)
    assert all(0 <= offset < PAGE_BYTES for offset in offsets)
    assert len(set(offsets[:48])) == 48, "no offset twice before all had their turn"
    assert offsets == [draw_offset(7, epoch) for epoch in range(64)]
    assert offsets != [draw_offset(8, epoch) for epoch in range(64)]


def test_every_epoch_starts_every_process_anew(lab):
    surveyed = lab.survey(*({"name": name, "operations": [row()]} for name in ("alpha", "beta")))
    lab.run(surveyed=surveyed, ask=ASK, epochs=3, max_epochs=3, twins=True)
    # the survey, three epochs, and three of the A/A twin for one of the two
    assert sorted(starts(surveyed.specs[name].here) for name in ("alpha", "beta")) == [4, 7]


def test_events_come_in_order_and_say_everything(lab, surveyed):
    done = lab.run(surveyed=surveyed, ask=ASK, twins=True)
    kinds = [kind for kind, _ in done.notes.events]
    assert kinds[-1] == "finish"
    assert kinds.count("finish") == 1
    assert done.notes.all("epoch_done") == [0, 1]

    identities = done.notes.all("identified")
    assert sorted(identity.runner for identity in identities) == ["alpha", "beta"]
    for identity in identities:
        assert (identity.library.split()[0], identity.library_version, identity.sdk) == (
            "Fake",
            "1.0",
            "fake/1",
        )
        assert len(identity.object_sha256) == 64

    calibrations = done.notes.all("calibrated")
    assert {(c.process, c.epoch) for c in calibrations} == {
        ((runner, "full", twin), epoch)
        for runner, twin in (("alpha", 0), ("beta", 0), ("alpha", 1))
        for epoch in (0, 1)
    }
    seen = set()
    for kind, value in done.notes.events:
        if kind == "calibrated":
            seen.add((value.process, value.epoch))
        if kind == "measured":
            assert (value.cell.process, value.epoch) in seen, "a burst without the calibration it needs"

    cells, floor, elapsed, complete = done.notes.all("finish")[0]
    assert cells == done.outcome.cells
    assert floor == done.outcome.noise_floor
    assert complete
    assert elapsed == done.outcome.measuring_s > 0


def test_figures_stand_in_the_order_of_the_plan(lab, surveyed):
    done = lab.run(surveyed=surveyed, ask=ASK)
    assert [figure.cell for figure in done.outcome.cells] == list(done.plan.cells)


def test_figures_carry_the_library_that_answered(lab):
    surveyed = lab.survey(*scripts("alpha", library="Fast Crypto", library_version="9.8.7"))
    for figure in lab.run(surveyed=surveyed, ask=ASK).outcome.cells:
        assert (figure.library, figure.library_version) == ("Fast Crypto", "9.8.7")


def test_moments_tell_where_the_run_stands(lab, surveyed):
    done = lab.run(surveyed=surveyed, ask=ASK, budget_s=50.0)
    moments = done.watch.moments
    stages = list(dict.fromkeys(moment.stage for moment in moments))
    assert stages[:3] == ["epoch 1 of at least 2, starting", "checking 1 of 8", "checking 2 of 8"]
    assert stages[9] == "epoch 1 of at least 2, round 1"
    assert "epoch 2, round 6" in stages
    assert [m.elapsed_s for m in moments] == sorted(m.elapsed_s for m in moments)
    assert all(0 <= m.left_s <= 50 for m in moments)
    assert {m.total for m in moments} == {8}
    assert {m.done for m in moments} == {0}, "none can be done before it has the epochs that were promised"
    assert {m.pending for m in moments} == {8}
    assert all(0 <= m.clean_share <= 1 for m in moments)
    addresses = {cell.address for cell in done.plan.cells}
    assert {m.what for m in moments if "round" in m.stage} == addresses


def test_done_counts_cells_of_the_plan_that_need_no_more_epochs(lab):
    """Two cells are precise after the promised epochs, two spread over layouts, and one is lost on the way."""
    surveyed = lab.survey(
        {"name": "alpha", "operations": [row()]},
        {"name": "beta", "operations": [row(layout=0.05)]},
        {
            "name": "gamma",
            "operations": [row()],
            "faults": [{"on": "measure", "do": "crash", "nth": 3, "starts": [1]}],
        },
    )
    ask = ("{alpha,beta}/aes-128-ecb@16,32+contract=message", "gamma/aes-128-ecb@16+contract=message")
    done = lab.run(surveyed=surveyed, ask=ask, max_epochs=5)
    counts = {}
    for moment in done.watch.moments:
        counts.setdefault(moment.epoch, set()).add((moment.done, moment.pending))
    assert {moment.total for moment in done.watch.moments} == {5}
    assert counts == {0: {(0, 5), (1, 5), (1, 4)}, 1: {(1, 4)}, 2: {(3, 2)}, 3: {(3, 2)}, 4: {(3, 2)}}


def test_pending_counts_cells_the_epoch_still_works_on(lab):
    """A cell without noise agrees at the first look and leaves; the other, which does not agree, stays."""
    surveyed = lab.survey(
        {"name": "alpha", "operations": [row(noise=0.0)]},
        {"name": "beta", "operations": [row(noise=0.05)]},
    )
    done = lab.run(surveyed=surveyed, ask="*/aes-128-ecb@16+contract=message", looks=(4, 12), max_epochs=2)
    pending = {m.stage: m.pending for m in done.watch.moments if m.epoch == 0 and "round" in m.stage}
    assert pending["epoch 1 of at least 2, round 4"] == 2
    assert pending["epoch 1 of at least 2, round 5"] == 1
    assert pending["epoch 1 of at least 2, round 12"] == 1


def test_bursts_keep_raw_samples_and_both_probes(lab, surveyed):
    done = lab.run(surveyed=surveyed, ask=ASK)
    for burst in done.notes.bursts:
        assert 1 <= len(burst) <= 8
        columns = (burst.start, burst.clock_before, burst.clock_after, burst.contention_before)
        assert {len(column) for column in columns} == {len(burst.ticks)}
        assert all(start < later for start, later in zip(burst.start, burst.start[1:], strict=False))


def test_samples_last_about_as_long_as_the_policy_says(lab, surveyed):
    done = lab.run(surveyed=surveyed, ask=ASK, sample_us=200.0)
    for burst in done.notes.bursts:
        for ticks in burst.ticks:
            assert ticks / 2.1e9 * 1e6 == pytest.approx(200.0, rel=0.05)


def test_calls_per_sample_stay_within_an_epoch(lab, surveyed):
    done = lab.run(surveyed=surveyed, ask=ASK)
    chosen = {}
    for burst in done.notes.bursts:
        chosen.setdefault((burst.cell, burst.epoch), set()).add(burst.calls)
    assert all(len(calls) == 1 for calls in chosen.values())


def test_a_run_works_on_the_bytes_of_a_file(lab, surveyed, noting, tmp_path):
    """The validation compares what the runners made of the file; a file that is too short is refused by each."""
    from perbyte.catalogue import load
    from perbyte.measure.run import Measurement

    data = tmp_path / "data"
    data.write_bytes(bytes(range(48)))
    outcome = Measurement(
        lab.plan(surveyed, ASK), surveyed, load(), lab.policy(), noting(), input_path=data
    ).measure()
    assert {figure.cell.size_bytes for figure in outcome.cells} == {16, 32, 48}
    assert {failure.kind for failure in outcome.failures} == {"refused"}
    assert all("too short" in failure.message for failure in outcome.failures)
