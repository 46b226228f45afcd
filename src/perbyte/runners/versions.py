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

PINNED, CURRENT = "versions.txt", "crates.txt"
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


def pinned(here: Path, name: str = PINNED) -> tuple[Pinned, ...]:
    """The lines of a file of versions in `here`: by default the other versions, oldest first; raises DataFileError."""
    file = here / name
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


def pinned_by(spec: RunnerSpec) -> str:
    """The runner whose `versions.txt` pins this one: `openssl-next` of `openssl-next-3.2.1`; empty for any other."""
    return spec.name.rpartition("-")[0] if spec.here.parent == versions_home() else ""


def unfold(
    specs: Iterable[RunnerSpec], asked: str, wanted: tuple[str, ...], *, lenient: bool = False
) -> list[str]:
    """The runners of the versions of `asked` that are `wanted` ('*': all); the directories of pinned ones are made.

    Of `specs` count the one called `asked` and the builds of it, each with its own version and those that it pins.
    3.0 means 3.0.8 too. Raises UsageError where one is not known, unless `lenient`.
    """
    here = [spec for spec in specs if asked in (spec.name, spec.build_of)]
    here = [spec for spec in here if spec.here.parent != versions_home()]
    known = [(spec, line) for spec in here for line in pinned(spec.here)]
    own = [(spec, line) for spec in here for line in pinned(spec.here, CURRENT)]
    if not known and not lenient:
        raise UsageError(
            f"'{asked}' has no other versions that could be built", hint=f"runners with a {PINNED} have"
        )
    made: list[str] = []
    for version in wanted:
        is_all = version == "*"
        current = [
            spec.name
            for spec in here
            if is_all or any(_means(line, version) for of, line in own if of is spec)
        ]
        others = [(spec, line) for spec, line in known if is_all or _means(line, version)]
        if not current and not others and not lenient:
            offered = ", ".join(dict.fromkeys(line.library for _, line in (*known, *own)))
            raise UsageError(f"'{asked}' has no version {version}", hint=f"it has {offered}")
        made += [*current, *(_make(spec, line) for spec, line in others)]
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
