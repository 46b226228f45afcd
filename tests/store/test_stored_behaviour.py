"""What cells execute and use is kept beside a run, and asked of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from perbyte.errors import StoreError
from perbyte.store import RunWriter, open_run, query, verify
from perbyte.store.beside import write_behaviours
from perbyte.store.files import BEHAVIOUR_FILE


def test_it_comes_back_and_is_asked_for(finished, specimens):
    place = finished()
    assert open_run(place).behaviours == ()  # a run where nobody asked
    told = (specimens.behaviour(), specimens.behaviour(1, call=None, calls=0, unknown="why"))
    write_behaviours(place, specimens.conditions().run_id, told)
    assert open_run(place).behaviours == told
    names, rows = query(place, "SELECT address, instructions, aes, state_bytes, unknown FROM behaviour")
    assert names == ("address", "instructions", "aes", "state_bytes", "unknown")
    assert rows == [
        (specimens.cell(0).address, 1234.5, 40.0, 1000.0, ""),
        (specimens.cell(1).address, None, None, 1000.0, "why"),
    ]
    assert not [note for note in verify(place).notes if BEHAVIOUR_FILE in note]


def test_a_file_that_is_not_the_run_s_is_refused(finished, specimens):
    place = finished()
    write_behaviours(place, "another", (specimens.behaviour(),))
    with pytest.raises(StoreError, match="it is of the run 'another'"):
        open_run(place)
    (place / BEHAVIOUR_FILE).write_text('{"run_id": 1}')
    with pytest.raises(StoreError):
        open_run(place)


def test_what_a_handshake_sends_has_three_numbers_or_the_file_is_damaged(finished, specimens):
    place, run_id = finished(), specimens.conditions().run_id
    write_behaviours(place, run_id, (replace(specimens.behaviour(), wire=(285, 1040, 1)),))
    file = place / BEHAVIOUR_FILE
    written = json.loads(file.read_text())
    written["cells"][0]["wire"] = [285, 1040]
    file.write_text(json.dumps(written))
    with pytest.raises(StoreError, match="has 2 numbers"):
        open_run(place)


def test_it_goes_with_the_run_that_is_overwritten(finished, specimens):
    place = finished()
    write_behaviours(place, specimens.conditions().run_id, (specimens.behaviour(),))
    with RunWriter.create(place, overwrite=True) as writer:
        writer.begin(specimens.conditions())
    assert not (place / BEHAVIOUR_FILE).exists()
