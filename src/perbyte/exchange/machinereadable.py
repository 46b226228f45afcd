"""The lines of `openssl speed -mr`: +H with the sizes, +F per row, +F2 and on per key, +R with the counts.

Rates are bytes per second here. What +F2 and its kin give changed with 1.1.1 from seconds per operation to
operations per second, and the lines do not say which: RSA tells, whose verification is always the faster one,
and else the magnitude. A listing that tells neither way is a fault.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from perbyte.exchange.listing import KeyRow, SpeedListing, SpeedRow, whole_number

_RATE = re.compile(r"-?(?:\d+\.\d\d|nan|inf)")
_SECONDS = re.compile(r"\d+(?:\.\d+)?")
_VALUE = re.compile(r"-?(?:\d+\.\d{6}|nan|inf)")
_ANY = re.compile(r"^\+(?:H|F\d*|R\d*|DTP?)(?::|$)")
_TABLE = re.compile(r"^\+(?:H|F\d*)(?::|$)")
# +F number: (what it is about, fields before the values, operations)
_KEYS = {
    2: ("rsa", 2, ("sign", "verify", "encrypt", "decrypt")),
    3: ("dsa", 2, ("sign", "verify")),
    4: ("ecdsa", 2, ("sign", "verify")),
    5: ("ecdh", 2, ("op",)),
    6: ("eddsa", 3, ("sign", "verify")),
    7: ("sm2", 3, ("sign", "verify")),
    8: ("ffdh", 2, ("op",)),
    9: ("kem", 1, ("keygen", "encaps", "decaps")),
    10: ("signature", 1, ("keygen", "signs", "verify")),
}


def is_machine_readable(line: str) -> bool:
    """True for a line that only -mr prints."""
    return bool(_ANY.match(line.strip()))


def is_progress(line: str) -> bool:
    """True for a line that tells how far it got: children of -multi print them between the lines for people."""
    return is_machine_readable(line) and not _TABLE.match(line.strip())


def read_machine_readable(text: str) -> list[SpeedListing]:
    """Return the listings in `text`: one, or several where sizes are given anew. Raises nothing."""
    reader = _MachineReader()
    lines = text.split("\n")
    for number, raw in enumerate(lines, start=1):
        if is_machine_readable(raw):
            reader.take(raw.strip(), number)
        elif raw.strip().startswith("+") and number == len(lines):
            reader.listing(number).lack(number, "the line is cut off")
    reader.finish()
    return [listing for listing in reader.found if listing.faults or not listing.empty]


class _MachineReader:
    def __init__(self) -> None:
        self.found: list[SpeedListing] = []
        self.sizes: tuple[int, ...] = ()
        self.size_now = 0
        self.heading_line = 0
        self.keys: list[KeyRow] = []  # of this listing; it is not known yet what their values are

    def listing(self, number: int) -> SpeedListing:
        if not self.found:
            self.found.append(SpeedListing(line=number))
        return self.found[-1]

    def take(self, line: str, number: int) -> None:
        word, *fields = line[1:].split(":")
        kinds = {"H": self._sizes, "F": self._row, "R": self._count, "DT": self._about}
        if word in kinds:
            kinds[word](fields, number)
        elif word.startswith("F"):
            self._key(whole_number(word[1:]), fields, number)

    def finish(self) -> None:
        if self.sizes and not self.listing(0).rows and not self.listing(0).faults:
            self.listing(0).lack(self.heading_line, "no row follows the sizes")
        self._settle_keys()

    def _sizes(self, fields: list[str], number: int) -> None:
        if self.found and not self.found[-1].empty:
            self.finish()
            self.found.append(SpeedListing(line=number))
        listing = self.listing(number)
        self.heading_line = number
        self.sizes = tuple(size for field in fields if (size := whole_number(field)) > 0)
        if len(self.sizes) != len(fields) or not fields:
            listing.lack(number, "the line with the sizes is cut off")

    def _row(self, fields: list[str], number: int) -> None:
        listing = self.listing(number)
        name, values = (fields[1], fields[2:]) if len(fields) > 1 else ("", [])
        if not self.sizes:
            listing.lack(number, "a row without a line of sizes (+H) before it")
        elif len(values) != len(self.sizes) or not all(_RATE.fullmatch(value) for value in values):
            what = f"the row has {len(values)} figures for {len(self.sizes)} sizes, or one is cut off"
            listing.lack(number, what)
        else:
            rates = [float(value) if 0 <= float(value) < math.inf else math.nan for value in values]
            listing.rows.append(SpeedRow(name, number, tuple(zip(self.sizes, rates, strict=True))))

    def _about(self, fields: list[str], number: int) -> None:
        self.size_now = max(0, whole_number(fields[2])) if len(fields) == 3 else 0

    def _count(self, fields: list[str], number: int) -> None:
        count = whole_number(fields[0]) if fields else -1
        if len(fields) == 3 and self.size_now and count >= 0 and _SECONDS.fullmatch(fields[2]):
            self.listing(number).calls[fields[1], self.size_now] = (count, float(fields[2]))
        self.size_now = 0

    def _key(self, kind: int, fields: list[str], number: int) -> None:
        listing = self.listing(number)
        if kind not in _KEYS:
            listing.remarks.append(f"line {number}: +F{kind} is not known here and was left out")
            return
        name, before, operations = _KEYS[kind]
        values = fields[before:]
        if name in ("ecdh", "ffdh"):
            values = values[:1] if len(values) == 2 else []  # the second is the first's inverse
        whole = all(_VALUE.fullmatch(value) for value in values) and (
            len(values) == len(operations) or (name == "rsa" and len(values) == 2)
        )
        if not whole or not all(whole_number(field) >= 0 for field in fields[: min(before, 2)]):
            listing.lack(number, "the line is cut off")
            return
        bits = fields[1] if before > 1 else "0"
        label = f"{name} {bits} bits" if bits != "0" else f"{name} {fields[0]}"
        pairs = tuple(zip(operations, map(float, values), strict=False))
        self.keys.append(KeyRow(name, int(bits), label, number, pairs))

    def _settle_keys(self) -> None:
        """Turn the values of this listing's keys into seconds, once it is known what they are."""
        keys, self.keys = self.keys, []
        if not keys:
            return
        listing = self.listing(0)
        rates = _are_rates(keys)
        if rates is None:
            what = "it is not known whether the keys' values are seconds or operations per second"
            listing.lack(keys[0].line, what)
            return
        for key in keys:
            seconds = tuple(
                (operation, (1 / value if rates else value) if 0 < value < math.inf else 0.0)
                for operation, value in key.seconds
            )
            listing.keys.append(replace(key, seconds=seconds))


def _are_rates(keys: list[KeyRow]) -> bool | None:
    """True for operations per second, False for seconds per operation, None when nothing tells."""
    for key in keys:
        (_, sign), *rest = key.seconds
        if key.kind == "rsa" and sign > 0 and rest[0][1] > 0 and sign != rest[0][1]:
            return rest[0][1] > sign
    known = [value for key in keys for _, value in key.seconds if value > 0]
    if known and min(known) >= 10:
        return True
    return False if known and max(known) <= 0.1 else None
