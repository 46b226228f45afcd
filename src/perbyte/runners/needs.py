"""Is what a runner needs on this machine, with which flags, and if not: which command installs it?

pkg-config is asked first, because it knows versions and flags; where it is not installed or does not know the
library, the compiler is asked whether headers and libraries are there. Nothing is installed or written here.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from perbyte.runners import target
from perbyte.runners.spec import RunnerSpec

_QUICK_S = 60
_COMMANDS = {
    "apt": ("apt-get", "install", "-y"),
    "dnf": ("dnf", "install", "-y"),
    "zypper": ("zypper", "install", "-y"),
    "pacman": ("pacman", "-S", "--needed"),
    "apk": ("apk", "add"),
    "brew": ("brew", "install"),
}
_COMPILER_PACKAGES: dict[str, dict[str, tuple[str, ...]]] = {
    "apt": {"c": ("gcc", "libc6-dev"), "c++": ("g++",)},
    "dnf": {"c": ("gcc",), "c++": ("gcc-c++",)},
    "zypper": {"c": ("gcc",), "c++": ("gcc-c++",)},
    "pacman": {"c": ("gcc",), "c++": ("gcc",)},
    "apk": {"c": ("gcc", "musl-dev", "linux-headers"), "c++": ("g++",)},
    "brew": {"c": ("gcc",), "c++": ("gcc",)},
}


@dataclass(frozen=True, slots=True)
class Found:
    """Everything is there: flags for compiling and linking, and what is known of the version."""

    compile: tuple[str, ...]
    link: tuple[str, ...]
    version: str


@dataclass(frozen=True, slots=True)
class Missing:
    """What is lacking, in words, and the packages and the command that bring it ('' where unknown)."""

    what: tuple[str, ...]
    packages: tuple[str, ...]
    install: str


def compiler(language: str) -> tuple[str, ...]:
    """The command for `c` or `c++`: CC or CXX of the environment, else that of PERBYTE_TARGET, else cc or c++."""
    variable, default = ("CXX", "c++") if language == "c++" else ("CC", "cc")
    if named := target.triplet():
        default = f"{named}-{'g++' if language == 'c++' else 'gcc'}"
    return tuple(shlex.split(os.environ.get(variable, ""))) or (default,)


@functools.cache
def compiler_version(command: tuple[str, ...]) -> str:
    """The compiler's own first line about itself; '' when it does not answer."""
    lines = _run([*command, "--version"]).stdout.splitlines()
    return lines[0].strip() if lines else ""


def languages(spec: RunnerSpec) -> tuple[str, ...]:
    """The languages whose compilers a runner needs."""
    return {"c": ("c",), "c++": ("c", "c++")}.get(spec.kind, ())


def look(spec: RunnerSpec) -> Found | Missing:
    """Look for everything that `spec` needs."""
    lacking = [f"command {program}" for program in spec.programs if not shutil.which(program)]
    bare = [language for language in languages(spec) if not shutil.which(compiler(language)[0])]
    lacking += [f"{' '.join(compiler(language))} (compiler for {language})" for language in bare]
    if spec.built and not spec.cross and target.foreign():
        lacking.append(f"a build for {target.triplet()}: its own is for this machine")
    if not lacking:
        library = _library(spec)
        if isinstance(library, Found):
            return library
        lacking = library
    packages = _packages(spec, bare)
    return Missing(tuple(lacking), packages, install_command(packages))


def missing(spec: RunnerSpec) -> Missing | None:
    """What `spec` lacks to be built here; None where it can be."""
    result = look(spec)
    return result if isinstance(result, Missing) else None


def install_advice(specs: Sequence[RunnerSpec]) -> str:
    """How to install all that `specs` lack: the command for this machine, else the packages by manager."""
    lacking = [(spec, lack) for spec in specs if (lack := missing(spec))]
    if package_manager():
        return install_command(_once(name for _, lack in lacking for name in lack.packages))
    bare = {
        language for spec in specs for language in languages(spec) if not shutil.which(compiler(language)[0])
    }
    ways = []
    for manager, compilers in _COMPILER_PACKAGES.items():
        names = [name for language in sorted(bare) for name in compilers.get(language, ())]
        names += [name for spec, _ in lacking for name in spec.packages.get(manager, ())]
        ways += [shlex.join((*_COMMANDS[manager], *_once(names)))] if names else []
    return " | ".join(ways)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def install_command(packages: tuple[str, ...]) -> str:
    """The command that installs `packages` here; '' without packages or without a known package manager."""
    manager = package_manager()
    if not packages or not manager:
        return ""
    sudo = () if os.geteuid() == 0 or manager == "brew" else ("sudo",)
    return shlex.join((*sudo, *_COMMANDS[manager], *packages))


@functools.cache
def package_manager() -> str:
    """The package manager of this machine, as `runner.toml` names it; '' when none is known."""
    return next((name for name, command in _COMMANDS.items() if shutil.which(command[0])), "")


def _packages(spec: RunnerSpec, bare: list[str]) -> tuple[str, ...]:
    manager = package_manager()
    if named := target.triplet():  # names of libraries for other processors are the distribution's affair
        debian = {"c": "gcc", "c++": "g++"} if manager == "apt" else {}
        return tuple(f"{debian[each]}-{named.replace('_', '-')}" for each in bare if each in debian)
    compilers = [name for language in bare for name in _COMPILER_PACKAGES.get(manager, {}).get(language, ())]
    pkg_config = ["pkg-config"] if spec.pkg_config and not spec.headers and not _pkg_config() else []
    return _once((*compilers, *pkg_config, *spec.packages.get(manager, ())))


def _library(spec: RunnerSpec) -> Found | list[str]:
    if not (spec.pkg_config or spec.headers or spec.libraries):
        return Found((), (), "")
    if spec.pkg_config and _pkg_config():
        names = map(_module, spec.pkg_config)
        if not any(_run([_pkg_config(), "--exists", name]).returncode for name in names):
            return _from_pkg_config(spec)
    if not (spec.headers or spec.libraries):
        return [f"pkg-config module {wanted}" for wanted in spec.pkg_config]
    return _from_compiler(spec)


def _from_pkg_config(spec: RunnerSpec) -> Found | list[str]:
    tool = _pkg_config()
    names = [_module(wanted) for wanted in spec.pkg_config]
    versions = [_run([tool, "--modversion", name]).stdout.strip() for name in names]
    lacking = [
        f"{wanted} (found {version})"
        for wanted, version in zip(spec.pkg_config, versions, strict=True)
        if _run([tool, "--exists", wanted]).returncode
    ]
    if lacking:
        return lacking
    return Found(
        compile=tuple(shlex.split(_run([tool, "--cflags", *names]).stdout)),
        link=tuple(shlex.split(_run([tool, "--libs", *names]).stdout)),
        version=", ".join(f"{name} {version}" for name, version in zip(names, versions, strict=True)),
    )


def _from_compiler(spec: RunnerSpec) -> Found | list[str]:
    language = "c++" if spec.kind == "c++" else "c"
    command = compiler(language)
    lacking = []
    for header in spec.headers:
        code = f"#include <{header}>\n"
        if _run([*command, "-x", language, "-fsyntax-only", "-w", *spec.flags, "-"], code).returncode:
            lacking.append(f"header {header}")
    link = tuple(f"-l{name}" for name in spec.libraries)
    with tempfile.TemporaryDirectory(prefix="perbyte-") as scratch:
        output = str(Path(scratch) / "linked")
        code = "int main(void) { return 0; }\n" if language == "c" else "int main() { return 0; }\n"
        for flag in link:
            if _run([*command, "-x", language, "-", "-o", output, flag, *spec.link], code).returncode:
                lacking.append(f"library {flag[2:]}")
    return lacking or Found(compile=(), link=link, version="")


def _module(wanted: str) -> str:
    """'libcrypto' of 'libcrypto >= 3.0'."""
    return wanted.strip().partition(" ")[0]


def _pkg_config() -> str:
    """The program; for another processor only where it is told that processor's modules, not this machine's."""
    named = os.environ.get("PKG_CONFIG", "")
    if target.foreign() and not named and not os.environ.get("PKG_CONFIG_LIBDIR"):
        return shutil.which(f"{target.triplet()}-pkg-config") or ""
    return shutil.which(named or "pkg-config") or shutil.which("pkgconf") or ""


def _run(command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=_QUICK_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))
