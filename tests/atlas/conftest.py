"""Runs of known content, as the store's tests write them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("stored", Path(__file__).parents[1] / "store" / "conftest.py")
_STORED = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_STORED)
specimens, finished = _STORED.specimens, _STORED.finished
