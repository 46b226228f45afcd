"""What is said of runners that a selector names and that have no such cell."""

from __future__ import annotations

import pytest

from perbyte.app.conducting import named_without_cells
from perbyte.catalogue import parse_selector
from perbyte.errors import UsageError
from perbyte.model import Cell

CELL = Cell("openssl", "ecdsa-p256", "sign", 32, "pk/1")


def test_each_runner_that_was_named_and_gives_no_cell_is_said():
    asked = [parse_selector("{go,openssl}/ecdsa-p256/sign")]
    assert named_without_cells(asked, [CELL]) == ["not: go has no ecdsa-p256/sign"]
    assert named_without_cells([parse_selector("*/ecdsa-p256")], [CELL]) == []
    assert named_without_cells([parse_selector("open*/ecdsa-p256")], []) == [], "a glob names nobody"
    with pytest.raises(UsageError, match="no runner 'nobody'"):
        named_without_cells([parse_selector("{openssl,nobody}/ecdsa-p256")], [CELL])


def test_each_algorithm_that_was_named_and_gives_no_cell_is_said():
    asked = [parse_selector("openssl/{ecdsa-p256,ml-kem-768}")]
    assert named_without_cells(asked, [CELL]) == ["not: openssl has no ml-kem-768"]
    assert named_without_cells([parse_selector("openssl/{ecdsa-p256,ml-*}")], [CELL]) == []
