"""What is said of handshakes: both ends, the primitives' share, bytes; and what is missing for it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace

from made_runs import made_figure, made_run

from perbyte.catalogue import load
from perbyte.model import Behaviour, Cell, CellFigure, Run
from perbyte.model.behaviour import WIRE
from perbyte.report.beside import handshakes_listing, needs_of
from perbyte.report.export import to_csv
from perbyte.report.listing import Entry
from perbyte.report.pages import run_page
from perbyte.report.printed import RunExtras, render_run, run_json
from perbyte.report.sections import row_cards

TLS = "tls13-x25519-ecdsa-p256"
COSTS = {
    (TLS, "handshake"): 1_000_000.0,
    (TLS, "client"): 600_000.0,
    (TLS, "server"): 390_000.0,
    ("x25519", "keygen"): 50_000.0,
    ("x25519", "derive"): 60_000.0,
    ("ecdsa-p256", "sign"): 40_000.0,
    ("ecdsa-p256", "verify"): 100_000.0,
}


def figure(algorithm: str, operation: str, cycles: float) -> CellFigure:
    contract = "handshake/1" if algorithm.startswith("tls13-") else "pk/1"
    return made_figure(Cell("openssl", algorithm, operation, 32, contract), cycles)


def texts(row: Sequence[Entry]) -> list[str]:
    return [str(entry[0]) if isinstance(entry, tuple) else str(entry) for entry in row]


def a_run(*left_out: str) -> Run:
    figures = [figure(*row, cycles) for row, cycles in COSTS.items() if row[1] not in left_out]
    wire = Behaviour(figures[0].cell, wire=(285, 1_040, 1))
    return replace(made_run(figures), behaviours=(wire,))


def test_ends_primitives_and_bytes_stand_beside_the_whole() -> None:
    listing = handshakes_listing(a_run())
    (row,) = listing.rows
    # 2 x 50,000 + 2 x 60,000 + 40,000 + 2 x 100,000 of 1,000,000
    assert texts(row)[2:] == ["1,000,000", "600,000", "390,000", "460,000", "46%", "285", "1,040", "1"]
    assert "1,040" in render_run(a_run(), None, RunExtras())
    (record,) = json.loads(json.dumps(run_json(a_run(), RunExtras())))["handshakes"]
    assert (record["library"], record["share"], record["to_client"]) == ("openssl", 0.46, 1_040)


def test_a_share_is_not_told_of_half_the_primitives() -> None:
    listing = handshakes_listing(a_run("verify", "server"))
    (row,) = listing.rows
    assert texts(row)[2:7] == ["1,000,000", "600,000", "–", "–", "–"]
    assert "openssl/ecdsa-p256/verify" in " ".join(listing.notes)


def test_ends_that_are_not_the_whole_are_told() -> None:
    listing = handshakes_listing(a_run())
    assert "together" not in " ".join(listing.notes)
    figures = [
        figure(TLS, operation, cycles)
        for operation, cycles in (("handshake", 1e6), ("client", 2e5), ("server", 3e5))
    ]
    lying = handshakes_listing(made_run(figures))
    assert "take 0.50 times" in " ".join(lying.notes)


def test_a_handshake_costs_cycles_of_a_call_and_has_no_rival() -> None:
    table = render_run(
        made_run([*a_run().cells, figure("tls13-x25519-resumed", "handshake", 5e5)]), None, RunExtras()
    )
    assert "cycles per call · handshake/1" in table
    assert "GB/s" not in table.partition("Handshakes")[0]
    assert "►" not in table


def test_a_run_without_handshakes_says_nothing_of_them() -> None:
    for run in (made_run([figure("x25519", "derive", 1.0)]), a_run("handshake")):
        assert not handshakes_listing(run).rows
        assert "Handshakes" not in render_run(run, None, RunExtras())
        assert "handshakes" not in run_json(run, RunExtras())


def test_bytes_are_in_the_csv_and_on_the_page_of_a_run_that_counted_no_instructions() -> None:
    run = a_run()
    heads, row, *_ = csv.reader(io.StringIO(to_csv(run)))
    sent = dict(zip(heads, row, strict=True))
    assert [sent[name] for name in WIRE] == ["285", "1040", "1"]
    assert sent["instructions"] == ""
    sections = {section.id: section for section in run_page(run).sections}
    assert sections["handshakes"].link == "Handshakes"
    assert not row_cards(run)


def test_a_hybrid_group_is_the_sum_of_its_parts() -> None:
    needed = needs_of("tls13-x25519mlkem768-resumed")
    assert {algorithm for algorithm, _, _ in needed} == {"x25519", "ml-kem-768"}


def test_a_runner_without_primitives_is_not_told_to_measure_them() -> None:
    cells = [replace(each, cell=replace(each.cell, runner="rustls")) for each in a_run("verify").cells]
    assert "measure in the same run" not in " ".join(handshakes_listing(made_run(cells)).notes)


def test_every_handshake_of_the_catalogue_is_made_of_rows_that_it_has() -> None:
    catalogue = load()
    shaken = [known for known in catalogue.algorithms.values() if known.kind == "handshake"]
    assert len(shaken) == 15
    for known in shaken:
        assert needs_of(known.id)
        for algorithm, operation, count in needs_of(known.id):
            assert operation in catalogue.find(algorithm).operations
            assert count > 0
    assert needs_of("tls13-x25519-resumed") == needs_of(TLS)[:2]
    assert not needs_of("tls13-aes-128-gcm")
    assert not needs_of("x25519")
