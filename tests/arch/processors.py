"""Processors that runners are built for and emulated on: which are to be had here, and how a test works on one.

What lacks a compiler or an emulator is skipped with the command that brings it; `make arch` brings all of it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from perbyte import places
from perbyte.runners import RunnerSpec, find

ROOT = Path(__file__).resolve().parents[2]
SYSROOT_SCRIPT = ROOT / "scripts" / "sysroot.sh"
TARGETS = ("aarch64-linux-gnu", "riscv64-linux-gnu", "s390x-linux-gnu")
# Built against packages of the distribution, where it has some for that processor; from source where `make arch` did.
PACKAGED = ("openssl", "openssl-lowlevel", "nettle")
LIBRARIES = {
    "aarch64-linux-gnu": ("openssl", "nettle", "blake3"),
    "riscv64-linux-gnu": ("libsodium", "blake3"),
    "s390x-linux-gnu": ("openssl-lowlevel", "nettle", "blake3"),
}
PAIRS = tuple((target, name) for target in TARGETS for name in LIBRARIES[target])


def machine(target: str) -> str:
    return target.partition("-")[0]


def emulator(target: str) -> list[str]:
    return [f"qemu-{machine(target)}", "-L", f"/usr/{target}"]


def compiler(target: str) -> str:
    return f"{target}-gcc"


def require(target: str) -> None:
    """Skip the test where this machine cannot build for the target or not emulate it."""
    for tool in (compiler(target), emulator(target)[0]):
        if not shutil.which(tool):
            pytest.skip(f"there is no {tool}; to have everything: make arch")


@contextmanager
def building_for(target: str) -> Iterator[None]:
    """With the environment in which Perbyte builds and runs for the target."""
    require(target)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("CC", "CXX", "PERBYTE_EMULATOR", "PERBYTE_SANITIZE")
    }
    with mock.patch.dict(os.environ, kept | {"PERBYTE_TARGET": target}, clear=True):
        yield


@contextmanager
def built_for(target: str, name: str) -> Iterator[RunnerSpec]:
    """A runner built for the target, in that environment; skips the test where its library was not brought."""
    from perbyte.runners.build import build

    with building_for(target):
        if name in PACKAGED:
            if not (places.build_home() / "sysroots" / target / "usr").is_dir():
                pytest.skip(f"no libraries for {target} are unpacked; to have everything: make arch")
            os.environ.update(_sysroot(target))
        spec = find(name)
        if spec.opt_in and not spec.out().is_dir():
            pytest.skip(f"not built: PERBYTE_TARGET={target} perbyte build {name}")
        outcome = build(spec)
        assert outcome.usable, outcome.output or outcome.missing
        yield spec


def _sysroot(target: str) -> dict[str, str]:
    """The variables that the script prints, of what is unpacked already."""
    output = subprocess.run(
        ["sh", SYSROOT_SCRIPT, target, "libssl3"], capture_output=True, text=True, check=True
    ).stdout
    return dict(shlex.split(line)[1].split("=", 1) for line in output.splitlines())
