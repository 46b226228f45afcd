"""The C source that makes a runner of a user's functions: one row, loops around the calls, nothing else.

The functions are declared with plain pointers, so that no header of theirs is needed; a state of theirs gets 64 KiB,
aligned. Contracts follow from the shape: a key that goes into every call is `rekey/1`, one that is set by a function of
its own is `message/1` as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perbyte.errors import UsageError
from perbyte.model import Algorithm
from perbyte.trial.expressions import (
    answers,
    counted,
    declaration,
    expression,
    failure,
    statement,
    symbol,
    taking,
    told,
)
from perbyte.trial.random_sources import RANDOM, SAME_PAIR
from perbyte.trial.roles import BACK_AND_FORTH, Call

STATE_BYTES = 1 << 16
UNKEYED = {"hash", "xof", "permutation"}
SYMMETRIC = {"ctr", "ofb"}  # modes in which decryption is encryption


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of the variants' table, and the C of its loop."""

    operation: str
    contract: str
    calls: str
    begin: str
    loop: str
    show: str


@dataclass(frozen=True, slots=True)
class Adapter:
    """What is generated: the table's C; `offers` are its operations and contracts."""

    table: str
    offers: tuple[tuple[str, str], ...]


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
) -> Adapter:
    """Write the table for `calls` by step. Raises UsageError when the functions do not make an operation.

    `room`: bytes of the largest key of a pair, where 64 KiB do not do. `aligned`: keys, nonces and additional data
    begin at multiples of so many bytes. `seeded`: a key pair that is another one each time is refused, because no known
    answer can be asked of it.
    """
    writer = _Writer(algorithm, calls, seeded=seeded)
    random = RANDOM.replace("KEYPAIR", statement(calls["keypair"])) if "keypair" in calls else ""
    variants = writer.variants()
    rows = "\n".join(
        f'\t{{"{variant.operation}", "{variant.contract}", "{variant.calls}", '
        f"{variant.begin}, {variant.loop}, {variant.show}}},"
        for variant in variants
    )
    first = next(iter(calls.values())).function
    key = 0 if algorithm.kind in UNKEYED else algorithm.key_bytes
    nonce = 0 if algorithm.kind in UNKEYED else algorithm.nonce_bytes
    text = _TABLE.format(
        declarations="\n".join(declaration(call) for call in calls.values()),
        taking=taking(calls.values()),
        leaving="\tgive_back(c->ctx);\n" if any(call.makes for call in calls.values()) else "",
        bytes=STATE_BYTES,
        room=max(STATE_BYTES, room),
        aligned=aligned,
        block=algorithm.block_bytes or 1,
        ciphertext=algorithm.ciphertext_bytes,
        random=random + (SAME_PAIR if random and seeded else ""),
        secret=_SECRET if {"keypair", "base"} & set(calls) else "",
        open=writer.opening(),
        loops="\n".join(writer.loops),
        variants=rows,
        algorithm=algorithm.id,
        key=key,
        nonce=nonce,
        multiple=algorithm.data_multiple_bytes,
        output=algorithm.tag_bytes,
        name=_literal(name),
        library=_literal(library),
        version=_literal(version),
        first=symbol(calls[next(iter(calls))]) or first,
    )
    return Adapter(text, tuple((variant.operation, variant.contract) for variant in variants))


class _Writer:
    def __init__(self, algorithm: Algorithm, calls: Mapping[str, Call], *, seeded: bool) -> None:
        self.algorithm = algorithm
        self.calls = calls
        self.seeded = seeded
        self.loops: list[str] = []

    def variants(self) -> list[Variant]:
        """All operations that the functions make, under each contract that they can keep."""
        kind, calls = self.algorithm.kind, self.calls
        makers = {
            "hash": self._hash,
            "xof": self._hash,
            "mac": self._mac,
            "block-cipher": self._cipher,
            "stream-cipher": self._cipher,
            "aead": self._aead,
            "kdf": self._kdf,
            "password-hash": self._password,
            "permutation": self._permutation,
            "kem": self._kem,
            "signature": self._signature,
            "key-agreement": self._agreement,
        }
        if kind not in makers:
            raise UsageError(
                f"{self.algorithm.id}: functions of the kind '{kind}' cannot be tried this way",
                hint="write a runner: CONTRIBUTING.md",
            )
        variants = makers[kind]()
        if not variants:
            shown = "; ".join(
                f"{step}={call.function}({', '.join(call.roles)})" for step, call in calls.items()
            )
            raise UsageError(f"{shown}: no operation of {self.algorithm.id} ({kind})", hint=self._hint())
        return variants

    def _hint(self) -> str:
        ways = {
            "hash": "--function NAME, or init=, update= and final=",
            "xof": "--function NAME, or init=, update= and final=",
            "mac": "--function NAME with the key in each call, or key= and mac=, or init=, update=, final=",
            "permutation": "--function NAME",
            "aead": "seal= and open=, with key= where the key is set apart",
            "kem": "keypair=, encapsulate= and decapsulate=",
            "signature": "keypair=, sign= and verify=",
            "key-agreement": "base= and derive=",
        }
        return ways.get(self.algorithm.kind, "encrypt= and decrypt=, with key= where the key is set apart")

    def _loop(self, name: str, expressions: Sequence[str], failure: str = "0") -> str:
        body = ", ".join(expressions)
        self.loops.append(f"PB_LOOP({name}, struct state, ({body}, {failure}))")
        return name

    def _hash(self) -> list[Variant]:
        if "digest" in self.calls:
            call = self.calls["digest"]
            return [
                Variant(
                    "digest",
                    "oneshot/1",
                    told(call),
                    "NULL",
                    self._loop("digest", [expression(call)]),
                    "NULL",
                )
            ]
        if not {"init", "update", "final"} <= set(self.calls):
            return []
        init, update, final = (self.calls[step] for step in ("init", "update", "final"))
        names = f"{told(init)}, {update.function}, {final.function}"
        whole = self._loop("digest", [expression(step) for step in (init, update, final)])
        stream = self._loop("more", [expression(update)])
        begin, show = self._once("begin", init), self._once("show", final)
        return [
            Variant("digest", "oneshot/1", names, "NULL", whole, "NULL"),
            Variant("digest", "stream/1", update.function, begin, stream, show),
        ]

    def _once(self, name: str, call: Call) -> str:
        """A function outside the timing that makes one call."""
        self._loop(f"{name}_call", [expression(call)])
        self.loops.append(f"static void {name}(pb_case *c)\n{{\n\t{name}_call(c, 1);\n}}")
        return name

    def _mac(self) -> list[Variant]:
        calls = self.calls
        if "mac" in calls and calls["mac"].has("key"):
            loop = self._loop("mac", [expression(calls["mac"])])
            return [Variant("mac", "rekey/1", told(calls["mac"]), "NULL", loop, "NULL")]
        if {"key", "mac"} <= set(calls):
            key, mac = calls["key"], calls["mac"]
            message = self._loop("mac", [expression(mac)])
            rekey = self._loop("rekey", [expression(key), expression(mac)])
            return [
                Variant("mac", "message/1", mac.function, "NULL", message, "NULL"),
                Variant("mac", "rekey/1", f"{told(key)}, {mac.function}", "NULL", rekey, "NULL"),
            ]
        if {"init", "update", "final"} <= set(calls) and calls["init"].has("key"):
            parts = [calls[step] for step in ("init", "update", "final")]
            loop = self._loop("mac", [expression(call) for call in parts])
            return [Variant("mac", "rekey/1", ", ".join(told(call) for call in parts), "NULL", loop, "NULL")]
        return []

    def _cipher(self) -> list[Variant]:
        alike = self.algorithm.kind == "stream-cipher" or self.algorithm.mode in SYMMETRIC
        variants: list[Variant] = []
        for operation in ("encrypt", "decrypt"):
            call = self.calls.get(operation) or (self.calls.get("encrypt") if alike else None)
            if not call:
                continue
            key = self.calls.get("key")
            if operation == "decrypt" and not alike:
                key = self.calls.get("decrypt-key", key)
            variants += self._keyed(operation, key, call)
        return variants

    def _keyed(self, operation: str, key: Call | None, call: Call) -> list[Variant]:
        """`rekey/1`, and where the key is set by a function of its own `message/1` or, without nonce, `stream/1`."""
        name, failed = operation.replace("-", "_"), failure(operation, call)
        if call.has("key"):
            loop = self._loop(f"{name}_rekey", [counted(operation, call)], failed)
            return [Variant(operation, "rekey/1", told(call), "NULL", loop, "NULL")]
        if not key or not call.has("context"):
            return []
        setting = expression(key)
        if operation == "open":  # what is opened was sealed with key 0
            setting = setting.replace("PB_TURN(key, turn)", "key[0]")
        rekey = self._loop(f"{name}_rekey", [setting, counted(operation, call)], failed)
        once = self._loop(f"{name}_again", [counted(operation, call)], failed)
        variants = [
            Variant(operation, "message/1", told(call), "NULL", once, "NULL"),
            Variant(operation, "rekey/1", f"{told(key)}, {told(call)}", "NULL", rekey, "NULL"),
        ]
        if not self.algorithm.nonce_bytes:
            variants.insert(0, Variant(operation, "stream/1", told(call), "NULL", once, "NULL"))
        return variants

    def _aead(self) -> list[Variant]:
        variants: list[Variant] = []
        for operation in ("seal", "open"):
            if call := self.calls.get(operation):
                variants += self._keyed(operation, self.calls.get("key"), call)
        return variants

    def _kdf(self) -> list[Variant]:
        if "expand" not in self.calls:
            return []
        call = self.calls["expand"]
        return [
            Variant(
                "expand", "expand/1", call.function, "NULL", self._loop("expand", [expression(call)]), "NULL"
            )
        ]

    def _password(self) -> list[Variant]:
        if "hash" not in self.calls:
            return []
        call = self.calls["hash"]
        loop = self._loop("hash", [expression(call)])
        return [Variant("hash", "password/1", call.function, "NULL", loop, "NULL")]

    def _permutation(self) -> list[Variant]:
        if not (call := self.calls.get("permute")):
            return []
        # each call takes what the call before left, and a sample begins with the input
        self.loops.append("static void begin(pb_case *c)\n{\n\tmemcpy(c->out, c->in, c->size);\n}")
        loop = self._loop("permute", [expression(call)])
        return [Variant("permute", "permute/1", told(call), "begin", loop, "NULL")]

    def _kem(self) -> list[Variant]:
        variants: list[Variant] = []
        if not {"keypair", "decapsulate"} <= set(self.calls):
            return variants  # a secret that nobody takes out again was not checked
        for operation in ("encapsulate", "decapsulate"):
            if call := self.calls.get(operation):
                loop = self._loop(operation, [expression(call)])
                variants.append(Variant(operation, "pk/1", call.function, "NULL", loop, "NULL"))
        return variants

    def _signature(self) -> list[Variant]:
        variants: list[Variant] = []
        if not {"keypair", "verify"} <= set(self.calls):
            return variants  # a signature that nobody verifies was not checked
        for operation in ("sign", "verify"):
            if call := self.calls.get(operation):
                loop = self._loop(operation, [counted(operation, call)], failure(operation, call))
                variants.append(Variant(operation, "pk/1", call.function, "NULL", loop, "NULL"))
        return variants

    def _agreement(self) -> list[Variant]:
        if not {"base", "derive"} <= set(self.calls):
            return []
        call = self.calls["derive"]
        return [
            Variant("derive", "pk/1", call.function, "NULL", self._loop("derive", [expression(call)]), "NULL")
        ]

    def _pair(self) -> list[str]:
        if not self.seeded:
            return ["make_pair(c, state);"]
        refused = "\treturn close_case(c), pb_fail(c, ANOTHER_PAIR);"
        return ["make_pair(c, state);", "if (another_pair(c, state))", refused]

    def opening(self) -> str:
        """What `open` does once the state is there."""
        kind, calls = self.algorithm.kind, self.calls
        lines: list[str] = []
        if kind in ("hash", "xof", "mac", "password-hash"):
            lines.append("c->out_len = c->row->output;")
        elif kind == "permutation":
            lines += [
                "if (c->size != BLOCK)",
                '\treturn close_case(c), pb_fail(c, "not the length of the state");',
            ]
        elif kind == "aead":
            lines += [
                "if (c->inverse && c->in_len != c->size + c->row->output)",
                '\treturn close_case(c), pb_fail(c, "an input of another length");',
                "c->out_len = c->inverse ? c->size : c->size + c->row->output;",
            ]
        elif kind == "kem":
            lines += [
                *self._pair(),
                "c->out_len = c->inverse ? c->row->output : "
                f"{self.algorithm.ciphertext_bytes}u + c->row->output;",
            ]
        elif kind == "signature":
            lines += [*self._pair(), "c->out_len = c->inverse ? 0 : c->row->output;"]
        elif kind == "key-agreement":
            lines += [
                "memcpy(state->secret_key, c->nonce[0], c->nonce_len);",
                f"{statement(calls['base'])};",
                "if (c->given)",
                "\tmemcpy(state->public_key, c->in, c->in_len);",
                "memcpy(state->secret_key, c->key[0], c->key_len);",
                "c->out_len = c->row->output;",
            ]
        key = calls.get("key")
        if key:
            line = f"{statement(key)};"
            if "decrypt-key" in calls:
                line = f"if (c->inverse)\n\t\t{statement(calls['decrypt-key'])};\n\telse\n\t\t{line}"
            lines.append(line)
        for operation in BACK_AND_FORTH:
            if operation in calls and answers(calls[operation]):
                # the genuine input is this process's own, so its answer tells what acceptance looks like
                lines.append(f"if (c->inverse && !c->given)\n\t\taccepted = {statement(calls[operation])};")
                lines.append("state->accepted = accepted;")
        return "\n".join("\t" + line for line in lines)


def _literal(text: str) -> str:
    plain = "".join(
        character if character.isprintable() and character.isascii() and character not in '"\\' else "?"
        for character in text
    )
    return f'"{plain}"'


_SECRET = """
/* Undefined under Valgrind where `--leak=taint` looks. */
uint8_t *pb_trial_secret(const pb_case *c, size_t *length)
{
	struct state *state = c->ctx;
	*length = sizeof state->secret_key;
	return state->secret_key;
}
"""

_TABLE = """\
/* Written by `perbyte try`: calls of a user's functions, for one algorithm. */
#include "perbyte.h"

#include <stdlib.h>
#include <string.h>

{declarations}

enum {{ BLOCK = {block}, CIPHERTEXT = {ciphertext} }};

struct state {{
	_Alignas(64) uint8_t context[{bytes}];
	_Alignas(64) uint8_t public_key[{room}];
	_Alignas(64) uint8_t secret_key[{room}];
	uint64_t length;
	void *made;
	int answer, accepted;
}};

static int accepted;
{taking}{random}

static void close_case(pb_case *c)
{{
{leaving}	free(c->ctx);
	c->ctx = NULL;
}}

static int open_case(pb_case *c)
{{
	struct state *state = c->ctx = aligned_alloc(64, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	memset(state, 0, sizeof *state);
{open}
	return 0;
}}

{secret}
{loops}

static const pb_variant variants[] = {{
{variants}
	PB_END_OF_VARIANTS,
}};
static const pb_family family = {{open_case, close_case, variants}};
static const pb_row rows[] = {{
	{{"{algorithm}", &family, NULL, {key}, {nonce}, {multiple}, {output}}},
	PB_END_OF_ROWS,
}};
static const pb_row *const tables[] = {{rows, NULL}};

static const char *version(void)
{{
	return {version};
}}

static const pb_runner runner = {{
	.name = {name},
	.library = {library},
	.license = "not stated",
	.version = version,
	.object = (const void *){first},
	.tables = tables,
	.aligned = {aligned},
}};

int main(int argc, char **argv)
{{
	return pb_runner_main(&runner, argc, argv);
}}
"""
