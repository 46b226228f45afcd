"""Functions on key pairs as a user of Python writes them; the elliptic curve is his own, and slow (RFC 7748)."""

import hashlib
import hmac

P, A24 = 2**255 - 19, 121665


def ladder(scalar, u):
    k = int.from_bytes(scalar, "little") & ~7 & (2**255 - 1) | 2**254
    x1 = int.from_bytes(u, "little") & (2**255 - 1)
    x2, z2, x3, z3, swapped = 1, 0, x1, 1, 0
    for i in range(254, -1, -1):
        bit = k >> i & 1
        if bit != swapped:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swapped = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % P, b * b % P, d * a % P, c * b % P
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + A24 * e) % P
    if swapped:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def base(private):
    return ladder(private, (9).to_bytes(32, "little"))


def derive(private, public):
    return ladder(private, public)


def expand(ikm, salt, info, length):
    prk = hmac.digest(salt, ikm, "sha256")
    okm, t, i = b"", b"", 0
    while len(okm) < length:
        i += 1
        t = hmac.digest(prk, t + info + bytes([i]), "sha256")
        okm += t
    return okm[:length]


def mac_keypair(seed):
    return seed, seed


def mac_sign(message, private):
    return hmac.digest(private, message, "sha256")


def mac_verify(signature, message, public):
    return hmac.compare_digest(signature, hmac.digest(public, message, "sha256"))


def dh_keypair(seed):
    private = hashlib.sha256(seed).digest()
    return base(private), private


def dh_encapsulate(public):
    first = hashlib.sha256(public).digest()
    return base(first), hashlib.sha256(ladder(first, public)).digest()


def dh_decapsulate(ciphertext, private):
    return hashlib.sha256(ladder(private, ciphertext)).digest()
