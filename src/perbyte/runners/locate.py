"""Find runners: read each `runner.toml` into a frozen RunnerSpec.

A runner is described by data alone (docs/runner-toml.md has every key), so a new language needs no Python.
The file is read strictly: an unknown key is an error, because a misspelt one would silently change what is
built. This module starts nothing and looks for no library; whether a runner can be built is `build`'s answer.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.errors import DataRoomError, UsageError
from perbyte.model.cell import FULL
from perbyte.runners.spec import BUILD_KINDS, COMPILED_KINDS, RunnerSpec, Tier

__all__ = ["SEARCH_VARIABLE", "RunnerSpec", "Tier", "find", "locate", "read_spec", "search_path"]

SEARCH_VARIABLE = "PERBYTE_RUNNERS"
_DEFAULT_SOURCES = {"c": ("*.c",), "c++": ("*.c", "*.cpp", "*.cc"), "python": (), "command": ()}
_KEYS = {
    "runner": {"library", "license", "language", "summary", "listed", "opt_in"},
    "find": {"pkg_config", "headers", "libraries", "programs"},
    "packages": {"apt", "dnf", "zypper", "pacman", "apk", "brew"},
    "build": {"kind", "sources", "flags", "link", "watch", "command"},
    "run": {"command", "environment"},
}
_TIER_KEYS = {"description", "environment", "arguments"}


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
    command = table.texts("run", "command", ("{executable}",) if kind in COMPILED_KINDS else ())
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
