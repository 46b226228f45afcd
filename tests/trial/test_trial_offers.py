"""Which functions a message offers, and what keys may be called."""

from __future__ import annotations

from pathlib import Path

import pytest

from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.trial.prototype import functions_of
from perbyte.trial.subject import TrialRequest, read_calls, read_files

KEYS = """void pair(unsigned char *{public}, unsigned char *{private}, const unsigned char *seed) {{ }}
void mark(unsigned char sig[64], const unsigned char {private}[32]{both}, const unsigned char *m, unsigned long n) {{ }}
int check(const unsigned char sig[64], const unsigned char {public}[32], const unsigned char *msg, unsigned long n)
{{ return 0; }}
"""


def asked(tmp_path: Path, text: str, algorithm: str, *functions: str) -> TrialRequest:
    file = tmp_path / "mine.c"
    file.write_text(text)
    return TrialRequest(read_files([file]), load().find(algorithm), functions)


@pytest.mark.parametrize(
    ("public", "private"),
    [
        ("public_key", "private_key"),
        ("pk", "sk"),
        ("their_public_key", "your_secret_key"),
        ("pubKey", "privkey"),
    ],
)
@pytest.mark.parametrize("both", [False, True])
def test_keys_are_known_by_their_usual_names_and_signing_may_take_both(
    tmp_path: Path, public: str, private: str, both: bool
):
    text = KEYS.format(
        public=public, private=private, both=f", const unsigned char {public}[32]" if both else ""
    )
    calls = read_calls(asked(tmp_path, text, "ed25519", "keypair=pair", "sign=mark", "verify=check"))
    assert calls["keypair"].roles == ("public-key", "secret-key", "seed")
    assert calls["sign"].roles == ("tag", "secret-key", *(["public-key"] if both else []), "in", "size")
    assert calls["verify"].roles == ("tag", "public-key", "in", "size")


STYLES = """typedef unsigned char u8;
void
own_line(u8 *out, const u8 *in, unsigned long n)
{
    if (n) { out[0] = in[0]; }
    else if (n > 1) { out[0] = 1; }
    while (n--) { out[n] = in[n]; }
}
static void hidden(u8 *out) { out[0] = 1; }
int main(void) { return 0; }
void one_line(u8 *out) { out[0] = 1; }
"""


def test_functions_are_listed_whatever_line_their_result_stands_on(tmp_path: Path):
    file = tmp_path / "mine.c"
    file.write_text(STYLES)
    assert functions_of([file]) == ("own_line", "one_line")


MODES = """void my_init_ctx(void *ctx, const unsigned char *key) { }
void my_ECB_encrypt(void *ctx, unsigned char *buf) { }
void my_ECB_decrypt(void *ctx, unsigned char *buf) { }
void my_CTR_encrypt(void *ctx, unsigned char *buf, unsigned long n) { }
void my_CTR_decrypt(void *ctx, unsigned char *buf, unsigned long n) { }
void wipe(unsigned char *a) { }
"""


def test_what_is_offered_fits_the_algorithm(tmp_path: Path):
    with pytest.raises(UsageError) as error:
        read_calls(asked(tmp_path, MODES, "aes-128-ctr"))
    hint = error.value.hint or ""
    assert "there are: my_CTR_encrypt, my_CTR_decrypt, " in hint
    assert "encrypt=my_CTR_encrypt,decrypt=my_CTR_decrypt" in hint
    assert "=my_ECB" not in hint
