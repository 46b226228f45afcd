"""A fleet of real processes for each test; the scheduler is for the test to start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fleet_processes import Fleet


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    pytest.importorskip("distributed")
    made = Fleet(tmp_path)
    yield made
    made.end()
