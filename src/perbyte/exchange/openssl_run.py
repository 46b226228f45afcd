"""A listing of `openssl speed` as a run: its cells by the table `openssl_names.toml`, what it lacks, what is not known.

The tool prints one mean per row and nothing of its spread. So an imported figure has an interval from zero to infinity,
no samples, no cycles, and the quality `imprecise`: it can be shown and set beside others, but no comparison with it
is decided. Rows that mean nothing here are kept as remarks in the conditions (`input`), never dropped.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from perbyte.catalogue import load
from perbyte.catalogue.catalogue import INVERSES
from perbyte.errors import UsageError
from perbyte.exchange.benchmark_sizes import UNSIZED_BYTES
from perbyte.exchange.imported import imported_figure, imported_identity, imported_run
from perbyte.exchange.listing import KeyRow, SpeedListing, SpeedRow
from perbyte.model import Cell, CellFigure, Doubt, Failure, Machine, Run, RunnerIdentity, Warning
from perbyte.model.cell import FULL

MASKED = "masked"  # the CPU tier of a listing whose header shows that OPENSSL_ia32cap was set
_SUMS = "it is a sum over processes (-multi), and how many is not said"
_SERIAL = frozenset(
    {"sha1", "sha2", "sha-1", "sha-2", "md5", "md4", "ripemd", "hmac", "sm3", "whirlpool", "des", "aes"}
)
_FASTEST_SERIAL = (
    8e9  # bytes per second; the fastest cores of 2025 hash SHA-256 at 3e9 and encrypt CBC at 3e9
)
NO_INTERVAL = Warning(
    Doubt.NO_INTERVAL, "the interval is not known: openssl speed prints one mean and no spread"
)
_NOT_THERE = "openssl speed printed 0.00: the algorithm is not in that build"
_NO_FIGURE = "openssl speed printed a figure that no working call can have"


def make_run(listing: SpeedListing, *, name: str, source: str = "", machine: Machine | None = None) -> Run:
    """Return `listing` as a run called `name`, not stored anywhere yet.

    `source` says where the text came from; facts of `machine` that the listing itself does not tell are added.
    """
    maker = _Maker(listing)
    maker.take_all()
    cells = (*maker.figures, *maker.failures)
    told, more = listing.machine, machine or Machine()
    lacking = {field: getattr(more, field) for field in Machine.__slots__ if not getattr(told, field)}
    return imported_run(
        name,
        "openssl-speed",
        source,
        tuple(maker.figures.values()),
        identities=[maker.identity(runner) for runner in sorted({cell.runner for cell in cells})],
        missing=[f"line {fault.line}: {fault.what}" for fault in listing.faults],
        remarks=maker.remarks,
        line=listing.line,
        plan=cells,
        command=listing.command,
        machine=replace(told, **lacking),
        failures=tuple(maker.failures.values()),
    )


class _Maker:
    """Collects cells, failures and remarks of one listing."""

    def __init__(self, listing: SpeedListing) -> None:
        self.listing = listing
        self.version = parse_version(listing.version) if listing.library == "OpenSSL" else ()
        hidden = listing.masked or " env:" in listing.cpu_info
        self.cpu = listing.cpu or (MASKED if hidden else FULL)
        self.figures: dict[Cell, CellFigure] = {}
        self.failures: dict[Cell, Failure] = {}
        self.lines: dict[Cell, int] = {}
        self.remarks = list(listing.remarks)

    def take_all(self) -> None:
        """Take every row, and say how it was measured."""
        listing = self.listing
        old = not self.version and any(" cbc" in row.name or " ige" in row.name for row in listing.rows)
        for row in listing.rows:
            self._take_row(row, old)
        for key in listing.keys:
            for operation, seconds in key.seconds:
                meaning = mean_key_row(key, operation)
                if key.kind == "rsa" and self._primes() != "2":
                    meaning = f"it is of {self._primes()} primes, which the catalogue does not have"
                if listing.processes < 1:
                    meaning = _SUMS
                if isinstance(meaning, str):
                    shown = f"{seconds:.6g} s" if seconds else "no figure"
                    self.remarks.append(f"line {key.line}: {key.label}, {operation}: {shown}; {meaning}")
                else:
                    size = signed_bytes(meaning)
                    self._take(meaning, size, seconds * listing.processes * 1e9, key.line, 0)
        self._say_how()

    def _take_row(self, row: SpeedRow, old: bool) -> None:
        sizes = [size for size, _ in row.bytes_per_second]
        listing = self.listing
        if row.name.lower() == "evp" and listing.evp_name:
            row = replace(row, name=listing.evp_name)
        meaning = mean_row(row.name, self.version, sizes, old=old, library=listing.library)
        if listing.processes < 1:
            meaning = _SUMS
        elif not isinstance(meaning, str) and (why := self._impossible(row, meaning)):
            meaning = why
        if isinstance(meaning, str):
            shown = ", ".join(f"{size} bytes {rate / 1e3:.2f}k" for size, rate in row.bytes_per_second)
            self.remarks.append(f"line {row.line}: {row.name}: {shown}; {meaning}")
            return
        for size, rate in row.bytes_per_second:
            ns = math.nan if math.isnan(rate) else size * self.listing.processes / rate * 1e9 if rate else 0.0
            self._take(meaning, size, ns, row.line, self.listing.calls.get((row.name, size), (0, 0.0))[0])

    def _primes(self) -> str:
        words = self.listing.command
        return words[words.index("-primes") + 1] if "-primes" in words[:-1] else "2"

    def _impossible(self, row: SpeedRow, meaning: RowMeaning) -> str:
        """Why the row's figures cannot be: the tool divides by CPU time, which some systems count wrongly."""
        algorithm = load().find(meaning.algorithm)
        serial = algorithm.mode in ("cbc", "cfb", "ofb") and meaning.operation == "encrypt"
        serial |= algorithm.kind in ("hash", "mac") and algorithm.family in _SERIAL
        each = (
            max((rate for _, rate in row.bytes_per_second if rate == rate), default=0.0)
            / self.listing.processes
        )
        if self.listing.runner:
            return ""  # an export of Perbyte
        if serial and "-decrypt" not in self.listing.command and each > _FASTEST_SERIAL:
            rate = f"{each / 1e9:.1f} GB/s in one process"
            return f"{rate} is more than any processor does: its CPU time is counted wrongly"
        return ""

    def _take(self, meaning: RowMeaning, size: int, ns: float, line: int, calls: int) -> None:
        runner = self.listing.runner or self._runner(meaning.runner)
        cell = Cell(runner, meaning.algorithm, meaning.operation, size, meaning.contract, self.cpu)
        if cell in self.lines:
            self.remarks.append(
                f"line {line}: {cell.address} stands on line {self.lines[cell]} already; left out"
            )
            return
        self.lines[cell] = line
        if not ns > 0:
            why = ("refused", _NO_FIGURE) if math.isnan(ns) else ("absent", _NOT_THERE)
            self.failures[cell] = Failure(why[0], runner, why[1], address=cell.address)
            return
        warnings = [NO_INTERVAL]
        if self.listing.processes > 1:
            count = self.listing.processes
            text = f"the mean of {count} processes that ran at once"
            warnings.append(Warning(Doubt.SEVERAL_PROCESSES, text, (count,)))
        self.figures[cell] = imported_figure(
            cell,
            ns,
            library=self.listing.library,
            version=self.listing.version,
            calls=calls,
            warnings=warnings,
        )

    def _runner(self, meant: str) -> str:
        """Forks of OpenSSL are no runner of ours, so they get a name of their own."""
        return (
            meant if self.listing.library == "OpenSSL" else meant.replace(EVP, self.listing.library.lower())
        )

    def _say_how(self) -> None:
        listing = self.listing
        if listing.wall_clock:
            self.remarks.append("times are wall-clock times (-elapsed), not the process's own")
        if self.cpu == MASKED:
            self.remarks.append("the environment masked features of the CPU while this was measured")
        if listing.processes > 1:
            self.remarks.append(
                f"rows are sums over {listing.processes} processes (-multi), divided by them here"
            )
        if "-decrypt" in listing.command:
            self._turn_round()

    def _turn_round(self) -> None:
        """Rows measured with -decrypt carry the same names; only the command line tells."""
        turned = {forward: backward for backward, forward in INVERSES.items() if forward != "sign"}
        figures, failures = {}, {}
        for cell in (*self.figures, *self.failures):
            other = replace(cell, operation=turned.get(cell.operation, cell.operation))
            if cell in self.figures:
                figures[other] = replace(self.figures[cell], cell=other)
            else:
                failures[other] = replace(self.failures[cell], address=other.address)
        self.figures, self.failures = figures, failures

    def identity(self, runner: str) -> RunnerIdentity:
        """Whom the rows of `runner` are of."""
        listing = self.listing
        built = (listing.version, listing.compiler, listing.cpu_info)
        return imported_identity(runner, listing.library, self.cpu, *built)


EVP, BELOW_EVP = "openssl", "openssl-lowlevel"
_CALLS = {
    "block-cipher": ("encrypt", "stream/1"),
    "stream-cipher": ("encrypt", "stream/1"),
    "hash": ("digest", "oneshot/1"),
    "mac": ("mac", "message/1"),
}


@dataclass(frozen=True, slots=True)
class RowMeaning:
    """What one row times. `runner` is the runner of Perbyte that makes the same calls."""

    runner: str
    algorithm: str
    operation: str
    contract: str


def parse_version(text: str) -> tuple[int, ...]:
    """Return the numbers of a version (`3.0.16` gives (3, 0, 16), `0.9.8zh` gives (0, 9, 8)); () for none."""
    match = re.match(r"\d+(\.\d+)*", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def mean_row(
    name: str, version: Sequence[int], sizes: Sequence[int], *, old: bool = False, library: str = "OpenSSL"
) -> RowMeaning | str:
    """Return what the row `name` of a listing of `version` (() where unknown) times, or why that is not known.

    `old` says that other rows of the listing have names that only versions before 3.0 print.
    """
    known = load()
    table = _tables()
    asked = " ".join(name.lower().split())
    if keyed := re.fullmatch(r"(hmac|cmac)\(([a-z0-9-]+)\)", asked):
        cipher = keyed[2].removesuffix("-cbc")
        asked = (
            asked
            if asked in table["evp"]
            else f"{keyed[1]}-{keyed[2]}"
            if keyed[1] == "hmac"
            else f"{cipher}-cmac"
        )
    below = asked in table["below_evp"]
    if below:
        algorithm = table["below_evp"][asked]
    else:
        try:
            algorithm = known.find(table["evp"].get(asked, asked)).id
        except UsageError:
            return f"'{name}' is not an algorithm of the catalogue"
        below = _is_below(asked, tuple(version), old)
    kind = known.find(algorithm).kind
    if kind == "aead":
        return _mean_aead(algorithm, tuple(version), sizes, library)
    if kind not in _CALLS:
        return f"'{name}' is a {kind}, which a row of throughput cannot be"
    return RowMeaning(BELOW_EVP if below else EVP, algorithm, *_CALLS[kind])


def mean_key(kind: str, bits: int, operation: str) -> RowMeaning | str:
    """Return what a row of public-key operations times, or why that is not known."""
    known = load()
    name = f"{kind}-{bits}"
    if kind not in _tables()["keys"] or name not in known.algorithms:
        return "no such algorithm in the catalogue"
    if operation not in known.find(name).operations:
        return f"the catalogue has no operation '{operation}' for it"
    return RowMeaning(EVP, name, operation, "pk/1")


def mean_key_row(key: KeyRow, operation: str) -> RowMeaning | str:
    """Return what an operation of a row of keys times: RSA and DSA by bits, curves, KEMs and signatures by name."""
    if key.kind in _tables()["keys"]:
        return mean_key(key.kind, key.bits, operation)
    table = _tables()["key_operations"]
    label = " ".join(key.label.lower().split())
    if curve := re.fullmatch(r"\d+ bits? (ecdsa|ecdh|eddsa) \(([a-z0-9-]+)\)", label):
        name = curve[2] if curve[1] == "eddsa" else _tables()["curves"].get(f"{curve[1]} {curve[2]}", "")
    elif bits := re.fullmatch(r"(ecdsa|ecdh|eddsa) (\d+) bits", label):
        name = _tables()["curves"].get(label, "")
        if not name:
            return f"which curve of {bits[2]} bits it is of is not said"
    else:
        name = label
    try:
        algorithm = load().find(name)
    except UsageError:
        return f"'{key.label}' is not an algorithm of the catalogue"
    meant = table.get(algorithm.kind, {}).get(operation, "")
    if any(name == "encaps" for name, _ in key.seconds) and algorithm.kind != "kem":
        meant = ""  # a key encapsulation made of it, which is another call
    if meant not in algorithm.operations:
        return f"the catalogue has no operation '{operation}' for it"
    return RowMeaning(EVP, algorithm.id, meant, "pk/1")


def signed_bytes(meaning: RowMeaning) -> int:
    """Return how many bytes the tool signs in a row; UNSIZED_BYTES for what takes no data."""
    kind = meaning.algorithm.partition("-")[0]
    if meaning.operation not in ("sign", "verify"):
        return UNSIZED_BYTES
    return int(_tables()["keys"].get(kind) or _tables()["signed"].get(kind, UNSIZED_BYTES))


def digest_bytes(kind: str) -> int:
    """Return how many bytes the tool signs with keys of `kind` (`rsa`, `dsa`)."""
    return int(_tables()["keys"][kind])


def row_name(algorithm: str, runner: str) -> str:
    """Return what a listing calls `algorithm`: the tool's own name, else the catalogue's."""
    table = _tables()
    for part in ("below_evp", "evp") if runner == BELOW_EVP else ("evp",):
        for name, meant in table[part].items():
            if meant == algorithm:
                return str(name)
    return algorithm


def _mean_aead(
    algorithm: str, version: tuple[int, ...], sizes: Sequence[int], library: str
) -> RowMeaning | str:
    table = _tables()["aead"]
    if library == "LibreSSL":  # it did not take over the change of 3.0.16
        return RowMeaning(EVP, algorithm, "seal", "stream/1")
    if list(sizes) == table["sizes"]:
        return RowMeaning(EVP, algorithm, "seal", "rekey/1")
    if not algorithm.endswith("-gcm"):
        return RowMeaning(EVP, algorithm, "seal", "stream/1")
    if not version:
        return f"which call was timed for {algorithm} depends on the version, which the listing does not name"
    branches = sorted(parse_version(text) for text in table["whole_messages_since"])
    fixed = next((branch for branch in branches if branch[:2] == version[:2]), branches[-1])
    return RowMeaning(EVP, algorithm, "seal", "rekey/1" if version >= fixed else "stream/1")


def _is_below(name: str, version: tuple[int, ...], old: bool) -> bool:
    changed = _tables()["changed"].get(name)
    if changed is None:
        return False
    first, end = (parse_version(text) for text in changed)
    if version:
        return first <= version < end
    return old and first < (1,)


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("openssl_names.toml").read_text(encoding="utf-8"))
