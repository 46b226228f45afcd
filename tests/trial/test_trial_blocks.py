"""Functions of one block or one state, which are not told how many bytes these have."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from trial_answers import answers, build

from perbyte.catalogue import load
from perbyte.errors import RunnerRefused, UsageError
from perbyte.model import KnownAnswer
from perbyte.protocol.material import stream
from perbyte.runners import Session
from perbyte.trial.bench import sizes_for
from perbyte.trial.own_algorithm import find_new
from perbyte.trial.prototype import c_prototype
from perbyte.trial.roles import assign, say, understood

pytestmark = pytest.mark.native

AES = """
#include <openssl/aes.h>
#include <string.h>
typedef AES_KEY aes;
void set_key(aes *ks, const unsigned char *key) { AES_set_encrypt_key(key, 128, ks); }
void inverse_key(aes *ks, const unsigned char *key) { AES_set_decrypt_key(key, 128, ks); }
void aes_encrypt(const aes *ks, const unsigned char in[16], unsigned char out[16]) { AES_encrypt(in, out, ks); }
void aes_decrypt(const aes *ks, unsigned char *block) { AES_decrypt(block, block, ks); }
void at_once(const unsigned char *key, const unsigned int plain[4], unsigned int cipher[4])
{ aes ks; AES_set_encrypt_key(key, 128, &ks); AES_encrypt((const void *)plain, (void *)cipher, &ks); }
void xtea(unsigned rounds, unsigned v[2], unsigned const key[4])
{ unsigned a = v[0], b = v[1], s = 0;
  for (unsigned i = 0; i < rounds; i++) {
    a += (((b << 4) ^ (b >> 5)) + b) ^ (s + key[s & 3]); s += 0x9E3779B9;
    b += (((a << 4) ^ (a >> 5)) + a) ^ (s + key[(s >> 11) & 3]); }
  v[0] = a; v[1] = b; }
void untea(unsigned rounds, unsigned v[2], unsigned const key[4])
{ unsigned a = v[0], b = v[1], s = 0x9E3779B9 * rounds;
  for (unsigned i = 0; i < rounds; i++) {
    b -= (((a << 4) ^ (a >> 5)) + a) ^ (s + key[(s >> 11) & 3]); s -= 0x9E3779B9;
    a -= (((b << 4) ^ (b >> 5)) + b) ^ (s + key[s & 3]); }
  v[0] = a; v[1] = b; }
"""


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    file = tmp_path / "blocks.c"
    file.write_text(AES)
    return file


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERBYTE_CATALOGUE", "")
    yield
    load.cache_clear()


def test_one_block_with_its_key_schedule_is_held_to_the_cipher_in_ecb(tmp_path: Path, blocks: Path):
    functions = "key=set_key,decrypt-key=inverse_key,encrypt=aes_encrypt,decrypt=aes_decrypt"
    spec = build(tmp_path, [blocks], "aes-128-ecb", functions, link=("-lcrypto",))
    counts = answers(spec, "aes-128-ecb")
    assert set(counts) == {
        (operation, contract)
        for operation in ("encrypt", "decrypt")
        for contract in ("stream/1", "message/1", "rekey/1")
    }
    assert counts["encrypt", "stream/1"] > 1
    with Session(spec) as session:
        for contract in ("stream/1", "rekey/1"):
            handle = session.prepare("aes-128-ecb", "decrypt", contract, 64, seed=7)
            assert session.round_trip(handle).passed


def test_words_and_a_key_in_each_call_are_a_block_too(tmp_path: Path, blocks: Path):
    spec = build(tmp_path, [blocks], "aes-128-ecb", "at_once", link=("-lcrypto",))
    assert answers(spec, "aes-128-ecb")["encrypt", "rekey/1"] > 1


def test_rounds_are_no_length_and_a_number_can_be_said():
    prototype = c_prototype("f", "void f(unsigned rounds, uint32_t v[2], const uint32_t key[4]);")
    assert prototype
    with pytest.raises(UsageError, match="what 'rounds' is for is not clear"):
        assign("encrypt", "f", prototype, one_block=True)
    call = say("encrypt", "f", ["32", "buffer", "key"], prototype, one_block=True)
    assert understood(call) == "f(rounds is 32, v is buffer, key)"


@pytest.mark.usefixtures("catalogue")
def test_a_cipher_of_ones_own_by_blocks_is_unverified(tmp_path: Path, blocks: Path):
    made = find_new("new:xtea", "block-cipher", ["key=16,block=8"], None)
    assert made.id == "unverified-xtea-ecb"
    words = ("encrypt=32,buffer,key", "decrypt=32,buffer,key")
    functions = "encrypt=xtea,decrypt=untea"
    spec = build(tmp_path, [blocks], made.id, functions, signatures=words, link=("-lcrypto",))
    with Session(spec) as session:
        assert session.round_trip(session.prepare(made.id, "encrypt", "rekey/1", 64, seed=7)).passed


def test_a_permutation_is_held_to_known_answers_and_takes_what_the_call_before_left(
    tmp_path: Path, code: Path
):
    file = Path(shutil.copy(code / "gimli.c", tmp_path))
    spec = build(tmp_path, [file], "gimli", "gimli")
    assert answers(spec, "gimli") == {("permute", "permute/1"): 2}
    first, second = load().known_answers("gimli", "permute")
    assert second.input == first.output
    with Session(spec) as session:
        handle = session.prepare("gimli", "permute", "permute/1", 48, seed=7)
        outputs = [session.check_calls(handle, calls).head for calls in (1, 2, 1)]
        assert outputs[0] == outputs[2] != outputs[1]
        with pytest.raises(RunnerRefused, match="length of the state"):
            session.prepare("gimli", "permute", "permute/1", 96, seed=7)


def test_the_state_is_the_chain_of_an_audited_permutation(tmp_path: Path, code: Path):
    file = Path(shutil.copy(code / "gimli.c", tmp_path))
    calls, seed = 3, 2**64 - 5
    with Session(build(tmp_path, [file], "gimli", "gimli")) as session:
        handle = session.prepare("gimli", "permute", "permute/1", 48, seed=7)
        before = session.check_calls(handle, 2).digest
        audited = session.audit(handle, seed=seed, calls=calls).answer
        control = session.audit(handle, seed=seed, calls=calls, control=True).answer
        assert session.check_calls(handle, 2).digest == before
        value, unused, state = seed, seed, stream(seed, "input", 48)
        for _ in range(calls):
            unused = fold(
                unused, stream(seed, "input", 48)
            )  # a call that is left out leaves the state as it is
            known = KnownAnswer("gimli", "permute", source="", input=state.hex())
            state = bytes.fromhex(session.check_vector(handle, known).output)
            value = fold(value, state)
    assert (audited.digest, audited.length, audited.failures) == (f"{fold(value, state):016x}", 48, 0)
    assert control.control
    assert control.digest == f"{fold(unused, stream(seed, 'input', 48)):016x}"


def fold(value: int, output: bytes) -> int:
    """FNV-1a over words of 64 bits, begun with `value` (SPEC 5 and 11)."""
    for at in range(0, len(output), 8):
        word = int.from_bytes(output[at : at + 8], "little")
        value = (value ^ word) * 0x100000001B3 % 2**64
    return value


def test_a_permutation_from_one_place_to_another_is_chained_by_a_copy(tmp_path: Path, code: Path):
    file = Path(shutil.copy(code / "gimli.c", tmp_path))
    with file.open("a") as more:
        more.write("void apart(unsigned char *out, const unsigned char *in)\n")
        more.write(
            "{ uint32_t s[12]; __builtin_memcpy(s, in, 48); gimli(s); __builtin_memcpy(out, s, 48); }\n"
        )
    assert answers(build(tmp_path, [file], "gimli", "apart"), "gimli") == {("permute", "permute/1"): 2}


@pytest.mark.usefixtures("catalogue")
def test_a_permutation_of_ones_own_has_one_size_and_is_unverified():
    made = find_new("new:mine", "permutation", ["block=48"], None)
    assert (made.id, sizes_for(made, None)) == ("unverified-mine", (48,))
    with pytest.raises(UsageError, match="how many bytes has its block"):
        find_new("new:mine", "permutation", [], None)
    assert load().find("gimli").kind == "permutation"
