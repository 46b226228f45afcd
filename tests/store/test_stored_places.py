"""Places are kept beside a run, listed in its manifest, and refused where they are another run's."""

from __future__ import annotations

import json

import pytest

from perbyte.errors import StoreError
from perbyte.model import Estimate, Quantile
from perbyte.model.placement import Decider, MemoryPlace, Placement
from perbyte.store import open_run, verify
from perbyte.store.beside import write_placements
from perbyte.store.files import PLACES_FILE


def placement(cell):
    estimate = Estimate(0.1, 0.05, 0.15)
    places = (MemoryPlace(0, (1.0, 2.0), False, 0x7FFF_FFFF_F010, 2, 3, 4, 5, 6),)
    decider = Decider("stack", 4096, 0, 64, estimate, 0.001, 1, 1)
    return Placement(cell, "cycles", "decided", places, (Quantile(0.5, estimate),), 0.1, True, 1.5,
                     estimate, estimate, (decider,), ("stack",), None, 0.05, 2)  # fmt: skip


def test_they_come_back_and_are_listed(finished, specimens):
    place = finished()
    assert open_run(place).placements == ()  # a run where nobody asked
    told = (placement(specimens.cell(0)), Placement(specimens.cell(1), unknown="why"))
    write_placements(place, specimens.conditions().run_id, told)
    assert open_run(place).placements == told
    assert PLACES_FILE in json.loads((place / "manifest.json").read_text())["files"]
    assert not verify(place).damaged


def test_a_changed_file_is_found(finished, specimens):
    place = finished()
    write_placements(place, specimens.conditions().run_id, (placement(specimens.cell(0)),))
    file = place / PLACES_FILE
    file.write_text(file.read_text().replace("0.05", "0.04", 1))
    assert [finding.name for finding in verify(place).damaged] == [PLACES_FILE]


def test_those_of_another_run_are_refused(finished, specimens):
    place = finished()
    write_placements(place, "another", ())
    with pytest.raises(StoreError, match="it is of the run 'another'"):
        open_run(place)
