"""What programs of other languages share: the SDK compiled for them, the script that starts them, their tools."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from perbyte import places
from perbyte.errors import EnvironmentLacking
from perbyte.runners.build import C_FLAGS, run_tool
from perbyte.runners.needs import compiler
from perbyte.trial.program import home

_LIMIT_S = 300


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
    content = hashlib.sha256(repr((base, macros, static)).encode())
    for file in sorted([*sources, *(sdk / "c").glob("*.h"), *(sdk / "foreign").glob("*.h")]):
        content.update(file.read_bytes())
    made = home() / "sdk" / content.hexdigest()[:16] / ("libperbyte.a" if static else name)
    if made.is_file():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sdk-", dir=made.parent) as scratch:
        place = Path(scratch)
        jobs = [[*base, *macros, "-c", str(file), "-o", f"{file.stem}.o"] for file in sources]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            texts = [words for words in pool.map(lambda job: words_of(job, place), jobs) if words]
        objects = [f"{file.stem}.o" for file in sources]
        last = ["ar", "rcs", made.name, *objects]
        if not static:
            last = [*compiler("c"), "-shared", "-o", made.name, *objects, "-lm", "-ldl", "-pthread"]
        texts = texts or [words_of(last, place)]
        if texts[0]:
            raise EnvironmentLacking(f"the SDK cannot be compiled: {texts[0][:2000]}")
        (place / made.name).replace(made)
    return made


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


def words_of(command: Sequence[str], directory: Path) -> str:
    """What a failed command said; '' when it went well."""
    try:
        ended = run_tool(list(command), directory, _LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"error: {shlex.join(command)}: {error}"
    return (ended.stdout or f"error: {command[0]} ended with {ended.returncode}") if ended.returncode else ""
