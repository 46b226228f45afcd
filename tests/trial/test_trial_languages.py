"""A file of a language that is not C becomes a runner; what cannot be tried says the way on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from trial_answers import answers, build

from perbyte.catalogue import load
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.measure.behaviour import count_cell
from perbyte.model import Cell
from perbyte.runners import RunnerSpec, Session
from perbyte.trial.jvm import kotlin_compiler
from perbyte.trial.language import Managed
from perbyte.trial.managed import build_managed
from perbyte.trial.program import DoesNotBuild
from perbyte.trial.prototype import functions_in
from perbyte.trial.subject import TrialRequest, read_calls, read_files
from perbyte.trial.wrappers import zig_version

pytestmark = pytest.mark.native


def lacks(toolchain: Callable[[], object]) -> bool:
    try:
        toolchain()
    except EnvironmentLacking:
        return True
    return False


NODE = Path(shutil.which("node") or "/nowhere/bin/node").resolve().parent.parent / "include" / "node"
needs = {
    ".py": pytest.mark.skipif(not shutil.which("python3"), reason="no Python in the path"),
    ".js": pytest.mark.skipif(not (NODE / "node_api.h").is_file(), reason="no node, or no headers of it"),
    ".ts": pytest.mark.skipif(
        not (NODE / "node_api.h").is_file() or not shutil.which("esbuild"), reason="no node or no esbuild"
    ),
    ".go": pytest.mark.skipif(not shutil.which("go"), reason="no go"),
    ".java": pytest.mark.skipif(not shutil.which("javac"), reason="no JDK"),
    ".kt": pytest.mark.skipif(lacks(kotlin_compiler), reason="no kotlinc, and none from Maven"),
    ".zig": pytest.mark.skipif(lacks(zig_version), reason="no zig, and no ziglang"),
}


def managed(place: Path, file: Path, algorithm: str, *functions: str, **more) -> RunnerSpec:
    asked = TrialRequest(read_files([file]), load().find(algorithm), functions, **more)
    return build_managed(Managed("mine", asked.files, asked.algorithm, read_calls(asked)), place / "mine")


def of(*cases: tuple[str, str, str]) -> list:
    slow = {suffix: [pytest.mark.slow] for suffix in (".kt", ".go", ".java")}  # their compilers
    return [
        pytest.param(*case, marks=[needs[case[0]], *slow.get(case[0], [])], id="-".join(case[:2]))
        for case in cases
    ]


@pytest.mark.parametrize(
    ("suffix", "algorithm", "functions"),
    of(
        (".py", "sha-256", "digest"),
        (".py", "hmac-sha-256", "tag"),
        (".py", "chacha20-poly1305", "seal=seal,open=unseal"),
        (".js", "sha-256", "digest"),
        (".js", "hmac-sha-256", "tag"),
        (".js", "aes-128-ctr", "ctr"),
        (".js", "aes-128-gcm", "seal=seal,open=unseal"),
        (".ts", "sha-256", "digest"),
        (".go", "sha-256", "digest"),
        (".go", "sha-256", "digestInto"),
        (".go", "hmac-sha-256", "tag"),
        (".go", "aes-128-ctr", "ctr"),
        (".go", "aes-128-gcm", "seal=seal,open=unseal"),
        (".java", "sha-256", "digest"),
        (".java", "sha-256", "digestInto"),
        (".java", "hmac-sha-256", "tag"),
        (".java", "aes-128-ctr", "ctr"),
        (".java", "aes-128-gcm", "seal=seal,open=unseal"),
        (".kt", "sha-256", "digest"),
        (".kt", "hmac-sha-256", "tag"),
    ),
)
def test_a_function_found_by_name_gives_known_answers(
    tmp_path: Path, code: Path, suffix: str, algorithm: str, functions: str
):
    spec = managed(tmp_path, code / f"managed{suffix}", algorithm, functions)
    outcomes = answers(spec, algorithm)
    assert all(right > 0 for right in outcomes.values()), outcomes
    named = {".py": "python", ".go": "go", ".java": "java", ".kt": "kotlin"}
    assert spec.language == named.get(suffix, "javascript")
    assert not spec.native


@pytest.mark.parametrize(
    "suffix", [pytest.param(suffix, marks=needs[suffix]) for suffix in (".py", ".js", ".go", ".java")]
)
def test_a_forgery_is_refused(tmp_path: Path, code: Path, suffix: str):
    algorithm = "chacha20-poly1305" if suffix == ".py" else "aes-128-gcm"
    spec = managed(tmp_path, code / f"managed{suffix}", algorithm, "seal=seal,open=unseal")
    with Session(spec) as session:
        handle = session.prepare(algorithm, "open", "message/1", 64, seed=7, offset=0)
        verdict = session.forgery(handle)
        assert verdict.passed, verdict.detail


@needs[".py"]
def test_an_interpreter_is_not_counted(tmp_path: Path, code: Path):
    spec = managed(tmp_path, code / "managed.py", "sha-256", "digest")
    behaviour = count_cell(spec, Cell("mine", "sha-256", "digest", 64, "oneshot/1"), 7)
    assert behaviour.call is None
    assert "only runners in C, C++ and Rust" in behaviour.unknown
    assert "stderr" not in behaviour.unknown


@needs[".zig"]
@pytest.mark.parametrize(
    ("algorithm", "functions"),
    [
        ("sha-256", "digest"),
        ("sha-256", "digestInto"),
        ("hmac-sha-256", "tag"),
        ("aes-128-gcm", "seal=seal,open=unseal"),
    ],
)
def test_a_function_of_zig_gives_known_answers(tmp_path: Path, code: Path, algorithm: str, functions: str):
    spec = build(tmp_path, [code / "managed.zig"], algorithm, functions)
    outcomes = answers(spec, algorithm)
    assert all(right > 0 for right in outcomes.values()), outcomes
    if "open" in functions:
        with Session(spec) as session:
            handle = session.prepare(algorithm, "open", "rekey/1", 64, seed=7, offset=0)
            assert session.forgery(handle).passed


def test_a_function_that_cannot_be_reached_says_how_it_could(tmp_path: Path, code: Path):
    with pytest.raises(UsageError, match="cannot be called from outside"):
        build(tmp_path, [code / "managed.zig"], "sha-256", "hidden")
    for suffix, way in ((".java", "make it static"), (".kt", "put it outside of the class")):
        if not needs[suffix].args[0]:
            with pytest.raises(UsageError) as refusal:
                managed(tmp_path, code / f"managed{suffix}", "sha-256", "ofObject")
            assert way in (refusal.value.hint or "")


@needs[".java"]
def test_what_a_java_file_needs_comes_from_its_source_tree(tmp_path: Path):
    package = tmp_path / "src" / "own" / "hashes"
    package.mkdir(parents=True)
    (package / "Made.java").write_text(
        "package own.hashes;\npublic class Made {\n  public static byte[] digest(byte[] data) throws Exception {\n"
        "    return Name.of().digest(data);\n  }\n}\n"
    )
    (package / "Name.java").write_text(
        "package own.hashes;\nimport java.security.MessageDigest;\nfinal class Name {\n"
        '  static MessageDigest of() throws Exception { return MessageDigest.getInstance("SHA-256"); }\n}\n'
    )
    spec = managed(tmp_path, package / "Made.java", "sha-256", "digest")
    (package / "Name.java").unlink()  # the kept program has what it was built from
    assert answers(spec, "sha-256")
    (package / "Made.java").write_text(
        "package own.hashes; class Made { static byte[] digest(byte[] data) { } }"
    )
    with pytest.raises(DoesNotBuild, match=r"missing return|cannot find symbol"):
        managed(tmp_path, package / "Made.java", "sha-256", "digest")


@needs[".py"]
def test_the_kept_program_has_the_code_that_it_was_built_from(tmp_path: Path, code: Path):
    file = Path(shutil.copy(code / "managed.py", tmp_path / "mine.py"))
    spec = managed(tmp_path, file, "sha-256", "digest")
    file.write_text("raise RuntimeError('another')\n")
    assert answers(spec, "sha-256")


@needs[".js"]
@pytest.mark.parametrize("name", ["mine.js", "mine.mjs"])
def test_what_a_kept_program_imports_by_a_path_is_kept_too(tmp_path: Path, name: str):
    """And what is imported is of the sort that its package says."""
    first = "import sum from './lib/sum.js';\nexport function digest(data) { return sum(data); }\n"
    if name == "mine.js":
        first = "const sum = require('./lib/sum');\nfunction digest(data) { return sum(data); }\n"
    texts = {
        name: first,
        "lib/sum.js": "const { hash } = require('../more');\nmodule.exports = (data) => hash(data);\n",
        "more.js": "const { name } = require('./lib/name.json');\n"
        "exports.hash = (data) => require('node:crypto').createHash(name).update(data).digest();\n",
        "lib/name.json": '{"name": "sha256"}\n',
        "beside.txt": "not imported\n",
    }
    (tmp_path / "own" / "lib").mkdir(parents=True)
    for path, text in texts.items():
        (tmp_path / "own" / path).write_text(text)
    spec = managed(tmp_path, tmp_path / "own" / name, "sha-256", "digest")
    for path in ("lib/sum.js", "more.js", "lib/name.json"):
        (tmp_path / "own" / path).write_text("throw new Error('another');\n")
    assert all(right > 0 for right in answers(spec, "sha-256").values())
    assert (Path(spec.command[0]).parent / "subject" / "beside.txt").is_symlink()


def test_a_function_of_cxx_needs_no_name_of_c(tmp_path: Path, code: Path):
    text = (code / "sha256.c").read_text().replace("void own_sha256", "namespace mine {\nvoid own_sha256")
    file = tmp_path / "sha256.cc"
    file.write_text(text + "}\n")
    assert answers(build(tmp_path, [file], "sha-256", "own_sha256"), "sha-256")
    file.write_text(
        file.read_text() + "namespace other { void own_sha256(void *, const void *, unsigned long) {} }\n"
    )
    with pytest.raises(UsageError, match="several functions are called own_sha256"):
        build(tmp_path, [file], "sha-256", "own_sha256")


def test_parameters_are_read_from_each_language(tmp_path: Path, code: Path):
    def of_file(suffix: str) -> dict[str, list[str]]:
        functions = functions_in(code / f"managed{suffix}")
        return {function.name: [each.name for each in function.parameters] for function in functions}

    assert of_file(".py")["unseal"] == ["key", "nonce", "ciphertext", "aad"]
    assert of_file(".js") == {
        "digest": ["data"],
        "tag": ["key", "message"],
        "ctr": ["message", "key", "nonce"],
        "seal": ["key", "nonce", "plaintext", "aad"],
        "unseal": ["key", "nonce", "ciphertext", "aad"],
    }
    assert of_file(".ts") == {"digest": ["data"]}
    assert of_file(".go")["digestInto"] == ["out", "data"]
    assert of_file(".java")["digestInto"] == ["out", "data"]
    assert of_file(".kt") == {"digest": ["data"], "tag": ["key", "message"], "ofObject": ["data"]}
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n")
    with pytest.raises(UsageError, match=r"broken\.py"):
        functions_in(broken)


def test_the_function_is_read_behind_its_overloads(tmp_path: Path):
    python, script = tmp_path / "mine.py", tmp_path / "mine.ts"
    python.write_text(
        "from typing import overload\n@overload\ndef digest(text: str) -> bytes: ...\n"
        "@overload\ndef digest(text: str, key: bytes) -> bytes: ...\n"
        "def digest(data, key, n): return data\n"
    )
    script.write_text(
        "function digest(text: string): Uint8Array;\nconst sum = (1 + 2) * 3;\n"
        "function digest(data: Uint8Array, key: Uint8Array, n: number): Uint8Array { return data; }\n"
    )
    for file in (python, script):
        assert [function.text for function in functions_in(file)] == ["digest(data, key, n)"]


def test_what_has_a_call_for_its_default_is_not_given(tmp_path: Path):
    script = tmp_path / "mine.js"
    script.write_text(
        "const digest = (data, prefix = Buffer.alloc(0, 1), n = size(f(1))) => data;\n"
        "function other(data, key = new Uint8Array(32)) { return data; }\nconst sum = (1 + (2)) * 3;\n"
    )
    assert [function.text for function in functions_in(script)] == ["other(data)"]
    script.write_text(script.read_text().replace("size(f(1))", "size(1)"))
    assert [function.text for function in functions_in(script)] == ["digest(data)", "other(data)"]


@pytest.mark.parametrize(
    ("name", "way"), [("mine.swift", "@_cdecl"), ("mine.nim", "exportc"), ("mine.cs", "native AOT")]
)
def test_a_language_that_is_not_compiled_here_is_named_with_the_way_on(tmp_path: Path, name: str, way: str):
    (tmp_path / name).write_text("x")
    with pytest.raises(UsageError) as refusal:
        read_files([tmp_path / name])
    assert way in (refusal.value.hint or "")


def test_a_missing_toolchain_is_named_with_its_package(tmp_path: Path, code: Path, monkeypatch):
    calls = TrialRequest(read_files([code / "managed.go"]), load().find("sha-256"), ("digest",))
    read = read_calls(calls)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert os.environ["PATH"] == str(tmp_path)
    with pytest.raises(EnvironmentLacking, match="there is no go here") as refusal:
        build_managed(Managed("mine", calls.files, calls.algorithm, read), tmp_path / "mine")
    assert "golang-go" in (refusal.value.hint or "")


def test_what_the_sdk_has_no_loop_for_is_refused_with_the_way_on(tmp_path: Path, code: Path):
    with pytest.raises(UsageError, match="there is no function for open"):
        managed(tmp_path, code / "managed.py", "chacha20-poly1305", "seal=seal")
    file = tmp_path / "cipher.py"
    file.write_text("def permute(data):\n    return data\n")
    with pytest.raises(UsageError, match="cannot be tried in python"):
        managed(tmp_path, file, "keccak-f1600", "permute")
