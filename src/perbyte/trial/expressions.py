"""The C of one call: which expression stands for each parameter, in a timed loop and outside of one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from perbyte.trial.cpp import CONSTRUCTOR
from perbyte.trial.prototype import Parameter, Shape
from perbyte.trial.roles import Call, is_number
from perbyte.trial.steps import BACK_AND_FORTH, LENT, NUMBER, READ, TYPES

_GIVEN: dict[str, str] = READ["given"]
_SLICE_LENGTHS = {"in": "size", "buffer": "size", "tag": "out_max"} | {
    role: f"{role}_len" for role in ("key", "nonce", "aad")
}


def symbol(call: Call) -> str:
    """The name that is linked against: the function's own, or that of its wrapper in Rust, Zig and C++."""
    own = wrapped(call) or in_cpp(call)
    return re.sub(r"\W+", "_", f"pb_own_{call.function}") if own else call.function


def in_cpp(call: Call) -> bool:
    """True for a function of C++ that is reached through a wrapper."""
    return bool(call.prototype and call.prototype.home)


def wrapped(call: Call) -> bool:
    """True for a function of Rust or Zig, which is reached through a wrapper."""
    return bool(call.prototype and call.prototype.text.startswith("fn "))


def expression(call: Call) -> str:
    """The C expression of one timed call."""
    text = f"{symbol(call)}({', '.join(_arguments(call))})"
    if call.makes:
        return f"trial_give_back(state), state->made = {text}"
    if bytes_returned := call.returns_number:
        first = int(call.step == "digest")  # checksums say their highest byte first, MACs the lowest
        return f"trial_put_number(out, (uint64_t){text}, {bytes_returned}, {first})"
    if call.hands_over:
        return f"{text}, trial_take_out(out, state->made, out_max)"
    if call.freed:
        return f"trial_take_out(out, {text}, out_max)"
    if call.step == "permute":
        return text if call.has("buffer") else f"memcpy(state->context, out, size), {text}"
    if call.step == "compress" and not call.has("size") and not call.has("blocks"):
        once = re.sub(r"\bin(?=[,)])", "in + at", text)
        return f"({{ for (size_t at = 0; at < size; at += BLOCK) {once}; }})"
    if call.one_block:
        once = re.sub(r"\b(in|out)(?=[,)])", r"\1 + at", text)
        text = f"({{ for (size_t at = 0; at < size; at += BLOCK) {once}; }})"
    return f"memcpy(out, in, size), {text}" if call.has("buffer") else text


def answers(call: Call) -> bool:
    """True when the function returns something."""
    return not call.prototype or call.prototype.result not in ("", "void", CONSTRUCTOR)


def told(call: Call) -> str:
    """What a timed call does, for `hello` and for readers."""
    if call.makes:
        return f"{call.freed}, {call.function}"
    if call.freed:
        return f"{call.function}, memcpy" + (f", {call.freed}" if call.freed != LENT else "")
    if call.step == "permute" and call.has("buffer"):
        return call.function
    return f"memcpy, {call.function}" if call.has("buffer") else call.function


def _arguments(call: Call) -> list[str]:
    opening = call.step == "open"
    given = {
        **_GIVEN,
        "out": "(void *)&state->made" if call.hands_over else "out",
        "size": "in_len" if opening and not call.has("tag") else "size",
        "blocks": "(out_max + BLOCK - 1) / BLOCK" if call.step == "squeeze" else "size / BLOCK",
        "out-length": "size" if call.step == "expand" else "out_max",
        "key": "key[0]" if call.step == "expand" else "PB_TURN(key, turn)",
        "tag": "in + size" if call.step in BACK_AND_FORTH else "out" if call.step == "sign" else "out + size",
        "context": "state->made" if call.held else "state->context",
        "ciphertext": "in" if call.step == "decapsulate" else "out",
        "secret": "out" if call.step == "decapsulate" else "out + CIPHERTEXT",
    }
    if call.step == "sign":
        given["in"] = "PB_TURN(message, turn)"
    if opening:  # what is opened was sealed with these
        given["nonce"], given["key"] = "nonce[0]", "key[0]"
    if call.step == "permute":
        given["in"] = "state->context"
    given |= {role: role for role in call.roles if NUMBER.fullmatch(role)}
    arguments: list[str] = []
    for role, parameter in _given_parameters(call):
        arguments.append(given[role])
        if parameter and parameter.is_slice:
            arguments.append(_slice_length(call, role))
    if call.returns_bytes:
        arguments.append("out")
    return arguments


def _slice_length(call: Call, role: str) -> str:
    if role == "in" and call.step == "open" and not call.has("tag"):
        return "in_len"
    if role == "out":
        tag = call.step == "seal" and not call.has("tag")
        if call.step in ("encrypt", "decrypt", "seal", "open", "expand"):
            return "size + out_max" if tag else "size"
        return "out_max"
    return _SLICE_LENGTHS.get(role, "0")


def statement(call: Call) -> str:
    """One call outside the loops, with what the loops have in local variables."""
    text = f"{symbol(call)}({', '.join(_arguments(call))})"
    text = f"state->made = {text}" if call.makes else text
    for local in ("key_len", "nonce_len", "aad_len", "in_len", "aad", "out_max", "size"):
        value = "c->row->output" if local == "out_max" else f"c->{local}"
        text = _word(local, value, text)
    text = _word("turn", "0", text)
    for local in ("key", "nonce", "in", "out", "message"):
        text = _word(local, f"c->{local}", text)
    return text


def _word(word: str, value: str, text: str) -> str:
    return re.sub(rf"(?<![\w>.]){word}\b(?!\()", value, text)


def declaration(call: Call) -> str:
    """Declare a function with plain pointers; numbers as wide as the source says."""
    kinds: list[str] = []
    for role, parameter in _given_parameters(call):
        if is_number(role):
            kinds.append(_number(parameter.type) if parameter and not in_cpp(call) else "size_t")
        else:
            read = not parameter or parameter.shape in (Shape.READ, Shape.READ_SLICE)
            kinds.append("const void *" if read else "void *")
            if parameter and parameter.is_slice:
                kinds.append("size_t")
    result = "int" if answers(call) else "void"
    if call.returns_number:
        result = {2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}[call.returns_number]
    if call.returns_bytes:
        kinds.append("void *")
        result = "void"
    if call.freed and not call.hands_over:
        result = "void *"
    return f"extern {result} {symbol(call)}({', '.join(kinds) or 'void'});"


def _given_parameters(call: Call) -> Iterable[tuple[str, Parameter | None]]:
    """Each role with the parameter of the source, or None where only the user told the roles."""
    parameters = call.prototype.parameters if call.prototype else [None] * len(call.roles)
    return zip(call.roles, parameters, strict=True)


def _number(kind: str) -> str:
    bare = " ".join(word for word in kind.split() if word not in ("const", "register", "volatile"))
    bare = str(TYPES["widths"].get(bare, bare))
    return bare if bare in TYPES["declared"] else "size_t"
