"""Functions of Python as a runner of Perbyte. The protocol, the data, the clock and the checks are those of the C SDK.

The C SDK is a shared library here, which enters a loop of Python once a sample (loops.c): what that costs is measured
and subtracted. A row holds the very code that is timed, as text: it is what `hello` shows, and what stands in the loop,
every name a local variable. What the interpreter needs for it is part of its cost. Nothing is collected while the clock
runs.

    main(Library("mine", "MIT", "1.0"), [hash_row("sha-256", 32, "digest(data)", digest=mine.digest)])
"""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import pathlib
import re
import sys
from dataclasses import dataclass
from types import CodeType, FunctionType

RING = 16
HASH, MAC, STREAM, AEAD, SIGNATURE, AGREEMENT, KEM, CHAIN, _, _, _, EXPAND = range(12)
MESSAGE, REKEY, INVERSE, INVERSE_REKEY = range(4)
COLLECT_EVERY = 512  # samples
CHAIN_START = 0x9E3779B97F4A7C15
_Bytes = ctypes.c_void_p
_HEAD = sys.getsizeof(b"") - 1  # bytes of an object before the content


class Case(ctypes.Structure):
    """`pb_case` of perbyte.h, as far as it is read here."""

    _fields_ = [
        ("row", _Bytes),
        ("size", ctypes.c_size_t),
        ("data", _Bytes),
        ("out", _Bytes),
        ("message", _Bytes * RING),
        ("key", _Bytes * RING),
        ("nonce", _Bytes * RING),
        ("aad", _Bytes),
        ("key_len", ctypes.c_size_t),
        ("nonce_len", ctypes.c_size_t),
        ("aad_len", ctypes.c_size_t),
        ("in_len", ctypes.c_size_t),
        ("out_len", ctypes.c_size_t),
        ("failures", ctypes.c_uint64),
        ("inverse", ctypes.c_int),
        ("given", ctypes.c_int),
    ]


_OPEN = ctypes.PYFUNCTYPE(ctypes.c_int, _Bytes, ctypes.c_int)
_CASE = ctypes.PYFUNCTYPE(None, _Bytes)
_BEGIN = ctypes.PYFUNCTYPE(None, _Bytes, ctypes.c_int)


@dataclass(frozen=True)
class Library:
    """Who answers."""

    name: str
    license: str
    version: str
    features: str = ""


@dataclass(frozen=True)
class Row:
    """An algorithm of the catalogue: its code by what a loop does (MESSAGE, REKEY, INVERSE, INVERSE_REKEY), and the
    function that gives the code's names their values for a Material. Code is an expression, or statements that end
    with one that sets `last`, the output.
    """

    algorithm: str
    kind: int
    key: int
    nonce: int
    output: int
    code: dict[int, str]
    names: object
    ciphertext: int = 0  # bytes of a KEM's, whose output is the tuple of it and the secret

    @property
    def calls(self) -> str:
        """The code, for readers."""
        return "; ".join(dict.fromkeys(self.code.values()))


class Material:
    """What a case works on, as bytes objects."""

    def __init__(self, case: Case, row: Row) -> None:
        self.data = _read(case.data, case.in_len)
        self.size = case.size
        self.aad = _read(case.aad, case.aad_len)
        self.keys = [_read(at, case.key_len) for at in case.key]
        self.nonces = [_read(at, case.nonce_len) for at in case.nonce]
        self.messages = [_read(at, case.size) for at in case.message]
        self.inverse, self.given, self.output = bool(case.inverse), bool(case.given), row.output


def _read(at: int | None, length: int) -> bytes:
    return ctypes.string_at(at, length) if at and length else b""


def _loop(code: str, names: dict):
    """The function that makes `count` timed calls: `code` in a loop, its names as local variables."""
    return FunctionType(_compiled(code, tuple(names)), globals(), "loop", tuple(names.values()))


@functools.cache  # an audit opens a case for every call
def _compiled(code: str, names: tuple[str, ...]) -> CodeType:
    """The loop is unrolled, since a turn of it takes some 15 cycles; what is left of that is one."""
    lines = [line.strip() for line in code.split(";")]
    if not re.match(r"(last\b|pass$)", lines[-1]):
        lines[-1] = f"last = {lines[-1]}"
    body = "".join(f"        {line}\n" for line in lines)
    turns = (
        [body] if lines == ["pass"] else (re.sub(r"\bturn & 15\b", str(turn), body) for turn in range(RING))
    )
    source = (
        f"def loop({', '.join(['count', *names])}):\n    last = b''\n"
        f"    for turn in range(count >> 4):\n{''.join(turns)}"
        f"    for turn in range(count & 15):\n{body}    return last\n"
    )
    scope: dict = {}
    exec(compile(source, "<timed>", "exec"), scope)
    return scope["loop"].__code__


class _Prepared:
    def __init__(self, row: Row, case: Case) -> None:
        self.row = row
        self.length = _length(row, case)
        self.prepare(case)

    def prepare(self, case: Case) -> None:
        given = self.given = Material(case, self.row)
        self.data = given.data
        names = self.names = self.row.names(given)
        self.loops = {which: _loop(code, names) for which, code in self.row.code.items()}


def hash_row(algorithm: str, output: int, code: str, **names) -> Row:
    """A hash; its code may use `data`."""
    return Row(algorithm, HASH, 0, 0, output, {MESSAGE: code}, lambda given: names | {"data": given.data})


def mac_row(algorithm: str, key: int, output: int, keyed, message: str, rekey: str = "", **names) -> Row:
    """A MAC: `keyed(key)` gives `state`; `message` uses `state` and `data`, `rekey` also `keys[turn & 15]`."""

    def of(given: Material) -> dict:
        return names | {"data": given.data, "keys": given.keys, "state": keyed(given.keys[0])}

    code = {MESSAGE: message} | ({REKEY: rekey} if rekey else {})
    return Row(algorithm, MAC, key, 0, output, code, of)


def stream_row(algorithm: str, key: int, nonce: int, message: str, rekey: str, keyed=None, **names) -> Row:
    """A stream cipher: `state` is `keyed(key)`; `message` uses `state`, `nonces[turn & 15]`, `data`; `rekey` `keys`."""

    def of(given: Material) -> dict:
        state = keyed(given.keys[0]) if keyed else None
        return names | {"data": given.data, "keys": given.keys, "nonces": given.nonces, "state": state}

    return Row(algorithm, STREAM, key, nonce, 0, {MESSAGE: message, REKEY: rekey}, of)


def aead_row(
    algorithm: str, key: int, nonce: int, tag: int, seal: str, unseal: str, keyed=None, **names
) -> Row:
    """An AEAD. With `keyed`, `state` is a keyed object and the code is `message/1`; in `rekey/1` the making of one
    stands for `state`. Without, `KEY` goes into every call. What is opened was
    sealed with key 0 and nonce 0, so `open` works on these.
    """

    def of(given: Material) -> dict:
        mine = {"data": given.data, "aad": given.aad, "keys": given.keys, "nonces": given.nonces}
        mine |= {"key0": given.keys[0], "nonce0": given.nonces[0], "size": given.size}
        return names | mine | ({"state": keyed(given.keys[0]), "keyed": keyed} if keyed else {})

    seal, unseal = seal.replace("NONCE", "nonces[turn & 15]"), unseal.replace("NONCE", "nonce0")
    code = {}
    if keyed:
        code = {MESSAGE: seal, INVERSE: unseal}
        code[REKEY] = re.sub(r"\bstate\b", "keyed(keys[turn & 15])", seal)
        code[INVERSE_REKEY] = re.sub(r"\bstate\b", "keyed(key0)", unseal)
    else:
        code = {MESSAGE: seal.replace("KEY", "key0"), INVERSE: unseal.replace("KEY", "key0")}
        code |= {REKEY: seal.replace("KEY", "keys[turn & 15]"), INVERSE_REKEY: unseal.replace("KEY", "key0")}
    return Row(algorithm, AEAD, key, nonce, tag, code, of)


def signature_row(algorithm: str, key: int, length: int, pair, sign: str, verify: str, **names) -> Row:
    """Signatures: `pair(seed)` gives (`private`, `public`). The code uses them and `messages[turn & 15]`; for `verify`,
    which raises on forgeries, `message` and `signature`.
    """

    def of(given: Material) -> dict:
        private, public = pair(given.keys[0])
        parts = {"message": given.data[: given.size], "signature": given.data[given.size :]}
        return names | parts | {"private": private, "public": public, "messages": given.messages}

    return Row(algorithm, SIGNATURE, key, 0, length, {MESSAGE: sign, INVERSE: verify}, of)


def agreement_row(algorithm: str, key: int, secret: int, public_of, pair, derive: str, **names) -> Row:
    """Key agreement: `public_of(private)` gives a public key's bytes, `pair(private, public)` what is used."""

    def of(given: Material) -> dict:
        private, public = pair(given.keys[0], given.data if given.given else public_of(given.nonces[0]))
        return names | {"private": private, "public": public}

    return Row(algorithm, AGREEMENT, key, key, secret, {MESSAGE: derive}, of)


def main(library: Library, rows: list[Row]) -> None:
    """Speak the protocol until it ends. PERBYTE_SDK names the shared library."""
    sdk = ctypes.PyDLL(os.environ["PERBYTE_SDK"])
    go = sdk.pb_chain_go
    go.restype, go.argtypes = None, ()
    value, steps = (ctypes.c_uint64.in_dll(sdk, f"pb_chain_{name}") for name in ("value", "steps"))
    auditing = ctypes.c_int.in_dll(sdk, "pb_auditing")
    rows = [*rows, Row("probe-imul", CHAIN, 0, 0, 8, {MESSAGE: "chain()"}, lambda given: {"chain": go})]
    rows.append(Row("probe-empty", CHAIN, 0, 0, 0, {MESSAGE: "pass"}, lambda given: {}))
    prepared: dict[int, _Prepared] = {}
    samples = 0

    lay = sdk.pb_foreign_copies
    lay.restype, lay.argtypes = None, (_Bytes,) * 5

    enter = sdk.pb_python_loops
    enter.restype, enter.argtypes = None, (_Bytes, *4 * (ctypes.py_object,), ctypes.c_int, ctypes.c_int)

    def lay_open(case: int, state: _Prepared) -> None:
        """Say where the loops are, and the copies that the code works on: an audit puts other bytes there."""
        given, is_chain = state.given, state.row.kind == CHAIN
        parts = (given.data, given.keys[0], given.nonces[0], given.messages[0])
        lies = all(len(part) != 1 for part in parts)  # bytes of one letter are shared by all of Python
        if lies:
            lay(case, *(id(part) + _HEAD if part else None for part in parts))
        enter(case, *map(state.loops.get, range(4)), lies and not is_chain, is_chain)

    def open_case(case: int, index: int) -> int:
        c = Case.from_address(case)
        try:
            state = _Prepared(rows[index], c)
        except Exception as error:
            sdk.pb_foreign_say(ctypes.c_void_p(case), words_of(error, error.__traceback__))
            return 0
        c.out_len = state.length
        prepared[case] = state
        lay_open(case, state)
        return 1

    def words_of(error: BaseException, trace) -> bytes:
        return _raised(error, trace, library.name).encode()

    def close_case(case: int) -> None:
        prepared.pop(case, None)

    def begin(case: int, which: int) -> None:
        nonlocal samples
        samples += 1
        c, state = Case.from_address(case), prepared[case]
        if c.inverse and sdk.memcmp(ctypes.c_void_p(c.data), state.data, ctypes.c_size_t(c.in_len)):
            state.prepare(c)  # a forgery: the input is another one now
            lay_open(case, state)
        if state.row.kind == CHAIN:
            value.value, steps.value = CHAIN_START, c.size
        if samples % COLLECT_EVERY == 0 and not auditing.value:
            gc.collect()

    sdk.pb_foreign_rows(len(rows))
    for index, row in enumerate(rows):
        sdk.pb_foreign_row(
            index, row.algorithm.encode(), row.kind, row.calls.encode(), row.key, row.nonce, row.output
        )
    gc.collect()
    gc.freeze()
    gc.disable()
    enter(None, *4 * (_loop("data", {"data": b""}),), False, False)
    functions = _OPEN(open_case), _CASE(close_case), _BEGIN(begin)
    texts = (os.environ["PERBYTE_NAME"], library.name, library.license, library.version, library.features)
    ways = map(ctypes.py_object, (_as_bytes, words_of))
    sys.exit(sdk.pb_python_main(*functions, *ways, *(text.encode() for text in texts)))


class Refused(ValueError):
    """An input that a call refuses as it should: no fault that is worth words."""


def _raised(error: BaseException, trace, file: str) -> str:
    """What a call raised and where: the innermost line in `file`, or else outside of the timed loop."""
    if isinstance(error, Refused):
        return ""
    places = []
    while trace:
        places.append((pathlib.Path(trace.tb_frame.f_code.co_filename).name, trace.tb_lineno))
        trace = trace.tb_next
    places = [place for place in places if place[0] not in ("<timed>", pathlib.Path(__file__).name)]
    own = [place for place in places if place[0] == file] or places
    where = f" ({own[-1][0]}, line {own[-1][1]})" if own else ""
    text = " ".join(str(error).split())[:120]
    return f"{file} raised {type(error).__name__}{': ' * bool(text)}{text}{where}"


def _as_bytes(last: object) -> bytes:
    return b"".join(last) if isinstance(last, tuple) else bytes(last)


def _length(row: Row, case: Case) -> int:
    if row.kind == AEAD:
        return case.size if case.inverse else case.size + row.output
    if row.kind in (STREAM, EXPAND):
        return case.size
    if row.kind == KEM:
        return row.output if case.inverse else row.ciphertext + row.output
    return 0 if row.kind == SIGNATURE and case.inverse else row.output
