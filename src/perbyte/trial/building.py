"""What builds of trials share: tools and what they say, the place that a whole build takes, the compiled SDK.

Programs of other languages also share the SDK compiled for them, and the script that starts them.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from string import Template

from perbyte import places
from perbyte.errors import EnvironmentLacking
from perbyte.runners.build import C_FLAGS, TOLD, run_tool, told_macros
from perbyte.runners.needs import compiler

LIMIT_S = 300
_ASKING_S = 60
_KEPT = 12_000


def home() -> Path:
    """Where programs of trials lie."""
    return places.build_home() / "trials"


def captured(
    command: Sequence[str],
    limit_s: float,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a tool with `given` as its input, and keep what it writes, its errors apart.

    `environment` is added to that of this process. Raises OSError and subprocess.TimeoutExpired.
    """
    return subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, **(environment or {})},
        input=given,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit_s,
        check=False,
    )


def words_of(command: Sequence[str], directory: Path) -> str:
    """What a failed command said, the end of it; '' when it went well."""
    try:
        ended = run_tool(list(command), directory, LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"error: {shlex.join(command)}: {error}"
    if not ended.returncode:
        return ""
    return ended.stdout[-_KEPT:] or f"error: {command[0]} ended with {ended.returncode}"


def all_words(commands: Sequence[Sequence[str]], directory: Path) -> list[str]:
    """What those of `commands` said that failed; they run at once."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return [words for words in pool.map(lambda command: words_of(command, directory), commands) if words]


def compiled_sdk(
    name: str, compiling: Sequence[str], sources: Sequence[Path], key: str = "", rest: Path | None = None
) -> Path:
    """The SDK compiled into a file called `name`, kept by its contents, and made when it is not there yet.

    It is an archive where `name` ends in .a, else a shared library. `compiling` is the command for each of `sources`,
    `key` what the product depends on besides, `rest` an archive of this function, which becomes a part of it. Raises
    EnvironmentLacking with the compiler's words.
    """
    objects = {f"{file.stem}.o": str(file) for file in sorted(sources)}
    whole = ("-Wl,--whole-archive", "rest.a", "-Wl,--no-whole-archive") if rest else ()
    last = [*compiler("c"), "-shared", "-o", name, *objects, *whole, "-lm", "-ldl", "-pthread"]
    if name.endswith(".a"):
        last = ["ar", "rcs", name, *objects]
    content = hashlib.sha256(repr((compiling, last, key, rest and rest.parent.name)).encode())
    headers = {header for file in sources for header in file.parent.glob("*.h")}
    for file in sorted((*sources, *headers)):
        content.update(file.read_bytes())
    made = home() / "sdk" / content.hexdigest()[:16] / name
    if made.is_file():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sdk-", dir=made.parent) as scratch:
        place = Path(scratch)
        if rest:
            shutil.copyfile(rest, place / (name if name.endswith(".a") else "rest.a"))
        jobs = [[*compiling, "-c", file, "-o", to] for to, file in objects.items()]
        if words := all_words(jobs, place) or all_words([last], place):
            raise EnvironmentLacking(f"the SDK cannot be compiled: {words[0][:2000]}")
        (place / name).replace(made)
    return made


def tool(program: str, packages: str) -> str:
    """Where a toolchain's program lies. Raises EnvironmentLacking with the packages that bring it."""
    if path := shutil.which(program):
        return path
    raise EnvironmentLacking(f"there is no {program} here", hint=f"install it, e.g. {packages}")


def sdk_library(
    version: str, more: Sequence[Path] = (), flags: Sequence[str] = (), name: str = "libperbyte.so"
) -> Path:
    """The compiled SDK with the loops of other languages, for the compiler `version`.

    `name` ends in .a for an archive. What does not depend on the language is compiled once for all of them.
    """
    base, rest = sdk_of_all()
    told = places.data_dir("runners") / "sdk" / "c" / TOLD
    return compiled_sdk(name, [*base, *flags, *told_macros(version, ())], [told, *more], rest=rest)


def sdk_of_all() -> tuple[list[str], Path]:
    """How other languages compile the SDK, and an archive of what is the same for all."""
    sdk = places.data_dir("runners") / "sdk"
    base = [*compiler("c"), *C_FLAGS, "-O2", "-g", "-fPIC", f"-I{sdk / 'c'}", f"-I{sdk / 'foreign'}"]
    sources = [file for part in ("c", "foreign") for file in (sdk / part).glob("*.c") if file.name != TOLD]
    return base, compiled_sdk("libperbyte.a", base, sources)


def write_start(scratch: Path, name: str, library: Path, command: str, environment: str = "") -> None:
    """The program that the orchestrator starts: the environment, and then the language's own."""
    text = (
        '#!/bin/sh\nhere=$(dirname -- "$0")\n'
        f"{environment}PERBYTE_SDK={shlex.quote(str(library))} PERBYTE_NAME={shlex.quote(name)} exec {command}\n"
    )
    (scratch / "runner").write_text(text, encoding="utf-8")


def said_by(*command: str) -> str:
    """What a program says of itself, in one line without quotes. Raises EnvironmentLacking where it does not answer."""
    try:
        ended = captured(command, _ASKING_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentLacking(f"{command[0]} does not say its version: {error}") from None
    return (ended.stdout or ended.stderr).strip().replace('"', "")


def go_environment(go: str) -> dict[str, str]:
    """What `go build` must find in its environment, so that the SDK's package is linked with the compiled SDK."""
    sdk = places.data_dir("runners") / "sdk"
    library = sdk_library(said_by(go, "version").removeprefix("go version "), name="libperbyte.a")
    library = library.resolve()  # one name: go compiles its packages anew for each
    return {
        "CGO_ENABLED": "1",
        "CGO_CFLAGS": f"-O2 -I{sdk / 'c'} -I{sdk / 'foreign'}",
        "CGO_LDFLAGS": f"{library} -lm -ldl -lpthread",
    }


def filled_template(name: str, **values: object) -> str:
    """The SDK's `try/NAME.in`, whose marks (`$row`) are replaced by `values`."""
    template = places.data_dir("runners") / "sdk" / "try" / f"{name}.in"
    return Template(template.read_text(encoding="utf-8")).substitute(values)


def write_generated(file: Path, **values: object) -> None:
    """Write `file` from the SDK's template of its name."""
    file.write_text(filled_template(file.name, **values), encoding="utf-8")


def nearest(start: Path, name: str) -> Path | None:
    """The file or directory `name` in `start` or the nearest directory above that has one."""
    return next((path for place in (start, *start.parents) if (path := place / name).exists()), None)


def make_executable(program: Path) -> None:
    """Let everybody start a program."""
    program.chmod(program.stat().st_mode | 0o111)
