"""Reads what `openssl speed` printed: plain or -mr, one listing or several, whole or refused with a reason.

A text that is both forms at once is refused, and so is a listing of which something is missing, unless the caller asks
for what is left of it: half a table looks like a whole one once it is imported.
"""

from __future__ import annotations

from dataclasses import replace

from perbyte.errors import UsageError
from perbyte.exchange.bootlog import read_machine
from perbyte.exchange.listing import SpeedListing
from perbyte.exchange.machinereadable import is_machine_readable, read_machine_readable
from perbyte.exchange.plain import read_plain

_WAY_OUT = "make a listing with: openssl speed > listing.txt"


def read_listings(text: str, source: str, *, partial: bool = False) -> list[SpeedListing]:
    """Return the listings in `text`, which came from `source`.

    Listings of which something is missing are given back with `partial` only, and those without a single figure never.
    Raises UsageError naming line and reason.
    """
    lines = text.split("\n")
    machine_readable = next((n for n, line in enumerate(lines, 1) if is_machine_readable(line)), 0)
    plain = read_plain(text)
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
            f"{source}, line {faults[0].line}: {faults[0].what}, and there is no row to import",
            hint=_WAY_OUT,
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
