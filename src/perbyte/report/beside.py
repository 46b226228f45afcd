"""What stands beside the figures of a run: limits, bindings, calls that vary, data rates, several cores and states,
handshakes.

The share of a handshake is a sum of figures of the same run and library over that of the whole: one key pair and one
agreement at each end (of a KEM: a pair and an opening at the client, a sealing at the server), and where a certificate
is shown one signature and two verifications. Hashes, key derivation and records are not in it. An RSA signature of the
protocol is PSS, and the row that stands for it PKCS #1 v1.5; both are one power with the same key.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perbyte.model import Cell, CellFigure, Estimate, Run, RunnerIdentity
from perbyte.model.cell import COLD, DISK, FIRST, FULL, IDLE, LOOP, MEMORY, SHARED
from perbyte.model.groups import grouped
from perbyte.model.text import counted, json_ready, plain
from perbyte.report.document import Block, Heading, Items
from perbyte.report.grid import title_of
from perbyte.report.listing import Entry, Head, Listing, columns, records
from perbyte.report.marks import marks_of
from perbyte.report.runview import Ratio, bindings
from perbyte.report.wording import (
    claim_text,
    interval_text,
    number,
    percent,
    ratio_text,
    sentence,
    size_label,
    three_digits,
    value_text,
)
from perbyte.stats.compare import CYCLES, compare, cost_of
from perbyte.stats.cores import Scaling, scaling
from perbyte.stats.draws import SHARES
from perbyte.stats.limits import Limit, limits, loop_costs
from perbyte.stats.quantity import Demand, Unit, data_bytes, demands, inverse, read

NONE = "no cell has a model whose loops are in this run: perbyte measure SELECTOR --limits"
_LIMITS = (
    Head(None, "", "address"),
    Head("algorithm"),
    Head("library"),
    Head("operation", once=True),
    Head("size", "n", once=True),
    Head("cycles per", once=True),
    Head("measured", "n"),
    Head("limit", "n", "limit_cycles_per_byte limit_cycles_per_call"),
    Head("binding", "", "binding"),
    Head("unit", "", "unit"),
    Head("% of limit", "n", "share"),
    Head("interval", "n", "share_low share_high"),
    Head("", "", "model beyond"),
)


def limits_listing(figures: Sequence[CellFigure]) -> Listing:
    """A row for each cell with a model, then the models and what their loops took in this run."""
    known = limits(figures)
    if not known:
        return Listing("", (), (), (NONE,))
    models = dict.fromkeys(f"- {limit.model.algorithms}: {limit.model.model}" for limit in known)
    loops = ", ".join(f"{name} {value_text(cost)}" for name, cost in loop_costs(figures, known))
    notes = (
        "Models: units work at the same time, and the need that takes longest is the limit.",
        *models,
        f"Cycles an instruction, measured in this run; no listed figure is used: {loops}",
    )
    return Listing("What the silicon allows", _LIMITS, [_limit_row(limit) for limit in known], notes, lead=4)


def _limit_row(limit: Limit) -> tuple[Entry, ...]:
    cell, ratio = limit.figure.cell, limit.share.ratio
    by_call = limit.model.per == "call"
    measured = read(limit.figure, Unit.CYCLES_PER_CALL if by_call else Unit.CYCLES_PER_BYTE)
    share = number(100 * ratio.value, 100 * ratio.half_width if ratio.known else 0.0)
    above = "above the limit: the model lacks a way, or a figure is wrong" if limit.beyond else ""
    cost = limit.cost.value
    return (
        ("", cell.address),
        plain(cell.algorithm, 60),
        plain(cell.runner, 40),
        cell.operation,
        "" if by_call else size_label(cell.size_bytes),
        limit.model.per,
        f"{value_text(measured)}{_marks(limit.figure)}",
        (value_text(limit.cost), ... if by_call else cost, cost if by_call else ...),
        limit.need,
        limit.unit,
        (share, ratio.value),
        (interval_text(ratio.scaled(100)), ratio.low, ratio.high if ratio.known else None),
        (above, limit.model.model, limit.beyond),
    )


_BINDINGS = (
    Head(None, "", "address wraps unit"),
    Head("algorithm"),
    Head("size", "n"),
    Head("operation", once=True),
    Head("binding", once=True),
    Head("library below", once=True),
    Head("per call", "n"),
    Head("below", "n", gives_way=1),
    Head("more", "n", "more_per_call more_low more_high"),
    Head("times", "n", "ratio ratio_low ratio_high"),
    Head("", "", "answer reason", flows=True),
)


def bindings_listing(run: Run) -> Listing:
    """The pairs of `run`, costs in cycles, or in ns where that is said; versions that differ below are notes."""
    pairs = bindings(run)
    return Listing(
        "What the binding costs", _BINDINGS, [*map(_binding_row, pairs)], _notes(run, pairs), lead=4
    )


def _notes(run: Run, pairs: Sequence[Ratio]) -> list[str]:
    """Where a binding and the runner in C name other versions of the library."""
    identities = {identity.runner: identity for identity in run.conditions.identities}
    runners = {(binding.above.cell.runner, binding.below.cell.runner) for binding in pairs}
    both = [(identities[above], identities[below]) for above, below in runners if below in identities]
    return sorted(
        _differing(above, below)
        for above, below in both
        if below.library_version.split(" ")[0] not in above.library_version
    )


def _differing(above: RunnerIdentity, below: RunnerIdentity) -> str:
    return plain(
        f"{above.runner} says {above.library_version}, {below.runner} {below.library_version}: where these are not the "
        "same code, a difference is not the binding's alone",
        300,
    )


def _binding_row(binding: Ratio) -> tuple[Entry, ...]:
    cell, below, more = binding.above.cell, binding.below.cell, binding.more
    comparison = binding.comparison
    suffix = "" if comparison.unit == CYCLES else " ns"

    def cost(figure: CellFigure) -> str:
        return value_text(cost_of(figure, comparison.unit).estimate) + suffix

    ratio = comparison.ratio
    return (
        ("", cell.address, below.address, comparison.unit),
        plain(cell.algorithm, 60),
        size_label(cell.size_bytes) if cell.size_bytes else "",
        plain(cell.operation, 24),
        plain(cell.runner, 40) + ("" if cell.cpu == FULL else f" ({plain(cell.cpu, 20)})"),
        plain(below.runner, 40),
        cost(binding.above),
        cost(binding.below),
        (
            f"{number(more.value, more.half_width)}{suffix} ({interval_text(more)})",
            *(more.value, more.low, more.high),
        ),
        (f"×{ratio_text(ratio)}", ratio.value, ratio.low, ratio.high),
        (claim_text(comparison), comparison.answer.value, comparison.reason),
    )


_DRAWS = columns("algorithm | operation | size:n | contract | runner | calls:n | unit")
_HEADING = "Single calls: what a share of them does not exceed"
_UNKNOWN = "–"
_MILLION, _SHORT = 1e6, 1e5  # ns or cycles; cycles below which they are told as such


def draws_listing(run: Run) -> Listing:
    """A row for each figure that is a distribution: millions of cycles, or milliseconds where there are no cycles."""
    rows: list[Sequence[Entry]] = []
    for figure in run.cells:
        if not figure.quantiles:
            continue
        told = {quantile.share: quantile.estimate for quantile in figure.quantiles}
        scale, unit = _MILLION, "10⁶ cycles" if figure.cycles_per_call else "ms"
        if figure.cycles_per_call and figure.cycles_per_call < _SHORT:
            scale, unit = 1.0, "cycles"
        texts = (_ends_text(told[share], scale) if share in told else _UNKNOWN for share in SHARES)
        cell = figure.cell
        size = size_label(cell.size_bytes) if data_bytes(cell) else _UNKNOWN
        names = (
            plain(text, 60) for text in (title_of(cell), cell.operation, size, cell.contract, cell.runner)
        )
        rows.append((*names, figure.samples, unit, *texts))
    shares = (Head(f"{100 * share:g} %", "n") for share in SHARES)
    return Listing(_HEADING, (*_DRAWS, *shares), rows, lead=7)


def _ends_text(estimate: Estimate, scale: float) -> str:
    """`212 (180 to 244)`; an end that so few calls cannot tell is left open."""
    low = three_digits(estimate.low / scale) if estimate.low > 0 else "?"
    high = three_digits(estimate.high / scale) if math.isfinite(estimate.high) else "?"
    return f"{three_digits(estimate.value / scale)} ({low} to {high})"


BUSY_SHARE = 0.995  # of a core; from here on the answer is in cores
_MANY = ((1e6, " million"), (1e3, " thousand"))
_SCALES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
_RATE = (
    Head(None, "", "address"),
    Head("algorithm"),
    Head("library"),
    Head("operation", once=True),
    Head("record", "n", once=True),
    Head("takes", "", "cores cores_low cores_high"),
    Head("ns a record", "n", "ns_per_record"),
    Head("cycles", "n", "cycles_per_record"),
    Head("records/s", "n", "records_per_second", once=True),
)
_LEFT_OUT = (
    "a core of this machine, at the clock rate of the measurement, doing nothing else; one call a record; "
    "neither system calls nor copying nor energy are in it"
)


def rate_listing(figures: Iterable[CellFigure], rate: float) -> Listing:
    """A row for each cell that has data, and what the figures leave out."""
    rows = [_rate_row(demand) for demand in demands(figures, rate)]
    if not rows:
        return Listing("", (), (), ("no cell has data, so a rate says nothing of it",))
    return Listing(f"What {rate_text(rate)} takes", _RATE, rows, (_LEFT_OUT,), lead=4)


def rate_json(figures: Sequence[CellFigure], rate: float) -> dict[str, Any]:
    """The same for programs: `bytes_per_second` and `cells`, each with its address; ends that nobody knows are None."""
    return {"bytes_per_second": rate, "cells": records(rate_listing(figures, rate))}


def _rate_row(demand: Demand) -> tuple[Entry, ...]:
    cell, cycles, cores = demand.figure.cell, demand.record_cycles, demand.cores
    return (
        ("", cell.address),
        plain(title_of(cell), 60),
        plain(cell.runner, 40),
        plain(cell.operation, 24),
        size_label(data_bytes(cell)),
        (f"{share_text(cores)}{_marks(demand.figure)}", cores.value, cores.low, cores.high),
        (value_text(demand.record_ns), demand.record_ns.value),
        (value_text(cycles), cycles.value) if cycles else ("–", None),
        (_many(demand.records), demand.records),
    )


def share_text(cores: Estimate) -> str:
    """So much of a core, or so many cores; with the interval where its ends are other figures than the value's."""
    if cores.value < BUSY_SHARE:
        value, low, high = (
            percent(end) if math.isfinite(end) else "–" for end in (cores.value, cores.low, cores.high)
        )
        told = cores.known and not value == low == high
        return f"{value} of a core" + (f" ({low} to {high})" if told else "")
    text = f"{number(cores.value, cores.half_width if cores.known else 0.0)} cores"
    whole = math.ceil(cores.high if cores.known else cores.value)
    return f"{text} ({interval_text(cores)}), so {whole:,}"


def cores_text(cores: Estimate) -> str:
    """So many cores in two digits, for a card that has no room for an interval: `0.18 cores`."""
    value = cores.value
    places = max(0, 1 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{round(value, places):,.{places}f} cores"


def rate_text(rate: float) -> str:
    """A rate in bytes a second, in the unit that suits it."""
    scale, name = next((entry for entry in _SCALES if rate >= entry[0]), _SCALES[-1])
    return f"{rate / scale:g} {name}"


def _many(count: float) -> str:
    scale, name = next((entry for entry in _MANY if count >= entry[0]), (1.0, ""))
    return f"{count / scale:.3g}{name}"


_STATES = {
    COLD: "with emptied caches",
    FIRST: "the first call of a process, with emptied caches",
    IDLE: "after a sleep of 50 ms",
    MEMORY: "on data of its own in memory",
    DISK: "with its data read from the disk",
}


def threads_texts(figures: Sequence[CellFigure]) -> tuple[str, ...]:
    """What several cores do at once, by the cells among `figures` that tell: a sentence for each."""
    return tuple(_together(scaled) for scaled in scaling(figures))


def _together(scaled: Scaling) -> str:
    cell, efficiency = scaled.figure.cell, scaled.efficiency
    size = data_bytes(cell)
    scale, unit = (size / 1e9, "GB/s") if size else (1.0, "calls a second")
    every, each = scaled.all.scaled(scale), scaled.each.scaled(scale)
    core, of = ("thread", " of one process") if cell.state.startswith(SHARED) else ("core", "")
    text = f"{counted(scaled.threads, core)}{of}: {value_text(every)} {unit} ({interval_text(every)})"
    text += f", {value_text(each)} each" if scaled.threads > 1 else ""
    if efficiency:
        text += f"; efficiency {ratio_text(efficiency.ratio)} ({interval_text(efficiency.ratio)})"
        if longer := inverse(efficiency.ratio, 1.0):
            text += f", a call ×{ratio_text(longer)} ({interval_text(longer)}) as long as alone"
    share = scaled.figure.clean_samples / scaled.figure.samples if scaled.figure.samples else 0.0
    return f"{text}; {percent(share)} of samples clean{_marks(scaled.figure)}."


def states_texts(figures: Sequence[CellFigure], unit: str = "call") -> tuple[str, ...]:
    """What a single call costs in states that no loop has, beside what it costs in a loop."""
    known = {figure.cell: figure for figure in figures}
    texts = []
    for figure in (figure for figure in figures if figure.cell.state in _STATES):
        line = f"{sentence(_STATES[figure.cell.state])}, {_call_cost(figure, unit)}"
        if loop := known.get(replace(figure.cell, state=LOOP)):
            ratio = compare(loop, figure).ratio
            line += f", ×{ratio_text(ratio)} the {_call_cost(loop, unit)} in a loop"
        texts.append(f"{line}{_marks(figure)}.")
    return tuple(texts)


def _call_cost(figure: CellFigure, unit: str) -> str:
    times, cycles = read(figure, Unit.NS_PER_CALL), read(figure, Unit.CYCLES_PER_CALL)
    parts = [f"{value_text(cost)} {name}" for cost, name in ((times, "ns"), (cycles, "cycles")) if cost]
    return f"{' or '.join(parts)} a {unit}"


def _marks(figure: CellFigure) -> str:
    return f" {''.join(marks)}" if (marks := marks_of(figure)) else ""


def beyond_parts(figures: Sequence[CellFigure]) -> list[Block]:
    """Both by what is called; empty where all is loops on one core."""

    def heading_of(figure: CellFigure) -> str:
        cell = replace(figure.cell, state=LOOP)
        size = f" {size_label(cell.size_bytes)}" if data_bytes(cell) else ""
        return f"{cell.runner}/{cell.algorithm} {cell.operation}{size}, {cell.contract}, {cell.cpu}"

    parts: list[Block] = []
    for heading, of_heading in grouped(figures, heading_of).items():
        if texts := (*states_texts(of_heading), *threads_texts(of_heading)):
            parts += [Heading(plain(heading.removesuffix(", full"), 90)), Items(texts)]
    return parts


def scaling_json(figures: Sequence[CellFigure]) -> list[dict[str, Any]]:
    """How cells scale, for programs: an object for each number of threads, with its address."""

    def ends(estimate: Estimate) -> Any:
        return json_ready([estimate.value, estimate.low, estimate.high])

    return [
        {
            "address": scaled.figure.cell.address,
            "threads": scaled.threads,
            "calls_per_second": ends(scaled.all),
            "calls_per_second_each": ends(scaled.each),
            "efficiency": ends(scaled.efficiency.ratio) if scaled.efficiency else None,
        }
        for scaled in scaling(figures)
    ]


WHOLE = "handshake"
_GROUPS = {
    "x25519": (("x25519", "keygen", 2), ("x25519", "derive", 2)),
    "p256": (("ecdh-p256", "keygen", 2), ("ecdh-p256", "derive", 2)),
    "x25519mlkem768": (
        *(("x25519", operation, 2) for operation in ("keygen", "derive")),
        *(("ml-kem-768", operation, 1) for operation in ("keygen", "encapsulate", "decapsulate")),
    ),
}
CLOSE = 0.1  # between the sum of both ends and the whole; caches hold what the other end used
_FIRST, _RESUMED = "tls13-", "resumed"
_WITHOUT = ("gnutls", "rustls")  # runners that have no rows of the primitives
_Place = tuple[str, str, str]  # runner, tier, algorithm
_FIELDS = ("both_ends", "client", "server", "primitives", "share", "to_server", "to_client", "round_trips")
HEADS = tuple(Head(field.replace("_", " "), "n", field) for field in _FIELDS)


def needs_of(algorithm: str) -> tuple[tuple[str, str, int], ...]:
    """The operations of a handshake by algorithm, operation and number; empty for other algorithms."""
    group, _, certificate = algorithm.removeprefix(_FIRST).partition("-")
    if not algorithm.startswith(_FIRST) or group not in _GROUPS or not certificate:
        return ()
    shown = () if certificate == _RESUMED else ((certificate, "sign", 1), (certificate, "verify", 2))
    return (*_GROUPS[group], *shown)


def handshakes_listing(run: Run) -> Listing:
    """A row for each handshake that was measured whole, in cycles (ns where there are none)."""
    known: dict[_Place, dict[str, CellFigure]] = defaultdict(dict)
    for figure in run.cells:
        if (cell := figure.cell).usual and cell.contract in ("handshake/1", "pk/1"):
            known[cell.runner, cell.cpu, cell.algorithm].setdefault(cell.operation, figure)
    sent = {behaviour.cell: behaviour.wire for behaviour in run.behaviours if behaviour.wire}
    wholes = [place for place, figures in known.items() if WHOLE in figures and needs_of(place[2])]
    missing: dict[str, None] = {}
    rows = [_row(place, known, sent, missing) for place in wholes]
    notes = ["Cycles a handshake. Primitives: key exchange, signature and verifications, by their own rows."]
    notes += filter(None, (_apart(place, known[place]) for place in wholes))
    if missing := {name: None for name in missing if name.split("/")[0] not in _WITHOUT}:
        notes.append(f"for the share, measure in the same run too: {plain(', '.join(missing), 300)}")
    names = (Head("algorithm", "", "algorithm"), Head("library", "", "library", once=True))
    return Listing("Handshakes", (*names, *HEADS), rows, tuple(notes))


def _row(
    place: _Place,
    known: Mapping[_Place, Mapping[str, CellFigure]],
    sent: Mapping[Cell, Sequence[int]],
    missing: dict[str, None],
) -> tuple[Entry, ...]:
    runner, cpu, algorithm = place
    costs = [_cost(known[place].get(operation)) for operation in (WHOLE, "client", "server")]
    parts = {
        f"{runner}/{needed}/{operation}": count * _cost(known.get((runner, cpu, needed), {}).get(operation))
        for needed, operation, count in needs_of(algorithm)
    }
    missing |= dict.fromkeys(name for name, cost in parts.items() if not cost)
    total = sum(parts.values()) if all(parts.values()) else 0.0
    share = total / costs[0] if costs[0] else 0.0
    wire = sent.get(known[place][WHOLE].cell, (0, 0, 0))
    shown = [(f"{count:,.0f}", count) if count else ("–", None) for count in (*costs, total, *wire)]
    names = [(text, text) for text in (plain(algorithm, 60), plain(runner, 40))]
    return (*names, *shown[:4], (percent(share), share) if share else ("–", None), *shown[4:])


def _apart(place: _Place, figures: Mapping[str, CellFigure]) -> str:
    """Says where both ends together are not the whole."""
    whole, client, server = (_cost(figures.get(operation)) for operation in (WHOLE, "client", "server"))
    if not client or not server or abs((client + server) / whole - 1) <= CLOSE:
        return ""
    name = f"{plain(place[0], 40)}/{plain(place[2], 60)}"
    return f"{name}: client and server together take {(client + server) / whole:.2f} times what both ends do at once"


def _cost(figure: CellFigure | None) -> float:
    """Cycles of a call, or ns; 0 where it was not measured."""
    return figure.per_call if figure else 0.0
