"""What the machine code of a library contains: is there one AES instruction in it?

A distribution may build a library without the instructions that its makers wrote code for. The object that a runner
names is disassembled by `objdump` (binutils, present wherever a compiler is) until one instruction of each kind was
seen; the answer is kept by the object's SHA-256, because it takes a second or two. Code that is made at run time is
in no object: the runner's language decides whether there is something to look at. That an instruction is there does
not say that it is used; that there is none does say that it is not.
"""

from __future__ import annotations

import contextlib
import functools
import platform
import re
import shutil
import subprocess
import threading
from pathlib import Path

from perbyte import places
from perbyte.atomic import new_file
from perbyte.model.algorithm import CPU_FLAGS
from perbyte.runners.target import machine_of

COMPILED = frozenset({"c", "c++", "rust", "go"})
_LARGEST_BYTES = 256 << 20
_LIMIT_S = 60.0
_X86 = re.compile(
    r"\tv?(?:(?P<aes>aes(?:enc|dec))|(?P<clmul>pclmul)|(?P<sha>sha(?:1|256)(?:rnds|msg|nexte)))"
)
_ARM = re.compile(r"\t(?:(?P<aes>aes[ed]\t)|(?P<clmul>pmull2?\t\S+\.1q)|(?P<sha>sha(?:1|256)(?:[chmp]|su)))")
# Scalar and vector cryptography extensions (riscv-crypto 1.0.1, vector 1.0).
_RISCV = re.compile(
    r"\t(?:(?P<aes>aes(?:32|64)[de]|vaes[de])|(?P<clmul>clmul|vclmul|vghsh)|(?P<sha>sha256s|vsha2))"
)
# Message-security assist: one instruction for all ciphers (km*), two for all hashes, GHASH among them.
_S390X = re.compile(r"\t(?:(?P<aes>km(?:ac|ctr|c|f|o|a)?\t)|(?P<clmul>vgfma?[bhfg]?\t)|(?P<sha>k[il]md\t))")
_INSTRUCTIONS = {"x86_64": _X86, "aarch64": _ARM, "riscv64": _RISCV, "s390x": _S390X}


def lacking(language: str, path: str, sha256: str) -> tuple[str, ...]:
    """Return the features ("aes", "clmul", "sha") that this CPU has and an object has no instruction of, in order.

    `language` is the runner's, `sha256` the hash of the object's content. Empty also when it cannot be examined: no
    `objdump`, no ELF file, another architecture, a language whose machine code is made at run time.
    """
    if language not in COMPILED:
        return ()
    flags = cpu_flags()
    return tuple(name for name in _without(path, sha256) if CPU_FLAGS[name] & flags)


@functools.cache
def cpu_flags() -> frozenset[str]:
    """What `/proc/cpuinfo` says that the first processor has; empty where there is no such file."""
    with contextlib.suppress(OSError):
        return read_flags(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))
    return frozenset()


def read_flags(cpuinfo: str) -> frozenset[str]:
    """Return the features that a text of `/proc/cpuinfo` names first: flags, Features, or the parts of an ISA string.

    RISC-V writes them as one word, `rv64imafdc_zba_zkne`: base and letters first, then names after underscores.
    """
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() in ("flags", "features"):
            return frozenset(value.split())
        if name.strip().lower() == "isa":
            letters, *extensions = value.strip().lower().split("_")
            return frozenset((*letters.removeprefix("rv32").removeprefix("rv64"), *extensions))
    return frozenset()


def _without(path: str, sha256: str) -> tuple[str, ...]:
    """The features of which the object has no instruction, whatever the CPU; kept in a file of the build's place."""
    if not sha256:
        return ()
    kept = places.build_home() / "machine-code" / sha256
    with contextlib.suppress(OSError):
        return tuple(kept.read_text(encoding="ascii").split())
    extensions = _examine(path)
    if extensions is None:
        return ()
    lacks = tuple(name for name in CPU_FLAGS if name not in extensions)
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with new_file(kept) as file:
            file.write_text(" ".join(lacks), encoding="ascii")
    return lacks


def _examine(path: str) -> set[str] | None:
    """The features of which the object has an instruction; None when that cannot be told."""
    machine = machine_of(path)
    objdump, wanted = shutil.which("objdump"), _INSTRUCTIONS.get(machine)
    if not objdump or not wanted or machine != platform.machine() or not _is_small(path):
        return None
    extensions: set[str] = set()
    command = [objdump, "--disassemble", "--no-show-raw-insn", path]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        guard = threading.Timer(_LIMIT_S, process.kill)
        guard.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if (seen := wanted.search(line)) and seen.lastgroup:
                    extensions.add(seen.lastgroup)
                if len(extensions) == len(CPU_FLAGS):
                    process.kill()
                    return extensions
        finally:
            guard.cancel()
    return extensions if process.returncode == 0 else None


def _is_small(path: str) -> bool:
    try:
        return Path(path).stat().st_size <= _LARGEST_BYTES
    except OSError:
        return False
