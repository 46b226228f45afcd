"""A home of its own for builds, so that a trial of a test meets no other."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commands import share_builds

sys.path.insert(0, str(Path(__file__).parent))
CODE = Path(__file__).parent / "code"


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    # one for the whole session: the SDK is compiled once
    place = tmp_path_factory.getbasetemp() / "trials"
    share_builds(place)
    monkeypatch.setenv("PERBYTE_HOME", str(place))
    monkeypatch.setenv("PERBYTE_TEST_LOCKS", str(place))
    return place


@pytest.fixture
def code() -> Path:
    """The directory of the sources that are tried."""
    return CODE
