"""The figure of the live line: after the first bursts of a cell, and better with each epoch."""

from __future__ import annotations

import re

import pytest
from fake_scripts import row


@pytest.mark.parametrize(("clock", "unit"), [({}, "cycles"), ({"cycle_source": "none"}, "ns")])
def test_the_first_bursts_of_a_cell_say_what_it_costs_so_far(lab, address, clock, unit):
    script = {"name": "alpha", "operations": [row(per_call=900.0, per_byte=2.0)], "clock": clock}
    done = lab.run(script, ask="alpha/aes-128-ecb@64+contract=message", epochs=3, max_epochs=3)
    [figure] = done.outcome.cells
    told = [moment.figure for moment in done.watch.moments if moment.figure]
    assert told, "of a cell that has clean samples"
    assert {text.partition(": ")[0] for text in told} == {address("alpha", 64)}
    assert all(f" {unit} a call, " in text and text.endswith(" a byte so far") for text in told)
    cost = float(re.search(r": ([\d.,]+) ", told[-1])[1].replace(",", ""))
    assert cost == pytest.approx(figure.per_call if unit == "cycles" else figure.ns_per_call, rel=0.02)
