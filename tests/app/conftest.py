"""A home of its own, with what is built once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import share_builds


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    share_builds(place)
    for name, value in {
        "PERBYTE_HOME": str(place),
        "PERBYTE_TEST_LOCKS": str(place),
        "PERBYTE_BUILD": "off",
        "PERBYTE_AUDIT": "off",
    }.items():
        monkeypatch.setenv(name, value)
    return place
