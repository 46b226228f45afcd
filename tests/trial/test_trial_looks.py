"""A look at functions of languages with a runtime: what they return that is no output, and what they remember."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trial_languages import managed, needs

from perbyte.catalogue import load
from perbyte.model import Failure
from perbyte.trial.looking import known_digest, look_at, remembers

PYTHON = "import hashlib\nlast = None\ndef my_hash(data):\n"
SHA = "hashlib.sha512(data)"
SCRIPT = "const { createHash } = require('node:crypto');\nlet last;\n"
MEMO_JS = (
    "const kept = new Map();\nfunction my_hash(data) {\n  const name = Buffer.from(data).toString('latin1');\n"
    "  let made = kept.get(name);\n  if (made) return made;\n"
    "  for (let i = 0; i < 4; i++) made = createHash('sha512').update(data).digest();\n"
    "  kept.set(name, made);\n  return made;\n}\n"
)  # four times, for the name alone costs a third of one
MEMO_GO = """package memo
import ("bytes"; "crypto/sha512")
var last []byte
var made [64]byte
func MyHash(data []byte) [64]byte {
	if last != nil && bytes.Equal(data, last) { return made }
	last = append(last[:0], data...)
	for i := 0; i < 8; i++ { made = sha512.Sum512(data) }
	return made
}
"""
MEMO_JAVA = """import java.security.MessageDigest;
public class Memo {
    static byte[] last, made;
    public static byte[] myHash(byte[] data) throws Exception {
        if (java.util.Arrays.equals(data, last)) return made;
        last = data.clone();
        for (int i = 0; i < 8; i++) made = MessageDigest.getInstance("SHA-512").digest(data);
        return made;
    }
}
"""


def seen(tmp_path: Path, suffix: str, text: str, function: str = "my_hash") -> Failure | None:
    file = tmp_path / f"{'Memo' if suffix == '.java' else 'subject'}{suffix}"
    file.write_text(text, encoding="utf-8")
    return look_at(managed(tmp_path, file, "sha-512", function), load().find("sha-512"))


@pytest.mark.native
@pytest.mark.parametrize(
    ("suffix", "text", "words"),
    [
        pytest.param(".py", f"{PYTHON}    return {SHA}.digest()\n", "", marks=needs[".py"], id="python"),
        pytest.param(
            ".py",
            f"{PYTHON}    global last\n    if data == last:\n        return None\n"
            f"    last = bytes(data)\n    return {SHA}.digest()\n",
            "my_hash returned None, the second time",
            marks=needs[".py"],
            id="python-none",
        ),
        pytest.param(
            ".py",
            f"{PYTHON}    return {SHA}.hexdigest()\n",
            "a string of 128 characters: the right digest in hexadecimal",
            marks=needs[".py"],
            id="python-hex",
        ),
        pytest.param(
            ".py",
            f"{PYTHON}    return hashlib.sha3_512(data).hexdigest()\n",
            "a wrong digest in hexadecimal",
            marks=needs[".py"],
            id="python-other-hex",
        ),
        pytest.param(
            ".py",
            f"{PYTHON}    return {SHA}.digest()[:32]\n",
            "32 bytes and not 64",
            marks=needs[".py"],
            id="python-short",
        ),
        pytest.param(
            ".py",
            "import functools, hashlib\n@functools.lru_cache(maxsize=None)\n"
            f"def my_hash(data):\n    return {SHA}.digest()\n",
            "where each call has new data",
            marks=needs[".py"],
            id="python-memo",
        ),
        pytest.param(
            ".js",
            f"{SCRIPT}function my_hash(data) {{ return createHash('sha512').update(data).digest(); }}\n",
            "",
            marks=needs[".js"],
            id="javascript",
        ),
        pytest.param(
            ".js",
            f"{SCRIPT}async function my_hash(data) {{ return createHash('sha512').update(data).digest(); }}\n",
            "a Promise",
            marks=needs[".js"],
            id="javascript-promise",
        ),
        pytest.param(
            ".js",
            f"{SCRIPT}function my_hash(data) {{ last = createHash('sha512').update(data).digest(); }}\n",
            "my_hash returned undefined",
            marks=needs[".js"],
            id="javascript-undefined",
        ),
        pytest.param(".js", f"{SCRIPT}{MEMO_JS}", "remembers", marks=needs[".js"], id="javascript-memo"),
    ],
)  # fmt: skip
def test_what_scripts_return_and_remember(tmp_path: Path, suffix: str, text: str, words: str):
    fault = seen(tmp_path, suffix, text)
    assert (fault is None) == (not words), fault
    assert fault is None or words in fault.message


@pytest.mark.native
@pytest.mark.parametrize(
    ("suffix", "text", "function"),
    [
        pytest.param(".go", MEMO_GO, "MyHash", marks=needs[".go"]),
        pytest.param(".java", MEMO_JAVA, "myHash", marks=needs[".java"]),
    ],
)
def test_what_compiled_languages_remember(tmp_path: Path, suffix: str, text: str, function: str):
    fault = seen(tmp_path, suffix, text, function)
    assert fault is not None
    assert (fault.kind, "remembers" in fault.message) == ("audit", True)


def test_only_passes_that_agree_tell_that_something_is_remembered():
    assert remembers([4000.0] * 9, [65.0] * 9)
    assert not remembers([4000.0] * 9, [2000.0] * 9)  # caches and predictors
    assert not remembers([90.0] * 9, [65.0] * 9)
    assert not remembers([4000.0] * 3, [65.0] * 3)  # too few
    assert not remembers([4000.0, 4000.0, 4000.0, 70.0, 70.0, 70.0], [65.0] * 6)  # a neighbour in some


def test_compiled_functions_are_not_looked_at_and_only_hashes_have_a_known_digest(tmp_path: Path):
    from perbyte.trial.program import describe

    assert look_at(describe("mine", tmp_path, language="c"), load().find("sha-512")) is None
    assert known_digest(load().find("aes-128-gcm")) is None
    assert known_digest(load().find("sha-256")) is not None
