"""Which compilers and build tools work here: those of rustup are there without a toolchain, and then only say so."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest

_VERSIONS = {"cargo": "--version", "rustc": "--version", "go": "version"}


@cache
def lacks(tool: str) -> str:
    """Why `tool` cannot be used, in words; empty where it can."""
    if not shutil.which(tool):
        return f"no {tool}"
    if tool in _VERSIONS:
        try:
            asked = subprocess.run(
                [tool, _VERSIONS[tool]], capture_output=True, text=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{tool} does not answer: {error}"
        if asked.returncode:
            return f"{tool} does not work: {asked.stderr.strip()[:200]}"
    return ""


def needs(tool: str) -> pytest.MarkDecorator:
    """Skip a test where `tool` cannot be used, with the reason."""
    return pytest.mark.skipif(bool(lacks(tool)), reason=lacks(tool) or f"{tool} is there")
