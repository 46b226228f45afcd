"""Readers of the speed programs of libraries: botan, bench-slope, SUPERCOP, bssl, wolfCrypt, cryptsetup, Mbed TLS."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from perbyte.exchange.benchmark_sizes import UNSIZED_BYTES, Sizes, exact
from perbyte.exchange.listing import whole_number
from perbyte.exchange.reading import BYTES, BrokenListing, Reading, json_of, number

_BOTAN = re.compile(
    r"^(?P<name>\S+)(?: \[[^\]]*\])? (?P<what>\S+) buffer size (?P<size>\d+) bytes: "
    r"(?P<rate>[\d.]+) (?P<unit>[KMG]iB)/sec"
    r"(?: (?P<cpb>[\d.]+) cycles/byte)?"
)
_BOTAN_OPS = re.compile(
    r"^(?P<name>\S.*?) (?P<rate>\d+(?:\.\d+)?) (?P<what>\S[^;]*)/sec; [\d.]+ ms/op"
    r"(?: (?P<cycles>\d+) cycles/op)?"
)
_BLOCK_CIPHER = re.compile(
    r"(?:AES|ARIA|Camellia)-\d+|SM4|SEED|Serpent|Twofish|Blowfish|CAST-128|IDEA|Noekeon|Kuznyechik|DES|TripleDES"
)
_TAG, _PROVIDER = re.compile(r"\(\d+\)"), re.compile(r" ?\[[^\]]*\]")


def botan(text: str) -> Iterator[Reading]:
    """`botan speed`: rates per buffer size, and operations per second."""
    for line, raw in enumerate(text.split("\n"), start=1):
        if match := _BOTAN.match(raw):
            size = int(number(match["size"], line, "a size"))
            rate = number(match["rate"], line, "a rate") * BYTES[match["unit"]]
            if rate <= 0 or size > 2**40:
                raise BrokenListing(line, "a rate of nothing, or a size of more than a terabyte")
            cycles = number(match["cpb"], line, "cycles") * size if match["cpb"] else math.nan
            name = _TAG.sub("", match["name"])
            name += " ECB" if _BLOCK_CIPHER.fullmatch(name) else ""  # whole blocks, one after the other
            yield Reading(f"{name} {match['what']}", line, size / rate * 1e9, exact(size), cycles=cycles)
        elif " buffer size " in raw:
            raise BrokenListing(line, "the line of a buffer size is cut off")
        elif match := _BOTAN_OPS.match(raw):
            rate = number(match["rate"], line, "a rate")
            cycles = number(match["cycles"], line, "cycles") if match["cycles"] else math.nan
            name = f"{_TAG.sub('', _PROVIDER.sub('', match['name']))} {match['what']}"
            ns = 1e9 / rate if rate > 0 else math.nan
            yield Reading(name, line, ns, cycles=cycles, unlike="" if rate > 0 else "no rate")


_SLOPE_HEAD = re.compile(r"^\s*(?P<name>\S.*?)?\s+\|\s+nanosecs/(?P<per>byte|iter)\s")
_SLOPE = re.compile(r"^\s*(?P<what>\S.*?)?\s*\|\s+(?P<ns>[\d.]+) ns/B\s+[\d.]+ MiB/s\s+(?P<cpb>[\d.]+|-) c/B")
_SLOPE_CALLS = re.compile(r"^\s*(?P<what>\S.*?)\s*\|\s+(?P<ns>[\d.]+)\s+(?P<cycles>[\d.]+|-)(?:\s|$)")
SLOPE_BYTES = 65_536


def slope(text: str) -> Iterator[Reading]:
    """`bench-slope`: the cost of a further byte, given at SLOPE_BYTES; what a call costs besides is not in it.

    Below `nanosecs/iter` stand whole calls; of a KDF it is one iteration.
    """
    head, per, title = "", "byte", ""
    for line, raw in enumerate(text.split("\n"), start=1):
        if match := _SLOPE_HEAD.match(raw):
            head, per = (
                re.sub("^AES$", "AES-128", match["name"] or ""),
                match["per"],
            )
        elif match := _SLOPE.match(raw):
            cycles = math.nan if match["cpb"] == "-" else number(match["cpb"], line, "cycles") * SLOPE_BYTES
            ns = number(match["ns"], line, "ns/B") * SLOPE_BYTES
            name = f"{head} {match['what'] or ''}".strip()
            yield Reading(name, line, ns, exact(SLOPE_BYTES), cycles=cycles)
        elif "ns/B" in raw:
            raise BrokenListing(line, "the row is cut off")
        elif re.fullmatch(r"[A-Za-z]+:\s*", raw):
            title = raw.strip(" :").lower()
        elif per == "iter" and (match := _SLOPE_CALLS.match(raw)):
            cycles = math.nan if match["cycles"] == "-" else number(match["cycles"], line, "cycles")
            unlike = "the cost of one iteration, and no whole call" if title == "kdf" else ""
            ns = number(match["ns"], line, "ns")
            yield Reading(f"{head} {match['what']}".strip(), line, ns, cycles=cycles, unlike=unlike)


_SUPERCOP = re.compile(r"(\S+) (\S+) (\S+) (\d{8}) crypto_(\w+) ([^/\s]+)(?:/(\S+))? (\w+) ?(.*)$")
_SUPERCOP_OPERATIONS = {
    ("hash", "cycles"): "digest",
    ("auth", "cycles"): "mac",
    ("onetimeauth", "cycles"): "mac",
    ("stream", "xor_cycles"): "encrypt",
    ("aead", "encrypt_cycles"): "seal",
    ("aead", "decrypt_cycles"): "open",
    ("sign", "cycles"): "sign",
    ("sign", "open_cycles"): "verify",
    ("kem", "enc_cycles"): "encapsulate",
    ("kem", "dec_cycles"): "decapsulate",
    ("scalarmult", "cycles"): "derive",
}
_WITH_AAD, _AAD = 1_000_000, (0, 13)


def supercop(text: str) -> Iterator[Reading]:
    """The lines of SUPERCOP's `data`: the best implementation of each primitive and size.

    `version host abi date crypto_OP PRIMITIVE/SECURITY WORD ...`. A line of cycles says the length, the middle one of
    its timings, and how far the others lie from it; that is a spread, and no interval. The clock's rate stands in a
    line before. Of associated data only none, or as much as Perbyte's material has, is taken.
    """
    hertz: dict[tuple[str, ...], float] = {}
    best: dict[tuple[str, int], Reading] = {}
    for line, raw in enumerate(text.split("\n"), start=1):
        if not (match := _SUPERCOP.match(raw.strip())):
            continue
        *where, operation, primitive, _, word, rest = match.groups()
        values = rest.split()
        if word == "cpucycles_persecond" and values:
            hertz[tuple(where)] = float(whole_number(values[0]))
        named = _SUPERCOP_OPERATIONS.get((operation, word))
        rate = hertz.get(tuple(where), 0.0)
        if not named or len(values) < 2 or rate <= 0:
            continue
        cycles = float(whole_number(values[1]))
        size = UNSIZED_BYTES if values[0] == "-" else whole_number(values[0])
        if cycles <= 0 or size < 0:
            continue
        if operation == "aead":
            if size // _WITH_AAD not in _AAD:
                continue
            size %= _WITH_AAD
        name = f"{re.sub(r'v[0-9]+$', '', primitive)} {named}"
        if (name, size) not in best or cycles < best[name, size].cycles:
            best[name, size] = Reading(name, line, cycles / rate * 1e9, exact(size), cycles=cycles)
    yield from best.values()


_BSSL = re.compile(
    r"Did (?P<calls>\d+) (?P<name>.+?) operations? in (?P<us>\d+)us \([\d.]+ ops/sec\)"
    r"(?:: (?P<mb>[\d.]+) MB/s)?"
)
_BSSL_NAMES = (
    (r" \(same key\)", ""),
    (r"^(?:Curve|X)25519 arbitrary point multiplication$", "X25519 key agreement"),
    (r"\bkey[ -]generation$", "keygen"),
)


def bssl(text: str) -> Iterator[Reading]:
    """`bssl speed` of BoringSSL and AWS-LC, its text or `-json`."""
    if text.lstrip().startswith("["):
        entries = json_of(text)
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict) or "description" not in entry:
                raise BrokenListing(1, "an entry without description")
            calls = number(entry.get("numCalls"), 1, "numCalls")
            us = number(entry.get("microseconds"), 1, "microseconds")
            size = entry.get("bytesPerCall")
            sizes = exact(size) if isinstance(size, int) and size > 0 else Sizes()
            yield _bssl_reading(str(entry["description"]), 1, calls, us, sizes)
        return
    for line, raw in enumerate(text.split("\n"), start=1):
        if match := _BSSL.search(raw):
            sized = re.search(r"\((\d{1,12}) bytes?\)", match["name"])
            sizes = exact(int(sized[1])) if sized and match["mb"] else Sizes()
            calls, us = number(match["calls"], line, "calls"), number(match["us"], line, "a time")
            yield _bssl_reading(match["name"], line, calls, us, sizes)
        elif raw.startswith("Did ") and "operations" in raw:
            raise BrokenListing(line, "the line is cut off")


def _bssl_reading(name: str, line: int, calls: float, us: float, sizes: Sizes) -> Reading:
    for pattern, replacement in _BSSL_NAMES:
        name = re.sub(pattern, replacement, name)
    return Reading(name, line, us * 1e3 / calls if calls > 0 else 0.0, sizes)


_WOLF_BLOCK = re.compile(r"wolfCrypt Benchmark \(block bytes (\d{1,12}),")
_WOLF_RATE = re.compile(
    r"^(?P<name>[A-Za-z0-9].*?)\s+[\d.]+ [KMGkmg]?i?B(?:ytes)? took [\d.]+ seconds,\s+"
    r"(?P<rate>[\d.]+) (?P<unit>[KMG]i?B)/s"
    r"(?:,? Cycles per byte =\s*(?P<cpb>[\d.]+))?"
)
_WOLF_NOTHING = re.compile(r"^(?P<name>[A-Za-z0-9].*?)\s+0 bytes took [\d.]+ seconds,\s+0\.0+ bytes/s")
_ENOUGH_TOTALS = 6  # that all are multiples of five by chance: once in 5**6
_WOLF_OPS = re.compile(
    r"^(?P<name>[A-Za-z].*?)\s+\d+ ops took [\d.]+ sec, avg (?P<ms>[\d.]+) ms, (?P<rate>[\d.]+) ops/sec"
)
_WOLF_NAMES = {
    "SHA": "SHA-1",
    "3DES": "3DES-CBC encrypt",
    "HMAC-SHA": "HMAC-SHA-1",
    "CHACHA": "ChaCha20 encrypt",
    "CHA-POLY": "ChaCha20-Poly1305 seal",
    "RIPEMD": "RIPEMD-160",
    "BLAKE2B": "BLAKE2b",
    "BLAKE2S": "BLAKE2s",
}
_WOLF_WORDS = (
    (r"-enc\b", " encrypt"),
    (r"-dec\b", " decrypt"),
    (r"^(AES-\d+)-GMAC$", r"\1-GMAC"),
    (r"^ECC\s+\[\s*SECP(\d+)R1\]\s+\d+\s+key gen$", r"ECDSA-P\1 keygen"),
    (r"^ECDHE \[\s*SECP(\d+)R1\]\s+\d+\s+agree$", r"ECDH-P\1 agree"),
    (r"^ECDSA \[\s*SECP(\d+)R1\]\s+\d+\s+(sign|verify)$", r"ECDSA-P\1 \2"),
    (r"^CURVE\s+25519", "X25519"),
    (r"^CURVE\s+448", "X448"),
    (r"^ED\s+(25519|448)", r"Ed\1"),
    (r"^ML-KEM\s+(\d+)\s+\d+\s+", r"ML-KEM-\1 "),
    (r"^ML-DSA\s+(\d+)\s+", r"ML-DSA-\1 "),
    (r"^RSA\s+(\d+)\s+public$", r"RSA-\1 raw public operation"),
    (r"^RSA\s+(\d+)\s+private$", r"RSA-\1 raw private operation"),
)


def wolfcrypt(text: str) -> Iterator[Reading]:
    """wolfCrypt's `benchmark`: its blocks' length stands above the rows.

    `MB` is 1000 or 1024 squared, by version and option. It counts blocks in fives, so that rows of blocks of 1 MiB
    tell: all their totals are multiples of five where `MB` is of 1024. Otherwise only `MiB` is taken.
    """
    block = 0
    binary = _counts_mebibytes(text)
    columns = (  # of diff --side-by-side
        (line, column)
        for line, raw in enumerate(text.split("\n"), start=1)
        for column in re.split(r"\s[|<>]\s|\t+(?=\S+ .* took )", raw)
    )
    for line, raw in columns:
        if match := _WOLF_BLOCK.search(raw):
            block = int(match[1])
        elif match := _WOLF_RATE.match(raw.strip()):
            unit = "MiB" if binary and match["unit"] == "MB" else match["unit"]
            rate = number(match["rate"], line, "a rate") * BYTES[unit]
            unlike = "" if unit.endswith("iB") else f"whether {unit} is of 1000 or of 1024 is not said"
            sizes = exact(block) if block else Sizes()
            cycles = number(match["cpb"], line, "cycles") * block if match["cpb"] else math.nan
            ns = (block or 1) / rate * 1e9 if rate > 0 else math.nan
            yield Reading(_wolf_name(match["name"]), line, ns, sizes, cycles=cycles, unlike=unlike)
        elif match := _WOLF_NOTHING.match(raw.strip()):
            yield Reading(_wolf_name(match["name"]), line, math.nan, unlike="it worked on nothing")
        elif match := _WOLF_OPS.match(raw.strip()):
            rate = number(match["rate"], line, "a rate")
            yield Reading(_wolf_name(match["name"]), line, 1e9 / rate if rate > 0 else math.nan)
        elif " took " in raw and "sec" in raw and raw[:1].isalnum():
            raise BrokenListing(line, "the row is cut off, or of a form that is not known here")


def _counts_mebibytes(text: str) -> bool:
    totals = [float(total) for total in re.findall(r"\s(\d{1,9}(?:\.0+)?) MB took ", text)]
    return (
        "(block bytes 1048576," in text
        and len(totals) >= _ENOUGH_TOTALS
        and not any(total % 5 for total in totals)
    )


def _wolf_name(name: str) -> str:
    name = " ".join(name.split()) if "[" not in name else name.strip()
    name = _WOLF_NAMES.get(name, name)
    for pattern, replacement in _WOLF_WORDS:
        name = re.sub(pattern, replacement, name)
    return name


_CRYPTSETUP = re.compile(
    r"^(?P<cipher>[a-z0-9,_-]+?)-(?P<mode>[a-z0-9:]+)\s+(?P<bits>\d+)b"
    r"\s+(?P<enc>[\d.,]+|N/A)(?: MiB/s)?\s+(?P<dec>[\d.,]+|N/A)(?: MiB/s)?\s*$"
)
_CRYPTSETUP_KDF = re.compile(
    r"^(?P<name>PBKDF2-\S+|argon2id?)\s+(?P<rest>N/A|\d+ iterations.*(?:per second|memory).*)$"
)
CRYPTSETUP_BYTES = 65_536
"""What `cryptsetup benchmark` gives the kernel at once (CIPHER_BLOCK_BYTES in its lib/crypto_backend)."""


def cryptsetup(text: str) -> Iterator[Reading]:
    """`cryptsetup benchmark`: ciphers of the kernel. The key of XTS is told with both halves: 256b is AES-128."""
    for line, raw in enumerate(text.split("\n"), start=1):
        if match := _CRYPTSETUP.match(raw.strip()):
            bits = int(match["bits"][:6]) // (2 if match["mode"] == "xts" else 1)
            for what, way in (("enc", "encrypt"), ("dec", "decrypt")):
                told = match[what].replace(",", ".")
                if told != "N/A" and (rate := number(told, line, "a rate") * 2**20) > 0:
                    name = f"{match['cipher']}-{bits}-{match['mode']} {way}"
                    name = name.replace("xchacha12,aes-256-adiantum", "adiantum-xchacha12")
                    yield Reading(name, line, CRYPTSETUP_BYTES / rate * 1e9, exact(CRYPTSETUP_BYTES))
        elif match := _CRYPTSETUP_KDF.match(raw.strip()):
            why = "it tells how much work takes a given time, and no cost of parameters of the catalogue"
            yield Reading(match["name"], line, math.nan, unlike=why)
        elif "MiB/s" in raw and raw.strip()[:1].isalpha() and "|" not in raw:
            raise BrokenListing(line, "the row is cut off")


_MBED_RATE = re.compile(
    r"^(?P<name>[A-Za-z0-9].*?)\s*:\s+(?P<rate>\d+) (?:KiB|KB|Kb)/s"
    r"(?:,\s+(?P<each>\d+) (?P<what>cycles|ns)/byte)?"
)
_MBED_OPS = re.compile(
    r"^(?P<name>[A-Za-z].*?)\s*:\s+(?P<rate>[\d.]+)\s+(?:(?P<what>[a-z][a-z ]*)/s|ms/\s*(?P<each>[a-z][a-z ]*))\s*$"
)
MBED_BYTES = 1024
"""BUFSIZE of Mbed TLS's programs/test/benchmark.c."""


def mbedtls(text: str) -> Iterator[Reading]:
    """`programs/test/benchmark` of Mbed TLS. Its ciphers encrypt buffers of MBED_BYTES.

    XTS is named by the length of one half's key. Every version's kilobyte has 1024.
    """
    for line, raw in enumerate(text.split("\n"), start=1):
        if match := _MBED_RATE.match(raw.strip()):
            rate = number(match["rate"], line, "a rate") * 1024
            name = re.sub(r"^AES-XTS-(\d+)$", r"AES-\1-XTS", match["name"])
            name = {"DES": "DES-CBC", "3DES": "3DES-CBC"}.get(name, name)
            hashes = re.match(r"(?:MD|RIPEMD|SHA|POLY1305|.*CMAC|.*DRBG)", name)
            name = name if hashes else f"{name} encrypt"
            told = match["what"] == "cycles"
            cycles = number(match["each"], line, "cycles") * MBED_BYTES if told else math.nan
            ns = MBED_BYTES / rate * 1e9 if rate > 0 else math.nan
            unlike = "" if rate > 0 else "no rate"
            yield Reading(name, line, ns, exact(MBED_BYTES), cycles=cycles, unlike=unlike)
        elif match := _MBED_OPS.match(raw.strip()):
            rate = number(match["rate"], line, "a rate") or math.nan
            ns = rate * 1e6 if match["each"] else 1e9 / rate
            name = f"{match['name']} {match['what'] or match['each']}"
            yield Reading(name, line, ns, unlike="" if rate > 0 else "no rate")
