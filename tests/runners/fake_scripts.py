"""Directories of fake runners for tests: `write_runner`, and the row and fault builders.

    def test_x(fake_runners):
        specs = fake_runners(
            {"name": "alpha", "operations": [row("aes-128-ecb", per_byte=0.5)]},
            {"name": "beta", "faults": [fault("measure", "crash", nth=3)]},
        )

The fixture `fake_runners` (tests/conftest.py) writes one directory per script, points PERBYTE_RUNNERS there
and returns the RunnerSpecs in the same order. runners/fake/README.md has every key of a script.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.model import KnownAnswer

FAKE = places.data_dir("runners") / "fake" / "fake.py"

_TOML = """\
[runner]
library = "Fake"
license = "Apache-2.0"
language = "python"

[build]
kind = "python"

[run]
command = ["{python}", "-E", "-s", "-S", "<program>"]
environment = { PERBYTE_FAKE_SCRIPT = "{here}/script.json" }

[tiers.soft]
description = "the script's soft costs"
"""


def write_runner(directory: Path, script: dict[str, Any]) -> Path:
    """Write `directory/<name>/` with runner.toml and script.json; return that directory.

    Process starts are counted beside the script: layouts differ between epochs, and `starts` works.
    """
    name = script.get("name", "fake")
    here = directory / name
    here.mkdir(parents=True)
    (here / "runner.toml").write_text(_TOML.replace("<program>", str(FAKE)))
    script = {"name": name, "library": f"Fake {name}", "starts_file": str(here / "starts"), **script}
    (here / "script.json").write_text(json.dumps(script))
    return here


def row(
    algorithm: str = "aes-128-ecb",
    operation: str = "encrypt",
    contract: str = "message/1",
    *,
    per_call: float = 100.0,
    per_byte: float = 1.0,
    **more: Any,
) -> dict[str, Any]:
    """One row of `operations`: its true cost is per_call + per_byte x size core cycles per call."""
    return {
        "algorithm": algorithm,
        "operation": operation,
        "contract": contract,
        "per_call": per_call,
        "per_byte": per_byte,
        **more,
    }


def fault(on: str, do: str, **more: Any) -> dict[str, Any]:
    """One entry of `faults`."""
    return {"on": on, "do": do, **more}


def lie(*where: str, **more: Any) -> dict[str, Any]:
    """One entry of `lies`."""
    return {"in": list(where), **more}


def answers(known: Iterable[KnownAnswer]) -> list[dict[str, Any]]:
    """The `answers` with which a fake runner passes these known answers."""
    return [dataclasses.asdict(answer) for answer in known]


def starts(directory: Path) -> int:
    """How many processes were started of the runner in `directory` (a RunnerSpec's `here`)."""
    counted = directory / "starts"
    return counted.stat().st_size if counted.exists() else 0
