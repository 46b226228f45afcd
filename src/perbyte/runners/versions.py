"""Other versions of a library whose runner is built from a crate: a runner for each line of its `versions.txt`.

A line has the form of `crates.txt`: crate, version, SHA-256; and the library's version where the crate's does not say
it. The runner of a version is a directory below the place of
the builds, with a `runner.toml` that extends the other's and a `crates.txt` of one line; it is found like any other,
after those of Perbyte. It is made of the same sources by the same `build.sh`. Nothing is built or downloaded here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from perbyte import places
from perbyte.errors import DataFileError, UsageError
from perbyte.runners.spec import RunnerSpec

PINNED = "versions.txt"
_LINE = re.compile(
    r"(?P<crate>[\w-]+) (?P<version>\d[\w.+-]*) (?P<checksum>[0-9a-f]{64})(?: (?P<named>\d[\w.-]*))?"
)
_TOML = """# Made by Perbyte from {pinned}; a version of its own.
extends = "{base}/runner.toml"

[runner]
build_of = "{of}"

[build]
command = ["env", "PERBYTE_NAME={{name}}", "PERBYTE_CRATES={{here}}/crates.txt", "{{here}}/{base}/build.sh", "{{out}}"]
watch = {watch}
"""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A line of `versions.txt`."""

    crate: str
    version: str
    checksum: str
    named: str | None = None

    @property
    def library(self) -> str:
        """The version of the library: what the line says, or the crate behind a plus, or that of the crate."""
        return self.named or self.version.partition("+")[2] or self.version


def versions_home() -> Path:
    """Return the directory of the runners of other versions (not created here)."""
    return places.build_home() / "versions"


def pinned(here: Path) -> tuple[Pinned, ...]:
    """The other versions that the runner in `here` can be built of, oldest first; raises DataFileError."""
    file = here / PINNED
    if not file.is_file():
        return ()
    pins = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise DataFileError(
                f"{file}, line {number}: not a crate, its version, its SHA-256 and at most the library's version"
            )
        pins.append(Pinned(**match.groupdict()))
    return tuple(pins)


def unfold_known(specs: Iterable[RunnerSpec], asked: str, wanted: tuple[str, ...]) -> list[str]:
    """As `unfold`, of all `specs` that are called `asked` or are a build of it; what none has is left out."""
    made: list[str] = []
    for spec in specs:
        if asked in (spec.name, spec.build_of) and (known := pinned(spec.here)):
            has = tuple(
                version
                for version in wanted
                if version == "*" or any(_means(line, version) for line in known)
            )
            made += unfold(spec, has) if has else []
    return made


def unfold(spec: RunnerSpec, wanted: tuple[str, ...]) -> list[str]:
    """Make the directories of the versions that are `wanted` ('*': all) and return their runners' names.

    3.0 means 3.0.8 too. Raises UsageError where the runner has no other versions, or not that one.
    """
    known = pinned(spec.here)
    if not known:
        raise UsageError(
            f"'{spec.name}' has no other versions that could be built", hint=f"runners with a {PINNED} have"
        )
    made = []
    for version in wanted:
        meant = [line for line in known if version == "*" or _means(line, version)]
        if not meant:
            offered = ", ".join(line.library for line in known)
            raise UsageError(f"'{spec.name}' has no version {version}", hint=f"it has {offered}")
        made += [_make(spec, line) for line in meant]
    return list(dict.fromkeys(made))


def _means(line: Pinned, asked: str) -> bool:
    return any(
        text == asked or text.startswith((f"{asked}.", f"{asked}+")) for text in (line.version, line.library)
    )


def _make(spec: RunnerSpec, line: Pinned) -> str:
    own = f"{spec.name}-{line.library}"
    place = versions_home() / own
    place.mkdir(parents=True, exist_ok=True)
    base = os.path.relpath(spec.here.resolve(), place.resolve())
    watch = ["crates.txt", *(f"{base}/{file}" for file in spec.watch if file != "crates.txt")]
    text = _TOML.format(pinned=PINNED, base=base, of=spec.build_of or spec.name, watch=json.dumps(watch))
    for file, content in (
        ("crates.txt", f"{line.crate} {line.version} {line.checksum}\n"),
        ("runner.toml", text),
    ):
        if not (place / file).is_file() or (place / file).read_text(encoding="utf-8") != content:
            (place / file).write_text(content, encoding="utf-8")
    return own
