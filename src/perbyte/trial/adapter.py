"""The C source that makes a runner of a user's functions: one row, loops around the calls, nothing else.

The functions are declared with plain pointers, so that no header of theirs is needed; a state of theirs gets 64 KiB,
aligned. Contracts follow from the shape: a key that goes into every call is `rekey/1`, one that is set by a function of
its own is `message/1` as well. What surrounds the loops is `sdk/try/trial.h`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from perbyte.errors import UsageError
from perbyte.model import Algorithm
from perbyte.trial.building import filled_template
from perbyte.trial.compressing import compressing
from perbyte.trial.expressions import answers, declaration, expression, statement, symbol, told
from perbyte.trial.roles import Call
from perbyte.trial.steps import BACK_AND_FORTH, LENT, READ

_ROOM = 1 << 16  # bytes of a key of a pair, where more are not asked for
_UNKEYED = {"hash", "xof", "checksum", "permutation"}
_SYMMETRIC = {"ctr", "ofb"}  # modes in which decryption is encryption
# steps without which nothing is measured, the contract, and the operations; what nobody takes out again, or verifies,
# was not checked
_SINGLE: dict[str, tuple[set[str], str, tuple[str, ...]]] = {
    "kdf": ({"expand"}, "expand/1", ("expand",)),
    "password-hash": ({"hash"}, "password/1", ("hash",)),
    "kem": ({"keypair", "decapsulate"}, "pk/1", ("encapsulate", "decapsulate")),
    "signature": ({"keypair", "verify"}, "pk/1", ("sign", "verify")),
    "key-agreement": ({"base", "derive"}, "pk/1", ("derive",)),
}
_BASE_POINTS = {"x25519": 9, "x448": 5}  # the u-coordinates of RFC 7748
_CIPHERING = "encrypt= and decrypt=, with key= where the key is set apart"


def write_adapter(
    algorithm: Algorithm,
    calls: Mapping[str, Call],
    *,
    name: str,
    library: str,
    version: str,
    room: int = 0,
    aligned: int = 0,
    seeded: bool = False,
) -> str:
    """Write the table for `calls` by step. Raises UsageError when the functions do not make an operation.

    `room`: bytes of the largest key of a pair, where 64 KiB do not do. `aligned`: keys, nonces and additional data
    begin at multiples of so many bytes. `seeded`: a key pair that is another one each time is refused, because no known
    answer can be asked of it.
    """
    writer = _Writer(algorithm, calls)
    writer.write()
    keyed = algorithm.kind not in _UNKEYED
    lengths = [algorithm.key_bytes, algorithm.nonce_bytes] if keyed else [0, 0]
    lengths += [algorithm.data_multiple_bytes, algorithm.tag_bytes]
    macros = {
        "BLOCK": algorithm.block_bytes or 1,
        "CIPHERTEXT": algorithm.ciphertext_bytes,
        "ROOM": max(_ROOM, room),
        "ALGORITHM": f'"{algorithm.id}"',
        "LENGTHS": ", ".join(map(str, lengths)),
        "NAME": _literal(name),
        "LIBRARY": _literal(library),
        "VERSION": _literal(version),
        "FIRST": symbol(next(iter(calls.values()))),
        "ALIGNED": aligned,
    }
    freed = {"GIVES_BACK" if call.makes else "TAKES_OUT": call.freed for call in calls.values() if call.freed}
    macros |= freed
    if "keypair" in calls:
        macros["KEYPAIR"] = statement(calls["keypair"])
    if seeded:
        macros["SEEDED"] = ""
    if "base" in calls or algorithm.kind == "key-agreement":
        macros["BASE"] = ""
    own = [name for name in dict.fromkeys(freed.values()) if name not in ("free", LENT)]
    freeing = "".join(f"extern void {name}(void *);\n" for name in own)
    freeing += f"#define {LENT}(made) (void)(made)\n" if LENT in freed.values() else ""
    return filled_template(
        "table.c",
        macros="\n".join(f"#define TRIAL_{macro} {value}".rstrip() for macro, value in macros.items()),
        declarations=freeing + "\n".join(declaration(call) for call in calls.values()),
        preparing="\n".join("\t" + line for line in writer.preparing()),
        loops="\n".join(writer.loops),
        variants="\n".join(writer.variants),
    )


class _Writer:
    """Collects the rows of the variants' table, and the C of their loops."""

    def __init__(self, algorithm: Algorithm, calls: Mapping[str, Call]) -> None:
        self.algorithm = algorithm
        self.calls = calls
        self.loops: list[str] = []
        self.variants: list[str] = []

    def write(self) -> None:
        """All operations that the functions make, under each contract that they can keep."""
        kind = self.algorithm.kind
        makers: dict[str, Callable[[], None]] = {
            "hash": self._hash,
            "checksum": self._hash,
            "xof": self._hash,
            "mac": self._mac,
            "block-cipher": self._ciphers,
            "stream-cipher": self._ciphers,
            "aead": self._ciphers,
            "permutation": self._permutation,
        }
        if kind not in makers and kind not in _SINGLE:
            raise UsageError(
                f"{self.algorithm.id}: functions of the kind '{kind}' cannot be tried this way",
                hint="write a runner: CONTRIBUTING.md",
            )
        makers.get(kind, self._single)()
        if not self.variants:
            shown = "; ".join(
                f"{step}={call.function}({', '.join(call.roles)})" for step, call in self.calls.items()
            )
            hint = READ["ways"].get(kind, _CIPHERING)
            raise UsageError(f"{shown}: no operation of {self.algorithm.id} ({kind})", hint=hint)

    def _add(
        self, operation: str, contract: str, *calls: Call, begin: str = "NULL", show: str = "NULL"
    ) -> None:
        """A variant whose timed call makes `calls` one after the other."""
        parts, failed = [expression(call) for call in calls], "0"
        if operation in BACK_AND_FORTH and answers(calls[-1]):  # it says whether it accepted its input
            parts[-1], failed = f"state->answer = {parts[-1]}", "state->answer != state->accepted"
        body = ", ".join(parts)
        if operation == "open":  # what is opened was sealed with key 0 and nonce 0
            body = body.replace("PB_TURN(key, turn)", "key[0]").replace("PB_TURN(nonce, turn)", "nonce[0]")
        name = f"trial_{operation}_{contract.partition('/')[0]}"
        self._loop(name, body, failed)
        words = ", ".join(map(told, calls))
        self.variants.append(f'\t{{"{operation}", "{contract}", "{words}", {begin}, {name}, {show}}},')

    def _loop(self, name: str, body: str, failed: str = "0") -> None:
        self.loops.append(f"PB_LOOP({name}, struct trial_state, ({body}, {failed}))")

    def _hash(self) -> None:
        if number := next((call for call in self.calls.values() if call.returns_number), None):
            self._check_number(number)
        if compress := self.calls.get("compress"):
            self.loops.append(compressing(self.algorithm.id, expression(compress), self.algorithm.tag_bytes))
            self.loops.append(
                "PB_LOOP(trial_digest_oneshot, struct trial_state, (trial_compress(state, out, in, size), 0))"
            )
            words = f"{compress.function}, with padding"
            self.variants.append(f'\t{{"digest", "oneshot/1", "{words}", NULL, trial_digest_oneshot, NULL}},')
        elif "digest" in self.calls:
            self._add("digest", "oneshot/1", self.calls["digest"])
        elif parts := self._parts():
            init, update, *final = parts
            self._add("digest", "oneshot/1", *parts)
            begin, show = self._once("trial_begin", init), self._once("trial_show", *final)
            self._add("digest", "stream/1", update, begin=begin, show=show)

    def _check_number(self, call: Call) -> None:
        if call.returns_number != self.algorithm.tag_bytes:
            assert call.prototype
            raise UsageError(
                f"{call.prototype.text}: it returns a number of {call.returns_number} bytes, and {self.algorithm.id} "
                f"gives {self.algorithm.tag_bytes}",
                hint="a parameter for the output: --signature digest=out,in,size",
            )

    def _parts(self) -> list[Call]:
        """The functions of a hash or MAC in parts, where all are there."""
        steps = ["init", "update", "final"]
        if "squeeze" in self.calls:
            steps = [*steps[:2], *(["final"] if "final" in self.calls else []), "squeeze"]
        return [self.calls[step] for step in steps] if set(steps) <= set(self.calls) else []

    def _once(self, name: str, *calls: Call) -> str:
        """A function outside the timing that makes each call once."""
        self._loop(f"{name}_call", ", ".join(map(expression, calls)))
        self.loops.append(f"static void {name}(pb_case *c)\n{{\n\t{name}_call(c, 1);\n}}")
        return name

    def _mac(self) -> None:
        key, mac = self.calls.get("key"), self.calls.get("mac")
        if mac and mac.returns_number:
            self._check_number(mac)
        if mac and (key or mac.has("key")):
            self._keyed("mac", key, mac)
        elif (parts := self._parts()) and parts[0].has("key"):
            self._add("mac", "rekey/1", *parts)

    def _ciphers(self) -> None:
        calls, key = dict(self.calls), self.calls.get("key")
        decrypting = calls.get("decrypt-key", key)
        if self.algorithm.kind == "stream-cipher" or self.algorithm.mode in _SYMMETRIC:
            decrypting = key
            if "encrypt" in calls:
                calls.setdefault("decrypt", calls["encrypt"])
        for operation in ("encrypt", "decrypt", "seal", "open"):
            if call := calls.get(operation):
                self._keyed(operation, decrypting if operation == "decrypt" else key, call)

    def _keyed(self, operation: str, key: Call | None, call: Call) -> None:
        """`rekey/1`, and with a step for the key `message/1` and, without nonce, `stream/1`."""
        begins = [self.calls["nonce"]] if "nonce" in self.calls and not call.has("nonce") else []
        given = (call, *begins, *([key] if key and not call.has("key") else []))
        if self.algorithm.nonce_bytes and operation != "mac" and not any(each.has("nonce") for each in given):
            shown = f"{call.function}({', '.join(call.roles)})"
            raise UsageError(
                f"{shown}: no parameter is the nonce of {self.algorithm.id}, and no function sets it",
                hint="nonce=NAME, or its parameter: --signature STEP=...,nonce,...",
            )
        if call.has("key"):
            self._add(operation, "rekey/1", call)
        elif key and (operation == "mac" or call.has("context")):
            if operation != "mac" and not self.algorithm.nonce_bytes:
                self._add(operation, "stream/1", call)
            if not key.has("nonce"):
                self._add(operation, "message/1", *begins, call)
            self._add(operation, "rekey/1", key, *begins, call)

    def _permutation(self) -> None:
        if call := self.calls.get("permute"):
            # each call takes what the call before left, and a sample begins with the input
            self.loops.append("static void trial_begin(pb_case *c)\n{\n\tmemcpy(c->out, c->in, c->size);\n}")
            self._add("permute", "permute/1", call, begin="trial_begin")

    def _base(self) -> str:
        """The C that makes the peer's public key; of a Montgomery curve by the function that derives."""
        if base := self.calls.get("base"):
            return statement(base)
        text = statement(self.calls["derive"])
        text = re.sub(r"\bstate->public_key\b", "state->context", text)
        text = re.sub(r"\bc->out\b", "state->public_key", text)
        point = _BASE_POINTS[self.algorithm.id]
        return f"memset(state->context, 0, 64);\n\tstate->context[0] = {point};\n\t{text}"

    def _single(self) -> None:
        needed, contract, operations = _SINGLE[self.algorithm.kind]
        if self.algorithm.id in _BASE_POINTS:
            needed = needed - {"base"}
        if needed <= set(self.calls):
            for operation in operations:
                if call := self.calls.get(operation):
                    self._add(operation, contract, call)

    def preparing(self) -> list[str]:
        """The C of `trial_prepare`."""
        kind, calls = self.algorithm.kind, self.calls
        pair = "if (trial_pair(c, state))\n\t\treturn -1;"
        ciphertext = f"{self.algorithm.ciphertext_bytes}u + c->row->output"
        of_kind = {
            "permutation": [
                "if (c->size != BLOCK)",
                '\treturn trial_close(c), pb_fail(c, "not the length of the state");',
            ],
            "aead": [
                "if (c->inverse && c->in_len != c->size + c->row->output)",
                '\treturn trial_close(c), pb_fail(c, "an input of another length");',
                "c->out_len = c->inverse ? c->size : c->size + c->row->output;",
            ],
            "kem": [pair, f"c->out_len = c->inverse ? c->row->output : {ciphertext};"],
            # whether its candidates are rejected is not known: each sample signs messages of its own
            "signature": [pair, "c->out_len = c->inverse ? 0 : c->row->output;", "c->turns = PB_RING;"],
        }
        lines = of_kind.get(kind, [])
        if kind in ("hash", "xof", "checksum", "mac", "password-hash"):
            lines = ["c->out_len = c->row->output;"]
        elif kind == "key-agreement":
            lines = [
                "memcpy(state->secret_key, c->nonce[0], c->nonce_len);",
                f"{self._base()};",
                "if (c->given)",
                "\tmemcpy(state->public_key, c->in, c->in_len);",
                "memcpy(state->secret_key, c->key[0], c->key_len);",
                "c->out_len = c->row->output;",
            ]
        if key := calls.get("key"):
            line = f"{statement(key)};"
            if "decrypt-key" in calls:
                line = f"if (c->inverse)\n\t\t{statement(calls['decrypt-key'])};\n\telse\n\t\t{line}"
            lines.append(line)
        for operation in BACK_AND_FORTH:
            if operation in calls and answers(calls[operation]):
                lines += self._learning(operation)
                lines.append("state->accepted = trial_accepted;")
        return lines

    def _learning(self, operation: str) -> list[str]:
        """The C that learns what genuine input gives: the process signs or seals for itself first, where it can."""
        given = statement(self.calls[operation])
        forward = self.calls.get(_FORWARD[operation])
        if not forward or forward.freed or forward.makes or forward.hands_over:
            return [f"if (c->inverse && !c->given)\n\t\ttrial_accepted = {given};"]
        own = "TRIAL_LEARN_SIGNED" if operation == "verify" else "TRIAL_LEARN_SEALED"
        return [f"{own}(({statement(forward)}), ({given}));"]


def _literal(text: str) -> str:
    plain = "".join(
        character if character.isprintable() and character.isascii() and character not in '"\\' else "?"
        for character in text
    )
    return f'"{plain}"'


_FORWARD = {"verify": "sign", "open": "seal"}
