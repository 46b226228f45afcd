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
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import percent

WHOLE = "handshake"
_GROUPS = {
    "x25519": (("x25519", "keygen", 2), ("x25519", "derive", 2)),
    "p256": (("ecdh-p256", "keygen", 2), ("ecdh-p256", "derive", 2)),
    "x25519mlkem768": tuple(
        ("x25519mlkem768", operation, 1) for operation in ("keygen", "encapsulate", "decapsulate")
    ),
}
_FIRST, _RESUMED = "tls13-", "resumed"
_Place = tuple[str, str, str]  # runner, tier, algorithm
Needs = tuple[tuple[str, str, int], ...]
HEADS = ("both ends", "client", "server", "primitives", "share", "to server", "to client", "round trips")


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
    if missing:
        notes.append(f"for the share, measure in the same run too: {plain(', '.join(missing), 300)}")
    names = (Head("algorithm"), Head("library", once=True))
    return (
        Listing("Handshakes", (*names, *(Head(head, "n") for head in HEADS)), rows, tuple(notes))
        if rows
        else None
    )


def _row(
    place: _Place,
    known: Mapping[_Place, Mapping[str, CellFigure]],
    sent: Mapping[Cell, Sequence[int]],
    missing: dict[str, None],
) -> tuple[str, ...]:
    runner, cpu, algorithm = place
    costs = [_cost(known[place].get(operation)) for operation in (WHOLE, "client", "server")]
    total, lacks = 0.0, False
    for needed, operation, count in needs_of(algorithm):
        cost = _cost(known.get((runner, cpu, needed), {}).get(operation))
        total += count * cost
        if not cost:
            missing[f"{runner}/{needed}/{operation}"] = None
            lacks = True
    share = "–" if lacks or not costs[0] else percent(total / costs[0])
    wire = sent.get(known[place][WHOLE].cell, ())
    facts = [f"{fact:,}" for fact in wire] or ["–"] * 3
    texts = [f"{cost:,.0f}" if cost else "–" for cost in (*costs, 0.0 if lacks else total)]
    return (plain(algorithm, 60), plain(runner, 40), *texts, share, *facts)


def _cost(figure: CellFigure | None) -> float:
    """Cycles of a call, ns without a clock of cycles; 0 where it was not measured."""
    if figure is None:
        return 0.0
    return figure.per_call
