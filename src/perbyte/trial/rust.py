"""Functions of a Rust file, exported for C: slices become pointer and length, what is returned is written out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from perbyte.trial.expressions import answers
from perbyte.trial.prototype import Parameter, Shape
from perbyte.trial.roles import Call, returns_bytes

FLAGS = ("--edition=2021", "--crate-type=staticlib", "-Cpanic=abort", "-Awarnings")


def write_wrapper(file: Path, calls: Iterable[Call]) -> str:
    """The Rust source of a static library that exports the functions of `calls` in `file` as `pb_own_NAME`."""
    place = str(file).replace("\\", "\\\\").replace('"', '\\"')
    parts = [f'// Written by `perbyte try`.\n#[path = "{place}"]\nmod subject;\n']
    return "\n".join([*parts, *(_export(call) for call in calls)])


def _export(call: Call) -> str:
    assert call.prototype
    handed = [_handed_over(parameter, index) for index, parameter in enumerate(call.prototype.parameters)]
    taken = [name for names, _ in handed for name in names]
    given = [expression for _, expression in handed]
    call_text = f"subject::{call.function}({', '.join(given)})"
    body, result = f"{call_text};", ""
    if call.prototype.result == "bool":
        body, result = f"{call_text} as i32", " -> i32"
    elif call.prototype.result.startswith("Result"):
        body, result = f"{call_text}.is_ok() as i32", " -> i32"
    elif answers(call) and not returns_bytes(call.prototype):
        body, result = f"{call_text} as i32", " -> i32"
    if returns_bytes(call.prototype):
        taken.append("out: *mut u8")
        body = f"let made = {call_text};\n    std::ptr::copy_nonoverlapping(made.as_ptr(), out, made.len());"
    head = f'pub unsafe extern "C" fn pb_own_{call.function}({", ".join(taken)}){result}'
    return f"#[no_mangle]\n{head} {{\n    {body}\n}}\n"


def _handed_over(parameter: Parameter, index: int) -> tuple[list[str], str]:
    pointer, length = f"a{index}", f"n{index}"
    if parameter.shape is Shape.READ_SLICE:
        names = [f"{pointer}: *const u8", f"{length}: usize"]
        return names, f"std::slice::from_raw_parts({pointer}, {length})"
    if parameter.shape is Shape.WRITTEN_SLICE:
        names = [f"{pointer}: *mut u8", f"{length}: usize"]
        return names, f"std::slice::from_raw_parts_mut({pointer}, {length})"
    if parameter.shape is Shape.NUMBER:
        return [f"{pointer}: usize"], f"{pointer} as {parameter.type}"
    written = parameter.shape is Shape.WRITTEN
    kind = "*mut u8" if written else "*const u8"
    if parameter.type.startswith("*"):
        return [f"{pointer}: {kind}"], pointer
    array = parameter.type.lstrip("&").replace("mut ", "").strip()
    way = "&mut *" if written else "&*"
    return [f"{pointer}: {kind}"], f"{way}({pointer} as {'*mut' if written else '*const'} {array})"
