"""The roles that parameters may have, and the steps of an algorithm: what a function is for, and what it needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

LITERALS = ("0", "1", "null")
OF_POINTERS = frozenset(
    (
        *("length-back", "context", "buffer", "blocks"),
        *("key-bits", "tag-length", "secret-number", "label", "label-length"),
    )
)
"""Roles that languages with a runtime do not have."""
NUMBER = re.compile(r"\d{1,9}")  # any other number that a function is always given, such as rounds
MEANINGS = {
    "out": "where the output goes",
    "in": "the data",
    "size": "bytes of data",
    "blocks": "the same in blocks",
    "out-length": "bytes of output",
    "length-back": "pointer to the length that the function writes",
    "key": "the key",
    "key-length": "its bytes",
    "key-bits": "its bits",
    "nonce": "nonce or IV",
    "nonce-length": "its bytes",
    "aad": "additional data",
    "aad-length": "its bytes",
    "tag": "the tag, where it is not behind the ciphertext",
    "tag-length": "its bytes",
    "secret-number": "nsec of SUPERCOP, a null pointer",
    "context": "the state, of up to 64 KiB",
    "buffer": "data that are changed in place (a copy is made in each call, and timed)",
    "public-key": "the public key",
    "secret-key": "the private key",
    "ciphertext": "the ciphertext of a KEM",
    "secret": "the shared secret",
    "seed": "what a key pair or an encapsulation is made of, in place of random bytes",
    "counter": "the number of the first block, which is 0",
    "label": "a context string, which is empty",
    "label-length": "its bytes, 0",
    "begin": "what a checksum begins with, 0",
    "offset": "where the data begin, 0",
    "out-offset": "where the output begins, 0",
    "0": "the number 0",
    "1": "the number 1; any other number too, such as 24 rounds",
    "null": "a null pointer",
}
ROUNDS = ("rounds", "round", "nr", "nrounds", "numrounds", "start")
NAMES: dict[str, str] = {
    "out": "out output dst dest digest hash md result res h ciphertext cipher ct c mac tag o y okm",
    "in": "in input src msg message m data plaintext plain pt p x value",
    "size": "len length inlen size n mlen msglen messagelen datalen nbytes bytes count l clen ctlen inputlen",
    "blocks": "blocks nblocks blockcount nblk",
    "out-length": "outlen outputlen digestlen mdlen hashlen maclen outsize okmlen length size n",
    "length-back": "clen outlen mlen len smlen siglen",
    "key": "key k userkey secretkey prk ikm",
    "key-length": "keylen klen keysize keybytes prklen ikmlen",
    "key-bits": "keybits bits",
    "nonce": "nonce iv npub n counter ctr salt ivec",
    "nonce-length": "noncelen ivlen saltlen nlen",
    "counter": "counter ctr ic blockcounter initialcounter initialblock blockno counterstart start count",
    "aad": "ad aad a adata assoc additional info",
    "aad-length": "adlen aadlen alen infolen",
    "tag": "tag mac t sig signature",
    "tag-length": "taglen maclen siglen",
    "secret-number": "nsec",
    "context": "ctx context state s st self this priv hd handle keys schedule rk roundkeys ks",
    "buffer": "buf buffer data inout block bytes buff text stream",
    "public-key": "pk basepoint publickey public pub pubkey p point",
    "secret-key": "sk secret secretkey seckey priv private privatekey privkey n scalar",
    "ciphertext": "ct c ciphertext",
    "secret": "ss key k secret sharedsecret",
    "seed": "seed coins entropy randomness rnd",
    "label": "ctx context pre",
    "label-length": "ctxlen prelen contextlen contextlength",
    "begin": "seed crc init initial start prev previous adler sum previouscrc32 previouscrc prevcrc crc32 crcinit",
    "out-offset": "outoff outoffset outofs outpos dstoff dstoffset outputoffset digestoffset",
    "offset": "drop dropn skip offset off inoff moff inoffset dataoff dataoffset pos position from",
}
LENGTH_LIKE = re.compile(r"len|siz|byte|sz|bits|^argument|^.{1,2}$|l$|cnt$")
LENGTH_OF = {"in": "size", "out": "out-length", "key": "key-length", "nonce": "nonce-length"} | {
    "aad": "aad-length",
    "tag": "tag-length",
}
OFFSETS = ("offset", "out-offset")


@dataclass(frozen=True, slots=True)
class Step:
    """What a function of a trial can be for: roles that it must have, and that it may have."""

    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()


STEPS: dict[str, Step] = {
    "digest": Step(("out", "in", "size"), ("out-length", "length-back", "begin", *OFFSETS)),
    "compress": Step(("context", "in"), ("size", "blocks")),
    "init": Step(("context",), ("key", "key-length", "out-length", "nonce", "nonce-length")),
    "update": Step(("context", "in", "size")),
    "final": Step(("context", "out"), ("out-length", "length-back")),
    "finish": Step(("context",)),
    "squeeze": Step(("context", "out"), ("out-length", "blocks")),
    "mac": Step(
        ("out", "in", "size"),
        ("key", "key-length", "out-length", "length-back", "context", "nonce", "nonce-length", *OFFSETS),
    ),
    "key": Step(("context", "key"), ("key-length", "key-bits", "nonce", "nonce-length", "counter")),
    "nonce": Step(("context", "nonce"), ("nonce-length", "counter")),
    "decrypt-key": Step(("context", "key"), ("key-length", "key-bits")),
    "encrypt": Step(
        ("size",),
        (
            *("out", "in", "buffer", "blocks", "key", "key-length"),
            *("nonce", "nonce-length", "counter", "context", *OFFSETS),
        ),
    ),
    "seal": Step(
        ("out", "in", "size", "nonce"),
        (
            *("aad", "aad-length", "key", "key-length", "nonce-length", "context", "length-back"),
            *("tag", "tag-length", "secret-number"),
        ),
    ),
    "expand": Step(
        ("out", "out-length", "key"), ("key-length", "nonce", "nonce-length", "aad", "aad-length")
    ),
    "permute": Step((), ("buffer", "out", "in")),
    "keypair": Step(("public-key", "secret-key"), ("seed",)),
    "encapsulate": Step(("ciphertext", "secret", "public-key"), ("seed",)),
    "hash": Step(("out", "in", "size", "nonce"), ("out-length", "nonce-length")),
    "decapsulate": Step(("ciphertext", "secret", "secret-key")),
    "sign": Step(
        ("tag", "in", "size", "secret-key"), ("length-back", "public-key", "label", "label-length", "seed")
    ),
    "verify": Step(("tag", "in", "size", "public-key"), ("tag-length", "label", "label-length")),
    "base": Step(("public-key", "secret-key")),
    "derive": Step(("out", "public-key", "secret-key")),
}
STEPS_OF = {
    "hash": ("digest", "init", "update", "final", "squeeze", "compress"),
    "checksum": ("digest",),
    "xof": ("digest", "init", "update", "final", "squeeze"),
    "mac": ("mac", "key", "init", "update", "final"),
    "block-cipher": ("encrypt", "decrypt", "key", "decrypt-key", "nonce"),
    "stream-cipher": ("encrypt", "decrypt", "key", "nonce"),
    "aead": ("seal", "open", "key", "nonce"),
    "kdf": ("expand",),
    "password-hash": ("hash",),
    "permutation": ("permute",),
    "kem": ("keypair", "encapsulate", "decapsulate"),
    "signature": ("keypair", "sign", "verify"),
    "key-agreement": ("base", "derive"),
}
"""Steps of an algorithm's kind; a function that is named alone is for the first."""
UNTIMED = ("keypair", "base")
"""Steps that make what others are given, and are not measured themselves."""
RETURNING = ("digest", "mac")
"""Steps whose function may return its output in a buffer, with a function that frees it."""
LENDING = ("digest", "mac", "final", "squeeze")
"""Steps whose function may return a pointer to its output that nobody frees."""
LENT = "trial_keep"
MAKING = ("init", "key", "decrypt-key")
"""Steps whose function may return the state that the others work on, with a function that frees it."""
NUMBERS_RETURNED = {
    **dict.fromkeys(
        ("uint32_t", "u32", "unsigned", "unsigned int", "uint", "word32", "uint_fast32_t", "uint32"), 4
    ),
    **dict.fromkeys(
        ("uint64_t", "u64", "unsigned long long", "unsigned long", "ulong", "word64", "uint64"), 8
    ),
    **dict.fromkeys(("uint16_t", "u16", "unsigned short"), 2),
}
"""Bytes of the numbers that a checksum or a short MAC may return."""
BACK_AND_FORTH = ("open", "verify")
"""Steps whose function answers whether it accepts its input."""
STEPS["decrypt"] = STEPS["encrypt"]
STEPS["open"] = STEPS["seal"]
RETURNED_ROLES = {
    "keypair": ("public-key", "secret-key"),
    "encapsulate": ("ciphertext", "secret"),
    "decapsulate": ("secret",),
    "sign": ("tag",),
    "base": ("public-key",),
}
BACKWARDS = {"decrypt", "open"}  # ciphertext comes in, plaintext goes out
