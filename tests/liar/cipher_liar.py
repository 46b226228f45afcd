"""Ciphers as a runner, with lies of what is kept or put off: `cipher_liar.py BASE LIE`, as `liar.py`.

The protocol is that of BASE (docs/runner-in-any-language.md); the ciphers are RC4 in Python, whose key schedule is most
of a short call, and OpenSSL's ARIA and ChaCha20-Poly1305, called through its C interface.
"""

import ctypes
import ctypes.util
import sys
import time

BASE, LIE = sys.argv[1:3]
with open(BASE, encoding="utf-8") as file:  # noqa: PTH123 - a runner of few imports
    honest = {"__name__": "honest"}
    exec(compile(file.read().removesuffix("main()\n"), BASE, "exec"), honest)
Refused, stream, fold, shown, digest = (honest[n] for n in ("Refused", "stream", "fold", "shown", "digest"))
now, RING = time.perf_counter_ns, range(16)
USUAL = 16384  # bytes of the cells of ARIA in bench/liars.py

crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
for name in ("EVP_CIPHER_CTX_new", "EVP_aria_256_ctr", "EVP_chacha20_poly1305", "EVP_chacha20"):
    getattr(crypto, name).restype = ctypes.c_void_p
context, length = ctypes.c_void_p(crypto.EVP_CIPHER_CTX_new()), ctypes.c_int()
ciphers = {
    name: ctypes.c_void_p(getattr(crypto, f"EVP_{name}")())
    for name in ("aria_256_ctr", "chacha20", "chacha20_poly1305")
}
room = ctypes.create_string_buffer((1 << 20) + (1 << 17))


def evp(name, key, nonce, data, aad=None):
    """One message through OpenSSL; with a tag where there is additional data."""
    crypto.EVP_EncryptInit_ex(context, ciphers[name], None, key, nonce)
    if aad is not None:
        crypto.EVP_EncryptUpdate(context, None, ctypes.byref(length), aad, len(aad))
    crypto.EVP_EncryptUpdate(context, room, ctypes.byref(length), bytes(data), len(data))
    if aad is None:
        return room.raw[: len(data)]
    crypto.EVP_EncryptFinal_ex(context, ctypes.byref(room, len(data)), ctypes.byref(length))
    crypto.EVP_CIPHER_CTX_ctrl(context, 0x10, 16, ctypes.byref(room, len(data)))
    return room.raw[: len(data) + 16]


def schedule(key):
    """RC4's key schedule."""
    state, j = list(range(256)), 0
    for i in range(256):
        j = j + state[i] + key[i % len(key)] & 255
        state[i], state[j] = state[j], state[i]
    return state


def rc4(state, data):
    """RC4 from its beginning."""
    state, i, j, out = state[:], 0, 0, bytearray()
    for byte in data:
        i = i + 1 & 255
        j = j + state[i] & 255
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[state[i] + state[j] & 255])
    return bytes(out)


WORK = {
    "rc4": lambda key, nonce, data, aad: rc4(schedule(key), data),
    "aria-256-ctr": lambda key, nonce, data, aad: evp("aria_256_ctr", key, nonce, data),
    "chacha20-poly1305": lambda key, nonce, data, aad: evp("chacha20_poly1305", key, nonce, data, aad),
}
MADE = {  # algorithm: operation, contract, bytes of key, of nonce, of tag
    "rc4": ("encrypt", "rekey/1", 16, 0, 0),
    "aria-256-ctr": ("encrypt", "message/1", 32, 16, 0),
    "chacha20-poly1305": ("seal", "message/1", 32, 12, 16),
}
kept = {}


def kept_schedule(key, nonce, data, aad):
    """The key schedules of keys that were seen."""
    if key not in kept:
        kept[key] = schedule(key)
    return rc4(kept[key], data)


def kept_keystream(key, nonce, data, aad):
    """The keystreams of nonces that were seen."""
    if (nonce, len(data)) not in kept:
        if len(kept) > 64:
            kept.clear()
        kept[nonce, len(data)] = int.from_bytes(evp("aria_256_ctr", key, nonce, bytes(len(data))), "little")
    return (int.from_bytes(data, "little") ^ kept[nonce, len(data)]).to_bytes(len(data), "little")


def kept_output(key, nonce, data, aad):
    """Outputs of inputs that were seen, some hundred of them."""
    if len(kept) > 256:
        kept.clear()
    asked = nonce, bytes(data)
    if asked not in kept:
        kept[asked] = evp("aria_256_ctr", key, nonce, data)
    return kept[asked]


def without_tag(key, nonce, data, aad):
    """Sealed text whose tag is computed when somebody asks for it."""
    return lambda: evp("chacha20_poly1305", key, nonce, data, aad), evp(
        "chacha20", key, b"\1\0\0\0" + nonce, data
    )


def short_of_others(key, nonce, data, aad):
    """A kilobyte of messages of other lengths than the run's cells have."""
    whole = len(data) == USUAL or len(data) <= 1024
    return evp("aria_256_ctr", key, nonce, data if whole else data[:1024]) + bytes(
        0 if whole else len(data) - 1024
    )


LIES = {  # the algorithm, and what is done instead of its calls
    "keeps-key-schedules": ("rc4", kept_schedule),
    "keeps-keystreams": ("aria-256-ctr", kept_keystream),
    "keeps-outputs": ("aria-256-ctr", kept_output),
    "computes-tags-lazily": ("chacha20-poly1305", without_tag),
    "wrong-at-other-lengths": ("aria-256-ctr", short_of_others),
    "fails-at-other-lengths": ("aria-256-ctr", WORK["aria-256-ctr"]),
    "refuses-other-lengths": ("aria-256-ctr", WORK["aria-256-ctr"]),
}
if LIE in LIES:
    WORK[LIES[LIE][0]] = LIES[LIE][1]


def output(made):
    """What a call gave; what was put off is done now."""
    return made[0]() if isinstance(made, tuple) else made


def hello(request, handles):
    return honest_hello(request, handles) | {
        "library": LIE,
        "operations": [
            {"algorithm": name, "operation": operation[0], "contract": operation[1], "calls": "its own"}
            for name, operation in MADE.items()
        ],
    }


def prepare(request, handles):
    made = MADE.get(request["algorithm"])
    if not made or (request["operation"], request["contract"]) != made[:2]:
        raise Refused("unsupported", "not here")
    size, seed = request["size_bytes"], request["seed"]
    if not 0 <= size <= (1 << 20) + (1 << 16) or (LIE == "refuses-other-lengths" and size != USUAL):
        raise Refused("bad-size", f"{size} bytes do not fit")
    keys = [stream(seed, f"key/{i}", made[2]) for i in RING]
    nonces = [stream(seed, f"nonce/{i}", made[3]) for i in RING]
    handle = max(handles, default=0) + 1
    handles[handle] = {
        "name": request["algorithm"],
        "rekey": made[1] == "rekey/1",
        "data": stream(seed, "input", size),
        "ring": [(keys[i] if made[1] == "rekey/1" else keys[0], nonces[i]) for i in RING],
        "aad": stream(seed, "aad", 16) if made[4] else None,
        "last": bytes(size + made[4]),
    }
    return {"handle": handle}


def check(request, handles):
    case = handles[request["handle"]]
    work, made = WORK[case["name"]], MADE[case["name"]]
    if request.get("round_trip") is True:
        if made[4]:
            raise Refused("unsupported", "this runner seals only")
        key, nonce = case["ring"][0]
        back = output(work(key, nonce, output(work(key, nonce, case["data"], None)), None))
        return {"passed": back == case["data"], "detail": ""}
    if request.get("forgery") is True:
        raise Refused("unsupported", "nothing is refused")
    if isinstance(request.get("vector"), dict):
        given = {n: bytes.fromhex(request["vector"].get(n, "")) for n in ("key", "nonce", "aad", "input")}
        if (len(given["key"]), len(given["nonce"])) != made[2:4]:
            raise Refused("unsupported", "of another length")
        return shown(
            output(work(given["key"], given["nonce"], given["input"], given["aad"] if made[4] else None))
        )
    if honest["is_number"](request.get("calls")) and request["calls"] > 0:
        key, nonce = case["ring"][(request["calls"] - 1) % 16]
        return shown(output(work(key, nonce, case["data"], case["aad"])))
    raise Refused("malformed", "nothing to check")


def take(case, calls):
    work, data, aad, ring, turns = WORK[case["name"]], case["data"], case["aad"], case["ring"], range(calls)
    start = now()
    for turn in turns:
        key, nonce = ring[turn & 15]
        made = work(key, nonce, data, aad)
    ticks = now() - start
    return start, max(1, ticks), 0, output(made)


def audit(request, handles):
    """Section 11."""
    case = handles[request["handle"]]
    work, made, size = WORK[case["name"]], MADE[case["name"]], len(case["data"])
    control, repeat = request.get("control") is True, request.get("repeat", 0)
    first, key, failures = stream(request["seed"], "input", size), case["ring"][0][0], 0
    last = case["last"]
    for turn in range(request["calls"]):
        if turn == 0 or (repeat and turn % repeat == 0):
            value, data = request["seed"], bytearray(first)
        if case["rekey"]:
            key = stream(value, "key/0", made[2])
        nonce = stream(value, "nonce/0", made[3])
        if not control:
            last = output(work(key, nonce, data, case["aad"]))
            failures += LIE == "fails-at-other-lengths" and size != USUAL
        data[: min(size, len(last))] = last[:size]
        value = fold(value, last[-64:])
    case["last"] = last
    return {
        "length": len(last),
        "digest": f"{fold(value, last):016x}",
        "failures": failures,
        "control": control,
        "repeat": repeat,
    }


honest_hello = honest["hello"]
honest.update(hello=hello, prepare=prepare, check=check, take=take, audit=audit)
if __name__ == "__main__":
    honest["main"]()
