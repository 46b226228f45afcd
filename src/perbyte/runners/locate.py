"""Find runners: read each `runner.toml` into a frozen RunnerSpec.

A runner is described by data alone (docs/runner-toml.md has every key), so a new language needs no Python.
The file is read strictly: an unknown key is an error, because a misspelt one would silently change what is
built. This module starts nothing and looks for no library; whether a runner can be built is `build`'s answer.
"""

from __future__ import annotations

import os
import string
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.errors import DataRoomError, UsageError
from perbyte.model.cell import FULL

SEARCH_VARIABLE = "PERBYTE_RUNNERS"
BUILD_KINDS = ("c", "c++", "python", "command")
_COMPILED = ("c", "c++")
_DEFAULT_SOURCES = {"c": ("*.c",), "c++": ("*.c", "*.cpp", "*.cc"), "python": (), "command": ()}
_KEYS = {
    "runner": {"library", "license", "language", "summary", "listed", "opt_in"},
    "find": {"pkg_config", "headers", "libraries", "programs"},
    "packages": {"apt", "dnf", "zypper", "pacman", "apk", "brew"},
    "build": {"kind", "sources", "flags", "link", "watch", "command"},
    "run": {"command", "environment"},
}
_TIER_KEYS = {"description", "environment", "arguments"}


@dataclass(frozen=True, slots=True)
class Tier:
    """A CPU tier of a runner: what it switches off, and by which environment and arguments."""

    name: str
    description: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunnerSpec:
    """What a `runner.toml` says. `here` is its directory; placeholders in texts are not yet filled in."""

    name: str
    here: Path
    library: str
    license: str
    language: str
    summary: str
    listed: bool
    opt_in: bool
    pkg_config: tuple[str, ...]
    headers: tuple[str, ...]
    libraries: tuple[str, ...]
    programs: tuple[str, ...]
    packages: dict[str, tuple[str, ...]]
    kind: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    link: tuple[str, ...]
    watch: tuple[str, ...]
    build_command: tuple[str, ...]
    command: tuple[str, ...]
    environment: dict[str, str]
    tiers: dict[str, Tier]

    @property
    def compiled(self) -> bool:
        """True when Perbyte itself compiles and links the runner."""
        return self.kind in _COMPILED

    @property
    def built(self) -> bool:
        """True when there is a build step at all."""
        return self.kind != "python"

    def tier(self, name: str) -> Tier:
        """Return the tier `name`. Raises UsageError when this runner has none of that name."""
        if name not in self.tiers:
            raise UsageError(
                f"runner '{self.name}' has no CPU tier '{name}'",
                way_out=f"it has: {', '.join(self.tiers)}",
            )
        return self.tiers[name]

    def out(self, *, sanitize: bool = False) -> Path:
        """Directory of the built products; sanitizer builds have one of their own."""
        return places.build_home() / ("runners-sanitized" if sanitize else "runners") / self.name

    def fill(self, text: str, *, out: Path | None = None) -> str:
        """Replace the placeholders of docs/runner-toml.md. Raises DataRoomError on an unknown one."""
        out = out or self.out()
        known = {
            "here": str(self.here),
            "out": str(out),
            "executable": str(out / self.name),
            "python": sys.executable,
            "sdk": str(places.room("runners") / "sdk"),
        }
        pieces = []
        try:
            for literal, name, form, conversion in string.Formatter().parse(text):
                if name is not None and (name not in known or form or conversion):
                    raise ValueError
                pieces.append(literal + (known[name] if name else ""))
        except ValueError:
            raise DataRoomError(
                f"{self.here / 'runner.toml'}: unknown placeholder in {text!r}",
                way_out=f"known ones: {', '.join('{' + name + '}' for name in known)}",
            ) from None
        return "".join(pieces)


def search_path() -> tuple[Path, ...]:
    """Directories that hold runner directories, in order of precedence."""
    extra = [Path(part) for part in os.environ.get(SEARCH_VARIABLE, "").split(os.pathsep) if part]
    return (*extra, places.room("runners"))


def locate(directories: Sequence[Path] | None = None, *, unlisted: bool = False) -> list[RunnerSpec]:
    """Return all runners, sorted by name; those with `listed = false` only on request.

    `directories` replaces the search path. Raises DataRoomError for a `runner.toml` that breaks the rules.
    """
    found: dict[str, Path] = {}
    for directory in search_path() if directories is None else directories:
        for file in sorted(directory.glob("*/runner.toml")):
            found.setdefault(file.parent.name, file)
    specs = [read_spec(found[name]) for name in sorted(found)]
    return [spec for spec in specs if spec.listed or unlisted]


def find(name: str, directories: Sequence[Path] | None = None) -> RunnerSpec:
    """Return the runner called `name`. Raises UsageError when there is none."""
    for directory in search_path() if directories is None else directories:
        file = directory / name / "runner.toml"
        if Path(name).name == name and file.is_file():
            return read_spec(file)
    names = ", ".join(spec.name for spec in locate(directories))
    raise UsageError(f"there is no runner '{name}'", way_out=f"runners found: {names or 'none'}")


def read_spec(file: Path) -> RunnerSpec:
    """Read one `runner.toml`. Raises DataRoomError naming the file and the key that is wrong."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataRoomError(f"{file}: {error}") from None
    table = _Table(file, content)
    table.only("", content, {*_KEYS, "tiers"})
    for section, keys in _KEYS.items():
        table.only(section, table.section(section), keys)
    kind = table.text("build", "kind")
    if kind not in BUILD_KINDS:
        raise DataRoomError(f"{file}: build.kind is '{kind}', not one of {', '.join(BUILD_KINDS)}")
    build_command = table.texts("build", "command")
    if (kind == "command") != bool(build_command):
        raise DataRoomError(f"{file}: build.command belongs to kind 'command', and only to it")
    command = table.texts("run", "command", ("{executable}",) if kind in _COMPILED else ())
    if not command:
        raise DataRoomError(f"{file}: run.command is missing")
    spec = RunnerSpec(
        name=file.parent.name,
        here=file.parent.absolute(),
        library=table.text("runner", "library"),
        license=table.text("runner", "license"),
        language=table.text("runner", "language", kind),
        summary=table.text("runner", "summary", ""),
        listed=table.flag("runner", "listed", True),
        opt_in=table.flag("runner", "opt_in", False),
        pkg_config=table.texts("find", "pkg_config"),
        headers=table.texts("find", "headers"),
        libraries=table.texts("find", "libraries"),
        programs=table.texts("find", "programs"),
        packages={tool: table.texts("packages", tool) for tool in table.section("packages")},
        kind=kind,
        sources=table.texts("build", "sources", _DEFAULT_SOURCES[kind]),
        flags=table.texts("build", "flags"),
        link=table.texts("build", "link"),
        watch=table.texts("build", "watch"),
        build_command=build_command,
        command=command,
        environment=table.mapping("run", "environment"),
        tiers=table.tiers(),
    )
    for text in (*spec.command, *spec.build_command, *spec.environment.values()):
        spec.fill(text)
    for tier in spec.tiers.values():
        for text in (*tier.environment.values(), *tier.arguments):
            spec.fill(text)
    return spec


class _Table:
    """Typed access to the parsed file; every complaint names file and key."""

    def __init__(self, file: Path, content: dict[str, Any]) -> None:
        self.file = file
        self.content = content

    def wrong(self, key: str, expected: str) -> DataRoomError:
        return DataRoomError(f"{self.file}: {key} must be {expected}")

    def only(self, name: str, table: dict[str, Any], keys: set[str]) -> None:
        if unknown := sorted(set(table) - keys):
            where = f"{name}.{unknown[0]}" if name else unknown[0]
            raise DataRoomError(
                f"{self.file}: unknown key {where}", way_out=f"known: {', '.join(sorted(keys))}"
            )

    def section(self, name: str) -> dict[str, Any]:
        value = self.content.get(name, {})
        if not isinstance(value, dict):
            raise self.wrong(name, "a table")
        return value

    def text(self, section: str, key: str, default: str | None = None) -> str:
        value = self.section(section).get(key, default)
        if not isinstance(value, str):
            raise self.wrong(f"{section}.{key}", "a text")
        return value

    def flag(self, section: str, key: str, default: bool) -> bool:
        value = self.section(section).get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(f"{section}.{key}", "true or false")
        return value

    def texts(self, section: str, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        return self._texts(f"{section}.{key}", self.section(section).get(key, list(default)))

    def mapping(self, section: str, key: str) -> dict[str, str]:
        return self._mapping(f"{section}.{key}", self.section(section).get(key, {}))

    def tiers(self) -> dict[str, Tier]:
        tiers = {FULL: Tier(FULL, description="everything the CPU offers")}
        for name, value in self.section("tiers").items():
            where = f"tiers.{name}"
            if not isinstance(value, dict):
                raise self.wrong(where, "a table")
            self.only(where, value, _TIER_KEYS)
            description = value.get("description", "")
            if not isinstance(description, str):
                raise self.wrong(f"{where}.description", "a text")
            tiers[name] = Tier(
                name,
                description=description,
                environment=self._mapping(f"{where}.environment", value.get("environment", {})),
                arguments=self._texts(f"{where}.arguments", value.get("arguments", [])),
            )
        return tiers

    def _texts(self, where: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(where, "an array of texts")
        return tuple(value)

    def _mapping(self, where: str, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise self.wrong(where, "a table of texts")
        return dict(value)
