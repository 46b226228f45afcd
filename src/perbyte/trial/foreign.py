"""What programs of other languages share: the SDK compiled for them, the script that starts them, their tools."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from perbyte import places
from perbyte.errors import EnvironmentLacking
from perbyte.runners.build import C_FLAGS
from perbyte.runners.needs import compiler
from perbyte.trial.building import compiled_sdk


def tool(program: str, packages: str) -> str:
    """Where a toolchain's program lies. Raises EnvironmentLacking with the packages that bring it."""
    if path := shutil.which(program):
        return path
    raise EnvironmentLacking(f"there is no {program} here", hint=f"install it, e.g. {packages}")


def sdk_library(
    version: str,
    more: Sequence[Path] = (),
    flags: Sequence[str] = (),
    name: str = "libperbyte.so",
    *,
    static: bool = False,
) -> Path:
    """The compiled SDK with the loops of other languages, for the compiler `version`; made when it is not there yet."""
    sdk = places.data_dir("runners") / "sdk"
    sources = [*sorted((sdk / "c").glob("*.c")), sdk / "foreign" / "foreign.c", *more]
    macros = [f'-DPB_COMPILER="{version}"', '-DPB_FLAGS=""']
    base = [*compiler("c"), *C_FLAGS, "-O2", "-g", "-fPIC", f"-I{sdk / 'c'}", f"-I{sdk / 'foreign'}", *flags]
    name = "libperbyte.a" if static else name
    objects = [f"{file.stem}.o" for file in sources]
    last = ["ar", "rcs", name, *objects]
    if not static:
        last = [*compiler("c"), "-shared", "-o", name, *objects, "-lm", "-ldl", "-pthread"]
    headers = [*(sdk / "c").glob("*.h"), *(sdk / "foreign").glob("*.h")]
    return compiled_sdk(name, [*base, *macros], [*sources, *headers], last, static)


def write_start(scratch: Path, name: str, library: Path, command: str, environment: str = "") -> None:
    """The program that the orchestrator starts: the environment, and then the language's own."""
    text = (
        '#!/bin/sh\nhere=$(dirname -- "$0")\n'
        f"{environment}PERBYTE_SDK={shlex.quote(str(library))} PERBYTE_NAME={shlex.quote(name)} exec {command}\n"
    )
    (scratch / "runner").write_text(text, encoding="utf-8")


def said_by(program: str, option: str) -> str:
    """What a program says of itself, in one line without quotes."""
    ended = subprocess.run([program, option], capture_output=True, text=True, timeout=20, check=False)
    return (ended.stdout or ended.stderr).strip().replace('"', "")
