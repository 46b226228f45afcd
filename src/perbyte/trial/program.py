"""Compile a user's files, the adapter and the SDK into a runner. A compiler's complaint is an outcome with its words.

The SDK is compiled once and kept, so that a trial costs its own files only. Nothing of the user's is warned about; the
flags are the user's own and stand in the runner's `hello`.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perbyte import places
from perbyte.atomic import new_directory
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.runners import RunnerSpec, Tier
from perbyte.runners.build import C_FLAGS, SPEED_FLAGS, TOLD, run_tool, told_macros
from perbyte.runners.needs import compiler, compiler_version
from perbyte.runners.spec import PROGRAM
from perbyte.trial.around import companions, header_places, newer_than_usual
from perbyte.trial.building import LIMIT_S, all_words, captured, compiled_sdk, words_of
from perbyte.trial.crates import cargo_command, crate_of, write_crate
from perbyte.trial.preprocessed import real_names
from perbyte.trial.steps import READ
from perbyte.trial.wrappers import RUST_FLAGS, zig_build, zig_version

COMPILED = {".c": "c", ".s": "c", ".S": "c", ".asm": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
LINKED = (".a", ".so", ".o")
HEADERS = (".h", ".hh", ".hpp", ".inc")
_OTHERS = {".rs": "rust", ".zig": "zig"} | dict.fromkeys(LINKED, "linked") | dict.fromkeys(HEADERS, "header")
_SORTS = COMPILED | _OTHERS
OTHER_LANGUAGES: dict[str, list[str]] = READ["elsewhere"]
"""Languages that are not compiled here, with the way on."""
_FIXED = "when making a PIE object"
_UNDEFINED = "undefined reference"
_NAMES_S = 60
_COMPLAINT = re.compile(r"\b[Ee]rror\b|undefined reference|fatal|cannot find|relocation")
# lines that name a package, whatever it is called, and remarks
_PROGRESS = re.compile(
    r"(?:Compiling|Checking|Download(?:ed|ing)|Updating|Fresh|Locking|Adding|Finished)\s|.*warning:"
)


class DoesNotBuild(Exception):
    """A compiler or the linker refused; the argument is all it said."""

    @property
    def first(self) -> str:
        """The first error, in one line."""
        lines = [line.strip() for line in str(self).splitlines() if line.strip()]
        bad = [line for line in lines if _COMPLAINT.search(line) and not _PROGRESS.match(line)]
        first = next((line for line in bad if line.startswith("error")), "")
        return re.sub(r"\s+", " ", first or (bad or lines or ["the compiler said nothing"])[0])[:300]


class Unusable(Exception):
    """A source is of no use here; the argument says why."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a trial's program is made of. `table` is the adapter's text, `wrapper` that for Rust or Zig ('' without).

    `include` are directories for headers, before those of the files; `forced` headers that C++ must have seen, so that
    its functions get C's names; `others` further files, each with flags and include directories of its own; `called`
    functions that may have names of C++; `defines` flags for the user's files that nobody chose; `compilers` those
    of C and of C++, empty for the usual ones; `cxx_wrapper` the text of C++ that is compiled with the files `within`
    it, which are not compiled by themselves; `programs` the C of further programs by name, each linked with the user's
    files: where one cannot be built, NAME.failed has the compiler's words.
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
    cxx_wrapper: str = ""
    within: tuple[Path, ...] = ()
    programs: Mapping[str, str] = field(default_factory=dict)


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
            ended = run_tool(["pkg-config", option, *names], Path.cwd(), LIMIT_S)
        except OSError:
            raise EnvironmentLacking("there is no pkg-config", hint="apt-get install pkg-config") from None
        if ended.returncode:
            text = (ended.stdout.strip().splitlines() or ["nothing"])[0]
            raise EnvironmentLacking(
                f"pkg-config does not know {', '.join(names)}: {text}", hint="install its headers"
            )
        flags.append(tuple(shlex.split(ended.stdout)))
    return flags[0], flags[1]


def build_program(source: Source, place: Path) -> RunnerSpec:
    """Build `source` into `place` (replaced) and describe it as a runner.

    Raises DoesNotBuild with the compiler's words, UsageError for a file that nothing can be done with,
    EnvironmentLacking when a compiler is missing or the place cannot be written.
    """
    sort = {file: _sort(file) for file in source.files}
    if set(sort.values()) == {"header"} and not source.cxx_wrapper:
        sort = dict.fromkeys(sort, "c")  # a library that is a header
    cxx = bool(source.cxx_wrapper) or any(kind == "c++" for kind in sort.values())
    used = {"c": source.compilers[0] or compiler("c"), "c++": source.compilers[1] or compiler("c++")}
    if cxx and not any(flag.startswith("-std") for flag in source.flags) and newer_than_usual(source.files):
        used["c++"] = (*used["c++"], "-std=gnu++20")
    main = used["c++" if cxx else "c"]
    for needed in {compiler("c")[0], main[0], *(("rustc",) if "rust" in sort.values() else ())}:
        if not shutil.which(needed):
            raise EnvironmentLacking(f"there is no compiler {needed}", hint="install it, or set CC or CXX")
    sdk = sdk_archive(_abi(source))
    with new_directory(place) as scratch:
        (scratch / "table.c").write_text(source.table, encoding="utf-8")
        own = _of_the_sdk(source)
        macros = told_macros(_version_of(sort, main, cxx=cxx), source.flags)
        hello = str(places.data_dir("runners") / "sdk" / "c" / "hello.c")
        commands = [[*own, "-c", "table.c", "-o", "table.o"], [*own, *macros, "-c", hello, "-o", "hello.o"]]
        parts = _compiling(source, sort, used, scratch)
        if complaints := all_words([*commands, *parts.values()], scratch):
            raise DoesNotBuild("\n".join(complaints))
        paths = [f"-Wl,-rpath,{file.parent}" for file in source.files if file.suffix == ".so"]
        objects = [scratch / name for name in ("table.o", *parts)]
        written = [file for file, kind in sort.items() if kind in ("c", "c++")]
        named = _flags_of_names(objects, source.called, written, source.flags, cxx=cxx)
        rest = [*(str(file) for file, kind in sort.items() if kind == "linked"), *paths, str(sdk), *named]
        rest += [*_abi(source), *source.link, "-lm", "-ldl", "-pthread"]
        linking = [*main, "-o", "runner", "table.o", "hello.o", *parts]
        lent: tuple[Path, ...] = ()
        try:
            rest += _link([*linking, *rest], scratch)
        except DoesNotBuild as error:
            lent = _lent(source, used, [*linking, *rest], scratch) if _UNDEFINED in str(error) else ()
            if not lent:
                raise
            rest = ["others.a", *rest]
            table = source.table.replace(digest_of(source.files), digest_of((*source.files, *lent)))
            last = source.files[-1].name
            table = table.replace(f'{last}"', f'{", ".join([last, *(file.name for file in lent)])}"', 1)
            (scratch / "table.c").write_text(table, encoding="utf-8")
            if words := words_of(commands[0], scratch):
                raise DoesNotBuild(words) from None
            rest += _link([*linking, *rest], scratch)
        for name, text in source.programs.items():
            (scratch / f"{name}.c").write_text(text, encoding="utf-8")
            words = words_of([*own, "-c", f"{name}.c", "-o", f"{name}.o"], scratch)
            words = words or words_of([*main, "-o", name, f"{name}.o", *parts, *rest], scratch)
            if words:
                (scratch / f"{name}.failed").write_text(words, encoding="utf-8")
        for file in scratch.glob("*.o"):
            file.unlink()
    return describe(source.name, place, (*source.files, *lent), link=source.link)


def _lent(
    source: Source, used: Mapping[str, tuple[str, ...]], linking: Sequence[str], scratch: Path
) -> tuple[Path, ...]:
    """Sources of the project that define what the user's files call, in `others.a`; none where that does not do."""
    made = {f"lent-{number}.o": file for number, file in enumerate(companions(source.files))}
    words = {file: [*_headers(source, file), "-c", str(file), "-o"] for file in made.values()}
    commands = [
        [*used[COMPILED[file.suffix]], *source.flags, *source.defines, "-w", *words[file], name]
        for name, file in made.items()
    ]
    all_words(commands, scratch)  # one that does not compile defines nothing
    objects = [name for name in made if (scratch / name).is_file()]
    if not objects or words_of(["ar", "rcs", "others.a", *objects], scratch):
        return ()
    told = _said(["env", "-C", str(scratch), *linking, "others.a", "-Wl,--trace", "-Wl,--trace"])
    return tuple(file for name, file in made.items() if re.search(rf"\b{re.escape(name)}\b", told))


def _headers(source: Source, *files: Path) -> list[str]:
    """Flags for the directories in which headers are looked for."""
    own = [file.parent for file in (*files, *source.files)]
    places = (*source.include, *own, *header_places((*source.files, *files)))
    return [f"-I{directory}" for directory in dict.fromkeys(places)]


def _link(command: list[str], scratch: Path) -> list[str]:
    """Link a program, in a fixed place where assembly asks for it; gives the flags for that. Raises DoesNotBuild."""
    words, more = words_of(command, scratch), []
    if _FIXED in words:
        more = ["-no-pie"]
        words = words_of([*command, *more], scratch)
    if words:
        raise DoesNotBuild(words)
    return more


def _flags_of_names(
    objects: Sequence[Path],
    called: Sequence[str],
    written: Sequence[Path],
    flags: Sequence[str],
    *,
    cxx: bool,
) -> list[str]:
    """Flags of the linker by which each of `called` is found under the name in its source.

    A compiler of C++ gives functions longer names, with namespace and parameters. The machine code is the same: plain
    pointers and numbers are handed over as in C. Macros give names with the prefix of a package. Raises UsageError
    where several functions have that name.
    """
    if not cxx and not written:
        return []
    symbols = _symbols(objects)
    wanted = [name for name in called if name not in symbols]
    real = real_names(written, wanted, [flag for flag in flags if flag.startswith(("-D", "-I", "-U"))])
    renamed = [f"-Wl,--defsym={name}={symbol}" for name, symbol in real.items() if symbol in symbols]
    return renamed + (_flags_of_cxx(symbols, [name for name in wanted if name not in real]) if cxx else [])


def _flags_of_cxx(symbols: Sequence[str], wanted: Iterable[str]) -> list[str]:
    plain = _demangled(symbols)
    flags = []
    for name in wanted:
        fitting = {
            symbol: text
            for symbol, text in plain.items()
            if re.match(rf"(?:.*::)?{re.escape(name)}\(", text) and symbol != text
        }
        if len(fitting) > 1:
            raise UsageError(
                f"several functions are called {name}: {'; '.join(sorted(fitting.values()))}",
                hint="rename one of them, or leave one out",
            )
        flags += [f"-Wl,--defsym={name}={symbol}" for symbol in fitting]
    return flags


def _symbols(objects: Sequence[Path]) -> list[str]:
    """Names that `objects` define for others; none where nm cannot read them."""
    text = _said(["nm", "-P", "-g", "--defined-only", *map(str, objects)])
    return [
        line.split()[0] for line in text.splitlines() if len(line.split()) > 2 and line.split()[1] in "TtWi"
    ]


def _demangled(symbols: Sequence[str]) -> dict[str, str]:
    """Each symbol as its source has it; as it is where nothing can read it."""
    lines = _said(["c++filt"], "\n".join(symbols)).splitlines()
    return dict(zip(symbols, lines, strict=True)) if len(lines) == len(symbols) else {}


def _said(command: Sequence[str], given: str = "") -> str:
    try:
        return captured(command, _NAMES_S, given=given).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _abi(source: Source) -> tuple[str, ...]:
    """Flags that decide for which machine all parts of a program are compiled, the SDK among them."""
    return tuple(flag for flag in source.flags if flag in ("-m32", "-m64") or flag.startswith("-idirafter"))


def _of_the_sdk(source: Source) -> list[str]:
    """How C that is not the user's is compiled: the table, and what says how a runner was built."""
    sdk = places.data_dir("runners") / "sdk"
    headers = (f"-I{sdk / 'c'}", f"-I{sdk / 'try'}")
    return [*compiler("c"), *C_FLAGS, "-O2", "-g", "-w", *_abi(source), *headers]


def _compiling(
    source: Source, sort: Mapping[Path, str], used: Mapping[str, tuple[str, ...]], scratch: Path
) -> dict[str, list[str]]:
    """The objects of the user's files, each with the command that makes it; wrappers are written to `scratch`."""
    include = _headers(source)
    commands: dict[str, list[str]] = {}
    if source.cxx_wrapper:
        (scratch / "wrapper.cpp").write_text(source.cxx_wrapper, encoding="utf-8")
        words = [*used["c++"], *source.flags, *source.defines, "-w", *include]
        commands["wrapper.o"] = [*words, "-c", "wrapper.cpp", "-o", "wrapper.o"]
    for number, (file, kind) in enumerate(sort.items()):
        if file in source.within:
            continue
        if kind in ("c", "c++"):
            words = [*used[kind], *source.flags, *source.defines, "-w", *include]
            if kind == "c++":
                words += [part for header in source.forced for part in ("-include", header)]
            name = f"{number}-{file.stem}.o"
            header = ("-x", "c", *_implementing(file)) if file.suffix in HEADERS else ()
            commands[name] = [*words, *header, "-c", str(file), "-o", name]
        elif kind == "rust":
            (scratch / "wrapper.rs").write_text(source.wrapper, encoding="utf-8")
            rustflags = _rust_flags(source.flags)
            made = ["rustc", *RUST_FLAGS, *rustflags, "-o", "libsubject.a", "wrapper.rs"]
            if place := crate_of(file):
                write_crate(scratch / "crate", place, source.wrapper)
                made = cargo_command(scratch / "crate", place, rustflags, "libsubject.a")
            commands["libsubject.a"] = made
        elif kind == "zig":
            (scratch / "zig.zig").write_text(source.wrapper, encoding="utf-8")
            commands["zig.o"] = zig_build(file, source.flags, "zig.o")
    for number, (file, more, places_of_headers) in enumerate(source.others):
        headers = [f"-I{directory}" for directory in places_of_headers]
        words = [*used[COMPILED[file.suffix]], *source.flags, *more, "-w", *headers]
        name = f"other-{number}-{file.stem}.o"
        commands[name] = [*words, "-c", str(file), "-o", name]
    return commands


def _implementing(header: Path) -> list[str]:
    """The macros by which a library that is a header has its functions compiled: `NAME_IMPLEMENTATION`."""
    text = header.read_text(encoding="utf-8", errors="replace")
    names = re.findall(
        r"^[ \t]*#[ \t]*if(?:def|[ \t]+defined)\b[ \t(]*(\w+_IMPLEMENTATION)\b", text, re.MULTILINE
    )
    return [f"-D{name}" for name in dict.fromkeys(names)]


def describe(
    name: str, place: Path, files: Sequence[Path] = (), *, language: str = "c", link: Sequence[str] = ()
) -> RunnerSpec:
    """The runner whose program lies in `place`."""
    return RunnerSpec(
        name=name,
        here=place,
        library=", ".join(file.name for file in files),
        license="not stated",
        language=language,
        listed=False,
        kind=PROGRAM,
        link=tuple(link),
        command=(str(place / "runner"),),
        tiers={"full": Tier("full")},
    )


def sdk_archive(abi: Sequence[str] = ()) -> Path:
    """The compiled SDK, all but `hello.c`; `abi` are flags such as -m32. Raises EnvironmentLacking."""
    sdk = places.data_dir("runners") / "sdk" / "c"
    sources = [path for path in sdk.glob("*.c") if path.name != TOLD]
    command = [*compiler("c"), *C_FLAGS, *SPEED_FLAGS, *abi, f"-I{sdk}"]
    try:
        return compiled_sdk("libperbyte.a", command, sources, compiler_version(compiler("c")))
    except EnvironmentLacking:
        if not abi:
            raise
        raise EnvironmentLacking(
            f"this compiler makes no programs with {abi[0]}", hint="gcc-multilib, g++-multilib"
        ) from None


def digest_of(files: Sequence[Path]) -> str:
    """Twelve digits that stand for the contents of `files`."""
    content = hashlib.sha256()
    for file in files:
        content.update(file.read_bytes())
    return content.hexdigest()[:12]


def _sort(file: Path) -> str:
    if file.suffix in _SORTS:
        return _SORTS[file.suffix]
    if ".so." in file.name:
        return "linked"
    raise UsageError(
        f"{file.name}: what to do with such a file is not known",
        hint="C (.c), C++ (.cc), assembly (.S, .s), Rust (.rs), Zig (.zig), Go, Python, JavaScript, Java, Kotlin, "
        "headers, or what is built (.o, .a, .so)",
    )


def _version_of(sort: dict[Path, str], main: tuple[str, ...], *, cxx: bool) -> str:
    kinds = {*sort.values(), *(["c++"] if cxx else [])}
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
