"""Calls on much data are checked by several processes at once, and cost nobody but themselves where they go wrong."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from fake_scripts import fault, lie, row

from perbyte.measure.validation import SMALL_BYTES, SideBySide
from perbyte.model import Cell

LARGE = 2 * SMALL_BYTES
SHA = [row("sha-256", "digest", "oneshot/1")]
CORES = sorted(os.sched_getaffinity(0))


def scripts(*names: str) -> list[dict[str, object]]:
    return [{"name": name, "operations": SHA} for name in names]


def address(runner: str, size: int) -> str:
    return f"{runner}/sha-256/digest@{size}+contract=oneshot/1"


class MadeSession:
    """Notes what it is asked, and answers at once."""

    def __init__(self, name: str, heard: list[str]) -> None:
        self.name, self.heard = name, heard
        self.process = SimpleNamespace(pid=0)
        self.spec = SimpleNamespace(native=False)

    def send_check(self, handle: int, calls: int) -> str:
        self.heard.append(f"to {self.name}")
        return self.name

    def receive_check(self, asked: str) -> tuple[str, float]:
        self.heard.append(f"from {asked}")
        return asked, 1.0


class MadeSessions:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def of(self, cell: Cell) -> MadeSession:
        return MadeSession(cell.runner, self.heard)


def heard(cores: int, order: str, crowded: bool = False) -> list[str]:
    sessions = MadeSessions()
    side = SideBySide(sessions, range(cores), lambda working: crowded)  # type: ignore[arg-type]
    for name in order:
        cell = Cell(name, "sha-256", "digest", LARGE, "oneshot/1")
        for call in side.due(cell.process):
            side.receive(call)
        side.send(cell, 0)
        assert side.has(cell)
    for call in side.due():
        side.receive(call)
    return sessions.heard


def test_as_many_processes_work_as_there_are_cores() -> None:
    assert heard(2, "abc") == ["to a", "to b", "from a", "to c", "from b", "from c"]
    assert heard(3, "abc") == ["to a", "to b", "to c", "from a", "from b", "from c"]


def test_a_process_is_asked_nothing_before_it_has_answered() -> None:
    assert heard(2, "aab") == ["to a", "from a", "to a", "to b", "from a", "from b"]


@pytest.mark.parametrize("how", [{"cores": 1}, {"cores": 0}, {"cores": 4, "crowded": True}])
def test_one_works_at_a_time_on_one_core_and_beside_others(how: dict[str, object]) -> None:
    assert heard(order="ab", **how) == ["to a", "from a", "to b", "from b"]  # type: ignore[arg-type]


@pytest.mark.parametrize("cores", [tuple(CORES[:1]), tuple(CORES[:2])])
def test_large_data_are_compared_between_runners(lab, cores):
    done = lab.run(*scripts("alpha", "beta", "gamma"), ask=f"*/sha-256@16,{LARGE}", cores=cores)
    assert done.failures() == {}
    assert len(done.outcome.cells) == 6
    assert any("outputs compared" in note for note in done.watch.notes)


@pytest.mark.parametrize("cores", [tuple(CORES[:1]), tuple(CORES[:2])])
def test_who_is_wrong_about_large_data_loses_that_cell(lab, cores):
    runners = scripts("alpha", "beta", "gamma")
    runners[2]["lies"] = [lie("check", sizes=[LARGE])]
    done = lab.run(*runners, ask=f"*/sha-256@16,{LARGE}", cores=cores)
    assert done.failures() == {address("gamma", LARGE): "incorrect"}


@pytest.mark.parametrize("cores", [tuple(CORES[:1]), tuple(CORES[:2])])
def test_who_dies_of_large_data_loses_that_cell_and_goes_on(lab, cores):
    runners = scripts("alpha", "beta")
    runners[1]["faults"] = [fault("check", "crash", sizes=[LARGE])]
    done = lab.run(*runners, ask=f"*/sha-256@16,{LARGE},{2 * LARGE}", cores=cores)
    assert done.failures() == {address("beta", LARGE): "crashed"}
    assert {figure.cell.address for figure in done.outcome.cells} == {
        address(name, size) for name in ("alpha", "beta") for size in (16, LARGE, 2 * LARGE)
    } - {address("beta", LARGE)}
