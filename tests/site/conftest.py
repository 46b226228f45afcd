"""Runs of known content as the store's tests write them, and the browser of the report's tests."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "report")]
_SPEC = importlib.util.spec_from_file_location("stored", Path(__file__).parents[1] / "store" / "conftest.py")
_STORED = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_STORED)


@pytest.fixture(scope="session")
def specimens() -> Any:
    return _STORED.Specimens()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, specimens: Any) -> Path:
    """The site of three machines, with its atlas beside it."""
    from site_of import made_site, three_machines

    home = tmp_path_factory.mktemp("site")
    three_machines(str(home / "atlas"), home, specimens)
    made_site(str(home / "atlas"), home / "site")
    return home / "site"


@pytest.fixture
def one_run(tmp_path: Path, specimens: Any) -> Callable[..., Path]:
    """Write the site of an atlas with one run of these cells."""

    def write(*cells: Any, machine: str = "a", **given: Any) -> Path:
        from site_of import add_run, made_site

        add_run(str(tmp_path / "atlas"), tmp_path, specimens, machine, 1, list(cells), **given)
        made_site(str(tmp_path / "atlas"), tmp_path / "site")
        return tmp_path / "site"

    return write
