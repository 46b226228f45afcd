"""What is understood of benchmarks' names: the right cell, or a reason; never another cell."""

from __future__ import annotations

import random

import pytest

from perbyte.catalogue import load
from perbyte.exchange import make_benchmark_run, read_benchmarks, read_meaning
from perbyte.exchange.benchmark_names import understand
from perbyte.exchange.benchmark_sizes import Sizes, rounded
from perbyte.exchange.reading import Reading


def meant(name: str, **told) -> tuple[str, str, int] | str:
    meaning = understand(name, load(), **told)
    return (
        meaning if isinstance(meaning, str) else (meaning.algorithm.id, meaning.operation, meaning.size_bytes)
    )


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("ml-kem-768/decaps", ("ml-kem-768", "decapsulate", 32)),
        ("keccak-f1600", ("keccak-f1600", "permute", 200)),
        ("mlkem512_keypair", ("ml-kem-512", "keygen", 32)),
        ("MLKEM768Encapsulate", ("ml-kem-768", "encapsulate", 32)),
        ("ed25519 verification", ("ed25519", "verify", 32)),
        ("ed25519_sign_1024", ("ed25519", "sign", 1024)),
        ("aes-128-cbc/decryption/4096", ("aes-128-cbc", "decrypt", 4096)),
        ("AES-256-GCM/unseal/4096", ("aes-256-gcm", "open", 4096)),
        ("AESGCM/Seal-128-64", ("aes-128-gcm", "seal", 64)),
        ("AESGCM/Seal-256-8192", ("aes-256-gcm", "seal", 8192)),
        ("gcm-aes-256 open 1 KiB", ("aes-256-gcm", "open", 1024)),
        ("aes/key=256/mode=ctr/size=1024", ("aes-256-ctr", "encrypt", 1024)),
        ("BM_SHA256/16384/real_time", ("sha-256", "digest", 16384)),
        ("SHA256Sum1K", ("sha-256", "digest", 1024)),
        ("Hash8Bytes/sha256", ("sha-256", "digest", 8)),
        ("sha512_256/1024", ("sha-512-256", "digest", 1024)),
        ("HMAC-SHA256/8K", ("hmac-sha-256", "mac", 8192)),
        ("sha256_avx2/1024", ("sha-256", "digest", 1024)),
        ("ECDSA P-256 SHA256 verify", ("ecdsa-p256", "verify", 32)),
        ("X25519 key exchange", ("x25519", "derive", 32)),
        ("RSA 2048 sign", ("rsa-2048", "sign", 32)),
        ("argon2id-64mib-2-1", ("argon2id-64mib-2-1", "hash", 32)),
    ],
)
def test_usual_names_are_understood(name: str, cell: tuple[str, str, int]):
    assert meant(name) == cell


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("rsa-2048/private/decrypt", "'private'"),
        ("hmac_sha1_96", "96 may be the size or a part of the name"),
        ("hmac-sha256-128", "128 may be the size or a part of the name"),
        ("aes_256_ofb_128", "128 may be the size or a part of the name"),
        ("argon2id verify", "leaves out"),
        ("aes128/1024", "leaves out"),
        ("des/1024", "leaves out"),
        ("NewKeyFromSeed", "no algorithm"),
        ("Seal-64-X", "no algorithm"),
        ("Chacha20Poly1305/Seal-64-X", "'x'"),
        ("AES-128 CCM auth", "'auth'"),
        ("aes-256-gcm/1024", "which operation"),
        ("AESGCM/seal/1024", "which of its lengths"),
        ("x25519", "which operation"),
        ("ed25519 batch verify/64", "'batch'"),
        ("ed25519 verify 64 signatures", "64"),
        ("Ed25519 generate signature", "'generate'"),
        ("ml-kem-768 encaps+decaps", "decapsulate and encapsulate"),
        ("ml-kem-768/encaps/1024", "takes no data"),
        ("sha256", "no size"),
        ("sha256 update/1024", "'update'"),
        ("sha256 8192 bits", "bits"),
        ("sha512/256", "may be the size or a part"),
        ("sha512/224", "does not have"),
        ("blake2b/256", "may be the size or a part"),
        ("sha256/16kB", "1000 or of 1024"),
        ("sha256/64/4", "64 and 4"),
        ("sha256 x4 1024", "'x'"),
        ("sha256/1024/threads:4", "4 threads"),
        ("aes-128-cbc-hmac-sha-1 encrypt 1024", "hmac-sha-1"),
        ("AES-XTS-256 encrypt 4096", "which of its lengths|no algorithm"),
        ("Wake/64", "word of the language"),
        ("sha256 überprüfen 64", "is not understood"),
        ("sha256/99999999999999999999", "no size"),
    ],
)
def test_what_is_left_over_or_missing_is_a_reason(name: str, why: str):
    meaning = meant(name)
    assert isinstance(meaning, str)
    assert any(part in meaning for part in why.split("|")), meaning


def test_throughput_tells_the_size_as_far_as_it_is_printed():
    assert rounded(1348 * 6.07494, "1348", "6074.94").roundest() == 8192
    assert meant("SHA1/8192", sizes=rounded(1348 * 6.07494, "1348", "6074.94")) == ("sha-1", "digest", 8192)
    assert meant("SHA1", sizes=Sizes(1495, 1505)) == ("sha-1", "digest", 1500)
    assert "between" in meant("SHA1", sizes=Sizes(1501, 1511))
    assert "not known" in meant("SHA1/4096", sizes=Sizes(8190, 8194))  # the name and the rate disagree
    assert meant("SHA1/16kB", sizes=Sizes(16380, 16390)) == ("sha-1", "digest", 16384)


def test_parameters_with_names_are_no_sizes_unless_they_say_so():
    told = {"settings": (("dataSize", "1024"), ("keyLength", "256"))}
    assert meant("AESGCMBench.encrypt", **told) == ("aes-256-gcm", "seal", 1024)
    assert "another length" in meant("Aes128GcmBench.encrypt", **told)
    assert "is for" in meant("Sha256.digest", settings=(("tagLength", "16"),))
    assert meant(
        "Digests.digest", settings=(("algorithm", "SHA-256"), ("length", "64"), ("provider", "SUN"))
    ) == (
        "sha-256",
        "digest",
        64,
    )


def test_the_package_is_part_of_the_name():
    assert meant("Hash1K", package="crypto/sha256") == ("sha-256", "digest", 1024)
    assert meant("Hash1K", package="crypto/md5") == ("md5", "digest", 1024)
    assert "package" in meant("SHA256/1K", package="crypto/hmac")
    assert "package" in meant("SHA256/1K", package="crypto/md5")
    text = "pkg: crypto/md5\nBenchmarkHash1K-8 800 1500 ns/op\npkg: crypto/sha256\nBenchmarkHash1K-8 900 600 ns/op\n"
    readings = read_benchmarks("benchfmt", text, "x")
    mapped = make_benchmark_run(
        readings,
        "benchfmt",
        name="x",
        source="x",
        runner="x",
        meanings=[read_meaning("^Hash1K=sha-256@1KiB")],
    )
    assert [(cell.cell.algorithm, cell.ns_per_call) for cell in mapped.cells] == [("sha-256", 600)]
    assert "crypto/md5" in mapped.conditions.input["remarks"][0]


def test_a_reading_that_its_tool_says_more_of_is_a_note():
    run = make_benchmark_run(
        [Reading("sha-256", 3, float("nan"), unlike="of one iteration")],
        "x",
        name="x",
        source="x",
        runner="x",
    )
    assert not run.cells
    assert "of one iteration" in run.conditions.input["remarks"][0]


WRITTEN = {
    # algorithm: how people write it
    "sha-256": ("sha256", "SHA-256", "Sha256", "SHA_256", "sha2-256"),
    "sha3-512": ("sha3-512", "SHA3_512", "Sha3512"),
    "blake2b-512": ("blake2b", "BLAKE2b-512"),
    "crc32c": ("crc32c", "CRC32C"),
    "hmac-sha-256": ("hmac-sha256", "HMAC_SHA256", "HmacSha256", "hmac(sha256)"),
    "aes-128-cmac": ("aes-128-cmac", "AES128_CMAC"),
    "aes-128-cbc": ("aes-128-cbc", "AES_128_CBC", "Aes128Cbc", "aes128cbc"),
    "aes-256-ctr": ("aes-256-ctr", "AES256CTR", "aes_ctr_256"),
    "chacha20": ("chacha20", "ChaCha20"),
    "aes-256-gcm": ("aes-256-gcm", "AES256-GCM", "Aes256Gcm", "aes_gcm_256"),
    "chacha20-poly1305": ("chacha20-poly1305", "ChaCha20Poly1305", "chacha20_poly1305"),
    "ml-kem-768": ("ml-kem-768", "MLKEM768", "mlkem768"),
    "ml-dsa-44": ("ml-dsa-44", "MLDSA44", "mldsa-44"),
    "ed25519": ("ed25519", "Ed25519", "ED25519"),
    "ecdsa-p256": ("ecdsa-p256", "ECDSA_P256", "EcdsaP256"),
    "rsa-2048": ("rsa-2048", "RSA2048", "rsa/2048"),
    "x25519": ("x25519", "X25519", "curve25519"),
}
SAID = {
    "encrypt": ("encrypt", "Encryption", "enc"),
    "decrypt": ("decrypt", "Decryption", "dec"),
    "seal": ("seal", "Seal", "encrypt", "enc"),
    "open": ("open", "unseal", "Decrypt", "decryption"),
    "digest": ("digest", "hash", "Sum"),
    "mac": ("mac", "tag", "auth"),
    "sign": ("sign", "signing", "Sign"),
    "verify": ("verify", "verification", "Verify"),
    "keygen": ("keygen", "keypair", "key generation", "GenerateKey", "key_gen"),
    "encapsulate": ("encaps", "encap", "Encapsulate", "encapsulation"),
    "decapsulate": ("decaps", "decap", "Decapsulate", "decapsulation"),
    "derive": ("derive", "agree", "shared secret", "key exchange"),
}
AROUND = ("bench", "BM", "Benchmark", "openssl", "speed", "ring", "test")
CHANGING = (
    "update", "init", "setup", "schedule", "batch", "prehash", "parallel", "stream2", "keyed", "private", "public",
    "warmup", "context", "reset", "multi", "alloc", "incremental", "block2", "aad", "twice", "x4", "double", "finalize",
)  # fmt: skip
UNSIZED = {"keygen", "encapsulate", "decapsulate", "derive"}


def made_up(draw: random.Random) -> tuple[str, tuple[str, str, int], bool]:
    """A name, the cell that it means, and whether all of it is said in usual words."""
    algorithm = draw.choice(sorted(WRITTEN))
    known = load().find(algorithm)
    operation = draw.choice([name for name in known.operations if name in SAID])
    size = draw.choice((16, 64, 100, 576, 1024, 1350, 4096, 8192, 16384, 2**20))
    words = [draw.choice(WRITTEN[algorithm])]
    whole = True
    single = len(known.operations) == 1
    if not single or draw.random() < 0.5:
        if draw.random() < 0.85:
            words.append(draw.choice(SAID[operation]))
        else:
            whole = single
    if operation in UNSIZED or known.kind == "signature":
        size = 32
    elif draw.random() < 0.85:
        words.append(
            draw.choice(
                [str(size)] + [f"{size // 1024}K", f"{size // 1024}KiB"] * (size % 1024 == 0) + [f"{size}B"]
            )
        )
    else:
        whole = False
    if draw.random() < 0.3:
        words.insert(draw.randrange(len(words) + 1), draw.choice(CHANGING))
        whole = False
    if draw.random() < 0.5:
        words.insert(0, draw.choice(AROUND))
    return draw.choice("/_- ").join(words), (algorithm, operation, size), whole


def test_no_made_up_name_gets_another_cell():
    draw = random.Random(20261127)
    understood = wanted = 0
    for _ in range(3000):
        name, cell, whole = made_up(draw)
        meaning = meant(name)
        if isinstance(meaning, str):
            wanted += whole
            continue
        understood += 1
        wanted += whole
        assert whole or _is_default_of_both_ways(cell, meaning), f"{name}: {meaning}"
        if meaning != cell:
            assert _is_default_of_both_ways(cell, meaning), f"{name}: {meaning}, not {cell}"
    assert understood > 0.85 * wanted  # and most of what is said in usual words is understood


def _is_default_of_both_ways(cell: tuple[str, str, int], meaning: tuple[str, str, int]) -> bool:
    """Decryption in CTR and of a stream cipher is encryption: a name without either stands for it."""
    return cell[0] in ("aes-256-ctr", "chacha20") and (meaning[0], meaning[2]) == (cell[0], cell[2])
