from __future__ import annotations

import sys
from pathlib import Path

import pytest

# The factory of runs and the browser stand beside the tests and are no tests themselves.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _charts_are_checked():
    """Charts are held against the schema of Vega-Lite here; in use that is left out, because it takes too long."""
    from altair.utils.schemapi import debug_mode

    from perbyte.report import charts  # noqa: F401 - it switches the check off, once

    with debug_mode(True):
        yield
