"""What the silicon allows: the dearest need by its cheapest unit, and per cent of it."""

from __future__ import annotations

import json

import pytest
from made_runs import made_figure

from perbyte.catalogue import load
from perbyte.catalogue.limits import check_models, model_of, read_models
from perbyte.model import Cell
from perbyte.report.limit import limits, limits_json, render_limits


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


def test_without_loops_or_a_model_nothing_is_said():
    assert limits([measured("aes-128-ctr", "encrypt", 0.6)]) == ()
    assert limits([measured("serpent-128-ctr", "encrypt", 9.0), *LOOPS]) == ()
    assert "--limits" in render_limits([measured("aes-128-ctr", "encrypt", 0.6)], width=80, colour=False)


def test_the_text_names_limit_unit_and_model():
    text = render_limits([measured("aes-128-ctr", "encrypt", 0.625), *LOOPS], width=200, colour=False)
    assert "aes-128-ctr, alphassl, encrypt 16 KiB: 0.625 cycles a byte; the silicon allows 0.312" in text
    assert "(AES rounds, limit-aes): 50" in text
    assert " % of the limit (49." in text
    assert "10 rounds on each block of 16 bytes" in text
    found = limits_json([measured("aes-128-ctr", "encrypt", 0.625), *LOOPS])
    assert json.loads(json.dumps(found, allow_nan=False))[0]["binding"] == "AES rounds"


def test_models_speak_of_what_the_catalogue_has(tmp_path):
    (tmp_path / "limits.toml").write_text(
        '[[models]]\nalgorithms = "sha-257"\noperations = "*"\nmodel = "none"\n'
        'needs = [{ what = "x", ways = { sha-256 = [1, 2] } }]\n'
    )
    complaints = "\n".join(check_models(read_models(tmp_path), load()))
    assert "no algorithm 'sha-257'" in complaints
    assert "'sha-256' is no loop of known cost" in complaints
