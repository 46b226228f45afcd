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
from collections.abc import Iterable
from ctypes.util import find_library
from pathlib import Path

import pytest

from perbyte import places
from perbyte.errors import EXIT_INCORRECT

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
    "honest-in-short-chains": "disagrees with hashlib",
}


IN_A_CHECKOUT = pytest.mark.skipif(not GUIDE.is_file(), reason="the guide is in a checkout only")


def _write(directory: Path, lies: Iterable[str], liar: Path = LIAR) -> dict[str, str]:
    """Write runners with these lies; the environment in which they are found and audited."""
    base = directory / "base.py"
    program = re.search(
        r"```python slow-hash/runner\.py\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert program
    base.write_text(program[1], encoding="utf-8")
    for lie in lies:
        (directory / "runners" / lie).mkdir(parents=True)
        toml = TOML.format(lie=lie, liar=liar, base=base)
        (directory / "runners" / lie / "runner.toml").write_text(toml, encoding="utf-8")
    return {
        **os.environ,
        "PERBYTE_RUNNERS": str(directory / "runners"),
        "XDG_DATA_HOME": str(directory / "data"),
        "PERBYTE_AUDIT": "on",
    }


def _perbyte(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "perbyte.cli", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


@IN_A_CHECKOUT
@pytest.mark.slow
def test_lies_cost_the_liars_their_figures(tmp_path: Path) -> None:
    environment = _write(tmp_path, ("honest", *CAUGHT))
    selector = f"{{{','.join(('honest', *CAUGHT))}}}/sha-256/digest@16KiB"
    short = ("--epochs", "8", "--precision", "50%", "--budget", "150s")
    answer = _perbyte(environment, "measure", selector, *short, "--json", "--quiet")
    assert answer.returncode == EXIT_INCORRECT, answer.stderr  # the honest one was measured
    content = json.loads(answer.stdout)
    failed = {
        failure["runner"]: (failure["kind"], failure["message"]) for failure in content["run"]["failures"]
    }
    assert [cell["runner"] for cell in content["cells"]] == ["honest"], failed
    assert set(failed) == set(CAUGHT)
    for lie, words in CAUGHT.items():
        assert failed[lie][0] == ("incorrect" if "disagrees" in words else "audit")
        assert words in failed[lie][1]


@IN_A_CHECKOUT
@pytest.mark.slow
@pytest.mark.skipif(not find_library("crypto"), reason="the ciphers are OpenSSL's")
def test_what_is_kept_costs_the_figure_and_failing_elsewhere_the_rank(tmp_path: Path) -> None:
    names = ("ciphers", "ciphers-too", "keeps-outputs", "keeps-keystreams", "refuses-other-lengths")
    environment = _write(tmp_path, names, LIAR.with_name("cipher_liar.py"))
    selector = f"{{{','.join(names)}}}/aria-256-ctr/encrypt@16KiB+contract=message"
    short = ("--epochs", "6", "--precision", "50%", "--budget", "150s")
    for _ in range(3):  # on a busy host a run may have no time for data of other lengths
        answer = _perbyte(environment, "measure", selector, *short, "--json", "--quiet")
        assert answer.returncode == 0, answer.stderr
        content = json.loads(answer.stdout)
        failed = {failure["runner"] for failure in content["run"]["failures"]}
        words = {cell["runner"]: " ".join(cell["warnings"]) for cell in content["cells"]}
        if "does not work on" in words["refuses-other-lengths"]:
            break
    assert failed == {"keeps-outputs", "keeps-keystreams"}
    assert "does not work on" in words["refuses-other-lengths"]
    assert not any("does not work on" in words[word] for word in ("ciphers", "ciphers-too"))


@IN_A_CHECKOUT
def test_conform_audits_as_a_run_does(tmp_path: Path) -> None:
    """Each keeps the protocol's promises; what they say of their time is another matter."""
    lies = ("honest", "ticks-of-microseconds", "cache-of-one")
    environment = _write(tmp_path, lies)
    for lie in lies:
        answer = _perbyte(environment, "conform", lie, "--json", "--quiet")
        [document] = json.loads(answer.stdout)
        refused = [(kind, CAUGHT[lie] in message) for _, kind, message in document["audit"]["refused"]]
        assert (document["complaints"], refused) == ([], [("audit", True)] if lie in CAUGHT else []), lie
        assert answer.returncode == (lie in CAUGHT)
