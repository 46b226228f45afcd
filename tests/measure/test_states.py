"""Cells in states of their own, on the scripted runner: how they are asked for, called, stored and confirmed."""

from __future__ import annotations

import pytest
from fake_scripts import row

from perbyte.catalogue import parse_selector
from perbyte.errors import UsageError
from perbyte.measure import states
from perbyte.model import Flag
from perbyte.model.cell import parse_address
from perbyte.stats.draws import SHARES

ASK = "alpha/aes-128-ecb/encrypt@4096+contract=message/1+state="
CALLS = {"cold": 6, "idle": 6, "first": 6}
PAIR = {"epochs": 2, "max_epochs": 2}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Few calls, little memory: nothing here depends on caches."""
    monkeypatch.setattr(states, "CLEAN_CALLS", CALLS)
    monkeypatch.setattr(states, "EVICTED_BYTES", 1 << 16)
    monkeypatch.setattr(states, "own_cache_bytes", lambda: 1 << 12)
    monkeypatch.setattr(states, "REST_S", 0.001)
    monkeypatch.setattr(states, "ROUNDS", 2)


def script(**more):
    return {"name": "alpha", "operations": [row(per_call=0.0, per_byte=1.0)], **more}


def test_each_state_is_a_cell_with_samples_of_single_calls(lab):
    done = lab.run(script(), ask=f"{ASK}loop,cold,first,idle", **PAIR)
    assert done.failures() == {}
    assert [cell.cell.state for cell in done.outcome.cells] == ["loop", "cold", "first", "idle"]
    for cell in done.outcome.cells:
        assert cell.cycles_per_call == pytest.approx(4096, rel=0.05)
        assert parse_address(cell.cell.address) == cell.cell
        assert parse_selector(cell.cell.address).matches(cell.cell)
        if cell.cell.state != "loop":
            assert cell.calls_per_sample == 1
            assert cell.samples == 2 * CALLS[cell.cell.state], "one burst an epoch"
    assert {burst.cell.state for burst in done.notes.bursts} == {"loop", "cold", "first", "idle"}


def test_the_first_call_is_that_of_a_fresh_process(lab, fake_runners):
    surveyed = lab.survey(script())
    counted = surveyed.specs["alpha"].here / "starts"
    before = counted.stat().st_size
    lab.run(ask=f"{ASK}first", surveyed=surveyed, **PAIR)
    assert counted.stat().st_size - before == 2 * (1 + CALLS["first"]), "and one whose clock counts, an epoch"


def test_page_faults_belong_to_a_first_call_and_to_no_other(lab):
    done = lab.run(script(flags={"faulted": 1.0}), ask=f"{ASK}cold,first", **PAIR)
    clean = {cell.cell.state: cell.clean_samples for cell in done.outcome.cells}
    assert clean == {"cold": 0, "first": 2 * CALLS["first"]}
    assert all(burst.flags == [Flag.FAULTED] * len(burst) for burst in done.notes.bursts), "nothing is hidden"


def test_calls_on_data_elsewhere_are_loops_over_memory_and_single_ones_from_the_disk(lab):
    done = lab.run(script(), ask=f"{ASK}loop,memory,disk", **PAIR)
    assert done.failures() == {}
    cells = {cell.cell.state: cell for cell in done.outcome.cells}
    assert list(cells) == ["loop", "memory", "disk"]
    assert cells["disk"].calls_per_sample == 1
    assert cells["memory"].samples > cells["disk"].samples == 2 * states.ROUNDS * states.FROM_DISK["samples"]
    assert {burst.calls for burst in done.notes.bursts if burst.cell.state == "memory"} == {8}, (
        "12 us of calls"
    )
    assert not any(cell.cell.usual for cell in done.outcome.cells[1:])


def test_single_calls_of_a_loop_give_quantiles(lab):
    done = lab.run(script(), ask=f"{ASK}each", **PAIR)
    assert done.failures() == {}
    [figure] = done.outcome.cells
    assert figure.calls_per_sample == 1
    assert [quantile.share for quantile in figure.quantiles] == list(SHARES)
    assert figure.ns_per_call == pytest.approx(4096 / 2.7, rel=0.02)


def test_a_runner_that_measures_other_data_than_was_requested_loses_the_cell(lab):
    done = lab.run(script(walks=False), ask=f"{ASK}memory", epochs=1, max_epochs=1)
    assert done.outcome.cells == ()
    [failure] = done.outcome.failures
    assert "calls on other data than was requested" in failure.message


def test_disturbed_calls_are_repeated_but_not_for_ever(lab):
    busy = {"share": 1.0, "burst_s": 1.0, "factor": 2.0}
    done = lab.run(script(contention=[busy]), ask=f"{ASK}idle", **PAIR)
    [figure] = done.outcome.cells
    assert figure.clean_samples == 0
    assert figure.samples == 2 * states.MOST_CALLS * CALLS["idle"]


def test_another_output_in_a_state_costs_its_cell(lab):
    wrong = [{"in": ["measure"], "starts": list(range(2, 40))}]
    done = lab.run(script(lies=wrong), ask=f"{ASK}first", epochs=1, max_epochs=1)
    assert done.outcome.cells == ()
    assert set(done.failures().values()) == {"incorrect"}


@pytest.mark.parametrize("count", [1, 2])
def test_several_cores_give_their_own_times_while_all_are_at_work(lab, two_cores, count):
    # each scripted process has a virtual clock of its own: they agree as long as both do the same
    done = lab.run(script(), ask=f"{ASK}threads-{count}", cores=two_cores, **PAIR)
    [figure] = done.outcome.cells
    assert figure.cell.threads == count
    assert figure.ns_per_call == pytest.approx(4096 / 2.7, rel=0.02)
    assert len(done.notes.bursts) == 2 * count * states.ROUNDS, "of each, in every round of each epoch"


def test_threads_of_one_process_give_a_burst_each_in_every_round(lab, two_cores):
    done = lab.run(script(), ask=f"{ASK}shared-1,shared-2", cores=two_cores, **PAIR)
    assert [figure.cell.threads for figure in done.outcome.cells] == [1, 2]
    bursts = [burst for burst in done.notes.bursts if burst.cell.state == "shared-2"]
    assert len(bursts) == 2 * 2 * states.ROUNDS
    assert {core for burst in bursts for core in burst.core} == set(two_cores)
    assert len({burst.round for burst in bursts}) == states.ROUNDS, "those of one round belong together"


def test_threads_that_are_refused_cost_no_other_cell(lab, two_cores):
    done = lab.run(script(most_threads=1), ask=f"{ASK}shared-1,shared-2", cores=two_cores, **PAIR)
    assert [figure.cell.state for figure in done.outcome.cells] == ["shared-1"]
    assert "another output than alone" in done.failure(f"{ASK}shared-2").message


def test_a_runner_without_threads_loses_the_cell(lab, two_cores):
    done = lab.run(script(threads=False), ask=f"{ASK}shared-2", cores=two_cores, epochs=1, max_epochs=1)
    [failure] = done.outcome.failures
    assert "bursts of 0 threads where 2 were requested" in failure.message


def test_more_threads_than_cores_cost_their_own_cell(lab):
    done = lab.run(script(), ask=f"{ASK}threads-1,threads-64", **PAIR)
    assert [cell.cell.threads for cell in done.outcome.cells] == [1]
    assert "64 threads need as many cores" in done.failure(f"{ASK}threads-64").message


def test_a_state_that_nobody_knows_is_refused():
    with pytest.raises(UsageError, match="'warm' is not a state") as raised:
        parse_selector("openssl/sha-256+state=warm")
    assert "cold" in raised.value.hint
    assert parse_selector("*/sha-256+state=*").states == ("*",)


def test_calls_in_a_state_end_with_the_time_of_their_epoch(lab):
    """Each takes a process of its own: of a dear one there is a call an epoch, not sixteen."""
    done = lab.run(script(), ask=f"{ASK}first,cold", budget_s=0.05, **PAIR)
    assert {figure.cell.state: figure.samples for figure in done.outcome.cells} == {"first": 2, "cold": 2}
