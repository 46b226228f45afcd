"""Toy cryptography under the catalogue's names: consistent, invertible, quick, and worth nothing as secrecy.

Ciphers add a key-dependent pad, AEADs append a keyed checksum and refuse what does not match it, signatures
likewise. Hashes that the Python standard library has are the real ones, so that their known answers hold.
Two fake runners agree on every byte unless a script tells one of them to lie. Standard library only.
"""

import struct

MASK = 2**64 - 1
RING = 16
BLOCKED = ("-ecb", "-cbc", "-ige")
REAL_HASHES = {
    "md5": "md5",
    "sha-1": "sha1",
    "sha-224": "sha224",
    "sha-256": "sha256",
    "sha-384": "sha384",
    "sha-512": "sha512",
    "sha3-224": "sha3_224",
    "sha3-256": "sha3_256",
    "sha3-384": "sha3_384",
    "sha3-512": "sha3_512",
}
_UP = bytes((value + 1) & 255 for value in range(256))
_DOWN = bytes((value - 1) & 255 for value in range(256))
GAMMA = 0x9E3779B97F4A7C15
LANES = 1024  # words that `stream` makes at once, each in 128 bits, so that no product reaches the next
_EACH = int.from_bytes((b"\1" + bytes(15)) * LANES, "little")
_LOW = MASK * _EACH
_STEPS = int.from_bytes(b"".join((GAMMA * i & MASK).to_bytes(16, "little") for i in range(LANES)), "little")
_inputs: dict = {}
_digests: dict = {}


def fnv1a64(data):
    """FNV-1a with 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def digest(output):
    """Section 5, as 16 hex digits. Bursts end with the same few outputs, whose digests are kept."""
    known = len(output), hash(bytes(output))
    if known not in _digests:
        _digests[known] = f"{fold(0xCBF29CE484222325, output):016x}"
    return _digests[known]


def fold(value, output):
    """FNV-1a over words of 64 bits, then over the bytes that are left, from `value` on."""
    words = len(output) // 8
    for piece in (*struct.unpack_from(f"<{words}Q", output), *output[8 * words :]):
        value = ((value ^ piece) * 0x100000001B3) & MASK
    return value


def mix(state, low=MASK):
    """One SplitMix64 output for a state that was already advanced, or for as many as `low` keeps."""
    z = state & low
    z = ((z ^ z >> 30) & low) * 0xBF58476D1CE4E5B9 & low
    z = ((z ^ z >> 27) & low) * 0x94D049BB133111EB & low
    return (z ^ z >> 31) & low


def stream(seed, label, length):
    """Section 3 of SPEC.md: `length` bytes of the stream `label`."""
    state, words = seed ^ fnv1a64(label.encode()), (length + 7) // 8
    if words < 32:
        return b"".join(mix(state + i * GAMMA).to_bytes(8, "little") for i in range(1, words + 1))[:length]
    parts = []
    for first in range(1, words + 1, LANES):
        mixed = mix(_STEPS + _EACH * (state + first * GAMMA & MASK), _LOW).to_bytes(16 * LANES, "little")
        parts.append(memoryview(mixed).cast("Q")[::2].tobytes())
    return b"".join(parts)[:length]


def run_input(seed, size):
    """The run's data; the last few are kept, because every operation of a cell's size asks for the same."""
    if (seed, size) not in _inputs:
        if len(_inputs) > 8:
            _inputs.clear()
        _inputs[seed, size] = stream(seed, "input", size)
    return _inputs[seed, size]


def kind_of(algorithm):
    """cipher, aead, hash, mac or signature, told from the catalogue id."""
    if algorithm.endswith(("-gcm", "-ccm", "-poly1305", "-ocb")):
        return "aead"
    if algorithm.startswith(("hmac", "cmac", "poly1305")):
        return "mac"
    if algorithm.startswith(("sha", "md", "rmd", "ripemd", "whirlpool", "tiger", "blake", "gost-94", "mdc")):
        return "hash"
    if algorithm.startswith(("rsa", "dsa", "ecdsa", "ed")):
        return "signature"
    return "cipher"


class Refused(Exception):
    """An answer with `ok: false`: `args` are code and message."""


class Toy:
    """One prepared operation: an algorithm's row of the script, with material for one seed and size."""

    def __init__(self, row, size, seed, offset, data=None):
        """`row` is an entry of the script's `operations`. Raises Refused for a size that does not fit."""
        self.row, self.size, self.seed, self.offset = row, size, seed, offset
        self.whole = self  # a piece has its layout and its history
        name = row["algorithm"]
        self.kind = row.get("kind") or kind_of(name)
        self.operation, self.contract = row["operation"], row["contract"]
        unkeyed = self.kind == "hash"
        plain = unkeyed or self.kind == "mac" or name.endswith("-ecb")
        self.key_bytes = row.get("key_bytes", 0 if unkeyed else 16)
        self.nonce_bytes = row.get("nonce_bytes", 0 if plain else 12 if self.kind == "aead" else 16)
        self.multiple = row.get("data_multiple_bytes", 16 if name.endswith(BLOCKED) else 1)
        if size % self.multiple or size > 2**31:
            raise Refused("bad-size", f"{size} bytes do not fit {name}")
        self.aad = stream(seed, "aad", 16)
        self.data = run_input(seed, size) if data is None else data
        self.keys = [stream(seed, f"key/{i}", self.key_bytes) for i in range(RING)]
        self.nonces = [stream(seed, f"nonce/{i}", self.nonce_bytes) for i in range(RING)]
        if self.operation == "open":
            self.data = self.seal(self.keys[0], self.nonces[0], self.aad, self.data)
        if self.operation == "verify":
            self.data += self.checksum(b"sign", self.keys[0], self.data, length=64)

    def piece(self, size, pieces):
        """A piece of `size` bytes of this toy's calls. It costs `restart` cycles where a call costs `per_call`, and its
        bytes `dearer` times as much as those of a call."""
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__)
        part.size, part.data = size, self.data[:size]
        part.row = {
            **self.row,
            "per_call": pieces.get("restart", self.row.get("per_call", 100.0)),
            "per_byte": pieces.get("dearer", 1.0) * self.row.get("per_byte", 1.0),
        }
        return part

    def output(self, calls):
        """The output of the last of `calls` calls since the beginning."""
        last = max(calls - 1, 0)
        key = self.keys[last % RING if self.contract in ("rekey/1", "setup/1") else 0]
        nonce = self.nonces[last % RING if self.contract in ("rekey/1", "message/1") else 0]
        if self.operation == "open":
            nonce = self.nonces[0]
        if self.contract == "setup/1":
            return self.cipher(key, self.nonces[0], self.data[: max(self.multiple, 16)], 0)
        if self.contract == "stream/1" and self.kind in ("hash", "mac"):
            return self.run(key, nonce, self.aad, self.data * calls)
        position = last if self.contract == "stream/1" else 0
        return self.run(key, nonce, self.aad, self.data, position)

    def chain(self, seed, calls):
        """Section 11 of SPEC.md: (last output, value of the chain, forgeries made, and refused)."""
        value, data, forged, refused = seed, stream(seed, "input", self.size), 0, 0
        keyed = self.contract in ("rekey/1", "setup/1")
        for _ in range(calls):
            before = value
            key = stream(value, "key/0", self.key_bytes) if keyed else self.keys[0]
            nonce = stream(value, "nonce/0", self.nonce_bytes)
            if self.contract == "setup/1":
                output = self.cipher(key, nonce, data[: max(self.multiple, 16)], 0)
            elif self.operation == "open":
                sealed = self.seal(key, nonce, self.aad, data)
                data, value = sealed[: self.size], fold(value, sealed[-64:])
                if before % 8 == 0:
                    forged, at = forged + 1, (before >> 8) % len(sealed)
                    sealed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
                try:
                    output = self.open(key, nonce, self.aad, sealed)
                except Refused:
                    refused, output = refused + 1, b""
                    continue
            else:
                output = self.run(key, nonce, self.aad, data)
            if self.operation != "open":
                data = output[: self.size] + data[len(output) :]
            if self.operation != "open" or before % 8:
                value = fold(value, output[-64:])
        return output, value, forged, refused

    def run(self, key, nonce, aad, data, position=0):
        """The operation itself. Raises Refused `library` when a tag or signature does not match."""
        if self.operation == "seal":
            return self.seal(key, nonce, aad, data)
        if self.operation == "open":
            return self.open(key, nonce, aad, data)
        if self.operation == "sign":
            return self.checksum(b"sign", key, data, length=64)
        if self.operation == "verify":
            if data[-64:] != self.checksum(b"sign", key, data[:-64], length=64):
                raise Refused("library", "bad signature")
            return data[:-64]
        if self.kind in ("hash", "mac"):
            return self.digest(key, data)
        return self.cipher(key, nonce, data, position)

    def cipher(self, key, nonce, data, position):
        """Encrypt or decrypt; in ECB neither nonce nor position matters."""
        salt = b"" if self.row["algorithm"].endswith("-ecb") else nonce + position.to_bytes(8, "little")
        pad = stream(fnv1a64(self.row["algorithm"].encode() + key + salt), "pad", 64)
        if self.operation == "decrypt":
            return xor(data.translate(_DOWN), pad)
        return xor(data, pad).translate(_UP)

    def seal(self, key, nonce, aad, data):
        """Ciphertext, then tag."""
        pad = stream(fnv1a64(self.row["algorithm"].encode() + key + nonce), "pad", 64)
        sealed = xor(data, pad)
        return sealed + self.checksum(key, nonce, aad, sealed)

    def open(self, key, nonce, aad, data):
        """Plaintext; raises Refused when the tag is wrong."""
        sealed, tag = data[:-16], data[-16:]
        if len(tag) < 16 or tag != self.checksum(key, nonce, aad, sealed):
            raise Refused("library", "authentication failed")
        return xor(sealed, stream(fnv1a64(self.row["algorithm"].encode() + key + nonce), "pad", 64))

    def digest(self, key, data):
        """Real for hashes of the standard library and HMACs of those, a checksum for all others."""
        name = self.row["algorithm"]
        real = REAL_HASHES.get(name.removeprefix("hmac-"))
        if not real:
            return self.checksum(key, data, length=self.row.get("tag_bytes", 16))
        if name.startswith("hmac-"):
            import hmac

            return hmac.digest(key, data, real)
        import hashlib

        return hashlib.new(real, data).digest()

    def checksum(self, *parts, length=16):
        """A keyed checksum of the parts, with the algorithm's name as one of them."""
        state = fnv1a64(self.row["algorithm"].encode())
        for part in parts:
            state = mix(state ^ fnv1a64(part) ^ len(part))
        return stream(state, "tag", length)

    def vector(self, vector, answers):
        """The output for the given material: one of the script's known answers, or computed."""
        key, nonce, aad, data = (
            bytes.fromhex(vector.get(field, "")) for field in ("key", "nonce", "aad", "input")
        )
        for known in answers:
            same = all(
                known.get(field, "") == vector.get(field, "") for field in ("key", "nonce", "aad", "input")
            )
            if same and known["algorithm"] == self.row["algorithm"] and known["operation"] == self.operation:
                return bytes.fromhex(known["output"])
        fits = (len(key), len(nonce)) == (self.key_bytes, self.nonce_bytes)
        if self.kind == "mac" and self.row["algorithm"].removeprefix("hmac-") in REAL_HASHES:
            fits = True
        if not fits or (len(data) % self.multiple and self.operation in ("encrypt", "decrypt")):
            raise Refused("unsupported", "the vector's lengths do not fit")
        return self.run(key, nonce, aad, data)

    def has_real_answers(self):
        """True for what is computed as the standard says, so that a standard's known answers hold."""
        return self.row["algorithm"].removeprefix("hmac-") in REAL_HASHES

    def round_trip(self):
        """Whether the inverse gives the input back; None when there is no inverse."""
        inverse = {
            "encrypt": "decrypt",
            "decrypt": "encrypt",
            "seal": "open",
            "open": "seal",
            "sign": "verify",
        }
        if self.operation not in inverse or self.contract == "setup/1":
            return None
        back = Toy.__new__(Toy)
        back.__dict__.update(self.__dict__, operation=inverse[self.operation])
        material = self.keys[0], self.nonces[0], self.aad
        output = self.run(*material, self.data)
        if self.operation == "sign":
            return back.run(*material, self.data + output) == self.data
        return back.run(*material, output) == self.data

    def refuses_forgery(self):
        """Whether changed tags and changed data are refused; None when nothing is authenticated."""
        if self.operation not in ("open", "verify"):
            return None
        material = self.keys[0], self.nonces[0], self.aad
        self.run(*material, self.data)
        for byte in {0, len(self.data) - 1}:
            forged = bytearray(self.data)
            forged[byte] ^= 1
            try:
                self.run(*material, bytes(forged))
            except Refused:
                continue
            return False
        return True


def xor(data, pad):
    """`data` against the repeated `pad`."""
    size = len(data)
    repeated = (pad * (size // len(pad) + 1))[:size]
    return (int.from_bytes(data, "little") ^ int.from_bytes(repeated, "little")).to_bytes(size, "little")
