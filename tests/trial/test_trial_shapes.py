"""Shapes that were guessed wrong or were not to be had: a counter, libraries, algorithms of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from trial_answers import answers, build

from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.runners import Session
from perbyte.trial.own_algorithm import find_new
from perbyte.trial.program import build_program, link_words
from perbyte.trial.prototype import c_prototype
from perbyte.trial.roles import assign, understood
from perbyte.trial.subject import TrialRequest, make_source, read_calls, read_files

pytestmark = pytest.mark.native


def test_a_counter_is_no_length_of_a_nonce(tmp_path: Path, code: Path):
    spec = build(tmp_path, [code / "chacha20.c"], "chacha20", "chacha20_xor")
    assert answers(spec, "chacha20")["encrypt", "rekey/1"] > 0


def test_how_parameters_were_understood_can_be_said():
    text = "void f(void *out, const void *in, int n, const void *iv, int ivlen, const void *k, unsigned ctr);"
    prototype = c_prototype("f", text)
    assert prototype
    call = assign("encrypt", "f", prototype)
    assert understood(call) == (
        "f(out, in, n is size, iv is nonce, ivlen is nonce-length, k is key, ctr is counter)"
    )


def test_a_number_that_is_no_length_is_asked_for():
    prototype = c_prototype(
        "f", "void f(void *out, const void *in, int n, const void *iv, int rounds, const void *k);"
    )
    assert prototype
    with pytest.raises(UsageError, match="what 'rounds' is for is not clear"):
        assign("encrypt", "f", prototype)


def test_a_library_is_linked(tmp_path: Path):
    file = tmp_path / "mine.c"
    file.write_text(
        "#include <math.h>\nextern unsigned char *SHA256(const void *, unsigned long, void *);\n"
        "void mine(void *out, const void *in, unsigned long len) { SHA256(in, len, out); }\n"
    )
    asked = TrialRequest(read_files([file]), load().find("sha-256"), ("mine",), link=link_words(["crypto"]))
    spec = build_program(make_source(asked, read_calls(asked), ("-O2",), "mine"), tmp_path / "mine")
    assert answers(spec, "sha-256")


def test_a_function_may_be_called_like_an_operation(tmp_path: Path, code: Path):
    file = tmp_path / "mine.c"
    file.write_text(
        f'#include "{code / "sha256.c"}"\n'
        "void digest(void *out, const void *in, size_t size) { own_sha256(out, in, size); }\n"
    )
    spec = build(tmp_path, [file], "sha-256", "digest")
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 0


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERBYTE_CATALOGUE", "")
    yield
    load.cache_clear()


@pytest.mark.usefixtures("catalogue")
def test_a_new_algorithm_without_answers_is_called_unverified(tmp_path: Path, code: Path):
    made = find_new("new:my-stream", "stream-cipher", ["key=32,nonce=12"], None)
    assert (made.id, made.key_bytes, made.nonce_bytes) == ("unverified-my-stream", 32, 12)
    spec = build(tmp_path, [code / "chacha20.c"], made.id, "chacha20_xor")
    assert answers(spec, made.id) == {("encrypt", "rekey/1"): 0, ("decrypt", "rekey/1"): 0}


@pytest.mark.usefixtures("catalogue")
def test_a_new_algorithm_with_answers_is_held_to_them(tmp_path: Path, code: Path):
    known = next(answer for answer in load().known_answers("sha-256", "digest") if answer.input)
    file = tmp_path / "answers.toml"
    file.write_text(
        f'[[vector]]\nalgorithm = "my-hash"\noperation = "digest"\nsource = "me"\n'
        f'input = "{known.input}"\noutput = "{known.output}"\n'
    )
    made = find_new("new:my-hash", "hash", ["out=32"], file)
    assert made.id == "my-hash"
    spec = build(tmp_path, [code / "sha256.c"], "my-hash", "own_sha256")
    assert answers(spec, "my-hash") == {("digest", "oneshot/1"): 1}


@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize(
    ("name", "kind", "lengths", "message"),
    [
        ("new:x", "", [], "needs the kind"),
        ("new:x", "mac", ["key=16"], "how many bytes has its out"),
        ("new:x", "hash", ["out=many"], "--lengths"),
        ("new:sha-256", "hash", ["out=32"], "has 'sha-256' already"),
        ("new:my hash", "hash", ["out=32"], "letters, digits and hyphens"),
    ],
)
def test_what_a_new_algorithm_lacks_is_said(name: str, kind: str, lengths: list[str], message: str):
    with pytest.raises(UsageError, match=message):
        find_new(name, kind, lengths, None)


def test_a_kem_that_nobody_decapsulates_has_no_figure(tmp_path: Path):
    file = tmp_path / "kem.c"
    file.write_text(
        "int keypair(unsigned char *pk, unsigned char *sk) { return 0; }\n"
        "int encap(unsigned char *ct, unsigned char *ss, const unsigned char *pk) { return 0; }\n"
    )
    with pytest.raises(UsageError, match="no operation of ml-kem-768"):
        build(tmp_path, [file], "ml-kem-768", "keypair=keypair,encapsulate=encap")


RETURNS = """
#include <stdlib.h>
#include <openssl/sha.h>
static int alive;
unsigned char *my_sha256(const unsigned char *data, size_t len)
{ if (alive++) abort(); return SHA256(data, len, malloc(32)); }
void give_back(unsigned char *made) { alive--; free(made); }
"""


@pytest.mark.parametrize("functions", ["my_sha256,free=give_back", "digest=my_sha256,free=give_back"])
def test_a_returned_buffer_is_taken_and_freed_in_each_call(tmp_path: Path, functions: str):
    """The second call aborts unless the first buffer was freed."""
    source = tmp_path / "mine.c"
    source.write_text(RETURNS)
    spec = build(tmp_path, [source], "sha-256", functions, link=("-lcrypto",))
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 3
    with Session(spec) as session:
        assert session.hello().operations[0].calls == "my_sha256, memcpy, give_back"


def test_a_returned_buffer_without_its_free_says_how_and_a_free_without_buffer_too(
    tmp_path: Path, code: Path
):
    source = tmp_path / "mine.c"
    source.write_text(RETURNS)
    with pytest.raises(UsageError, match="must be freed") as caught:
        build(tmp_path, [source], "sha-256", "my_sha256", link=("-lcrypto",))
    assert "digest=my_sha256,free=free" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="no function returns a buffer"):
        build(tmp_path, [code / "sha256.c"], "sha-256", "own_sha256,free=free")
