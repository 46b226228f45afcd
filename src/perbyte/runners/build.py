"""Build runners: sources, SDK and library into one program each, no runner in another one's way.

A product is replaced only by one that was built completely, and is rebuilt only when what it is made of has
changed: sources, headers, flags, compiler, library version. A missing library is an ordinary outcome
(`ABSENT`, with the command that installs it), a compiler's complaint too (`FAILED`, with its words); neither
is raised. Nothing is installed or downloaded here.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from perbyte import places
from perbyte.errors import EnvironmentLacking
from perbyte.runners import needs, target
from perbyte.runners.spec import RunnerSpec, sanitizing

C_FLAGS = ("-std=c11", "-D_GNU_SOURCE")
CXX_FLAGS = ("-std=c++17",)
SPEED_FLAGS = ("-O2", "-g", "-Wall", "-Wextra", "-Werror")
# No -Werror: instrumentation makes GCC warn about code that is in order.
SANITIZE_FLAGS = (
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)
_STAMP = "stamp.json"
TOLD = "hello.c"  # the one file of the SDK that says what a runner was built with
_LIMIT_S = 1800
_SHOWN = 16_384
_compilers = threading.BoundedSemaphore(os.cpu_count() or 1)


class BuildState(enum.StrEnum):
    """How a build went."""

    BUILT = "built"
    UP_TO_DATE = "up-to-date"
    ABSENT = "absent"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BuildOutcome:
    """What became of one runner. `missing`, `packages` and `install` belong to ABSENT, `output` to FAILED."""

    runner: str
    state: BuildState
    executable: Path | None = None
    missing: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    install: str = ""
    output: str = ""
    seconds: float = 0.0

    @property
    def usable(self) -> bool:
        """True when the runner can be started now."""
        return self.state in (BuildState.BUILT, BuildState.UP_TO_DATE)


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What is run to build a runner: one command per object, and one to link; or one command for all.

    `shared`: objects of the SDK, the same for every runner that is built with the same flags.
    """

    objects: dict[str, list[str]] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    last: list[str] = field(default_factory=list)
    files: tuple[Path, ...] = ()
    tools: tuple[str, ...] = ()


class _Failed(Exception):
    """A command of the recipe failed; the argument is what it said."""


class _Objects:
    """Objects that several builds of this process need: the first one compiles, the others wait for its bytes."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, ...], Future[bytes]] = {}

    def put(self, command: Sequence[str], sources: str, file: Path) -> None:
        """Compile to `file`, or write what the same command made of the same `sources`. Raises _Failed."""
        key, own = (*command, sources), Future[bytes]()
        made = self._made.setdefault(key, own)  # in one step, so that one of several threads is the first
        if made is not own:
            file.write_bytes(made.result())
            return
        try:
            _run([*command, "-o", file.name], file.parent)
            own.set_result(file.read_bytes())
        except BaseException as error:
            del self._made[key]
            own.set_exception(error)
            raise


_objects = _Objects()


def build(spec: RunnerSpec, *, force: bool = False, sanitize: bool | None = None) -> BuildOutcome:
    """Build one runner if that is necessary. `sanitize` builds with the address and undefined sanitizers.

    Raises DataFileError for a `runner.toml` that cannot be followed, EnvironmentLacking when the place of the
    products cannot be written; everything else is an outcome.
    """
    started = time.monotonic()
    sanitize = sanitizing() if sanitize is None else sanitize
    if not spec.built:
        return BuildOutcome(spec.name, BuildState.UP_TO_DATE)
    library = needs.look(spec)
    if isinstance(library, needs.Missing):
        what, packages, install = library.what, library.packages, library.install
        return BuildOutcome(spec.name, BuildState.ABSENT, None, what, packages, install)
    out = spec.out(sanitize=sanitize)
    executable = out / spec.name if spec.compiled else None
    with _alone(out):
        recipe = _recipe(spec, library, sanitize)
        stamp = {"key": _key(recipe, library), "sources": _sources_key(spec, recipe.files)}
        if not force and _stamped(out) == stamp and (executable is None or executable.is_file()):
            return BuildOutcome(spec.name, BuildState.UP_TO_DATE, executable)
        with _writing(out):
            scratch = Path(tempfile.mkdtemp(prefix=f".{spec.name}-", dir=out.parent))
        try:
            _follow(spec, recipe, scratch)
            with _writing(out):
                (scratch / _STAMP).write_text(json.dumps(stamp) + "\n", encoding="utf-8")
                _put_in_place(scratch, out, whole=not spec.compiled)
        except _Failed as failure:
            output, took_s = str(failure)[-_SHOWN:], time.monotonic() - started
            return BuildOutcome(spec.name, BuildState.FAILED, output=output, seconds=took_s)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return BuildOutcome(spec.name, BuildState.BUILT, executable, seconds=time.monotonic() - started)


def build_all(
    specs: Sequence[RunnerSpec],
    *,
    force: bool = False,
    sanitize: bool | None = None,
    done: Callable[[BuildOutcome], None] | None = None,
) -> list[BuildOutcome]:
    """Build several runners side by side and return their outcomes in the order of `specs`.

    `done` is called in this thread as each one ends. One runner's failure touches no other.
    """
    if not specs:
        return []
    with ThreadPoolExecutor(max_workers=len(specs)) as pool:
        futures = [pool.submit(build, spec, force=force, sanitize=sanitize) for spec in specs]
        for future in as_completed(futures):
            if done:
                done(future.result())
        return [future.result() for future in futures]


def stale(spec: RunnerSpec) -> bool:
    """True when the runner that was built here is not of the sources that lie here now.

    After an upgrade the protocol or the way of measuring may have changed under it; its answers must then not be
    taken for those of this version. A changed compiler or library is no matter here: `build` sees to those.
    """
    if not spec.built:
        return False
    return _stamped(spec.out(sanitize=sanitizing())).get("sources") != _sources_key(spec, _files(spec))


def _files(spec: RunnerSpec) -> tuple[Path, ...]:
    """What a runner is made of."""
    sdk = _matching(_sdk(), ("*.c", "*.h")) if spec.compiled else ()
    watched = _matching(spec.here, ("*.h", "*.hpp", "runner.toml", *spec.watch))
    return tuple(dict.fromkeys((*sdk, *_matching(spec.here, spec.sources), *watched)))


def _sdk() -> Path:
    return places.data_dir("runners") / "sdk" / "c"


def _recipe(spec: RunnerSpec, library: needs.Found, sanitize: bool) -> _Recipe:
    if not spec.compiled:
        command = [spec.fill(part, out=Path("{out}")) for part in spec.build_command]
        return _Recipe(last=command, files=_files(spec))
    own, sdk = _matching(spec.here, spec.sources), _sdk()
    main = needs.languages(spec)[-1]
    general = SANITIZE_FLAGS if sanitize else SPEED_FLAGS
    standard = {"c": C_FLAGS, "c++": CXX_FLAGS}
    macros = told_macros(
        needs.compiler_version(needs.compiler(main)), (*standard[main], *general, *spec.flags)
    )
    objects: dict[str, list[str]] = {}
    shared = set()
    sources = [(source, ()) for source in _matching(sdk, ("*.c",))] + [
        (source, (*spec.flags, *library.compile, f"-I{spec.here}")) for source in own
    ]
    ours = spec.here.is_relative_to(places.data_dir("runners").absolute())
    # somebody else's code is not ours to be strict with
    lenient = [flag for flag in general if flag != "-Werror"]
    for number, (source, extra) in enumerate(sources):
        language = "c" if source.suffix == ".c" else "c++"
        name = f"{number}-{source.stem}.o"
        if not extra and source.name != TOLD:
            shared.add(name)
        objects[name] = [
            *needs.compiler(language),
            *standard[language],
            *(general if ours or not extra else lenient),
            *extra,
            f"-I{sdk}",
            *(() if name in shared else macros),
            "-c",
            str(source),
        ]
    link = [*needs.compiler(main), *(SANITIZE_FLAGS if sanitize else ()), *objects]
    return _Recipe(
        objects=objects,
        shared=frozenset(shared),
        last=[*link, "-o", spec.name, *library.link, *spec.link, "-lm", "-ldl", "-pthread"],
        files=_files(spec),
        tools=tuple(needs.compiler_version(needs.compiler(language)) for language in needs.languages(spec)),
    )


def _matching(directory: Path, globs: Sequence[str]) -> tuple[Path, ...]:
    paths = {path.resolve() for pattern in globs for path in directory.glob(pattern) if path.is_file()}
    return tuple(sorted(paths))


def told_macros(compiler: str, flags: Sequence[str]) -> tuple[str, str]:
    """The macros by which a runner says what it was built with."""
    return f"-DPB_COMPILER={c_literal(compiler)}", f"-DPB_FLAGS={c_literal(' '.join(flags))}"


def c_literal(text: str) -> str:
    """A C string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _key(recipe: _Recipe, library: needs.Found) -> str:
    commands = repr((recipe.objects, recipe.last, recipe.tools, library))
    return _digest(commands, {str(file): file for file in recipe.files})


def _sources_key(spec: RunnerSpec, files: Sequence[Path]) -> str:
    """A digest of names and contents; names are relative, so that a checkout may be moved."""
    return _digest("", {os.path.relpath(file, spec.here): file for file in files})


def _digest(commands: str, files: Mapping[str, Path]) -> str:
    content = hashlib.sha256(commands.encode())
    for name, file in files.items():
        content.update(f"{name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return content.hexdigest()


def _stamped(out: Path) -> dict[str, str]:
    """What the stamp of a product says; nothing when there is none that can be read."""
    try:
        stamp = json.loads((out / _STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _follow(spec: RunnerSpec, recipe: _Recipe, scratch: Path) -> None:
    if not spec.compiled:
        _run([part.replace("{out}", str(scratch)) for part in recipe.last], spec.here)
        return
    if not recipe.objects:
        raise _Failed(f"{spec.here}: there are no sources")
    sources = _sources_key(spec, _matching(_sdk(), ("*.c", "*.h")))
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda name: _compile(recipe, name, sources, scratch), recipe.objects))
    if words := "\n".join(result for result in results if result):
        raise _Failed(words)
    _run(recipe.last, scratch)
    for name in recipe.objects:
        (scratch / name).unlink()


def _compile(recipe: _Recipe, name: str, sources: str, directory: Path) -> str:
    """What a failed compiler said; '' when it went well. `sources`: a digest of the SDK's."""
    command = recipe.objects[name]
    try:
        if name in recipe.shared:
            _objects.put(command, sources, directory / name)
        else:
            _run([*command, "-o", name], directory)
    except _Failed as failure:
        return str(failure)
    return ""


def _run(command: list[str], directory: Path) -> None:
    with _compilers:
        try:
            ended = run_tool(command, directory, environment=_environment())
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _Failed(f"{shlex.join(command)}\n{error}") from None
    if ended.returncode:
        raise _Failed(f"{shlex.join(command)}\n{ended.stdout}")


def _environment() -> dict[str, str] | None:
    """What a runner's own build script finds: the compilers of the target, if there is one."""
    if not target.triplet():
        return None
    compilers = {"CC": needs.compiler("c"), "CXX": needs.compiler("c++")}
    return os.environ | {name: shlex.join(command) for name, command in compilers.items()}


def run_tool(
    command: list[str], directory: Path, limit_s: float = _LIMIT_S, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a compiler or a script without input; what it says is one text. Raises OSError and TimeoutExpired."""
    return subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=limit_s,
        check=False,
    )


def _put_in_place(scratch: Path, out: Path, *, whole: bool) -> None:
    """Let the new products take the place of the old ones, the stamp last of all."""
    scratch.chmod(0o755)
    if not out.exists():
        scratch.rename(out)
    elif whole:
        old = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        out.rename(old / "old")
        scratch.rename(out)
        shutil.rmtree(old, ignore_errors=True)
    else:
        for file in sorted(scratch.iterdir(), key=lambda file: file.name == _STAMP):
            file.replace(out / file.name)


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Make room for `out`, and keep other Perbyte processes from building the same runner at the same time."""
    with _writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        lock = (out.parent / f".{out.name}.lock").open("w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _writing(out: Path) -> Iterator[None]:
    """Turn what the file system says against the place of the products into EnvironmentLacking."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "a file is in the way" if error.errno in (errno.EEXIST, errno.ENOTDIR) else error.strerror
        raise EnvironmentLacking(
            f"runners cannot be built in {out.parent}: {why}",
            hint=("make room there, or set" if full else "set")
            + " PERBYTE_HOME to a directory that can be written: builds and runs then go there",
        ) from error
