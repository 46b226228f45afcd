"""What is said beforehand of others that use the cores of a run."""

from __future__ import annotations

import os

import pytest

from perbyte.app import requests


@pytest.mark.parametrize(
    ("load", "now", "told"), [(0.1, 1, False), (4.0, 1, False), (0.1, 5, False), (4.0, 5, True)]
)
def test_others_are_told_of_who_use_the_cores_now_and_did_so_before(monkeypatch, load, now, told):
    """A run of a moment ago is in the load, and is gone; what began this moment may be over in the next."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
    monkeypatch.setattr(requests, "programs_running", lambda: now)
    assert bool(requests.busy_text((0, 1))) is told
