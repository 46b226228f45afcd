"""States and outputs that a user's functions allocate, derivation of keys, and what a message offers to paste."""

from __future__ import annotations

from pathlib import Path

import pytest
from trial_answers import answers, build

from perbyte.errors import UsageError
from perbyte.runners import Session

pytestmark = pytest.mark.native

MADE = """
#include <openssl/sha.h>
#include <stdlib.h>
static int alive;
typedef struct hasher hasher;
hasher *hasher_new(void)
{
	SHA256_CTX *c = malloc(sizeof *c);
	if (alive++ > 8)
		abort();
	SHA256_Init(c);
	return (hasher *)c;
}
void hasher_add(hasher *h, const void *data, size_t len) { SHA256_Update((SHA256_CTX *)h, data, len); }
void hasher_end(hasher *h, unsigned char *out) { SHA256_Final(out, (SHA256_CTX *)h); }
void hasher_free(hasher *h) { alive--; free(h); }
"""
STEPS = "init=hasher_new,update=hasher_add,final=hasher_end"


def test_a_state_that_is_returned_is_freed_in_each_call(tmp_path: Path):
    """The tenth state aborts unless those before were freed."""
    file = tmp_path / "made.c"
    file.write_text(MADE)
    spec = build(tmp_path, [file], "sha-256", f"{STEPS},free=hasher_free", link=("-lcrypto",))
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 3
    with Session(spec) as session:
        session.check_calls(session.prepare("sha-256", "digest", "oneshot/1", 64, seed=7, offset=0), 40)
        assert session.hello().operations[0].calls == "hasher_free, hasher_new, hasher_add, hasher_end"
    with pytest.raises(UsageError, match="what it returns must be freed") as refusal:
        build(tmp_path, [file], "sha-256", STEPS, link=("-lcrypto",))
    assert "init=hasher_new,free=free" in (refusal.value.hint or "")


def test_an_output_that_is_handed_over_by_a_pointer_is_taken_and_freed(tmp_path: Path):
    file = tmp_path / "over.c"
    file.write_text(
        "#include <stdlib.h>\n#include <openssl/sha.h>\n"
        "int digest_to(const void *data, size_t len, unsigned char **out, size_t *outlen)\n"
        "{ *outlen = 32; *out = SHA256(data, len, malloc(32)); return 0; }\n"
    )
    spec = build(tmp_path, [file], "sha-256", "digest_to,free=free", link=("-lcrypto",))
    assert answers(spec, "sha-256")["digest", "oneshot/1"] > 3
    with pytest.raises(UsageError, match="what it allocates must be freed"):
        build(tmp_path, [file], "sha-256", "digest_to", link=("-lcrypto",))


MAC = """
#include <openssl/evp.h>
#include <openssl/hmac.h>
static HMAC_CTX *kept;
int f_key(HMAC_CTX **c, const void *key)
{
	if (!kept)
		kept = HMAC_CTX_new();
	*c = kept;
	return HMAC_Init_ex(kept, key, 32, EVP_sha256(), NULL);
}
typedef struct { HMAC_CTX *hmac; } f_ctx;
int f_init(f_ctx *ctx, const void *key) { return f_key(&ctx->hmac, key); }
int f_update(f_ctx *ctx, const void *in, size_t size) { return HMAC_Update(ctx->hmac, in, size); }
int f_final(f_ctx *ctx, unsigned char *out) { return HMAC_Final(ctx->hmac, out, NULL); }
int f_mac(f_ctx *ctx, unsigned char *out, const void *in, size_t size)
{ return HMAC_Init_ex(ctx->hmac, NULL, 0, NULL, NULL) && f_update(ctx, in, size) && f_final(ctx, out); }
static f_ctx only;
int g_key(f_ctx *ctx, const void *key)
{
	int right = f_init(ctx, key);
	only = *ctx;
	return right;
}
int g_mac(unsigned char *out, const void *in, size_t size) { return f_mac(&only, out, in, size); }
"""


def test_a_mac_whose_key_is_kept_by_its_parts_or_by_nothing_that_is_given(tmp_path: Path):
    file = tmp_path / "mac.c"
    file.write_text(MAC)
    parts = "init=f_init,update=f_update,final=f_final,mac=f_mac"
    spec = build(tmp_path / "parts", [file], "hmac-sha-256", parts, link=("-lcrypto",))
    with Session(spec) as session:
        rows = [(row.operation, row.contract, row.calls) for row in session.hello().operations]
    assert rows == [("mac", "rekey/1", "f_init, f_update, f_final")]
    spec = build(tmp_path / "global", [file], "hmac-sha-256", "key=g_key,mac=g_mac", link=("-lcrypto",))
    with Session(spec) as session:
        assert [row.contract for row in session.hello().operations] == ["message/1", "rekey/1"]


HKDF = """
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
/* HKDF-Expand after HKDF-Extract, RFC 5869, with its names. */
int my_hkdf(unsigned char *okm, size_t okm_len, const unsigned char *ikm, size_t ikm_len, const unsigned char *salt,
            size_t salt_len, const unsigned char *info, size_t info_len)
{
	unsigned char prk[32], t[32];
	HMAC(EVP_sha256(), salt, (int)salt_len, ikm, ikm_len, prk, NULL);
	for (unsigned char i = 1; okm_len; i++) {
		HMAC_CTX *c = HMAC_CTX_new();
		HMAC_Init_ex(c, prk, 32, EVP_sha256(), NULL);
		if (i > 1)
			HMAC_Update(c, t, 32);
		HMAC_Update(c, info, info_len);
		HMAC_Update(c, &i, 1);
		HMAC_Final(c, t, NULL);
		HMAC_CTX_free(c);
		size_t part = okm_len < 32 ? okm_len : 32;
		memcpy(okm, t, part);
		okm += part;
		okm_len -= part;
	}
	return 0;
}
int my_pbkdf2(const char *password, size_t plen, const unsigned char *salt, size_t slen, int iterations,
              unsigned char *out, size_t outlen)
{ return PKCS5_PBKDF2_HMAC(password, (int)plen, salt, (int)slen, iterations, EVP_sha256(), (int)outlen, out); }
"""


def test_a_derivation_with_the_names_of_its_standard_is_understood(tmp_path: Path):
    file = tmp_path / "kdf.c"
    file.write_text(HKDF)
    spec = build(tmp_path, [file], "hkdf-sha-256", "my_hkdf", link=("-lcrypto",))
    assert answers(spec, "hkdf-sha-256")["expand", "expand/1"] > 1


def test_a_password_hash_is_told_its_rounds_by_the_line_that_is_offered(tmp_path: Path):
    file = tmp_path / "kdf.c"
    file.write_text(HKDF)
    with pytest.raises(UsageError, match="what 'iterations' is for is not clear") as refusal:
        build(tmp_path, [file], "pbkdf2-sha-256-4096", "my_pbkdf2", link=("-lcrypto",))
    offered = (refusal.value.hint or "").split("--signature ")[1].split()[0]
    assert offered == "hash=in,size,nonce,nonce-length,?,out,out-length"
    signature = offered.replace("?", "4096")
    spec = build(
        tmp_path, [file], "pbkdf2-sha-256-4096", "my_pbkdf2", signatures=(signature,), link=("-lcrypto",)
    )
    assert answers(spec, "pbkdf2-sha-256-4096")["hash", "password/1"] > 0


def test_a_program_linked_with_libraries_is_no_witness_of_what_they_lack(tmp_path: Path, code: Path):
    file = tmp_path / "made.c"
    file.write_text(MADE)
    linked = build(tmp_path, [file], "sha-256", f"{STEPS},free=hasher_free", link=("-lcrypto",))
    with Session(linked) as session:
        assert session.identity().lacks == ()
