"""What a `runner.toml` says, as frozen values with its placeholders still in place.

Reading and checking the file is `locate`'s work; these values only answer questions about themselves.
"""

from __future__ import annotations

import os
import string
import sys
from dataclasses import dataclass, field
from pathlib import Path

from perbyte import places
from perbyte.errors import DataFileError, EnvironmentLacking, UsageError
from perbyte.runners import target

COMPILED_KINDS = ("c", "c++")
PROGRAM = "program"  # a program with the C SDK in it that is there already, as `perbyte try` makes them

SANITIZE_VARIABLE = "PERBYTE_SANITIZE"


def not_built(*names: str) -> EnvironmentLacking:
    """Return the error that the first of the runners `names` (without names: any) is not built where it should be."""
    lacking = f"runner '{names[0]}' is not built" if names else "no runner is built"
    moved = os.environ.get("PERBYTE_HOME")
    return EnvironmentLacking(
        f"{lacking}: there is none in {places.build_home()}"
        + (", because PERBYTE_HOME is set" if moved else ""),
        hint=f"run: {' '.join(('perbyte build', *names))}"
        + (" (or unset PERBYTE_HOME, if it was built before that was set)" if moved else ""),
    )


def sanitizing() -> bool:
    """True when PERBYTE_SANITIZE=1 asks for sanitizer builds everywhere, as `make sanitize` does for the tests."""
    return os.environ.get(SANITIZE_VARIABLE) == "1"


@dataclass(frozen=True, slots=True)
class Tier:
    """A CPU tier of a runner: what it switches off, and by which environment and arguments."""

    name: str
    description: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunnerSpec:
    """What a `runner.toml` says. `here` is its directory; placeholders in texts are not yet filled in.

    `workers`: it works in processes that it starts when it prepares, and that stay. `threads`: its calls work on
    several cores. `cross`: its own build command can build for another processor. `accepts`: by algorithm, the kinds of
    forgeries that the library is known to accept.
    """

    name: str
    here: Path
    library: str
    license: str
    language: str
    kind: str
    command: tuple[str, ...]
    tiers: dict[str, Tier]
    summary: str = ""
    listed: bool = True
    opt_in: bool = False
    cost: str = ""
    wraps: str = ""
    build_of: str = ""
    accepts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pkg_config: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    packages: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    build_command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    workers: bool = False
    threads: bool = False
    cross: bool = False

    @property
    def compiled(self) -> bool:
        """True when Perbyte itself compiles and links the runner."""
        return self.kind in COMPILED_KINDS

    @property
    def built(self) -> bool:
        """True when there is a build step at all."""
        return self.kind not in ("python", PROGRAM)

    @property
    def native(self) -> bool:
        """True for a program with the C SDK in it: it can keep a core awake."""
        return self.compiled or (self.kind == PROGRAM and self.language == "c")

    @property
    def undisturbed(self) -> bool:
        """True for compiled programs of one thread, which may have real-time scheduling on their core."""
        return not self.threads and (self.native or self.language == "rust")

    @property
    def known_algorithms(self) -> tuple[str, ...]:
        """What it had when its author last built it: `algorithms.txt`, an id a line; empty without it."""
        file = self.here / "algorithms.txt"
        return tuple(file.read_text(encoding="utf-8").split()) if file.is_file() else ()

    def tier(self, name: str) -> Tier:
        """Return the tier `name`. Raises UsageError when this runner has none of that name."""
        if name not in self.tiers:
            raise UsageError(
                f"runner '{self.name}' has no CPU tier '{name}'", hint=f"it has: {', '.join(self.tiers)}"
            )
        return self.tiers[name]

    def out(self, *, sanitize: bool | None = None) -> Path:
        """Directory of the built products; other targets (PERBYTE_TARGET) and sanitizer builds have one of their own.

        `sanitize` None: see `sanitizing`.
        """
        sanitize = sanitizing() if sanitize is None else sanitize
        parts = ("runners", target.triplet(), "sanitized" if sanitize else "")
        return places.build_home() / "-".join(filter(None, parts)) / self.name

    def fill(self, text: str, *, out: Path | None = None) -> str:
        """Replace the placeholders of docs/runner-toml.md. Raises DataFileError on an unknown one."""
        if "{" not in text and "}" not in text:
            return text
        out = out or self.out()
        known = {
            "here": str(self.here),
            "name": self.name,
            "out": str(out),
            "executable": str(out / self.name),
            "python": sys.executable,
            "sdk": str(places.data_dir("runners") / "sdk"),
        }
        pieces = []
        try:
            for literal, name, form, conversion in string.Formatter().parse(text):
                if name is not None and (name not in known or form or conversion):
                    raise ValueError
                pieces.append(literal + (known[name] if name else ""))
        except ValueError:
            raise DataFileError(
                f"{self.here / 'runner.toml'}: unknown placeholder in {text!r}",
                hint=f"known ones: {', '.join('{' + name + '}' for name in known)}",
            ) from None
        return "".join(pieces)
