"""Shapes of code that people bring: states by their types, steps of a nonce, macros, classes, packages, modules."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trial_languages import managed, needs
from trial_answers import answers, build

from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.trial.cpp import cpp_prototypes
from perbyte.trial.looking import remembers
from perbyte.trial.own_algorithm import find_new
from perbyte.trial.prototype import find_prototype
from perbyte.trial.roles import understood
from perbyte.trial.subject import TrialRequest, read_calls, read_files

SHA256 = "extern unsigned char *SHA256(const void *, unsigned long, void *);\n"
CTX = "typedef struct { unsigned char key[32], iv[12]; unsigned n; } my_ctx;\n#include <string.h>\n"
KEYED = "void my_key(my_ctx *x, const unsigned char *k) { memcpy(x->key, k, 32); x->n = 0; }\n"
BOTH = (
    "void my_init(my_ctx *x, const unsigned char *k, const unsigned char *iv)"
    " { memcpy(x->key, k, 32); memcpy(x->iv, iv, 12); x->n = 0; }\n"
)
SETS = "void my_iv_setup(my_ctx *x, const unsigned char *iv) { memcpy(x->iv, iv, 12); x->n = 0; }\n"
CRYPTS = (
    "void my_crypt(my_ctx *x, const unsigned char *m, unsigned char *c, size_t len)"
    " { for (size_t i = 0; i < len; i++)"
    " c[i] = m[i] ^ x->key[i & 31] ^ x->iv[i % 12] ^ (unsigned char)(7 * x->n++); }\n"
)


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERBYTE_CATALOGUE", "")
    yield
    load.cache_clear()


def told(
    tmp_path: Path, text: str, algorithm: str, *functions: str, name: str = "mine.c", **more
) -> list[str]:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    asked = TrialRequest(read_files([file]), load().find(algorithm), functions, **more)
    return [f"{step}: {understood(call)}" for step, call in read_calls(asked).items()]


@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize(
    ("text", "functions", "sets"),
    [
        (
            CTX + BOTH + CRYPTS,
            "key=my_init,encrypt=my_crypt",
            "key: my_init(x is context, k is key, iv is nonce)",
        ),
        (
            CTX + KEYED + SETS + CRYPTS,
            "key=my_key,nonce=my_iv_setup,encrypt=my_crypt",
            "nonce: my_iv_setup(x is context, iv is nonce)",
        ),
        (
            CTX + KEYED + SETS + CRYPTS,
            "key=my_key,encrypt=my_crypt",
            "nonce: my_iv_setup(x is context, iv is nonce)",
        ),
    ],
)
def test_a_message_begins_with_its_nonce(tmp_path: Path, text: str, functions: str, sets: str):
    made = find_new("new:c", "stream-cipher", ["key=32,nonce=12"], None)
    steps = told(tmp_path, text, made.id, functions)
    assert sets in steps
    assert any(step.startswith("encrypt: my_crypt(x is context, m is in, c is out") for step in steps)
    outcomes = answers(build(tmp_path, [tmp_path / "mine.c"], made.id, functions), made.id)
    assert ("decrypt", "rekey/1") in outcomes
    assert (("decrypt", "message/1") in outcomes) is ("iv_setup" in text)


@pytest.mark.usefixtures("catalogue")
def test_a_cipher_that_nobody_gives_a_nonce_is_refused(tmp_path: Path):
    made = find_new("new:d", "stream-cipher", ["key=32,nonce=12"], None)
    (tmp_path / "mine.c").write_text(CTX + KEYED + CRYPTS)
    with pytest.raises(
        UsageError, match="no parameter is the nonce of unverified-d, and no function sets it"
    ):
        build(tmp_path, [tmp_path / "mine.c"], made.id, "key=my_key,encrypt=my_crypt")


@pytest.mark.native
def test_a_name_that_a_macro_makes_is_found(tmp_path: Path):
    (tmp_path / "ns.h").write_text("#define my_hash mylib_ref_hash\n")
    file = tmp_path / "mine.c"
    file.write_text(
        f'#include "ns.h"\n{SHA256}void randombytes(unsigned char *, unsigned long long);\n'
        "void my_keypair(unsigned char *k) { randombytes(k, 32); }\n"
        "void my_hash(unsigned char *out, const unsigned char *in, unsigned long n) { SHA256(in, n, out); }\n"
    )
    spec = build(tmp_path, [file], "sha-256", "my_hash", link=("-lcrypto",))
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 0


def test_types_behind_typedef_are_read(tmp_path: Path):
    (tmp_path / "types.h").write_text(
        "typedef unsigned char BitSequence;\ntypedef unsigned char digest_t[32];\n"
    )
    text = '#include "types.h"\nvoid f(digest_t hash, const BitSequence *message, unsigned long len) {}\n'
    assert told(tmp_path, text, "sha-256", "f") == ["digest: f(hash is out, message is in, len is size)"]


@pytest.mark.native
def test_functions_of_included_files_are_found(tmp_path: Path):
    (tmp_path / "part.inc").write_text(
        "void inner(unsigned char *out, const unsigned char *in, unsigned long n) {}\n"
    )
    steps = told(tmp_path, '#include "part.inc"\n', "sha-256")
    assert steps == ["digest: inner(out, in, n is size)"]


@pytest.mark.native
def test_a_block_function_is_padded(tmp_path: Path):
    file = tmp_path / "mine.c"
    file.write_text(
        "#include <stdint.h>\nextern void sha256_block_data_order(void *, const void *, unsigned long);\n"
        "typedef struct { uint32_t h[8]; uint32_t more[64]; } ctx;\n"
        "extern int SHA256_Init(void *); extern void SHA256_Transform(void *, const void *);\n"
        "#include <string.h>\n"
        "void my_compress(uint32_t state[8], const uint8_t *data, size_t length) {\n"
        "  ctx c; SHA256_Init(&c); memcpy(c.h, state, 32);\n"
        "  for (; length >= 64; length -= 64, data += 64) SHA256_Transform(&c, data);\n"
        "  memcpy(state, c.h, 32);\n}\n"
    )
    spec = build(tmp_path, [file], "sha-256", "my_compress", link=("-lcrypto",))
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 1


@pytest.mark.parametrize(
    ("text", "algorithm", "expected"),
    [
        (
            "unsigned f(const void *data, unsigned long n, unsigned previous) { return 0; }",
            "crc32",
            "digest: f(data is in, n is size, previous is begin)",
        ),
        (
            "#include <stdint.h>\nuint64_t f(const void *m, unsigned long n, const uint8_t k[16]) { return 0; }",
            "siphash-2-4-64",
            "mac: f(m is in, n is size, k is key)",
        ),
        (
            "typedef struct { unsigned char bytes[32]; } HASH;\n"
            "void f(const void *Buffer, unsigned BufferSize, HASH *Digest) {}",
            "sha-256",
            "digest: f(Buffer is in, BufferSize is size, Digest is out)",
        ),
        (
            "void f(const void *InBuffer, void *OutBuffer, unsigned BufferSize, const void *Key, unsigned DropN) {}",
            "rc4",
            "encrypt: f(InBuffer is in, OutBuffer is out, BufferSize is size, Key is key, DropN is offset)",
        ),
        (
            "typedef unsigned char u8;\nint f(u8 *mypublic, const u8 *secret, const u8 *basepoint) { return 0; }",
            "x25519",
            "derive: f(mypublic is out, secret is secret-key, basepoint is public-key)",
        ),
    ],
)
def test_usual_names_are_understood(tmp_path: Path, text: str, algorithm: str, expected: str):
    function = "derive=f" if algorithm == "x25519" else "f"
    assert told(tmp_path, text, algorithm, function) == [expected]


def test_a_number_of_another_length_is_refused(tmp_path: Path):
    file = tmp_path / "mine.c"
    file.write_text("unsigned f(const void *data, unsigned long n) { return 0; }\n")
    with pytest.raises(UsageError, match="it returns a number of 4 bytes, and sha-256 gives 32"):
        build(tmp_path, [file], "sha-256", "f")


def test_output_that_stays_the_librarys_is_copied(tmp_path: Path):
    text = (
        "void begin(void *priv) {}\nvoid add(void *priv, const void *bufIn, unsigned long len) {}\n"
        "const void *end(void *priv) { return priv; }\n"
    )
    steps = told(tmp_path, text, "sha3-256", "init=begin,update=add,final=end")
    assert steps[-1] == "final: end(priv is context), its result is out"


CPP = (
    SHA256.replace("extern", 'extern "C"')
    + "#include <string>\n#include <vector>\n#include <array>\n#include <cstdint>\n"
)
OWN = "static void own(uint8_t *out, const uint8_t *in, size_t n) { SHA256(in, n, out); }\n"


@pytest.mark.native
@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("std::vector<uint8_t> f(const std::vector<uint8_t> &d) { std::vector<uint8_t> r(32);"
         " own(r.data(), d.data(), d.size()); return r; }", "f"),
        ("std::array<uint8_t, 32> f(const std::string &d) { std::array<uint8_t, 32> r;"
         " own(r.data(), (const uint8_t *)d.data(), d.size()); return r; }", "f"),
        ("namespace a { struct H { static void f(uint8_t *out, const uint8_t *in, size_t n) { own(out, in, n); } }; }",
         "a::H::f"),
        ("class H { std::vector<uint8_t> b; public: void add(const void *d, size_t n)"
         " { b.insert(b.end(), (const uint8_t *)d, (const uint8_t *)d + n); }"
         " H &finish() { return *this; } std::vector<uint8_t> toVector() { std::vector<uint8_t> r(32);"
         " own(r.data(), b.data(), b.size()); return r; } };", "H"),
    ],
    ids=["vector", "string", "static member", "class"],
)  # fmt: skip
def test_shapes_of_cxx_are_reached_through_a_wrapper(tmp_path: Path, text: str, function: str):
    file = tmp_path / "mine.cpp"
    file.write_text(CPP + OWN + text + "\n")
    spec = build(tmp_path, [file], "sha-256", function, link=("-lcrypto",))
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 0


def test_only_public_members_are_offered(tmp_path: Path):
    file = tmp_path / "mine.hpp"
    file.write_text(
        "class H { void hidden(const char *d, int n); public: void shown(const char *d, int n); };\n"
    )
    assert not cpp_prototypes("hidden", [file])
    assert [prototype.name for prototype in cpp_prototypes("shown", [file])] == ["H::shown"]


def test_a_function_of_a_rust_type_has_its_name(tmp_path: Path):
    file = tmp_path / "lib.rs"
    file.write_text(
        "pub struct Hash;\nimpl Hash {\n    pub fn finish(self) -> [u8; 32] { [0; 32] }\n"
        "    pub fn hash(input: impl AsRef<[u8]>) -> [u8; 32] { [0; 32] }\n}\n"
    )
    prototype = find_prototype("Hash::hash", [file])
    assert prototype
    assert (prototype.name, prototype.parameters[0].is_slice) == ("Hash::hash", True)
    assert find_prototype("finish", [file]) is None


@needs[".js"]
@pytest.mark.parametrize("function", ["made", "object.array"])
def test_what_a_module_exports_is_found(tmp_path: Path, function: str):
    file = tmp_path / "mine.js"
    file.write_text(
        "const { createHash } = require('node:crypto');\n"
        "const make = (name) => (data, key) => createHash(name).update(data).digest();\n"
        "module.exports = { made: make('sha512'), object: { array: make('sha512') } };\n"
    )
    assert answers(managed(tmp_path, file, "sha-512", function), "sha-512")["digest", "oneshot/1"] > 0


@needs[".py"]
def test_a_class_as_those_of_hashlib_is_called(tmp_path: Path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import hashlib\nclass Sha:\n    def __init__(self):\n        self.it = hashlib.sha512()\n"
        "    def update(self, data):\n        self.it.update(data)\n"
        "    def digest(self):\n        return self.it.digest()\n"
    )
    assert answers(managed(tmp_path, file, "sha-512", "Sha"), "sha-512")["digest", "oneshot/1"] > 0


@needs[".go"]
def test_a_package_of_go_is_built_with_all_of_its_files(tmp_path: Path):
    (tmp_path / "go.mod").write_text("module example.com/mine\n\ngo 1.24\n")
    (tmp_path / "rest.go").write_text(
        'package mine\n\nimport "crypto/sha256"\n\nfunc finish(d []byte) [32]byte { return sha256.Sum256(d) }\n'
    )
    file = tmp_path / "hash.go"
    file.write_text("package mine\n\nfunc MyHash(data []byte) [32]byte { return finish(data) }\n")
    assert answers(managed(tmp_path, file, "sha-256", "MyHash"), "sha-256")["digest", "oneshot/1"] > 0


@needs[".java"]
def test_a_method_of_java_with_offset_and_length_that_returns_a_number(tmp_path: Path):
    file = tmp_path / "D.java"
    file.write_text(
        "import java.security.MessageDigest;\npublic class D {\n"
        "    public static int sum(byte[] out, int outOff, byte[] in, int inOff, int len) throws Exception {\n"
        '        MessageDigest d = MessageDigest.getInstance("SHA-512");\n        d.update(in, inOff, len);\n'
        "        System.arraycopy(d.digest(), 0, out, outOff, 64);\n        return 0;\n    }\n}\n"
    )
    assert answers(managed(tmp_path, file, "sha-512", "sum"), "sha-512")["digest", "oneshot/1"] > 0


def test_a_memo_around_one_fast_hash_is_seen_by_the_same_sixteen():
    new = [2700.0, 2600.0, 9000.0, 2650.0, 2700.0, 2720.0, 2650.0, 2680.0, 2700.0, 2690.0]
    again = [950.0, 960.0, 940.0, 9000.0, 955.0, 950.0, 940.0, 945.0, 950.0, 960.0]
    assert not remembers(new, again)
    assert remembers(new, again, 1.3)
    assert not remembers(new, [0.95 * value for value in new], 1.3)


@pytest.mark.native
def test_a_library_that_is_a_header_is_compiled(tmp_path: Path):
    file = tmp_path / "mine.h"
    file.write_text(
        "void mine(unsigned char *out, const unsigned char *in, unsigned long n);\n#ifdef MINE_IMPLEMENTATION\n"
        f"{SHA256}void mine(unsigned char *out, const unsigned char *in, unsigned long n) {{ SHA256(in, n, out); }}\n"
        "#endif\n"
    )
    assert (
        answers(build(tmp_path, [file], "sha-256", "mine", link=("-lcrypto",)), "sha-256")[
            "digest", "oneshot/1"
        ]
        > 0
    )
