from __future__ import annotations

import sys
from pathlib import Path

import pytest

# The factory of runs and the browser stand beside the tests and are no tests themselves.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _charts_are_checked(monkeypatch: pytest.MonkeyPatch):
    """Charts are held against the schema of Vega-Lite here; in use that is left out, because it takes too long.

    Whole, as they are written, and not each of their parts once more as it is made.
    """
    from altair.utils.schemapi import SchemaBase, debug_mode

    from perbyte.report import charts  # noqa: F401 - it switches the check off, once

    monkeypatch.setattr(SchemaBase, "_class_is_valid_at_instantiation", False)
    with debug_mode(True):
        yield
