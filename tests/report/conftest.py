from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# The factory of runs and the browser stand beside the tests and are no tests themselves.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    from browsing import launched

    with launched() as opened:
        yield opened
