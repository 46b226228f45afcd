"""What each parameter is for is read from usual prototypes, and asked for where it is not clear."""

from __future__ import annotations

import pytest

from perbyte.errors import UsageError
from perbyte.trial.prototype import c_prototype, functions_of, rust_prototype
from perbyte.trial.roles import assign, say, state_type

CASES = [
    ("digest", "void f(uint8_t *out, const uint8_t *in, size_t len);", "out in size"),
    ("digest", "int f(const void *data, size_t n, unsigned char *md);", "in size out"),
    ("digest", "void f(unsigned char *, const unsigned char *, unsigned long long);", "out in size"),
    (
        "digest",
        "void f(uint8_t *out, size_t outlen, const uint8_t *in, size_t inlen);",
        "out out-length in size",
    ),
    ("digest", "void f(u8 digest[32], const u8 *const restrict msg, u32 bytes) {", "out in size"),
    ("init", "int f(struct sha *c);", "context"),
    ("update", "void f(SHA_CTX *ctx, const unsigned char *data, unsigned len);", "context in size"),
    ("final", "void f(unsigned char *hash, SHA_CTX *ctx);", "out context"),
    ("mac", "void f(uint8_t *mac, const uint8_t *m, size_t mlen, const uint8_t *key);", "out in size key"),
    (
        "mac",
        "int hmac(const uint8_t *key, size_t key_len, const uint8_t *data, size_t data_len, uint8_t *out);",
        "key key-length in size out",
    ),
    ("key", "void f(AES_KEY *k, const uint8_t *key, int bits);", "context key key-bits"),
    (
        "encrypt",
        "void f(const struct k *ks, uint8_t iv[16], const uint8_t *src, uint8_t *dst, size_t len);",
        "context nonce in out size",
    ),
    (
        "encrypt",
        "void f(uint8_t *buf, size_t len, const uint8_t *key, const uint8_t *nonce);",
        "buffer size key nonce",
    ),
    (
        "decrypt",
        "void f(const uint8_t *ct, uint8_t *pt, uint32_t blocks, const rk *ctx);",
        "in out blocks context",
    ),
    (
        "seal",
        "int f(unsigned char *c, unsigned long long *clen, const unsigned char *m, unsigned long long mlen,"
        " const unsigned char *ad, unsigned long long adlen, const unsigned char *nsec,"
        " const unsigned char *npub, const unsigned char *k)\n{",
        "out length-back in size aad aad-length secret-number nonce key",
    ),
    (
        "open",
        "int f(unsigned char *m, unsigned long long *mlen, unsigned char *nsec, const unsigned char *c,"
        " unsigned long long clen, const unsigned char *ad, unsigned long long adlen,"
        " const unsigned char *npub, const unsigned char *k);",
        "out length-back secret-number in size aad aad-length nonce key",
    ),
    (
        "seal",
        "int f(gcm *ctx, const u8 *iv, size_t ivlen, const u8 *aad, size_t aadlen, const u8 *pt, size_t len,"
        " u8 *ct, u8 *tag);",
        "context nonce nonce-length aad aad-length in size out tag",
    ),
    (
        "digest",
        "int f(void *out, size_t outlen, const void *key, size_t keylen, const void *in, size_t inlen);",
        "out out-length key key-length in size",
    ),
    ("digest", "uint32_t f(const void *key, int len);", "in size"),
    (
        "seal",
        "void f(uint8_t *ciphertext, uint8_t *tag, const uint8_t *key, const uint8_t *nonce, const uint8_t *assoc_data,"
        " const uint8_t *plaintext, size_t assoc_data_len, size_t plaintext_len, size_t tag_len);",
        "out tag key nonce aad in aad-length size tag-length",
    ),
    ("key", "void f(aes_context *ctx, const uint8_t *key, size_t nkey);", "context key key-length"),
    (
        "encrypt",
        "void f(const AES128_ctx *ctx, size_t blocks, unsigned char *cipher16, const unsigned char *plain16);",
        "context blocks out in",
    ),
    (
        "derive",
        "void f(unsigned char *shared, const unsigned char *pk, unsigned char *sk);",
        "out public-key secret-key",
    ),
    ("keypair", "int f(unsigned char *pk, unsigned char *sk);", "public-key secret-key"),
    ("encapsulate", "int f(uint8_t *ct, uint8_t *ss, const uint8_t *pk);", "ciphertext secret public-key"),
    (
        "decapsulate",
        "int f(uint8_t *ss, const uint8_t *ct, const uint8_t *sk);",
        "secret ciphertext secret-key",
    ),
]


@pytest.mark.parametrize(("step", "text", "roles"), CASES)
def test_usual_prototypes_are_understood(step: str, text: str, roles: str):
    name = "hmac" if "hmac" in text else "f"
    prototype = c_prototype(name, "#include <x.h>\n/* int f(void); */\n" + text)
    assert prototype
    assert assign(step, name, prototype).roles == tuple(roles.split())


@pytest.mark.parametrize(
    ("step", "text", "roles"),
    [
        ("digest", "pub fn f(data: &[u8]) -> [u8; 32] {", "in"),
        ("digest", "pub fn f(out: &mut [u8; 32], message: &[u8]) {", "out in"),
        ("digest", 'pub unsafe extern "C" fn f(o: *mut u8, i: *const u8, n: usize) {', "out in size"),
        (
            "encrypt",
            "fn f(key: &[u8; 32], nonce: &[u8; 12], data: &[u8], out: &mut [u8]) {",
            "key nonce in out",
        ),
    ],
)
def test_functions_of_rust_are_understood(step: str, text: str, roles: str):
    prototype = rust_prototype("f", text)
    assert prototype
    assert assign(step, "f", prototype).roles == tuple(roles.split())


@pytest.mark.parametrize(("field", "result"), [("pub [u8; 16]", "[u8; 16] in D"), ("[u8; 16]", "D")])
def test_a_struct_around_an_array_is_its_bytes_where_the_array_can_be_reached(field: str, result: str):
    prototype = rust_prototype(
        "f", f"pub struct D({field});\npub fn f<T: AsRef<[u8]>>(data: T) -> D {{ todo!() }}"
    )
    assert prototype
    assert prototype.result == result


def test_what_is_not_clear_is_asked_for_with_the_words_to_say_it():
    prototype = c_prototype("f", "void f(uint8_t *a, uint8_t *b, int n);")
    assert prototype
    with pytest.raises(UsageError, match="what 'a' is for is not clear") as error:
        assign("digest", "f", prototype)
    assert "--signature digest=?,?,size" in str(error.value.hint)
    assert say("digest", "f", ["in", "out", "size"], prototype).roles == ("in", "out", "size")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["in", "out"], "names 2 parameters"),
        (["in", "outt", "size"], "no role 'outt'"),
        (["in", "in", "size"], "no parameter for out"),
        (["in", "out", "out"], "no parameter for size"),
    ],
)
def test_a_signature_that_makes_no_call_is_refused(words: list[str], complaint: str):
    prototype = c_prototype("f", "void f(uint8_t *a, uint8_t *b, int n);")
    with pytest.raises(UsageError, match=complaint):
        say("digest", "f", words, prototype)


def test_calls_strings_and_comments_are_no_prototypes():
    text = 'int g(void) { return f(a, b); }\n// void f(int x);\nconst char *s = "void f(int y);";\n'
    assert c_prototype("f", text) is None
    prototype = c_prototype("f", text + "static void f(const char *a) {}")
    assert prototype
    assert prototype.hidden


def test_functions_that_can_be_called_are_listed(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("static int one(void) {\n}\nint two(int a)\n{\n}\nvoid three(void);\nint main(void) {}\n")
    assert functions_of([file]) == ("two",)


def test_a_state_of_bytes_is_known_by_the_step_that_sets_the_key():
    setting = c_prototype("k", "void k(const uint8_t *key, uint8_t *w);")
    working = c_prototype("e", "void e(uint8_t *in, uint8_t *out, uint8_t *w);")
    assert setting
    assert working
    state = state_type(assign("key", "k", setting))
    assert assign("encrypt", "e", working, one_block=True, state=state).roles == ("in", "out", "context")
