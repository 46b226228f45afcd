"""The C SDK and runners by other compilers and another C library: they build without a warning and keep the protocol.

What is not installed is skipped; scripts/setup.sh python3 musl-tools clang installs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from perbyte.runners import BuildState, build, find
from perbyte.runners.conform import conform
from perbyte.runners.needs import compiler_version
from perbyte.runners.spec import SANITIZE_VARIABLE

pytestmark = [pytest.mark.native, pytest.mark.apart]

# Debian's musl-gcc leaves out the kernel's headers, which any C library needs: they are looked for last
MUSL = f"musl-gcc -idirafter /usr/include -idirafter /usr/include/{os.uname().machine}-linux-gnu"
PAIRS = [
    (MUSL, "", "reference"),
    ("clang", "clang++", "reference"),
    ("clang", "clang++", "openssl"),
    ("clang", "clang++", "libgcrypt"),
    ("clang", "clang++", "nettle"),
    ("clang", "clang++", "cryptopp"),
]


@pytest.mark.parametrize(("c", "cxx", "name"), PAIRS)
def test_a_runner_by_another_compiler_keeps_every_promise(c, cxx, name, tmp_path, monkeypatch):
    if not all(shutil.which(command.split()[0]) for command in (c, cxx) if command):
        pytest.skip(f"no {c.split()[0]}")
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    # musl has no sanitizers, and clang's are a package of its own
    monkeypatch.delenv(SANITIZE_VARIABLE, raising=False)
    monkeypatch.setenv("CC", c)
    monkeypatch.setenv("CXX", cxx or "c++")
    spec = find(name)
    outcome = build(spec)
    if outcome.state is BuildState.ABSENT:
        pytest.skip(f"lacks {', '.join(outcome.missing)}")
    assert outcome.state is BuildState.BUILT, outcome.output
    assert conform(spec) == []
    if c == MUSL:
        assert loader(Path(spec.fill("{executable}"))) == "musl"
    else:
        assert "clang" in compiler_version((c,))


def loader(program: Path) -> str:
    """`musl` or another C library, by the loader that an ELF program asks for."""
    message = subprocess.run(["readelf", "-l", program], capture_output=True, text=True, check=True).stdout
    return "musl" if "ld-musl" in message else "other"
