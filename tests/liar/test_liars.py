"""Runners that lie, in real time, through a whole run: each loses its figure, and the honest one keeps its own.

All lies that were tried are in docs/trust.md; here are the plain ones, which a busy machine does not hide. Halved ticks
are not among them: on a core that runs other programs half of the time they are the CPU time. The scripted runner shows
them (tests/measure/test_measure_audit.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from perbyte import places

LIAR = Path(__file__).parent / "liar.py"
GUIDE = places.data_dir("protocol").parent / "docs" / "runner-in-any-language.md"
TOML = """
[runner]
library = "{lie}"
license = "Apache-2.0"
language = "python"

[build]
kind = "python"

[run]
command = ["{{python}}", "-E", "-s", "-S", "{liar}", "{base}", "{lie}"]
"""
CAUGHT = {
    "ticks-of-microseconds": "the kernel counts",
    "cache-of-one": "ns",
    "probes-doubled": "GHz",
}


@pytest.mark.skipif(not GUIDE.is_file(), reason="the guide is in a checkout only")
def test_lies_cost_the_liars_their_figures(tmp_path: Path) -> None:
    base = tmp_path / "base.py"
    program = re.search(
        r"```python slow-hash/runner\.py\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert program
    base.write_text(program[1], encoding="utf-8")
    for lie in ("honest", *CAUGHT):
        (tmp_path / "runners" / lie).mkdir(parents=True)
        toml = TOML.format(lie=lie, liar=LIAR, base=base)
        (tmp_path / "runners" / lie / "runner.toml").write_text(toml, encoding="utf-8")
    selector = f"{{{','.join(('honest', *CAUGHT))}}}/sha-256/digest@16KiB"
    answer = subprocess.run(
        [
            sys.executable,
            "-m",
            "perbyte.cli",
            "measure",
            selector,
            *["--epochs", "8", "--precision", "50%", "--budget", "150s"],
            "--json",
            "--quiet",
        ],
        env={
            **os.environ,
            "PERBYTE_RUNNERS": str(tmp_path / "runners"),
            "XDG_DATA_HOME": str(tmp_path / "data"),
            "PERBYTE_AUDIT": "on",
        },
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert answer.returncode == 4, answer.stderr
    content = json.loads(answer.stdout)
    failed = {one["runner"]: (one["kind"], one["message"]) for one in content["run"]["failures"]}
    assert [cell["runner"] for cell in content["cells"]] == ["honest"], failed
    assert set(failed) == set(CAUGHT)
    for lie, words in CAUGHT.items():
        assert failed[lie][0] == "audit"
        assert words in failed[lie][1]
