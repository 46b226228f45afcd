"""Reads what `openssl speed` printed: plain or -mr, one listing or several, whole or refused with a reason.

A text that is both forms at once is refused, and so is a listing of which something is missing, unless the caller asks
for what is left of it: half a table looks like a whole one once it is imported.

Of the tables that it prints for people, of every version since 0.9.6, a listing begins with a header that names the
version, with the sentence about the 'numbers', or with progress lines after a finished table; what stands between
tables and is none of this is only asked for facts about a machine. A figure that ends in `k` is in 1000 bytes per
second; one without is in bytes per second, which the tool prints for less than 10,000. Whatever is cut off becomes a
fault of the listing; nothing is mended.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from perbyte.errors import UsageError
from perbyte.exchange.bootlog import read_machine
from perbyte.exchange.listing import KeyRow, SpeedListing, SpeedRow, whole_number
from perbyte.exchange.machinereadable import is_machine_readable, is_progress, read_machine_readable
from perbyte.exchange.openssl_command import command_in, hides_instructions, ways_of

_WAY_OUT = "make a listing with: openssl speed > listing.txt"
_VERSION = re.compile(r"^(OpenSSL|LibreSSL|BoringSSL) v?(\d\S*)(?:\s|$)|^version: (?:(.+) )?(\d\S*)$")
_PROGRESS = re.compile(
    r"^Doing (?P<name>.+?)(?: ops)? for (?P<limit>\d+)s on (?P<size>\d+) size blocks:"
    r"(?: (?P<calls>\d+) .* in (?P<seconds>\d+\.\d+)s)?$"
)
_NUMBERS = "The 'numbers' are in 1000s of bytes per second processed."
_SIZES = re.compile(r"^type\s((?:\s*\d+ bytes)+)$")
_FIGURE = r"-?(?:\d+\.\d\d|nan|inf)k?"
_ROW = re.compile(rf"^(\S.*?)\s+({_FIGURE}(?:\s+{_FIGURE})*)$")
_WRAPPED = re.compile(rf"^(?:{_FIGURE}(?:\s+|$))+$|^(?:\d+ bytes(?:\s+|$))+$")
# What is left of a row that was cut: whole figures before the cut, or, at the end of a file, a name and a beginning.
_ROW_CUT = re.compile(r"^[A-Za-z].*\s\d+\.\d\dk(\s|$)|^[A-Za-z].*(\s\d+\.\d\d){2,}(\s|$)")
_ROW_BEGUN = re.compile(r"^[A-Za-z][A-Za-z0-9()/-]*( [a-z0-9]+)?[\d.k\s]*$")
_KEY_CUT = re.compile(r"^([rd]sa\s+\d|\d+ bits? |\S+\s+\d+\.\d{6}s)")
_KEY_BEGUN = re.compile(r"^([rd]|[rd]s|[rd]sa|[rd]sa\s.*|\d+( b?i?t?s?)?)$")
_SECONDS = r"(?:\d+\.\d+|nan|inf)s"
_RATE = r"(?:\d+\.\d|nan|inf)"
_KEY_ROW = re.compile(rf"^(\S.*?)\s+({_SECONDS}(?:\s+{_SECONDS})*)((?:\s+{_RATE})*)$")
_KEY_HEADING = re.compile(r"^(?:(?:sign|signs|verify|encrypt|decrypt|keygen|encaps|decaps|op)\s+)+\S*/s")
_KEY_NAME = re.compile(r"^(rsa|dsa)\s+(\d+) bits$")
_CHILD_SIZES = re.compile(r"^Got: \+H((?::\d+)+) from \d+$")
_CHILD_ROW = re.compile(r"^Got: \+F:\d+:([^:]+):.* from \d+$")
_MARKS = re.compile(r"\*\*|`|</?[a-z]{1,6}>")
_NOTED_ROW = re.compile(rf"^(\S.*?\s+{_FIGURE}(?:\s+{_FIGURE})*)\s+[^\d\s.].*$")
_OWN = re.compile(r"^perbyte: runner=(\S+) cpu=(\S+)$")


def read_listings(text: str, source: str, *, partial: bool = False) -> list[SpeedListing]:
    """Return the listings in `text`, which came from `source`.

    Listings of which something is missing are given back with `partial` only, and those without a single figure never.
    Raises UsageError naming line and reason.
    """
    lines = text.split("\n")
    plain = _PlainReader(text).read()
    decides = [
        n
        for n, line in enumerate(lines, 1)
        if is_machine_readable(line) and not (plain and is_progress(line))
    ]
    machine_readable = next(iter(decides), 0)
    if machine_readable and plain:
        raise UsageError(
            f"{source}: line {machine_readable} is of the -mr form, and line {plain[0].line} begins a plain listing",
            hint="put the two into separate files",
        )
    listings = read_machine_readable(text) if machine_readable else plain
    if not listings:
        raise UsageError(
            f"{source} is not a listing of openssl speed: none of its {len(lines)} lines begins a table",
            hint=_WAY_OUT,
        )
    if machine_readable:
        others = [line for line in lines if not is_machine_readable(line)]
        for listing in listings:
            listing.machine = read_machine(others, listing.machine)
    faults = [fault for listing in listings for fault in listing.faults]
    if faults and not partial:
        more = f" (and {len(faults) - 1} more such places)" if len(faults) > 1 else ""
        raise UsageError(
            f"{source}, line {faults[0].line}: {faults[0].what}{more}",
            hint="copy the listing again, or use --partial to read its complete part",
        )
    whole = [listing for listing in listings if not listing.empty]
    if not whole:
        raise UsageError(
            f"{source}, line {faults[0].line}: {faults[0].what}, and there is no row to import", hint=_WAY_OUT
        )
    return whole


def join_listings(listings: list[SpeedListing]) -> SpeedListing:
    """Return listings of one machine and one library as a single one.

    Raises UsageError when they are of different versions or machines.
    """
    first = listings[0]
    for other in listings[1:]:
        for what, ours, theirs in (
            ("libraries", first.library, other.library),
            ("versions", first.version, other.version),
            ("machines", first.machine.cpu_model, other.machine.cpu_model),
            ("CPU features", first.cpu_info, other.cpu_info),
            ("numbers of processes", first.processes, other.processes),
        ):
            if ours != theirs:
                raise UsageError(
                    f"the listings at lines {first.line} and {other.line} cannot be joined: they are of different "
                    f"{what} ({ours or 'none'}, {theirs or 'none'})",
                    hint="import them as separate runs: leave out --join",
                )
    return replace(
        first,
        rows=[row for listing in listings for row in listing.rows],
        keys=[key for listing in listings for key in listing.keys],
        calls={name: count for listing in listings for name, count in listing.calls.items()},
        faults=[fault for listing in listings for fault in listing.faults],
        remarks=[remark for listing in listings for remark in listing.remarks],
    )


class _PlainReader:
    """Goes through the lines once; `here` is the listing being filled."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.ends_whole = text.endswith("\n")
        self.found: list[SpeedListing] = []
        self.here: SpeedListing | None = None
        self.loose: list[str] = []  # lines since the last table, for the next listing's machine
        self.sizes: tuple[int, ...] = ()
        self.sizes_of_children: tuple[int, ...] = ()
        self.operations: list[str] = []
        self.heading_line = 0
        self.rows_below = 0
        self.open = (
            False  # whether the last table's heading still has a meaning: prose may stand between its rows
        )
        self.announced = 0  # the line of a 'numbers' sentence whose heading has not come yet

    def read(self) -> list[SpeedListing]:
        for number, raw in enumerate(self.lines, start=1):
            line = _MARKS.sub("", raw).replace("\t", " ").replace("|", " ").strip().lstrip("> ")
            last = number == len(self.lines) and not self.ends_whole
            if not line or self._is_header(line, number) or self._is_table(line, number, raw, last):
                continue
            self.open = False
            self.loose.append(raw)
        self._end_table()
        if self.announced and self.here:
            self.here.lack(self.announced, "the listing ends before its table")
        for listing in self.found:
            _use_progress(listing)
        return [table for table in self.found if table.faults or not table.empty]

    def _begin(self, number: int, *, when_full: bool = True) -> SpeedListing:
        when_full = when_full or self._commanded_otherwise()
        if self.here is None or (when_full and not self.here.empty):
            self._end_table()
            self.sizes_of_children = ()
            self.here = SpeedListing(line=number)
            self.found.append(self.here)
        if self.loose:
            self.here.machine = read_machine(self.loose, self.here.machine)
            for text in self.loose:
                self._take_prose(text, self.here)
            self.loose = []
        return self.here

    def _commanded_otherwise(self) -> bool:
        """Whether a command was typed since, which measures in another way than the one before."""
        typed = [words for text in self.loose if (words := command_in(text))]
        if not typed or not self.here or self.here.empty:
            return False
        return ways_of(typed[-1]) != ways_of(list(self.here.command)) or any(
            map(hides_instructions, self.loose)
        )

    def _continue(self, number: int) -> None:
        if not self._commanded_otherwise():
            return
        kept, before = (self.sizes, self.operations, self.heading_line), self.here
        listing = self._begin(number)
        if before:
            listing.library, listing.version, listing.compiler = (
                before.library,
                before.version,
                before.compiler,
            )
            listing.cpu_info, listing.machine = before.cpu_info, before.machine
        self.sizes, self.operations, self.heading_line = kept

    def _take_prose(self, text: str, listing: SpeedListing) -> None:
        """What a line between tables says of how it was measured; only a command is believed, and prose remarked."""
        hidden = hides_instructions(text)
        listing.masked |= hidden == "command"
        if hidden == "prose":
            listing.remarks.append(
                "a line above mentions OPENSSL_...cap: instructions may have been hidden from it"
            )
        if words := command_in(text):
            listing.note_command(words)
        named = set(re.findall(r"\bOpenSSL(?: version)?[ /:]+v?(\d+\.\d+\.\d+\w*)", text, re.IGNORECASE))
        if not listing.version and len(named) == 1:
            listing.version = named.pop()

    def _is_header(self, line: str, number: int) -> bool:
        if match := _VERSION.match(line):
            listing = self._begin(number)
            listing.library = match[1] or match[3] or "OpenSSL"
            listing.version = (match[2] or match[4]).rstrip(":,.)")
        elif match := _PROGRESS.match(line):
            listing = self._begin(number)
            if match["calls"]:
                calls = int(match["calls"]), float(match["seconds"])
                listing.calls[match["name"], int(match["size"])] = calls
        elif line.startswith("compiler: "):
            self._begin(number, when_full=False).compiler = line.removeprefix("compiler: ")
        elif line.startswith("CPUINFO: "):
            self._begin(number, when_full=False).cpu_info = line.removeprefix("CPUINFO: ")
        elif line.startswith("You have chosen to measure elapsed time"):
            self._begin(number).wall_clock = True
        elif line.startswith("Forked child "):
            listing = self._begin(number)
            child = line.removeprefix("Forked child ")
            listing.processes = max(listing.processes, whole_number(child) + 1, 1)
        elif match := _CHILD_SIZES.match(line):
            self._begin(number)
            self.sizes_of_children = tuple(max(0, whole_number(word)) for word in match[1].split(":")[1:])
        elif match := _CHILD_ROW.match(line):
            self._begin(number, when_full=False).names_of_children.append(match[1])
        elif is_progress(line):
            return True
        elif match := _OWN.match(line):
            listing = self._begin(number)
            listing.runner, listing.cpu = match[1], match[2]
        else:
            return line.startswith(
                ("Got: +", "built on:", "options:", "available timing options", "timing function")
            )
        self._end_table()
        return True

    def _is_table(self, line: str, number: int, raw: str, last: bool) -> bool:
        if line.startswith(_NUMBERS[:30]) or (last and _NUMBERS.startswith(line) and len(line) > 12):
            self._begin(number)
            self._end_table()
            self.announced = number
            return True
        if line.startswith("type ") and re.match(r"type\s+\d+ b", line):
            return self._sizes(line, number)
        if _KEY_HEADING.match(line):
            self._begin(number, when_full=False)
            self._end_table()
            self.operations = _operations(line)
            self.heading_line, self.open = number, True
            return True
        if not self.sizes and not self.operations and self.sizes_of_children and _ROW.match(line):
            # With -multi the table has no heading; what the children said stands for it.
            self.sizes, self.heading_line, self.open = self.sizes_of_children, number, True
        if self.loose and (_ROW.match(line) or _KEY_ROW.match(line)) and (self.sizes or self.operations):
            self._continue(number)
        if self.sizes:
            return self._speed_row(line, number, raw, last)
        if self.operations:
            return self._key_row(line, number, last)
        if self.here and _ROW.match(line) and len(_ROW.match(line)[2].split()) > 1:  # type: ignore[index]
            self.here.lack(number, "a row without a heading")
            return True
        return False

    def _sizes(self, line: str, number: int) -> bool:
        # A heading of its own right after the sentence belongs to it; one without begins a table of the same listing.
        listing = self._begin(number, when_full=self.here is not None and bool(self.loose))
        self._end_table()
        self.announced = 0
        match = _SIZES.match(line)
        sizes = tuple(whole_number(word) for word in re.findall(r"(\d+) bytes", match[1])) if match else ()
        if sizes and min(sizes) > 0:
            self.sizes, self.heading_line, self.open = sizes, number, True
        else:
            listing.lack(number, "the heading with the sizes is cut off")
        return True

    def _speed_row(self, line: str, number: int, raw: str, last: bool) -> bool:
        assert self.here is not None
        match = _ROW.match(line)
        if not match and (noted := _NOTED_ROW.match(line)):
            match = _ROW.match(noted[1])  # a remark behind a whole row
            if match and len(match[2].split()) != len(self.sizes):
                match = None
        if not match:
            begun = self.open and last and _ROW_BEGUN.match(line)
            return self._cut(number, _ROW_CUT.match(line) or _WRAPPED.match(line) or begun)
        figures = match[2].split()
        if len(figures) == 1 < len(self.sizes) and not figures[0].endswith("k") and not last:
            return False  # a sentence that ends in a number
        self.rows_below += 1
        if len(figures) != len(self.sizes):
            what = f"the row has {len(figures)} figures, its heading {len(self.sizes)} sizes"
            self.here.lack(number, what)
            return True
        lost = last and not figures[-1].endswith("k") and raw == raw.rstrip() and float(figures[-1]) > 0
        if lost or any(float(figure) >= 1e4 for figure in figures if not figure.endswith("k")):
            self.here.lack(number, "a figure has lost its 'k'")
            return True
        values = tuple((size, _rate(text)) for size, text in zip(self.sizes, figures, strict=True))
        self.here.rows.append(SpeedRow(match[1], number, values))
        return True

    def _key_row(self, line: str, number: int, last: bool) -> bool:
        assert self.here is not None
        count = len(self.operations)
        match = _KEY_ROW.match(line)
        times = match[2].split() if match else []
        rates = match[3].split() if match else []
        if not match or len(times) != count or len(rates) != count:
            begun = self.open and last and _KEY_BEGUN.match(line)
            return self._cut(number, _KEY_CUT.match(line) or begun)
        self.rows_below += 1
        seconds = tuple(
            (name, _seconds(time, rate))
            for name, time, rate in zip(self.operations, times, rates, strict=True)
        )
        known = _KEY_NAME.match(match[1])
        kind, bits = (known[1], int(known[2])) if known else ("", 0)
        self.here.keys.append(KeyRow(kind, bits, match[1], number, seconds))
        return True

    def _cut(self, number: int, sign: object) -> bool:
        """Whether a line that is no row is what is left of one, by its `sign`."""
        if sign and self.here:
            self.rows_below += 1
            self.here.lack(number, "the row is cut off")
        return bool(sign)

    def _end_table(self) -> None:
        """The heading has no more rows: another begins, or the listing ends."""
        if (self.sizes or self.operations) and not self.rows_below and self.here:
            self.here.lack(self.heading_line, "no row follows the table's heading")
        self.sizes, self.operations, self.rows_below, self.open = (), [], 0, False


def _rate(text: str) -> float:
    """Bytes per second of a printed figure; NaN for one that no working call can have."""
    value = float(text.removesuffix("k"))
    value = value * 1e3 if text.endswith("k") else value
    return value if math.isfinite(value) and value >= 0 else math.nan


def _seconds(time: str, rate: str) -> float:
    """Seconds per operation: of the two forms that were printed the one with more digits; 0 when it is none."""
    time = time.removesuffix("s")
    if not (math.isfinite(float(time)) and math.isfinite(float(rate)) and float(rate) > 0):
        return 0.0
    return 1 / float(rate) if _digits(rate) >= _digits(time) else float(time)


def _digits(text: str) -> int:
    return len(text.replace(".", "").lstrip("0"))


def _operations(heading: str) -> list[str]:
    """The operations that a heading names: the words before those per second."""
    words = heading.split()
    return words[: len(words) // 2]


def _use_progress(listing: SpeedListing) -> None:
    """Where the tool was stopped before its tables, what it reported on the way is all there is."""
    if not (listing.empty and listing.calls):
        return
    listing.lack(listing.line, "there are progress lines only, no table")
    named: dict[str, list[tuple[int, float]]] = {}
    for (name, size), (calls, seconds) in listing.calls.items():
        if seconds > 0:
            named.setdefault(name, []).append((size, calls * size / seconds))
    listing.rows += [SpeedRow(name, listing.line, tuple(values)) for name, values in named.items()]
