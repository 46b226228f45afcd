import subprocess
import sys

import pytest

from perbyte.catalogue import load
from perbyte.catalogue.pattern import expand_braces
from perbyte.errors import UsageError

PROMISED = (
    "aes-{128,192,256}-{ecb,cbc,ctr,ofb,cfb,ige}",
    "aes-{128,256}-gcm",
    "camellia-{128,192,256}-{ecb,cbc,ctr}",
    "{des,des-ede3}-{ecb,cbc,ctr,ofb,cfb}",
    "{serpent,twofish}-{128,256}-{ecb,cbc,ctr}",
    "{blowfish,rc2}-{ecb,cbc,ofb}",
    "{cast5,idea,seed,rc5-32-12}-{ecb,cbc}",
    "{blowfish-64,rc5-32-32,safer-k64-6,gost28147,3-way}-ecb",
    "{rc4,wake,seal-3.0,chacha20,chacha20-poly1305}",
    "{md2,md4,md5,sha-1,sha-224,sha-256,sha-384,sha-512,sha3-256,whirlpool,tiger,gost-94,mdc2}",
    "{ripemd,ripemd-128,ripemd-160,ripemd-256,ripemd-320}",
    "hmac-{md5,sha-1,sha-256}",
    "{rsa-{512,1024,2048,4096},dsa-{512,1024,2048}}",
    "probe-{imul,imul-add,crc32,aesenc,empty}",
)


@pytest.fixture(scope="module")
def catalogue():
    return load()


def test_own_catalogue_contradicts_itself_nowhere(catalogue):
    assert catalogue.check() == []


def test_load_is_cached(catalogue):
    assert load() is catalogue


def test_loading_needs_no_heavy_library():
    code = (
        "import sys, perbyte.catalogue as c; c.load(); "
        "print([m for m in ('numpy', 'scipy', 'pyarrow', 'duckdb', 'altair', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [name for promise in PROMISED for name in expand_braces(promise)])
def test_promised_algorithms_are_there(catalogue, name):
    assert catalogue.find(name).id == name


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("AES-128-CBC", "aes-128-cbc"),
        ("aes128-cbc", "aes-128-cbc"),
        ("aes_256_gcm", "aes-256-gcm"),
        ("AES256", "aes-256-cbc"),
        ("2.16.840.1.101.3.4.1.2", "aes-128-cbc"),
        ("3des", "des-ede3-cbc"),
        ("TDES", "des-ede3-cbc"),
        ("3DES-ECB", "des-ede3-ecb"),
        ("des-ede3", "des-ede3-ecb"),
        ("bf-cbc", "blowfish-cbc"),
        ("SHA256", "sha-256"),
        ("1.3.14.3.2.26", "sha-1"),
        ("rmd160", "ripemd-160"),
        ("HmacSHA256", "hmac-sha-256"),
        ("HMAC-SHA-256", "hmac-sha-256"),
        (" sha-512 ", "sha-512"),
    ],
)
def test_find_takes_ids_and_aliases_in_any_case(catalogue, typed, meant):
    assert catalogue.find(typed).id == meant


def test_ripemd_alone_is_the_original_and_not_ripemd_160(catalogue):
    assert catalogue.find("ripemd").year == 1992
    assert catalogue.find("ripemd").tag_bytes == 16


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("aes-128-cbcc", "aes-128-cbc"),
        ("aes", "aes-128-gcm"),
        ("sha-265", "sha-256"),
        ("rmd161", "ripemd-160"),
    ],
)
def test_find_suggests_close_names(catalogue, typed, near):
    with pytest.raises(UsageError) as raised:
        catalogue.find(typed)
    assert f"'{typed}'" in str(raised.value)
    assert near in raised.value.hint


def test_find_suggests_the_list_when_nothing_is_close(catalogue):
    with pytest.raises(UsageError) as raised:
        catalogue.find("zzzzzzzz")
    assert "perbyte list algorithms" in raised.value.hint


@pytest.mark.parametrize(
    ("glob", "meant"),
    [
        ("aes-{128,256}-gcm", ("aes-128-gcm", "aes-256-gcm")),
        ("AES-1??-ECB", ("aes-128-ecb", "aes-192-ecb")),
        ("aes-1[29]*-ige", ("aes-128-ige", "aes-192-ige")),
        ("sha-256", ("sha-256",)),
        ("sha256", ("sha-256",)),
        ("{md5,3des}", ("des-ede3-cbc", "md5")),
        ("3des-c??", ("des-ede3-cbc", "des-ede3-cfb", "des-ede3-ctr")),
        ("no-such-*", ()),
        ("no-such", ()),
    ],
)
def test_match(catalogue, glob, meant):
    assert sorted(catalogue.match(glob)) == sorted(meant)


def test_the_name_of_a_curve_means_several_algorithms(catalogue):
    for name in ("P-256", "prime256v1", "1.2.840.10045.3.1.7"):
        assert set(catalogue.match(name)) == {"ecdh-p256", "ecdsa-p256"}
        with pytest.raises(UsageError, match="means more than one algorithm") as raised:
            catalogue.find(name)
        assert "ecdsa-p256" in raised.value.hint


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("X25519", "x25519"),
        ("aes256gcm", "aes-256-gcm"),
        ("1.3.101.112", "ed25519"),
        ("MLKEM768", "ml-kem-768"),
        ("Argon2id", "argon2id-64mib-2-1"),
    ],
)
def test_names_of_the_field(catalogue, name, meant):
    assert catalogue.find(name).id == meant


def test_match_keeps_the_order_of_the_catalogue(catalogue):
    assert catalogue.match("*") == tuple(catalogue.algorithms)
    assert catalogue.match("{sha-256,aes-128-ecb}") == ("aes-128-ecb", "sha-256")


def test_a_glob_that_fits_ids_leaves_aliases_alone(catalogue):
    assert all(name.startswith("sha") for name in catalogue.match("sha*"))
    assert catalogue.match("rc4*") == ("rc4",)


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        ("aes-128-ecb", "stream/1"),
        ("rc4", "stream/1"),
        ("aes-128-gcm", "message/1"),
        ("sha-256", "oneshot/1"),
        ("hmac-md5", "message/1"),
        ("rsa-2048", "pk/1"),
        ("probe-imul", "stream/1"),
        ("shake128", "oneshot/1"),
        ("x25519", "pk/1"),
        ("ml-kem-768", "pk/1"),
        ("hkdf-sha-256", "expand/1"),
        ("argon2id", "password/1"),
        ("aes-256-xts", "message/1"),
        ("poly1305", "rekey/1"),
        ("tls13-x25519-resumed", "handshake/1"),
        ("tls13-aes-128-gcm", "record/1"),
        ("getrandom", "random/1"),
    ],
)
def test_default_contract(catalogue, name, contract):
    assert catalogue.default_contract(name) == contract
    assert catalogue.default_contract(catalogue.find(name)) == contract


def test_contracts_are_those_of_the_method(catalogue):
    assert set(catalogue.contracts) == {
        "keystream/1",
        "stream/1",
        "message/1",
        "rekey/1",
        "setup/1",
        "oneshot/1",
        "permute/1",
        "pk/1",
        "routine/1",
        "batch/1",
        "draw/1",
        "letter/1",
    } | {
        "expand/1",
        "password/1",
        "handshake/1",
        "record/1",
        "random/1",
        "object/1",
        "context/1",
        "fetch/1",
        "peer/1",
        "pem/1",
        "raw/1",
        "public/1",
        "publicpem/1",
        "publicraw/1",
        "many/1",
        "sum/1",
    }


def test_find_contract_by_id_and_by_bare_name(catalogue):
    assert catalogue.find_contract("message").id == "message/1"
    assert catalogue.find_contract("Message/1").id == "message/1"
    with pytest.raises(UsageError, match="no contract 'massage'") as raised:
        catalogue.find_contract("massage")
    assert "message/1" in raised.value.hint


@pytest.mark.parametrize(
    ("name", "block", "key", "nonce", "tag", "multiple"),
    [
        ("aes-192-cbc", 16, 24, 16, 0, 16),
        ("aes-128-ctr", 16, 16, 16, 0, 1),
        ("aes-256-ige", 16, 32, 32, 0, 16),
        ("aes-256-gcm", 16, 32, 12, 16, 1),
        ("des-ede3-cfb", 8, 24, 8, 0, 1),
        ("blowfish-64-ecb", 8, 8, 0, 0, 8),
        ("rc5-32-32-ecb", 8, 20, 0, 0, 8),
        ("3-way-ecb", 12, 12, 0, 0, 12),
        ("rc4", 0, 16, 0, 0, 1),
        ("seal-3.0", 0, 20, 4, 0, 4),
        ("chacha20-poly1305", 0, 32, 12, 16, 1),
        ("sha-512", 128, 0, 0, 64, 1),
        ("ripemd-320", 64, 0, 0, 40, 1),
        ("hmac-sha-1", 64, 20, 0, 20, 1),
        ("rsa-512", 0, 64, 0, 64, 1),
    ],
)
def test_lengths(catalogue, name, block, key, nonce, tag, multiple):
    known = catalogue.find(name)
    lengths = (
        known.block_bytes,
        known.key_bytes,
        known.nonce_bytes,
        known.tag_bytes,
        known.data_multiple_bytes,
    )
    assert lengths == (block, key, nonce, tag, multiple)


def test_what_hardware_accelerates(catalogue):
    assert catalogue.find("aes-128-gcm").accelerated_by == ("aes", "clmul")
    assert catalogue.find("sha-256").accelerated_by == ("sha",)
    assert catalogue.find("sha-512").accelerated_by == ()
    assert catalogue.find("camellia-128-ecb").accelerated_by == ()
