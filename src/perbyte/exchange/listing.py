"""What a listing of `openssl speed` says, as plain values: rows, operations per key, facts of its header.

Nothing here knows how the text looked or what the names mean in the catalogue; the parsers fill these values and
`openssl_run` reads them. Line numbers count from 1 and stay with everything, so that each complaint can name one.
"""

from __future__ import annotations

import codecs
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.model import Machine


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """A row of throughput: bytes per second for each size in bytes.

    0 is what the tool prints for an algorithm that the build lacks; NaN stands for a figure that is none
    (negative or not finite, which it prints when calls fail).
    """

    name: str
    line: int
    bytes_per_second: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of public-key operations: seconds per operation by the operation's name; 0 where it was not there."""

    kind: str
    bits: int
    label: str
    line: int
    seconds: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something missing or cut off in a listing, at a line."""

    line: int
    what: str


@dataclass(slots=True)
class SpeedListing:
    """One listing, filled while it is read. `line` is where it begins.

    `calls` holds what the progress lines tell: (row's name, size) -> (calls, seconds). `processes` is above 1 when
    several measured at once (-multi), and 0 where their number is not said: the rows are then their sums.
    `names_of_children` are the rows' names as those say them. `masked` says that the environment hid instructions.
    `runner` and `cpu` are set in exports of Perbyte alone.
    """

    line: int = 0
    library: str = "OpenSSL"
    version: str = ""
    compiler: str = ""
    cpu_info: str = ""
    command: tuple[str, ...] = ()
    wall_clock: bool = False
    processes: int = 1
    runner: str = ""
    cpu: str = ""
    machine: Machine = field(default_factory=Machine)
    rows: list[SpeedRow] = field(default_factory=list)
    keys: list[KeyRow] = field(default_factory=list)
    calls: dict[tuple[str, int], tuple[int, float]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    names_of_children: list[str] = field(default_factory=list)
    masked: bool = False

    def lack(self, line: int, what: str) -> None:
        """Note what is missing or cut off at a line."""
        self.faults.append(Fault(line, what))

    @property
    def empty(self) -> bool:
        """True when it holds no figure."""
        return not (self.rows or self.keys)

    def note_command(self, words: list[str]) -> None:
        """Take over what a command line `openssl speed ...` says of how it was measured."""
        self.command = tuple(words)
        if "-elapsed" in words:
            self.wall_clock = True
        if "-multi" in words and self.processes == 1:
            count = whole_number(words[words.index("-multi") + 1]) if "-multi" in words[:-1] else -1
            self.processes = max(count, 0)

    @property
    def evp_name(self) -> str:
        """What the row `evp` is of, which versions before 3.0 print with -multi; '' where nothing tells."""
        rows = {row.name for row in self.rows}
        names = {name for name in self.names_of_children if name not in rows}
        if len(names) == 1:
            return names.pop()
        words = list(self.command)
        return words[words.index("-evp") + 1] if "-evp" in words[:-1] and not names else ""


LIMIT_BYTES = 10_000_000
STANDARD_INPUT = "-"
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_WHOLE = re.compile(r"[0-9]{1,18}")
_ENDLESS = re.compile(r"\d{1000}")  # no number of any tool, and slow to read
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_WAY_OUT = "make a listing: openssl speed > listing.txt"


def whole_number(text: str) -> int:
    """The number that `text` writes in at most 18 decimal digits; -1 for anything else, such as superscripts."""
    return int(text) if _WHOLE.fullmatch(text) else -1


def read_text(path: Path) -> str:
    """Return the text of `path` (`-`: standard input). Raises UsageError when there is none to be had."""
    name = "standard input" if str(path) == STANDARD_INPUT else str(path)
    try:
        if str(path) == STANDARD_INPUT:
            content = sys.stdin.buffer.read(LIMIT_BYTES + 1)
        elif not path.exists():
            raise UsageError(f"there is no file {name}", hint="check the path")
        elif not path.is_file():
            raise UsageError(f"{name} is not a file", hint="give the file with the tool's output")
        else:
            with path.open("rb") as file:
                content = file.read(LIMIT_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {name}: {error}", hint="check path and permissions") from None
    return decode(content, name)


def decode(content: bytes, name: str) -> str:
    """Return `content` as text. Raises UsageError when it is empty, too large or binary."""
    if len(content) > LIMIT_BYTES:
        raise UsageError(
            f"{name} has more than {LIMIT_BYTES // 10**6} MB; a listing has a few thousand bytes",
            hint=_WAY_OUT,
        )
    coding = next((coding for mark, coding in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(coding, errors="strict" if coding == "utf-16" else "replace")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or text.count("\ufffd") > len(text) // 20:
        raise UsageError(f"{name} is a binary file, not a listing", hint=_WAY_OUT)
    text = _COLOUR.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
    if not text.strip():
        raise UsageError(f"{name} is empty", hint=_WAY_OUT)
    if match := _ENDLESS.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise UsageError(f"{name}, line {line}: a number of a thousand digits", hint=_WAY_OUT)
    return text
