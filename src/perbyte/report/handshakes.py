"""Handshakes of a run: what each end takes, what share of it the primitives' own rows account for, bytes sent.

The share is a sum of figures of the same run and library over that of the whole handshake: one key pair and one
agreement at each end (of a KEM: a pair and an opening at the client, a sealing at the server), and where a certificate
is shown one signature and two verifications. Hashes, key derivation and records are not in it. An RSA signature of the
protocol is PSS, and the row that stands for it PKCS #1 v1.5; both are one power with the same key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from perbyte.model import Cell, CellFigure, Run
from perbyte.model.text import plain
from perbyte.report.listing import Entry, Head, Listing
from perbyte.report.wording import percent

WHOLE = "handshake"
_GROUPS = {
    "x25519": (("x25519", "keygen", 2), ("x25519", "derive", 2)),
    "p256": (("ecdh-p256", "keygen", 2), ("ecdh-p256", "derive", 2)),
    "x25519mlkem768": tuple(
        ("x25519mlkem768", operation, 1) for operation in ("keygen", "encapsulate", "decapsulate")
    ),
}
CLOSE = 0.1  # between the sum of both ends and the whole; caches hold what the other end used
_FIRST, _RESUMED = "tls13-", "resumed"
_Place = tuple[str, str, str]  # runner, tier, algorithm
Needs = tuple[tuple[str, str, int], ...]
_FIELDS = ("both_ends", "client", "server", "primitives", "share", "to_server", "to_client", "round_trips")
HEADS = tuple(Head(field.replace("_", " "), "n", field) for field in _FIELDS)


def needs_of(algorithm: str) -> Needs:
    """The operations of a handshake by algorithm, operation and number; empty for other algorithms."""
    group, _, certificate = algorithm.removeprefix(_FIRST).partition("-")
    if not algorithm.startswith(_FIRST) or group not in _GROUPS or not certificate:
        return ()
    shown = () if certificate == _RESUMED else ((certificate, "sign", 1), (certificate, "verify", 2))
    return (*_GROUPS[group], *shown)


def handshakes_listing(run: Run) -> Listing | None:
    """A row for each handshake that was measured whole, in cycles (ns where there are none); None without any."""
    known: dict[_Place, dict[str, CellFigure]] = defaultdict(dict)
    for figure in run.cells:
        cell = figure.cell
        if cell.usual:
            known[cell.runner, cell.cpu, cell.algorithm].setdefault(cell.operation, figure)
    sent = {behaviour.cell: behaviour.wire for behaviour in run.behaviours if behaviour.wire}
    wholes = [place for place, figures in known.items() if WHOLE in figures and needs_of(place[2])]
    missing: dict[str, None] = {}
    rows = [_row(place, known, sent, missing) for place in wholes]
    notes = ["Cycles a handshake. Primitives: key exchange, signature and verifications, by their own rows."]
    notes += [apart for place in wholes if (apart := _apart(place, known[place]))]
    if missing:
        notes.append(f"for the share, measure in the same run too: {plain(', '.join(missing), 300)}")
    names = (Head("algorithm", "", "algorithm"), Head("library", "", "library", once=True))
    return Listing("Handshakes", (*names, *HEADS), rows, tuple(notes)) if rows else None


def _row(
    place: _Place,
    known: Mapping[_Place, Mapping[str, CellFigure]],
    sent: Mapping[Cell, Sequence[int]],
    missing: dict[str, None],
) -> tuple[Entry, ...]:
    runner, cpu, algorithm = place
    costs = [_cost(known[place].get(operation)) for operation in (WHOLE, "client", "server")]
    total, lacks = 0.0, False
    for needed, operation, count in needs_of(algorithm):
        cost = _cost(known.get((runner, cpu, needed), {}).get(operation))
        total += count * cost
        if not cost:
            missing[f"{runner}/{needed}/{operation}"] = None
            lacks = True
    share = 0.0 if lacks or not costs[0] else total / costs[0]
    wire = sent.get(known[place][WHOLE].cell, (0, 0, 0))
    counts = [
        (f"{count:,.0f}", count) if count else ("–", None) for count in (*costs, 0.0 if lacks else total)
    ]
    facts = [(f"{fact:,}", fact) if fact else ("–", None) for fact in wire]
    names = [(text, text) for text in (plain(algorithm, 60), plain(runner, 40))]
    return (*names, *counts, (percent(share), share) if share else ("–", None), *facts)


def _apart(place: _Place, figures: Mapping[str, CellFigure]) -> str:
    """Where the ends together are not the whole: one of them does more or less than it does for a handshake."""
    whole, client, server = (_cost(figures.get(operation)) for operation in (WHOLE, "client", "server"))
    if not client or not server or abs((client + server) / whole - 1) <= CLOSE:
        return ""
    name = f"{plain(place[0], 40)}/{plain(place[2], 60)}"
    return f"{name}: client and server together take {(client + server) / whole:.2f} times what both ends do at once"


def _cost(figure: CellFigure | None) -> float:
    """Cycles of a call, ns without a clock of cycles; 0 where it was not measured."""
    if figure is None:
        return 0.0
    return figure.per_call
