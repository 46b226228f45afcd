"""What an object contains is read from its machine code, and kept for as long as the object is the same."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from perbyte.runners import machinecode

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or not shutil.which("objdump") or not shutil.which("cc"),
    reason="needs a compiler and objdump for x86-64",
)
AES = 'void f(void) { __asm__("aesenc %xmm0, %xmm1"); }'
VAES = (
    'void f(void) { __asm__("vaesdec %zmm0, %zmm1, %zmm1"); __asm__("vpclmulqdq $0, %ymm0, %ymm1, %ymm1"); }'
)
SHA = 'void f(void) { __asm__("sha256rnds2 %xmm1, %xmm2"); }'
NONE = 'const char *name = "aesenc sha256rnds2"; void aesenc(void) {}'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(machinecode, "cpu_flags", lambda: frozenset({"aes", "pclmulqdq", "sha_ni"}))
    return tmp_path / "home"


def made(directory: Path, code: str) -> Path:
    source, library = directory / "code.c", directory / "code.so"
    source.write_text(code)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def asked(path: Path, language: str = "c") -> tuple[str, ...]:
    return machinecode.lacking(language, str(path), hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.mark.parametrize(
    ("code", "lacks"),
    [
        (AES, ("clmul", "sha")),
        (VAES, ("sha",)),
        (SHA, ("aes", "clmul")),
        (AES + VAES.replace("f(", "g(") + SHA.replace("f(", "h("), ()),
        (NONE, ("aes", "clmul", "sha")),
    ],
    ids=["aes", "vaes", "sha", "all", "names only"],
)
def test_finds_the_instructions_that_are_there(tmp_path: Path, code: str, lacks: tuple[str, ...]) -> None:
    assert asked(made(tmp_path, code)) == lacks


def test_what_the_cpu_has_not_is_not_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = made(tmp_path, NONE)
    monkeypatch.setattr(machinecode, "cpu_flags", lambda: frozenset({"sha_ni"}))
    assert asked(library) == ("sha",)
    monkeypatch.setattr(machinecode, "cpu_flags", frozenset)
    assert asked(library) == ()


def test_an_object_is_examined_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = made(tmp_path, AES)
    first = asked(library)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert asked(library) == first == ("clmul", "sha")
    library.write_bytes(library.read_bytes() + b"changed")
    assert asked(library) == (), "another object, and nothing to examine it with"


def test_nothing_is_said_of_what_cannot_be_examined(tmp_path: Path) -> None:
    text = tmp_path / "library.jar"
    text.write_text("no machine code")
    assert asked(text) == ()
    assert asked(made(tmp_path, NONE), language="java") == (), "its code is made at run time"
    assert machinecode.lacking("c", str(tmp_path / "nowhere"), "") == ()


def test_a_damaged_object_is_no_reason_to_stop(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(b"\x7fELF" + b"\0" * 200)
    assert asked(damaged) == ()


def test_a_place_that_cannot_be_written_costs_the_memory_only(tmp_path: Path, home: Path) -> None:
    home.write_text("a file is in the way")
    assert asked(made(tmp_path, SHA)) == ("aes", "clmul")
