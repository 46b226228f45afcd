"""A file becomes a runner that keeps the protocol: it answers known answers, and wrong code does not."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest
from trial_answers import answers, build

from perbyte.errors import UsageError
from perbyte.runners import Session
from perbyte.trial.building import words_of
from perbyte.trial.crates import cargo_command, write_crate
from perbyte.trial.program import DoesNotBuild
from toolchains import needs

pytestmark = pytest.mark.native


def test_a_hash_in_one_call(tmp_path: Path, code: Path):
    spec = build(tmp_path, [code / "sha256.c"], "sha-256", "own_sha256")
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 3


def test_the_only_function_of_a_file_need_not_be_named(tmp_path: Path, code: Path):
    assert answers(build(tmp_path, [code / "sha256.c"], "sha-256"), "sha-256")


def test_a_hash_in_three_calls(tmp_path: Path, code: Path):
    files = [code / "sha256.c", code / "sha256_parts.c"]
    spec = build(tmp_path, files, "sha-256", "hash_init,hash_update,hash_final")
    outcomes = answers(spec, "sha-256")
    assert outcomes["digest", "oneshot/1"] == outcomes["digest", "stream/1"] > 3
    with Session(spec) as session:
        handle = session.prepare("sha-256", "digest", "stream/1", 64, seed=7, offset=0)
        assert session.check_calls(handle, 3).digest != session.check_calls(handle, 1).digest


def test_a_cipher_with_its_key_set_apart(tmp_path: Path, code: Path):
    outcomes = answers(build(tmp_path, [code / "rc4.c"], "rc4", "key=rc4_set_key,encrypt=rc4_crypt"), "rc4")
    assert set(outcomes) == {
        (operation, contract)
        for operation in ("encrypt", "decrypt")
        for contract in ("stream/1", "message/1", "rekey/1")
    }
    assert all(outcomes.values())


def test_a_cipher_in_place_with_the_key_in_each_call(tmp_path: Path, code: Path):
    spec = build(tmp_path, [code / "rc4.c"], "rc4", "rc4_inplace")
    assert answers(spec, "rc4")["encrypt", "rekey/1"]
    with Session(spec) as session:
        assert session.hello().operations[0].calls == "memcpy, rc4_inplace"


def test_a_mac_with_the_key_in_each_call(tmp_path: Path, code: Path):
    assert answers(build(tmp_path, [code / "siphash.c"], "siphash-2-4", "siphash"), "siphash-2-4")[
        "mac", "rekey/1"
    ]


def test_an_aead_refuses_forgeries(tmp_path: Path, code: Path):
    spec = build(tmp_path, [code / "ascon.c"], "ascon-aead128", "crypto_aead_encrypt,crypto_aead_decrypt")
    outcomes = answers(spec, "ascon-aead128")
    assert outcomes["seal", "rekey/1"]
    assert outcomes["open", "rekey/1"]
    with Session(spec) as session:
        for operation in ("seal", "open"):
            handle = session.prepare("ascon-aead128", operation, "rekey/1", 100, seed=7, offset=0)
            assert session.round_trip(handle).passed
            assert session.check_calls(handle, 18).length == (100 if operation == "open" else 116)
        assert session.forgery(handle).passed


@pytest.mark.parametrize(("text", "fault"), [("[package]\n", "has no name"), ("package\n", "line 1")])
def test_a_slip_in_the_description_of_a_crate_is_said_with_its_file(tmp_path: Path, text: str, fault: str):
    file = tmp_path / "src" / "lib.rs"
    file.parent.mkdir()
    file.write_text("mod more;\npub fn own(data: &[u8]) -> [u8; 4] { more::sum(data) }\n")
    (tmp_path / "Cargo.toml").write_text(text)
    with pytest.raises(UsageError, match=rf"Cargo\.toml: .*{fault}"):
        build(tmp_path, [file], "crc32", "own")


@needs("cargo")
def test_a_crate_may_lie_in_a_directory_with_a_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "a home"))
    crate = tmp_path / "a crate"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text('[package]\nname = "own"\nversion = "0.1.0"\nedition = "2021"\n')
    (crate / "src" / "lib.rs").write_text("mod more;\npub use more::sha256;\n")
    (crate / "src" / "more.rs").write_text("pub fn sha256() {}\n")
    write_crate(tmp_path / "a scratch", crate, "pub use theirs::sha256;\n")
    command = cargo_command(tmp_path / "a scratch", crate, ["-Copt-level=1"], "lib own.a")
    assert words_of(command, tmp_path) == ""
    assert (tmp_path / "lib own.a").is_file()


@needs("rustc")
def test_a_hash_in_rust(tmp_path: Path, code: Path):
    assert (
        answers(build(tmp_path, [code / "sha256.rs"], "sha-256", "sha256"), "sha-256")["digest", "oneshot/1"]
        > 3
    )


@pytest.mark.parametrize("product", ["libmine.so", "libmine.a", "mine.o"])
def test_what_is_built_already_needs_its_signature(tmp_path: Path, code: Path, product: str):
    made = tmp_path / product
    compiled = ["-shared", "-fPIC"] if product.endswith(".so") else ["-c"]
    object_file = made if not product.endswith(".a") else tmp_path / "mine.o"
    subprocess.run(["cc", "-O2", *compiled, "-o", object_file, code / "sha256.c"], check=True)
    if product.endswith(".a"):
        subprocess.run(["ar", "rcs", made, object_file], check=True)
    with pytest.raises(UsageError, match="was found in the files"):
        build(tmp_path, [made], "sha-256", "own_sha256")
    spec = build(tmp_path, [made], "sha-256", "own_sha256", signatures=("out,in,size",))
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 3
    with Session(spec) as session:
        assert session.hello().object == str(
            made if product.endswith(".so") else tmp_path / "mine" / "runner"
        )


def test_assembly_with_a_header(tmp_path: Path, code: Path):
    subprocess.run(["cc", "-O2", "-S", "-o", tmp_path / "own.s", code / "sha256.c"], check=True)
    (tmp_path / "own.h").write_text(
        "#include <stdint.h>\nvoid own_sha256(uint8_t *out, const uint8_t *in, long n);\n"
    )
    spec = build(tmp_path, [tmp_path / "own.s", tmp_path / "own.h"], "sha-256", "own_sha256")
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 3


def test_what_does_not_compile_says_the_first_error(tmp_path: Path):
    file = tmp_path / "bad.c"
    file.write_text("void f(char *out, const char *in, int n) { int x = y; }\n")
    with pytest.raises(DoesNotBuild) as error:
        build(tmp_path, [file], "sha-256", "f")
    assert "bad.c:1" in error.value.first
    assert "'y'" in error.value.first or "‘y’" in error.value.first


def test_a_file_without_a_function_is_said_to_have_none(tmp_path: Path):
    (tmp_path / "broken.c").write_text("int own_sha256(unsigned char *digest { return 0; }\n")
    with pytest.raises(UsageError, match=r"no function was found in broken\.c") as refused:
        build(tmp_path, [tmp_path / "broken.c"], "sha-256")
    assert "does the file compile?" in str(refused.value.hint)


def test_functions_that_belong_together_are_named_so_in_the_hint(tmp_path: Path):
    (tmp_path / "aes.c").write_text(
        "#include <stddef.h>\n#include <stdint.h>\n"
        "void aes_setup(uint8_t *state, const uint8_t *key) {}\n"
        "void aes_encrypt(const uint8_t *state, uint8_t *out, const uint8_t *in, size_t size) {}\n"
    )
    with pytest.raises(UsageError, match="which function is it") as refused:
        build(tmp_path, [tmp_path / "aes.c"], "aes-128-ecb")
    assert "--function key=aes_setup,encrypt=aes_encrypt" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("functions", "complaint"),
    [
        (("nothing",), "there is no function 'nothing'"),
        (("digest=own_sha256", "digest=own_sha256"), "a second 'digest'"),
        (("seal=own_sha256",), "what 'own_sha256' is for is not known"),
        (("block",), "cannot be called from outside"),
    ],
)
def test_functions_that_cannot_be_are_refused(
    tmp_path: Path, code: Path, functions: tuple[str, ...], complaint: str
):
    with pytest.raises(UsageError, match=complaint):
        build(tmp_path, [code / "sha256.c"], "sha-256", *functions)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="assembly of x86-64")
def test_assembly_with_addresses_of_its_own_is_linked_where_it_stays(tmp_path: Path, code: Path):
    fixed = tmp_path / "fixed.s"
    fixed.write_text(
        ".data\nword: .long 1\n.text\n.globl read_word\nread_word: movl word, %eax\nret\n"
        '.section .note.GNU-stack,"",@progbits\n'
    )
    spec = build(tmp_path, [code / "sha256.c", fixed], "sha-256", "own_sha256")
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 3


def test_a_linker_that_warns_first_is_quoted_by_its_error():
    refusal = DoesNotBuild(
        "ld: 0-a.o: warning: relocation against `table' in read-only section `.text'\n"
        "ld: a.c:(.text+0x20): undefined reference to `table'\n"
    )
    assert refusal.first.endswith("undefined reference to `table'")
