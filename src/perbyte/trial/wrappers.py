"""Functions of a Rust or Zig file, exported for C: slices become pointer and length, what is returned is written out.

A file of Zig is a module of its own beside the generated root, so that what it imports is found where it lies.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from perbyte import places
from perbyte.errors import EnvironmentLacking
from perbyte.trial.building import said_by
from perbyte.trial.crates import crate_of
from perbyte.trial.expressions import answers, symbol, wrapped
from perbyte.trial.prototype import Parameter, Prototype, Shape
from perbyte.trial.roles import Call
from perbyte.trial.written import call_text

RUST_FLAGS = ("--edition=2021", "--crate-type=staticlib", "-Cpanic=abort", "-Awarnings")
_LEVELS = {"-O0": "Debug", "-O1": "ReleaseSafe", "-Os": "ReleaseSmall", "-Oz": "ReleaseSmall"}


def rust_wrapper(file: Path, calls: Iterable[Call]) -> str:
    """The Rust source of a static library that exports the functions of `calls` in `file` as `pb_own_NAME`."""
    place = str(file).replace("\\", "\\\\").replace('"', '\\"')
    subject = "use theirs as subject;" if crate_of(file) else f'#[path = "{place}"]\nmod subject;'
    parts = [f"// Written by `perbyte try`.\n{subject}\n"]
    calls = list(calls)
    written = places.data_dir("runners") / "sdk" / "try" / "written.rs"
    put = (
        [f'include!("{written}");']
        if any(call.prototype and call.prototype.written for call in calls)
        else []
    )
    return "\n".join([*parts, *put, *(_rust_export(call) for call in calls)])


def _handed(
    prototype: Prototype, argument: Callable[[Parameter, int], tuple[list[str], str]]
) -> tuple[list[str], list[str]]:
    """What the exported function takes, and what it gives to the user's."""
    pairs = [argument(parameter, index) for index, parameter in enumerate(prototype.parameters)]
    return [name for names, _ in pairs for name in names], [given for _, given in pairs]


def _rust_export(call: Call) -> str:
    assert call.prototype
    taken, given = _handed(call.prototype, _rust_argument)
    if call.prototype.written:
        body = call_text(call.prototype, "", given)
        into = next((f"a{at}" for at, role in enumerate(call.roles) if role == "out"), "std::ptr::null_mut()")
        head = f'pub unsafe extern "C" fn {symbol(call)}({", ".join(taken)}) -> i32'
        return f"#[no_mangle]\n{head} {{\n    use subject::*;\n    Put::put(&{{ {body} }}, {into})\n}}\n"
    text = f"subject::{call.prototype.name}({', '.join(given)})"
    body, result = f"{text};", ""
    if call.returns_bytes:
        taken.append("out: *mut u8")
        inner = ".0" if " in " in call.prototype.result else ""
        body = (
            f"let made = {text}{inner};\n    std::ptr::copy_nonoverlapping(made.as_ptr(), out, made.len());"
        )
    elif answers(call):
        accepted = ".is_ok()" if call.prototype.result.startswith("Result") else ""
        body, result = f"{text}{accepted} as i32", " -> i32"
    head = f'pub unsafe extern "C" fn {symbol(call)}({", ".join(taken)}){result}'
    return f"#[no_mangle]\n{head} {{\n    {body}\n}}\n"


def _rust_argument(parameter: Parameter, index: int) -> tuple[list[str], str]:
    pointer, length = f"a{index}", f"n{index}"
    if parameter.is_slice:
        mutable = parameter.shape is Shape.WRITTEN_SLICE
        names = [f"{pointer}: *{'mut' if mutable else 'const'} u8", f"{length}: usize"]
        return names, f"std::slice::from_raw_parts{'_mut' if mutable else ''}({pointer}, {length})"
    if parameter.shape is Shape.NUMBER:
        return [f"{pointer}: usize"], f"{pointer} as {parameter.type}"
    access, way = ("mut", "&mut *") if parameter.shape is Shape.WRITTEN else ("const", "&*")
    if parameter.type.startswith("*"):
        return [f"{pointer}: *{access} u8"], pointer
    array = parameter.type.lstrip("&").replace("mut ", "").strip()
    return [f"{pointer}: *{access} u8"], f"{way}({pointer} as *{access} {array})"


def zig_command() -> list[str]:
    """What starts the compiler: `zig`, what ZIG says, or the package `ziglang`. Raises EnvironmentLacking."""
    if path := shutil.which(os.environ.get("ZIG", "zig")):
        return [path]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang"]
    if python := shutil.which("python3"):
        tried = subprocess.run([python, "-c", "import ziglang"], capture_output=True, check=False)
        if not tried.returncode:
            return [python, "-m", "ziglang"]
    raise EnvironmentLacking("there is no zig here", hint="pip install ziglang, or set ZIG")


def zig_version() -> str:
    """The compiler's name and version."""
    return f"zig {said_by(*zig_command(), 'version')}"


def zig_build(file: Path, flags: Sequence[str], made: str) -> list[str]:
    """The command that compiles `zig.zig`, written by `zig_wrapper`, with `file` as its module, into `made`."""
    level, words = "ReleaseFast", []
    for flag in flags:
        if flag.startswith("-O") and (flag in _LEVELS or flag[2:] in ("2", "3", "fast")):
            level = _LEVELS.get(flag, "ReleaseFast")
        elif match := re.fullmatch(r"-march=(.*)", flag):
            words.append(f"-mcpu={match[1]}")
        else:
            words.append(flag)
    modules = ["--dep", "subject", "-Mroot=zig.zig", *words, f"-Msubject={file}"]
    return [*zig_command(), "build-obj", "-O", level, "-fPIC", "-lc", *words, *modules, f"-femit-bin={made}"]


def zig_wrapper(calls: Iterable[Call]) -> str:
    """The root of the object: exports each of `calls` that is no C function already as `pb_own_NAME`."""
    head = (
        '// Written by `perbyte try`.\nconst subject = @import("subject");\ncomptime {\n    _ = subject;\n}\n'
    )
    return "\n".join([head, *(_zig_export(call) for call in calls if wrapped(call))])


def _zig_export(call: Call) -> str:
    assert call.prototype
    taken, given = _handed(call.prototype, _zig_argument)
    text = f"subject.{call.function}({', '.join(given)})"
    result, body = "void", f"{text};"
    if call.returns_bytes:
        taken.append("out: [*]u8")
        body = f"const made = {text};\n    @memcpy(out[0..made.len], made[0..made.len]);"
    elif call.prototype.result == "bool":
        result, body = "c_int", f"return @intFromBool({text});"
    elif call.prototype.result == "!":
        result, body = "c_int", f"_ = {text} catch return 0;\n    return 1;"
    return f"export fn pb_own_{call.function}({', '.join(taken)}) {result} {{\n    {body}\n}}\n"


def _zig_argument(parameter: Parameter, index: int) -> tuple[list[str], str]:
    pointer, length = f"a{index}", f"n{index}"
    if parameter.is_slice:
        kind = "[*]const u8" if parameter.shape is Shape.READ_SLICE else "[*]u8"
        return [f"{pointer}: {kind}", f"{length}: usize"], f"{pointer}[0..{length}]"
    if parameter.shape is Shape.NUMBER:
        return [f"{pointer}: usize"], f"@intCast({pointer})"
    if parameter.shape is Shape.CONTEXT:
        return [f"{pointer}: *anyopaque"], f"@ptrCast(@alignCast({pointer}))"
    if re.match(r"\[\s*\w+\s*\]", parameter.type):  # an array that is handed over by its value
        return [f"{pointer}: *const {parameter.type}"], f"{pointer}.*"
    return [f"{pointer}: {parameter.type}"], pointer
