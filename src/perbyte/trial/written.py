"""A call as it is written: an expression of the language, or statements that end with one.

`Blake3 h = new Blake3(); h.update(data); h.digest()` is a function of `data` as any other, so that objects, values that
a module exports, and whatever no shape describes can be tried. Classes with the usual members are written so, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from perbyte.trial.prototype import MANAGED, RETURNED, Parameter, Prototype, Shape
from perbyte.trial.steps import STEPS, UNTIMED

_SAME = ("key", "nonce", "aad", "size", "seed", "out")
ROLES = {
    "data": "in",
    "public": "public-key",
    "private": "secret-key",
    "signature": "tag",
    **dict(zip(_SAME, _SAME, strict=True)),
}
"""What each name that a written call may use stands for."""
NAME = re.compile(rf"(?<![\w.>$:])({'|'.join(ROLES)})\b(?!\s*(?:=(?!=)|:(?!:)|\())")
_BEGINS = re.compile(rf"\s*(?:{'|'.join(STEPS)})=(?!=)")
_STEP = re.compile(r"([a-z]+(?:-[a-z]+)?)=(?!=)(.*)", re.DOTALL)
_REFUSING = ("open", "verify")


def split_calls(text: str) -> list[str]:
    """The parts of `--function`, apart at commas outside of brackets; of written calls before a step alone."""
    parts, depth, quote, begin = [], 0, "", 0
    for at, mark in enumerate(text):
        if quote or mark in "\"'`":
            quote = "" if mark == quote else quote or mark
        elif mark == "," and depth <= 0 and (not is_written(text) or _BEGINS.match(text, at + 1)):
            parts.append(text[begin:at])
            begin = at + 1
        else:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(mark, 0)
    return [part.strip() for part in (*parts, text[begin:]) if part.strip()]


def step_of(text: str, steps: Collection[str]) -> tuple[str, str]:
    """The step that stands before a function, '' for none, and the function. `steps` are names besides the usual."""
    match = _STEP.fullmatch(text)
    if match and ("(" not in match[2] or match[1] in (*STEPS, *steps)):
        return match[1], match[2].strip()
    return "", text


def is_written(function: str) -> bool:
    """True for a call that was written, not named."""
    return "(" in function


def prototype_of(step: str, text: str, file: Path) -> tuple[Prototype, tuple[str, ...]]:
    """The call as a prototype whose parameters are the names that it uses, and the role of each."""
    text = "; ".join(part.strip() for part in text.split(";") if part.strip())
    names = list(dict.fromkeys(NAME.findall(text)))
    language = MANAGED.get(file.suffix, "")
    if not language and step != "verify" and "out" not in names:
        names.append("out")  # the wrapper writes what is returned
    roles = tuple("ciphertext" if step == "decapsulate" and name == "data" else ROLES[name] for name in names)
    shown = text if language or file.suffix not in (".rs", ".zig") else f"fn {text}"
    home = file if not language and shown == text else None
    kinds = {"size": "usize"}
    parameters = tuple(Parameter(name, kinds.get(name, ""), _shape(name)) for name in names)
    return Prototype(
        text,
        RETURNED if language else "int",
        parameters,
        shown,
        language=language,
        has_runtime=bool(language),
        scoped="written" if home else "",
        home=home,
        written=text,
    ), roles


def _shape(name: str) -> Shape:
    if name == "size":
        return Shape.NUMBER
    return Shape.WRITTEN_SLICE if name == "out" else Shape.READ_SLICE


def call_text(prototype: Prototype | None, name: str, given: Sequence[str]) -> str:
    """The call of `name` with what is `given` for its parameters; a written one with those in place of its names."""
    if not prototype or not prototype.written:
        return f"{name}({', '.join(given)})"
    values = dict(zip((parameter.name for parameter in prototype.parameters), given, strict=True))
    return NAME.sub(lambda match: values.get(match[1], match[1]), prototype.written)


def last_apart(text: str) -> tuple[str, str]:
    """Statements, and the expression that they end with."""
    before, mark, last = text.rstrip("; \n").rpartition(";")
    return f"{before}{mark} ".lstrip(), last.strip()


def accepted(step: str, text: str) -> str:
    """A written call whose None, null or false is a refusal, in Python and JavaScript."""
    before, last = last_apart(text)
    return f"{before}accepted({last})" if step in _REFUSING and step not in UNTIMED else text
