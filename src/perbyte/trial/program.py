"""Compile a user's files, the adapter and the SDK into a runner. A compiler's complaint is an outcome with its words.

The SDK is compiled once and kept, so that a trial costs its own files only. Nothing of the user's is warned about; the
flags are the user's own and stand in the runner's `hello`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from perbyte import places
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.runners import RunnerSpec, Tier
from perbyte.runners.build import C_FLAGS, SPEED_FLAGS, run_tool
from perbyte.runners.needs import compiler, compiler_version
from perbyte.runners.spec import PROGRAM
from perbyte.trial.mangled import link_flags
from perbyte.trial.rust import FLAGS as RUST_FLAGS
from perbyte.trial.zig import zig_build, zig_version

COMPILED = {".c": "c", ".s": "c", ".S": "c", ".asm": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
LINKED = (".a", ".so", ".o")
HEADERS = (".h", ".hh", ".hpp", ".inc")
_BUILT = "then: perbyte try mine.o --as ... --function mine --signature out,in,size"
OTHER_LANGUAGES = {
    ".swift": ("Swift", f'@_cdecl("mine"), swiftc -O -emit-object -parse-as-library mine.swift; {_BUILT}'),
    ".d": ("D", f"extern(C), ldc2 -O -betterC -c mine.d; {_BUILT}"),
    ".f90": ("Fortran", f"bind(C), gfortran -O2 -c mine.f90; {_BUILT}"),
    ".nim": ("Nim", f"exportc, nim c --noMain --app:staticlib -d:release mine.nim; {_BUILT}"),
    ".hs": (
        "Haskell",
        "foreign export ccall, ghc -shared; then: perbyte try libmine.so --signature out,in,size",
    ),
    ".cs": (
        "C#",
        "UnmanagedCallersOnly and native AOT; then: perbyte try libmine.so --signature out,in,size",
    ),
}
"""Languages that are not compiled here, with the way on."""
_LIMIT_S = 300
_KEPT = 12_000


class DoesNotBuild(Exception):
    """A compiler or the linker refused; the argument is all it said."""

    @property
    def first(self) -> str:
        """The first error, in one line."""
        lines = [line.strip() for line in str(self).splitlines() if line.strip()]
        bad = [
            line for line in lines if re.search(r"\b[Ee]rror\b|undefined reference|fatal|cannot find", line)
        ]
        return re.sub(r"\s+", " ", (bad or lines or ["the compiler said nothing"])[0])[:300]


@dataclass(frozen=True, slots=True)
class Source:
    """What a trial's program is made of. `table` is the adapter's text, `wrapper` that for Rust or Zig ('' without).

    `include` are directories for headers, before those of the files; `forced` headers that C++ must have seen, so that
    its functions get C's names; `others` further files, each with flags and include directories of its own; `called`
    functions that may have names of C++; `defines` flags for the user's files that nobody chose; `compilers` those
    of C and of C++, empty for the usual ones.
    """

    name: str
    files: tuple[Path, ...]
    flags: tuple[str, ...]
    table: str
    wrapper: str = ""
    include: tuple[Path, ...] = ()
    forced: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    others: tuple[tuple[Path, tuple[str, ...], tuple[Path, ...]], ...] = ()
    called: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    compilers: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def link_words(names: Sequence[str]) -> tuple[str, ...]:
    """Flags of the linker for libraries by name, `crypto`, by flag, `-lcrypto`, or by path."""
    return tuple(
        str(Path(name).resolve()) if Path(name).is_file() else name if name.startswith("-") else f"-l{name}"
        for name in names
    )


def from_pkg_config(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags of the compiler and of the linker that pkg-config has for `names`. Raises EnvironmentLacking."""
    if not names:
        return (), ()
    flags = []
    for option in ("--cflags", "--libs"):
        try:
            ended = run_tool(["pkg-config", option, *names], Path.cwd(), _LIMIT_S)
        except OSError:
            raise EnvironmentLacking("there is no pkg-config", hint="apt-get install pkg-config") from None
        if ended.returncode:
            text = (ended.stdout.strip().splitlines() or ["nothing"])[0]
            raise EnvironmentLacking(
                f"pkg-config does not know {', '.join(names)}: {text}", hint="install its headers"
            )
        flags.append(tuple(shlex.split(ended.stdout)))
    return flags[0], flags[1]


def home() -> Path:
    """Where programs of trials lie."""
    return places.build_home() / "trials"


def build_program(source: Source, place: Path) -> RunnerSpec:
    """Build `source` into `place` (replaced) and describe it as a runner.

    Raises DoesNotBuild with the compiler's words, UsageError for a file that nothing can be done with,
    EnvironmentLacking when a compiler is missing or the place cannot be written.
    """
    sort = {file: _sort(file) for file in source.files}
    cxx = any(kind == "c++" for kind in sort.values())
    used = {"c": source.compilers[0] or compiler("c"), "c++": source.compilers[1] or compiler("c++")}
    main = used["c++" if cxx else "c"]
    for needed in {compiler("c")[0], main[0], *(("rustc",) if "rust" in sort.values() else ())}:
        if not shutil.which(needed):
            raise EnvironmentLacking(f"there is no compiler {needed}", hint="install it, or set CC or CXX")
    sdk = sdk_archive()
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        (scratch / "table.c").write_text(source.table, encoding="utf-8")
        told = " ".join(source.flags)
        macros = [f"-DPB_COMPILER={_c_text(_version_of(sort, main))}", f"-DPB_FLAGS={_c_text(told)}"]
        sdk_home = places.data_dir("runners") / "sdk" / "c"
        own = [*compiler("c"), *C_FLAGS, "-O2", "-g", "-w", f"-I{sdk_home}"]
        commands = [
            [*own, "-c", "table.c", "-o", "table.o"],
            [*own, *macros, "-c", str(sdk_home / "hello.c"), "-o", "hello.o"],
        ]
        include = [
            f"-I{directory}"
            for directory in dict.fromkeys((*source.include, *(file.parent for file in source.files)))
        ]
        objects = ["table.o", "hello.o"]
        for number, (file, kind) in enumerate(sort.items()):
            if kind in ("c", "c++"):
                forced = (
                    [part for header in source.forced for part in ("-include", header)]
                    if kind == "c++"
                    else []
                )
                name = f"{number}-{file.stem}.o"
                objects.append(name)
                commands.append(
                    [
                        *compiler(kind),
                        *source.flags,
                        *source.defines,
                        "-w",
                        *include,
                        *forced,
                        "-c",
                        str(file),
                        "-o",
                        name,
                    ]
                )
            elif kind == "rust":
                (scratch / "wrapper.rs").write_text(source.wrapper, encoding="utf-8")
                commands.append(
                    ["rustc", *RUST_FLAGS, *_rust_flags(source.flags), "-o", "libsubject.a", "wrapper.rs"]
                )
                objects.append("libsubject.a")
            elif kind == "zig":
                (scratch / "zig.zig").write_text(source.wrapper, encoding="utf-8")
                commands.append(zig_build(file, source.flags, "zig.o"))
                objects.append("zig.o")
        for number, (file, more, places_of_headers) in enumerate(source.others):
            name = f"other-{number}-{file.stem}.o"
            objects.append(name)
            headers = [f"-I{directory}" for directory in places_of_headers]
            kind = COMPILED[file.suffix]
            commands.append([*used[kind], *source.flags, *more, "-w", *headers, "-c", str(file), "-o", name])
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            texts = [words for words in pool.map(lambda command: _run(command, scratch), commands) if words]
        if texts:
            raise DoesNotBuild("\n".join(texts))
        ready = [str(file) for file, kind in sort.items() if kind == "linked"]
        paths = [f"-Wl,-rpath,{file.parent}" for file in source.files if file.suffix == ".so"]
        named = link_flags([scratch / name for name in objects], source.called) if cxx else []
        link = [
            *main,
            "-o",
            "runner",
            *objects,
            *ready,
            *paths,
            str(sdk),
            *named,
            *source.link,
            "-lm",
            "-ldl",
            "-pthread",
        ]
        if words := _run(link, scratch):
            raise DoesNotBuild(words)
        for name in objects:
            (scratch / name).unlink()
        scratch.chmod(0o755)
        if place.exists():
            shutil.rmtree(place)
        scratch.rename(place)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return describe(source.name, place, source.files)


def describe(name: str, place: Path, files: Sequence[Path] = (), *, language: str = "c") -> RunnerSpec:
    """The runner whose program lies in `place`."""
    return RunnerSpec(
        name=name,
        here=place,
        library=", ".join(file.name for file in files),
        license="not stated",
        language=language,
        summary="",
        listed=False,
        opt_in=False,
        cost="",
        wraps="",
        build_of="",
        pkg_config=(),
        headers=(),
        libraries=(),
        programs=(),
        packages={},
        kind=PROGRAM,
        sources=(),
        flags=(),
        link=(),
        watch=(),
        build_command=(),
        command=(str(place / "runner"),),
        environment={},
        tiers={"full": Tier("full")},
    )


def sdk_archive() -> Path:
    """The compiled SDK, all but `hello.c`, which says how a runner was built. Made when it is not there yet."""
    sdk = places.data_dir("runners") / "sdk" / "c"
    sources = sorted(path for path in sdk.glob("*.c") if path.name != "hello.c")
    command = [*compiler("c"), *C_FLAGS, *SPEED_FLAGS, f"-I{sdk}"]
    content = hashlib.sha256(repr((command, compiler_version(compiler("c")))).encode())
    for file in sorted(sdk.glob("*.[ch]")):
        content.update(file.read_bytes())
    archive = home() / "sdk" / content.hexdigest()[:16] / "libperbyte.a"
    if archive.is_file():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sdk-", dir=archive.parent) as scratch:
        place = Path(scratch)
        jobs = [[*command, "-c", str(file), "-o", f"{file.stem}.o"] for file in sources]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            texts = [words for words in pool.map(lambda job: _run(job, place), jobs) if words]
        texts = texts or [_run(["ar", "rcs", "libperbyte.a", *(f"{file.stem}.o" for file in sources)], place)]
        if texts[0]:
            raise EnvironmentLacking(f"the SDK cannot be compiled: {texts[0][:2000]}")
        (place / "libperbyte.a").replace(archive)
    return archive


def digest_of(files: Sequence[Path]) -> str:
    """Twelve digits that stand for the contents of `files`."""
    content = hashlib.sha256()
    for file in files:
        content.update(file.read_bytes())
    return content.hexdigest()[:12]


def _sort(file: Path) -> str:
    if file.suffix in COMPILED:
        return COMPILED[file.suffix]
    if file.suffix in LINKED or ".so." in file.name:
        return "linked"
    if file.suffix in HEADERS:
        return "header"
    if file.suffix == ".rs":
        return "rust"
    if file.suffix == ".zig":
        return "zig"
    raise UsageError(
        f"{file.name}: what to do with such a file is not known",
        hint="C (.c), C++ (.cc), assembly (.S, .s), Rust (.rs), Zig (.zig), Go, Python, JavaScript, Java, Kotlin, "
        "headers, or what is built "
        "(.o, .a, .so)",
    )


def _version_of(sort: dict[Path, str], main: tuple[str, ...]) -> str:
    kinds = set(sort.values())
    told = [compiler_version(main)] if kinds & {"c", "c++"} else []
    told += [compiler_version(("rustc",))] if "rust" in kinds else []
    told += [zig_version()] if "zig" in kinds else []
    return ", ".join(told) or "built elsewhere"


def _rust_flags(flags: Sequence[str]) -> list[str]:
    """Flags of C compilers that people are used to, in rustc's words; others are passed on."""
    told: list[str] = []
    for flag in flags:
        if match := re.fullmatch(r"-O([0123sz])", flag):
            told.append(f"-Copt-level={match[1]}")
        elif flag.startswith("-march="):
            told.append(f"-Ctarget-cpu={flag.removeprefix('-march=')}")
        else:
            told.append(flag)
    return told


def _c_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _run(command: list[str], directory: Path) -> str:
    """What a failed command said; '' when it went well."""
    try:
        ended = run_tool(command, directory, _LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"error: {shlex.join(command)}: {error}"
    return (
        (ended.stdout[-_KEPT:] or f"error: {command[0]} ended with {ended.returncode}")
        if ended.returncode
        else ""
    )
