"""For which processor runners are built, and what starts a program that is for another one than this machine's.

`PERBYTE_TARGET` names a target as compilers do (`riscv64-linux-gnu`): its compilers build, into a place of their own.
A program for another processor runs under an emulator, and is told so: nothing that is timed there says anything about
a core. What a program is for is read from the program itself, not believed of the environment.
"""

from __future__ import annotations

import functools
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from perbyte.errors import EnvironmentLacking, UsageError

TARGET_VARIABLE = "PERBYTE_TARGET"
EMULATOR_VARIABLE = "PERBYTE_EMULATOR"
# e_machine of ELF headers (gABI, "Machine"), with the class where one number means two processors.
_MACHINES = {
    (2, 62): "x86_64",
    (2, 183): "aarch64",
    (2, 243): "riscv64",
    (2, 22): "s390x",
    (2, 21): "ppc64",
    (2, 258): "loongarch64",
    (1, 40): "arm",
}
_LITTLE = 1
_SAID_OTHERWISE = {"powerpc64le": "ppc64le", "amd64": "x86_64", "arm64": "aarch64"}


def triplet() -> str:
    """Return the target that runners are built for, '' for this machine. Raises UsageError for what is no triplet."""
    named = os.environ.get(TARGET_VARIABLE, "").strip()
    if named and not re.fullmatch(r"[a-z0-9_]+(-[a-z0-9_]+){1,3}", named):
        raise UsageError(
            f"{TARGET_VARIABLE}={named!r} is not a target", hint="as compilers say it: aarch64-linux-gnu"
        )
    return named


def foreign(machine: str = "") -> bool:
    """Tell whether `machine` ('': that of the target) is another one than this machine's."""
    named = machine or triplet().partition("-")[0]
    return bool(named) and _SAID_OTHERWISE.get(named, named) != _own()


def machine_of(program: str | Path) -> str:
    """Return the processor that an ELF file is for, as `uname -m` calls it; '' where the file does not say."""
    try:
        with Path(program).open("rb") as file:
            head = file.read(20)
    except OSError:
        return ""
    if len(head) < 20 or head[:4] != b"\x7fELF":
        return ""
    little = head[5] == _LITTLE
    name = _MACHINES.get((head[4], int.from_bytes(head[18:20], "little" if little else "big")), "")
    return f"{name}le" if name == "ppc64" and little else name


def started(command: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts a runner, and what its environment is told of an emulator.

    A program for another processor gets the emulator's command in front. What only starts such a program (a shell) is
    left as it is, and finds that command in `PERBYTE_EMULATOR`. Raises EnvironmentLacking when there is no emulator.
    """
    machine = machine_of(shutil.which(command[0]) or command[0])
    if machine and foreign(machine) and machine == machine_of(command[0]):
        emulator = _emulator(machine)
        return [*emulator, *command], {EMULATOR_VARIABLE: shlex.join(emulator)}
    if foreign():
        return list(command), {EMULATOR_VARIABLE: shlex.join(_emulator(triplet().partition("-")[0]))}
    return list(command), {}


def _emulator(machine: str) -> list[str]:
    """The emulator's command: the environment's, else QEMU's, which finds the C library where compilers have it."""
    if named := shlex.split(os.environ.get(EMULATOR_VARIABLE, "")):
        return named
    name = _SAID_OTHERWISE.get(machine, machine)
    program = next((tool for tool in (f"qemu-{name}", f"qemu-{name}-static") if shutil.which(tool)), "")
    if not program:
        raise EnvironmentLacking(
            f"a program for {name} cannot be started here: there is no qemu-{name}",
            hint=f"install qemu-user, or name an emulator's command in {EMULATOR_VARIABLE}",
        )
    target = triplet() or f"{name}-linux-gnu"
    roots = (Path(f"/usr/{target}"), Path(f"/usr/{target}/sys-root"))
    root = next((root for root in reversed(roots) if root.is_dir()), None)
    return [program, "-L", str(root)] if root else [program]


@functools.cache
def _own() -> str:
    return machine_of(os.path.realpath(sys.executable)) or platform.machine()
