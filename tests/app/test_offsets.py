"""Data that do not begin at a cache line: what they cost is seen, and scatter is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from perbyte.app.trying.bench import limits
from perbyte.app.trying.offsets import OffsetCost, judged, look_at_offsets, offset_lines
from perbyte.catalogue import load
from perbyte.measure import choose_cores, survey
from perbyte.model import Cell, Policy
from perbyte.trial.program import build_program
from perbyte.trial.subject import TrialRequest, make_source, read_calls, read_files

CELL = Cell("mine", "sha-256", "digest", 1024, "oneshot/1")


def test_the_dearest_offset_is_said():
    costs = {0: [100.0, 110.0, 90.0, 100.0, 100.0], 4: [130.0, 140.0, 120.0, 90.0, 131.0], 17: [500.0] * 5}
    seen = judged(CELL, costs)
    assert (seen.offset, seen.ratio) == (17, 5.0)
    assert offset_lines([seen]) == [
        "mine, digest 1024 B oneshot/1: data 17 bytes behind a line cost ×5 as much as the table says"
    ]


def test_what_only_some_rounds_show_is_not_said():
    seen = judged(CELL, {0: [100.0] * 5, 4: [101.0, 99.0, 150.0, 160.0, 101.0]})
    assert seen == OffsetCost(CELL, None, 1.01)
    assert "cost ×1.01 at the most" in offset_lines([seen])[0]


@pytest.mark.native
def test_a_slow_path_for_unaligned_data_is_seen(tmp_path: Path):
    file = tmp_path / "mine.c"
    file.write_text(
        "#include <stdint.h>\n#include <stddef.h>\n"
        "void mine(uint8_t *out, const uint8_t *in, size_t len) {\n"
        "  uint32_t h = 1; int times = (uintptr_t)in & 7 ? 5 : 1;\n"
        "  for (int t = 0; t < times; t++) for (size_t i = 0; i < len; i++) h = h * 31 + in[i];\n"
        "  for (int i = 0; i < 32; i++) out[i] = (uint8_t)(h >> i % 4 * 8);\n}\n"
    )
    asked = TrialRequest(read_files([file]), load().find("sha-256"), ("mine",))
    spec = build_program(make_source(asked, read_calls(asked), ("-O2",), "mine"), tmp_path / "mine")
    policy = Policy(cores=choose_cores(()))
    [seen] = look_at_offsets(survey([spec], ["full"]), [CELL], policy, limits(10.0))
    assert seen.offset in (1, 4, 17, 31)
    assert seen.ratio > 2
