"""What a user's function raises, in words: its type, its message, its line, and that it was his function."""

from __future__ import annotations

from pathlib import Path

import pytest

from perbyte.catalogue import load
from perbyte.errors import RunnerRefused
from perbyte.measure.sessions import failure_of
from perbyte.model import Cell, Failure
from perbyte.report.trials import fault_line
from perbyte.runners import Session
from perbyte.trial.language import Managed
from perbyte.trial.managed import build_managed
from perbyte.trial.subject import TrialRequest, read_calls
from toolchains import needs

PYTHON = "import hashlib\n\n\ndef digest(data):\n    if len(data) > 100:\n        return [1][len(data)]\n"
PYTHON += "    return hashlib.sha256(data).digest()\n"
JAVASCRIPT = "const { createHash } = require('node:crypto');\nexports.digest = (data) => {\n"
JAVASCRIPT += "  if (data.length > 100) throw new RangeError('too  long:\\n' + data.length);\n"
JAVASCRIPT += "  return createHash('sha256').update(data).digest();\n};\n"
JAVA = "public class Mine {\n  public static byte[] digest(byte[] data) throws Exception {\n"
JAVA += "    if (data.length > 100) (new byte[10])[data.length] = 1;\n"
JAVA += '    return java.security.MessageDigest.getInstance("SHA-256").digest(data);\n  }\n}\n'


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("mine.py", PYTHON, "mine.py raised IndexError: list index out of range (mine.py, line 6)"),
        pytest.param(
            "mine.js",
            JAVASCRIPT,
            "mine.js raised RangeError: too long: 1024 (mine.js, line 3)",
            marks=needs("node"),
        ),
        pytest.param(
            "Mine.java",
            JAVA,
            "Mine.java raised ArrayIndexOutOfBoundsException: Index 1024 out of bounds for length 10"
            " (Mine.java, line 3)",
            marks=[needs("javac"), pytest.mark.slow],
        ),
    ],
)
def test_what_a_function_raises_is_told_with_its_line(tmp_path: Path, name: str, text: str, words: str):
    file = tmp_path / name
    file.write_text(text)
    asked = TrialRequest((file,), load().find("sha-256"), ("digest",))
    spec = build_managed(Managed("mine", asked.files, asked.algorithm, read_calls(asked)), tmp_path / "mine")
    with Session(spec) as session:
        session.hello()
        for size in (64, 1024):
            handle = session.prepare("sha-256", "digest", "oneshot/1", size, seed=7)
            if size == 64:
                assert session.check_calls(handle, 1).length == 32
                continue
            with pytest.raises(RunnerRefused) as refused:
                session.check_calls(handle, 1)
    assert str(refused.value) == words
    failure = failure_of(Cell("mine", "sha-256", "digest", 1024, "oneshot/1"), refused.value)
    assert failure.kind == "crashed"


def test_of_a_panic_the_first_line_of_the_own_file_is_told():
    text = (
        "ended with exit status 2\nstderr: panic: index out of range [5]\ngoroutine 1 [running]:\n"
        "main.sum(...)\ntrial/p.go:4\nmain.Digest({0x1})\ntrial/p.go:9\nmain.main()\ntrial/perbyte_main.go:7 +0x1a9"
    )
    told = fault_line(Failure("crashed", "p", text, "p/sha-256/digest@64"))
    assert told.endswith("panic: index out of range [5] (p.go:4)")
