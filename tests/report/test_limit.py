"""What the silicon allows: the dearest need by its cheapest unit, and per cent of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_runs import made_figure

from perbyte.catalogue import load
from perbyte.catalogue.facts import check_facts, model_of
from perbyte.model import Cell
from perbyte.report.beside import limits_listing
from perbyte.report.listing import records
from perbyte.report.terminal import render
from perbyte.stats.limits import limits


def limits_json(figures):
    return records(limits_listing(figures))


def render_limits(figures, *, width: int, colour: bool) -> str:
    return render([limits_listing(figures)], width=width, colour=colour)


def row_of(text: str) -> list[str]:
    """The words of the one row, in a table wide enough for it."""
    [row] = [line for line in text.splitlines() if " alphassl " in line]
    return row.split()


def loop(name: str, cycles: float):
    """A loop of `cycles` an instruction."""
    return made_figure(Cell("reference", name, "run", 1024, "stream/1"), cycles * 1024, relative=0.001)


def measured(algorithm: str, operation: str, per_byte: float):
    return made_figure(
        Cell("alphassl", algorithm, operation, 16384, "message/1"), per_byte * 16384, relative=0.01
    )


LOOPS = [loop("limit-aes", 0.5), loop("limit-clmul", 2.0), loop("limit-load", 0.5), loop("limit-store", 1.0)]


def test_the_dearest_need_binds_and_the_cheapest_unit_meets_it():
    [ctr] = limits([measured("aes-128-ctr", "encrypt", 0.625), *LOOPS])
    assert (ctr.need, ctr.unit) == ("AES rounds", "limit-aes")
    assert ctr.cost.value == pytest.approx(10 / 16 * 0.5)
    assert ctr.share.ratio.value == pytest.approx(0.5)
    [gcm] = limits([measured("aes-128-gcm", "seal", 0.75), *LOOPS])
    assert (gcm.need, gcm.unit) == ("carry-less products", "limit-clmul")
    assert gcm.cost.value == pytest.approx(3 / 16 * 2.0)
    [wide] = limits(
        [measured("aes-128-gcm", "seal", 0.75), *LOOPS, loop("limit-vclmul", 2.0), loop("limit-vaes", 0.5)]
    )
    assert wide.cost.value == pytest.approx(3 / 32 * 2.0)
    [fast] = limits([measured("aes-128-ctr", "encrypt", 0.1), loop("limit-aes", 0.001), *LOOPS[2:]])
    assert fast.need == "stores", "where the rounds are free, the stores bind"


def test_what_waits_for_itself_is_bound_by_latency():
    [cbc] = limits([measured("aes-128-cbc", "encrypt", 2.6), loop("probe-aesenc", 4.0), *LOOPS])
    assert cbc.cost.value == pytest.approx(2.5)
    assert model_of("aes-128-cbc", "decrypt") is None
    [sha] = limits([measured("sha-256", "digest", 2.0), loop("limit-sha", 4.0)])
    assert sha.share.ratio.value == pytest.approx(1.0)


def test_the_widest_instructions_that_the_run_measured_count():
    wide = [loop("limit-vaes", 0.5), loop("limit-vaes512", 0.5), loop("limit-vclmul512", 1.0)]
    stores = [loop("limit-load512", 1.0), loop("limit-store512", 1.0)]
    [ctr] = limits([measured("aes-128-ctr", "encrypt", 0.1), *wide, *stores])
    assert (ctr.unit, ctr.cost.value) == ("limit-vaes512", pytest.approx(10 / 64 * 0.5))
    [gcm] = limits([measured("aes-256-gcm", "seal", 0.2), *wide, *stores])
    assert (gcm.unit, gcm.cost.value) == ("limit-vaes512", pytest.approx(14 / 64 * 0.5))
    [sha] = limits([measured("sha-512", "digest", 2.0), loop("limit-sha512", 5.0)])
    assert sha.cost.value == pytest.approx(40 / 128 * 5)
    assert limits([measured("sha-512", "digest", 2.0), *LOOPS]) == (), "no such instructions, no limit"
    [camellia] = limits([measured("camellia-256-ctr", "encrypt", 9.0), loop("limit-gfni512", 0.5), *LOOPS])
    assert (camellia.need, camellia.unit) == ("S-boxes", "limit-gfni512")
    assert camellia.cost.value == pytest.approx(24 * 8 / 16 / 64 * 0.5), "24 rounds of 8, 64 at a time"


def test_public_keys_are_bound_by_their_products_per_call():
    key = made_figure(Cell("alphassl", "rsa-2048", "sign", 32, "pk/1"), 2e6, relative=0.001)
    [sign] = limits([key, loop("limit-mul64", 1.0)])
    # two powers of 1024 bits: 1024 squarings of 16 * 17 / 2 + 256 products, 170 products of 512
    assert sign.cost.value == pytest.approx(2 * (1024 * (136 + 256) + 170 * 512))
    text = render_limits([key, loop("limit-mul64", 1.0)], width=200, colour=False)
    assert row_of(text)[:6] == ["rsa-2048", "alphassl", "sign", "call", "2,000,000", "976,900"]
    assert "limit-mul64 1.00" in text, "what the loop took in this run"
    assert "limit_cycles_per_call" in limits_json([key, loop("limit-mul64", 1.0)])[0]


def test_what_exceeds_its_limit_is_told():
    beyond = measured("aes-128-ctr", "encrypt", 0.2)
    assert limits([beyond, *LOOPS])[0].beyond
    assert "above the limit: the model lacks a way" in render_limits(
        [beyond, *LOOPS], width=300, colour=False
    )
    at = measured("aes-128-ctr", "encrypt", 0.3125)
    assert not limits([at, *LOOPS])[0].beyond, "within the interval"


def test_no_row_of_a_stored_run_is_above_its_limit():
    """Figures with --limits of runs on real processors (limits_stored.json says which): none is above 100 %."""
    stored = json.loads((Path(__file__).parent / "limits_stored.json").read_text(encoding="utf-8"))
    assert stored
    for run in stored:
        figures = [
            made_figure(Cell(*cell), cycles, relative=relative) for *cell, cycles, relative in run["cells"]
        ]
        row_limits = limits(figures)
        assert len(row_limits) > 20, run["machine"]
        assert [
            (limit.figure.cell.address, limit.share.ratio.value) for limit in row_limits if limit.beyond
        ] == []
        assert {limit.unit for limit in row_limits} >= set(run["units"])


def test_without_loops_or_a_model_nothing_is_said():
    assert limits([measured("aes-128-ctr", "encrypt", 0.6)]) == ()
    assert limits([measured("serpent-128-ctr", "encrypt", 9.0), *LOOPS]) == ()
    assert "--limits" in render_limits([measured("aes-128-ctr", "encrypt", 0.6)], width=80, colour=False)


def test_the_text_names_limit_unit_and_model():
    text = render_limits([measured("aes-128-ctr", "encrypt", 0.625), *LOOPS], width=200, colour=False)
    names = ["aes-128-ctr", "alphassl", "encrypt", "16", "KiB", "byte"]
    assert row_of(text)[:8] == [*names, "0.625", "0.312"]
    assert row_of(text)[8:11] == ["AES", "rounds", "limit-aes"]
    assert row_of(text)[11].startswith("50")
    assert row_of(text)[12].startswith("49.")
    assert "10 rounds on each block of 16 bytes" in text
    rows = limits_json([measured("aes-128-ctr", "encrypt", 0.625), *LOOPS])
    assert json.loads(json.dumps(rows, allow_nan=False))[0]["binding"] == "AES rounds"


def test_models_speak_of_what_the_catalogue_has(tmp_path):
    (tmp_path / "limits.toml").write_text(
        '[[models]]\nalgorithms = "sha-257"\noperations = "*"\nmodel = "none"\n'
        'needs = [{ what = "x", ways = { sha-256 = [1, 2] } }]\n'
    )
    complaints = "\n".join(check_facts(tmp_path, load().algorithms))
    assert "no algorithm 'sha-257'" in complaints
    assert "'sha-256' is not a loop of known cost" in complaints
