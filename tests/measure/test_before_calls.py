"""Looks at what a runner does before calls in a state of its own, and what is said of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from perbyte.measure.looks import BEFORE_LONGEST_NS, BEFORE_TURNS, Allowance, Looks
from perbyte.model import Audit, Cell, Doubt, Policy
from perbyte.stats.audit import BEFORE_NS, judge_state
from perbyte.stats.newdata import COPYING

COLD = Cell("alpha", "aes-128-gcm", "seal", 1350, "message/1", state="cold")
PROBE_NS, QUESTION_S = 1400, 15e-6  # what probes take, and the question by itself


class Scripted:
    """Processes whose calls take `call` ns, and who do something else for `before` ns before each."""

    def __init__(self, call: int, before: float) -> None:
        self.call, self.before, self.asked = call, before, 0
        self.calibrations = {cell.process: SimpleNamespace(tick_hz=1e9) for cell in (COLD, COPYING)}

    def of(self, cell: Cell) -> Any:
        return SimpleNamespace(measure=self.measure)

    def handle(self, cell: Cell) -> int:
        return 1

    def measure(self, handle: int, *, samples: int, calls: int, **more: Any) -> Any:
        self.asked += 1
        assert calls == 1
        cpu_s = QUESTION_S + samples * (self.call + PROBE_NS + self.before) * 1e-9
        ticks = SimpleNamespace(ticks=[self.call] * samples)
        return SimpleNamespace(burst=ticks, cpu_s=cpu_s, wall_s=2 * cpu_s)


def look(call: int, before: float, own: float = 100.0) -> Audit:
    witness: Any = Scripted(30, own)
    sessions: Any = Scripted(call, before)
    return Looks(Policy(), witness, Allowance(), lambda *_: None).before(sessions, Audit(COLD, 0))


def test_what_is_done_before_a_call_is_what_the_own_loop_does_not_do():
    seen = look(400, 530.0)
    assert [round(value) for value in seen.before_ns] == [430] * BEFORE_TURNS
    assert round(seen.clean_ns) == 400
    assert look(round(2 * BEFORE_LONGEST_NS), 530.0).before_ns == []


def test_who_makes_the_call_beforehand_is_marked_in_two_epochs_of_five():
    honest, lying = look(400, 180.0), look(400, 500.0)
    [warning] = judge_state([honest, lying, honest, lying, honest])
    assert warning.kind is Doubt.AUDIT
    assert "works for 400 ns untimed, where a call takes 400 ns in a loop" in warning.text
    assert judge_state([honest] * 4 + [lying]) == ()
    assert judge_state([look(4000, 1000.0)] * 5) == (), "a small part of a long call"
    assert judge_state([look(20, 100 + BEFORE_NS)] * 5) == (), "as much as honest ones need"
    assert judge_state([]) == ()
