"""Use cases in this process: what a listener hears, what comes back, and which exit code that is."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from fake_scripts import lie, row

from perbyte.app.auditing import check_tier, ready_runner
from perbyte.app.conducting import conduct, conduct_plan, conduct_resumed
from perbyte.app.leaking import cells_to_test, draw_cases, find_leaks, leak_code
from perbyte.app.listener import Listener
from perbyte.app.requests import budgeted, make_request
from perbyte.app.trying.clock import Clock
from perbyte.app.trying.trial import InTurn, Kept, NoFigure, Trial
from perbyte.catalogue import load
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INCORRECT, EXIT_INTERRUPTED, UsageError
from perbyte.measure import find_cells
from perbyte.model import Policy
from perbyte.runners import Session
from perbyte.trial.subject import read_request

CODE = Path(__file__).parent.parent / "trial" / "code"
QUICK = Policy(budget_s=5, precision=0.2, epochs=1)
HASH = row("sha-256", "digest", "oneshot/1")


class Audience:
    """A listener that keeps what it hears, of each run apart."""

    def __init__(self) -> None:
        self.urgent: list[str] = []
        self.said: list[str] = []
        self.runs: list[list[str]] = []
        self.watched: list[float] = []
        self.listener = Listener(
            self.urgent.append,
            self.said.append,
            follow=self.follow,
            watch=self.watch,
            command=("typed", "so"),
        )

    @contextlib.contextmanager
    def follow(self):
        self.runs.append(["opened"])
        yield Listener(self.urgent.append, self.said.append, self)
        self.runs[-1].append("closed")

    @contextlib.contextmanager
    def watch(self, budget_s):
        self.watched.append(budget_s)
        yield lambda case: None

    def moment(self, moment):
        self.runs[-1].append("moment")

    def note(self, text):
        self.runs[-1].append(text)


@pytest.fixture
def audience() -> Audience:
    return Audience()


def test_each_run_is_followed_by_a_listener_of_its_own(fake_runners, audience):
    fake_runners({"name": "alpha", "operations": [HASH]})
    request = make_request(["alpha/sha-256@64"])
    done = conduct(
        request, QUICK, listener=audience.listener, budget=lambda ready: budgeted(ready, raised=False)
    )
    assert done.code == EXIT_FINE
    assert done.whole() is done
    assert done.run.conditions.command == ("typed", "so")
    plan, survey = find_cells(request)
    conduct_plan(plan, survey, QUICK, listener=audience.listener)
    assert [(events[0], events[-1]) for events in audience.runs] == [("opened", "closed")] * 2
    assert all("moment" in events for events in audience.runs)
    again = conduct_resumed(done.path, listener=audience.listener)
    assert [figure.cell for figure in again.run.cells] == [figure.cell for figure in done.run.cells]


def test_of_a_hushed_listener_only_urgent_things_are_heard(fake_runners, audience):
    other = row("sha-512", "digest", "oneshot/1")
    fake_runners({"name": "alpha", "operations": [HASH]}, {"name": "beta", "operations": [other]})
    hushed = audience.listener.hushed()
    done = conduct(make_request(["{alpha,beta}/sha-256@64"]), QUICK, listener=hushed)
    assert audience.urgent == ["not: beta has no sha-256"]
    assert (audience.said, audience.runs) == ([], [])
    assert done.run.conditions.command == ("typed", "so")


def test_a_run_that_was_interrupted_is_not_whole(fake_runners, audience, monkeypatch):
    fake_runners({"name": "alpha", "operations": [HASH]})

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "send_measure", interrupted)
    done = conduct(make_request(["alpha/sha-256@64"]), QUICK, listener=audience.listener)
    assert done.code == EXIT_INTERRUPTED
    assert f"--resume {done.path}" in audience.urgent[-1]
    with pytest.raises(KeyboardInterrupt):
        done.whole()


def test_a_runner_that_breaks_a_rule_is_told_from_one_that_keeps_all(fake_runners):
    fake_runners(
        {"name": "good", "operations": [HASH]},
        {"name": "bad", "operations": [HASH], "lies": [lie("measure")]},
    )
    lines: list[str] = []
    good, bad = (
        check_tier(ready_runner(name, ["full"]), "full", say=lines.append) for name in ("good", "bad")
    )
    assert (good.broken, bad.broken) == (False, True)
    assert {complaint.section for complaint in bad.complaints} == {7}
    assert good.audited.why_not == "PERBYTE_AUDIT=off"
    assert lines[-1] == "bad, full: audit"
    with pytest.raises(UsageError):
        ready_runner("nobody", ["full"])


def test_a_leak_is_found_and_kept(fake_runners, audience):
    fake_runners(
        {
            "name": "alpha",
            "operations": [row("aes-128-gcm", "seal", "message/1")],
            "leak": {"cycles": 40, "role": "key"},
            "noise": {"sample": 0.003, "probe": 0.0002},
        }
    )
    cells, survey = cells_to_test(make_request(["alpha/aes-128-gcm@64"]), sizes_named=True)
    cases, without = draw_cases(cells, ["key"], (False,))
    assert (len(cases), without) == (1, [])
    run, place = find_leaks(cases, survey, Policy(), budget_s=0.5, listener=audience.listener)
    assert [figure.verdict for figure in run.figures] == ["leaks"]
    assert (leak_code(run, ["leak"]), leak_code(run, [])) == (EXIT_FOUND, EXIT_FINE)
    assert (run.command, audience.watched) == (("typed", "so"), [0.5])
    assert (place / "leak.json").is_file()
    with pytest.raises(UsageError):
        draw_cases(cells, ["nonsense"], (False,))


def trial_of(source: Path, audience: Audience) -> Trial:
    request = read_request([source], load().find("sha-256"), flags=["-O1"])
    return Trial(request, sizes=(64,), clock=Clock(0.3), listener=audience.listener)


@pytest.mark.native
def test_a_program_is_measured_kept_and_compared(tmp_path, audience):
    source = Path(shutil.copy(CODE / "sha256.c", tmp_path / "mine.c"))
    trial = trial_of(source, audience)
    kept = trial.against_baseline(keep=False)
    assert isinstance(kept, Kept)
    changed = replace(trial, clock=Clock(0.3)).against_baseline(keep=False)
    assert isinstance(changed, InTurn)
    assert [change.size_bytes for change in changed.changes] == [64]
    assert changed.run.conditions.command == ("typed", "so")
    assert len(audience.runs) == 2


@pytest.mark.native
def test_a_program_that_is_wrong_has_no_figure_and_is_not_measured(tmp_path, audience):
    source = tmp_path / "wrong.c"
    source.write_text(
        "void f(char *out, const char *in, int n) { for (int i = 0; i < 32; i++) out[i] = 1; }\n"
    )
    with pytest.raises(NoFigure) as refused:
        trial_of(source, audience).beside_libraries()
    assert refused.value.code == EXIT_INCORRECT
    assert [fault.kind for fault in refused.value.faults] == ["incorrect"]
    assert audience.runs == []


@pytest.mark.native
def test_what_does_not_compile_is_an_error_with_the_compilers_words(tmp_path, audience):
    source = tmp_path / "broken.c"
    source.write_text("void f(char *out, const char *in, int n) { nope }\n")
    with pytest.raises(UsageError, match="it does not build"):
        trial_of(source, audience).beside_libraries()
    assert "nope" in audience.urgent[0]
