"""Find runners: read each `runner.toml` into a frozen RunnerSpec.

A runner is described by data alone (docs/runner-toml.md has every key), so a new language needs no Python.
The file is read strictly: an unknown key is an error, because a misspelt one would silently change what is
built. This module starts nothing and looks for no library; whether a runner can be built is `build`'s answer.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field, structs

from perbyte import places
from perbyte.datafile import Problem, Text, convert, parse_toml
from perbyte.errors import DataFileError, DataFileWarning, UsageError
from perbyte.model.cell import FULL
from perbyte.runners.spec import COMPILED_KINDS, RunnerSpec, Tier

SEARCH_VARIABLE = "PERBYTE_RUNNERS"
_DEFAULT_SOURCES = {"c": ("*.c",), "c++": ("*.c", "*.cpp", "*.cc"), "python": (), "command": ()}
Texts = tuple[str, ...]


class _Runner(Struct, forbid_unknown_fields=True):
    library: Text
    license: Text
    language: str = ""
    summary: str = ""
    listed: bool = True
    opt_in: bool = False
    cost: str = ""
    wraps: str = ""
    build_of: str = ""
    accepts: dict[str, tuple[str, ...]] = {}


class _Find(Struct, forbid_unknown_fields=True):
    pkg_config: Texts = ()
    headers: Texts = ()
    libraries: Texts = ()
    programs: Texts = ()


class _Packages(Struct, forbid_unknown_fields=True):
    apt: Texts = ()
    dnf: Texts = ()
    zypper: Texts = ()
    pacman: Texts = ()
    apk: Texts = ()
    brew: Texts = ()


class _Build(Struct, forbid_unknown_fields=True):
    kind: Literal["c", "c++", "python", "command"]
    sources: Texts | None = None
    flags: Texts = ()
    link: Texts = ()
    watch: Texts = ()
    command: Texts = ()
    cross: bool = False

    def __post_init__(self) -> None:
        if (self.kind == "command") != bool(self.command):
            raise Problem("belongs to kind 'command', and only to it", key="command")


class _Run(Struct, forbid_unknown_fields=True):
    command: Texts = ()
    environment: dict[str, str] = field(default_factory=dict)
    workers: bool = False
    threads: bool = False


class _Tier(Struct, forbid_unknown_fields=True):
    description: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    arguments: Texts = ()


class _File(Struct, forbid_unknown_fields=True):
    runner: _Runner
    build: _Build
    find: _Find = field(default_factory=_Find)
    packages: _Packages = field(default_factory=_Packages)
    run: _Run = field(default_factory=_Run)
    tiers: dict[str, _Tier] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.run.command and self.build.kind not in COMPILED_KINDS:
            raise Problem("is missing", key="run.command", hint="give the command that starts it")


def search_path() -> tuple[Path, ...]:
    """Directories that hold runner directories, in order of precedence; those of other versions come last."""
    extra = [Path(part) for part in os.environ.get(SEARCH_VARIABLE, "").split(os.pathsep) if part]
    return (*extra, places.data_dir("runners"), places.build_home() / "versions")


def locate(
    directories: Sequence[Path] | None = None,
    *,
    unlisted: bool = False,
    named: Callable[[str], bool] = lambda name: True,
) -> list[RunnerSpec]:
    """Return all runners, sorted by name; those with `listed = false` only on request.

    `directories` replaces the search path. Files of names that are not `named` are not read: there are many. A
    `runner.toml` that breaks the rules costs that runner: it is left out with a DataFileWarning. With `directories` it
    raises DataFileError.
    """
    files: dict[str, Path] = {}
    for directory in search_path() if directories is None else directories:
        for file in sorted(directory.glob("*/runner.toml")):
            files.setdefault(file.parent.name, file)
    specs = []
    for name in sorted(filter(named, files)):
        try:
            specs.append(read_spec(files[name]))
        except DataFileError as error:
            if directories is not None:
                raise
            warnings.warn(f"runner '{name}' is left out: {error}", DataFileWarning, stacklevel=2)
    return [spec for spec in specs if spec.listed or unlisted]


def find(name: str, directories: Sequence[Path] | None = None) -> RunnerSpec:
    """Return the runner called `name`. Raises UsageError when there is none."""
    for directory in search_path() if directories is None else directories:
        file = directory / name / "runner.toml"
        if Path(name).name == name and file.is_file():
            return read_spec(file)
    names = ", ".join(spec.name for spec in locate(directories))
    raise UsageError(f"there is no runner '{name}'", hint=f"runners found: {names or 'none'}")


def read_spec(file: Path) -> RunnerSpec:
    """Read one `runner.toml`. Raises DataFileError naming the file and the key that is wrong."""
    content, bases = _extended(file, ())
    parsed = convert(content, _File, str(file))
    build, run = parsed.build, parsed.run
    tiers = {FULL: Tier(FULL, description="everything the CPU offers")}
    tiers |= {name: Tier(name, **structs.asdict(tier)) for name, tier in parsed.tiers.items()}
    spec = RunnerSpec(
        name=file.parent.name,
        here=file.parent.absolute(),
        **structs.asdict(parsed.runner) | {"language": parsed.runner.language or build.kind},
        **structs.asdict(parsed.find),
        packages={tool: names for tool, names in structs.asdict(parsed.packages).items() if names},
        kind=build.kind,
        sources=_DEFAULT_SOURCES[build.kind] if build.sources is None else build.sources,
        flags=build.flags,
        link=build.link,
        watch=(*build.watch, *bases),
        build_command=build.command,
        cross=build.cross or build.kind in COMPILED_KINDS,
        **structs.asdict(run) | {"command": run.command or ("{executable}",)},
        tiers=tiers,
    )
    texts = [*spec.command, *spec.build_command, *spec.environment.values()]
    for tier in tiers.values():
        texts += [*tier.environment.values(), *tier.arguments]
    for text in texts:
        spec.fill(text)
    return spec


def _extended(file: Path, seen: tuple[Path, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a file says together with the one it `extends`, and the paths of all files extended, as it names them.

    Tables are merged key by key, everything else of the extending file takes the place of the other's.
    """
    content = parse_toml(file)
    base = content.pop("extends", None)
    if base is None:
        return content, ()
    other = file.parent / str(base)
    seen = (*seen, file.resolve())
    if other.resolve() in seen:
        raise DataFileError(f"{file}: extends: '{base}' extends this file in turn")
    if not other.is_file():
        raise DataFileError(f"{file}: extends: there is no file '{base}'")
    below, more = _extended(other, seen)
    return _merged(below, content), (str(base), *(str(Path(str(base)).parent / path) for path in more))


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
