"""Find a function in C, C++, Rust or Zig source, and say what its parameters are.

No compiler's front end: comments and preprocessor lines are dropped, and the first declaration or definition of the
name counts. What cannot be read this way is asked of the user (`--signature`), never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

C_SUFFIXES = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh")

_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINES = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*$", re.MULTILINE | re.DOTALL)
_STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ATTRIBUTES = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|__declspec\s*\([^)]*\)")
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__restrict__", "register", "struct", "static"}
_BYTES = {"void", "char", "unsigned char", "signed char", "uint8_t", "u8", "u_char", "uchar", "byte", "word8"}
_INTEGERS = {
    *("int", "unsigned", "unsigned int", "long", "unsigned long", "long int", "unsigned long int"),
    *(
        "long long",
        "unsigned long long",
        "long long int",
        "unsigned long long int",
        "short",
        "unsigned short",
    ),
    *("size_t", "ssize_t", "uint16_t", "uint32_t", "uint64_t", "int16_t", "int32_t", "int64_t", "uintptr_t"),
    *("u16", "u32", "u64", "ull", "ulong", "uint", "word32", "word64", "crypto_uint32", "crypto_uint64"),
}
_KEYWORDS = {"return", "else", "case", "goto", "sizeof"}


class Shape(StrEnum):
    """What a parameter is, as far as its type tells. A slice is Rust's `&[u8]`, which brings its length along."""

    READ = "bytes that are read"
    WRITTEN = "bytes that are written"
    NUMBER = "a number"
    LENGTH_BACK = "a number that is given back"
    CONTEXT = "a structure"
    READ_SLICE = "a slice"
    WRITTEN_SLICE = "a mutable slice"


@dataclass(frozen=True, slots=True)
class Parameter:
    """`type` as it stands in the source, without the name; `count` of an array's elements, 0 where it has none."""

    name: str
    type: str
    shape: Shape
    count: int = 0

    @property
    def is_slice(self) -> bool:
        """True where its length comes along."""
        return self.shape in (Shape.READ_SLICE, Shape.WRITTEN_SLICE)


@dataclass(frozen=True, slots=True)
class Prototype:
    """A function's name, result and parameters; `text` for people."""

    name: str
    result: str
    parameters: tuple[Parameter, ...]
    text: str
    hidden: bool = False  # `static`: cannot be called from another file
    has_runtime: bool = False  # of Python, JavaScript, Go, Java or Kotlin: whatever it makes is returned


def find_prototype(name: str, files: Iterable[Path]) -> Prototype | None:
    """Return the prototype of `name` in the first of `files` (C, C++, Rust, Zig) that has one; None without."""
    for file in files:
        text = ""
        if file.suffix in (*C_SUFFIXES, ".rs", ".zig"):
            text = file.read_text(encoding="utf-8", errors="replace")
        read = {".rs": rust_prototype, ".zig": zig_prototype}.get(file.suffix, c_prototype)
        if prototype := read(name, text):
            return prototype
    return None


def functions_of(files: Iterable[Path]) -> tuple[str, ...]:
    """Names of the functions that `files` define, `static` ones left out: what a message offers."""
    names: list[str] = []
    for file in files:
        if file.suffix == ".rs":
            text = _NOISE.sub(" ", file.read_text(encoding="utf-8", errors="replace"))
            names += re.findall(r"\bpub\s+(?:unsafe\s+)?(?:extern\s+\"C\"\s+)?fn\s+(\w+)", text)
        elif file.suffix == ".zig":
            text = _NOISE.sub(" ", file.read_text(encoding="utf-8", errors="replace"))
            names += re.findall(r"^(?:pub|export)\s+(?:inline\s+)?fn\s+(\w+)", text, re.MULTILINE)
        elif file.suffix in C_SUFFIXES:
            text = _plain(file.read_text(encoding="utf-8", errors="replace"))
            for match in re.finditer(r"^([\w \t*]+?)\b(\w+)\s*\([^(){};]*\)\s*\{", text, re.MULTILINE):
                if "static" not in match[1].split() and match[1].strip() and match[2] != "main":
                    names.append(match[2])
    return tuple(dict.fromkeys(names))


def c_prototype(name: str, text: str) -> Prototype | None:
    """Read the declaration or definition of `name` out of C or C++ source."""
    pattern = rf"([A-Za-z_][\w \t\n*]*?[\s*])\b{re.escape(name)}\s*\(([^(){{}};]*)\)\s*(?:noexcept\s*)?[{{;]"
    for match in re.finditer(pattern, _plain(text)):
        words = match[1].replace("*", " * ").split()
        if not words or _KEYWORDS & set(words):
            continue
        result = " ".join(word for word in words if word not in ("extern", "static", "inline", "__inline"))
        parameters = tuple(
            _c_parameter(parameter, index)
            for index, parameter in enumerate(match[2].split(","))
            if parameter.strip() not in ("", "void")
        )
        shown = ", ".join(f"{parameter.type} {parameter.name}" for parameter in parameters)
        return Prototype(name, result, parameters, f"{result} {name}({shown})", "static" in words)
    return None


def rust_prototype(name: str, text: str) -> Prototype | None:
    """Read `pub fn NAME(...)` out of Rust source."""
    text = _NOISE.sub(" ", text)
    match = re.search(rf"\bfn\s+{re.escape(name)}\s*\(([^()]*)\)\s*(?:->\s*([^{{;]+?))?\s*[{{;]", text)
    if not match:
        return None
    parameters = _typed(match[1], _rust_parameter)
    result = " ".join((match[2] or "").split())
    return Prototype(name, result, parameters, " ".join(match[0].rstrip("{; \n").split()))


def zig_prototype(name: str, text: str) -> Prototype | None:
    """Read `pub fn NAME(...)` or `export fn NAME(...)` of Zig. Results: `[u8` for bytes, `!` for errors."""
    text = _NOISE.sub(" ", text)
    pattern = rf"((?:pub\s+|export\s+|inline\s+)*)fn\s+{re.escape(name)}\s*\(([^()]*)\)\s*([^{{;]+?)\s*\{{"
    if not (match := re.search(pattern, text)):
        return None
    parameters = _typed(match[2], _zig_parameter)
    told = re.sub(r"\s+", "", match[3])
    result = "[u8" if re.fullmatch(r"\[\w+\]u8|\[\](?:const)?u8", told) else "!" if "!" in told else told
    exported = "export" in match[1].split()
    shown = f"{'export ' if exported else ''}fn {name}({' '.join(match[2].split())}) {told}"
    result = "int" if exported and result not in ("void", "[u8") else result
    return Prototype(name, result, parameters, shown, not match[1].split())


def _typed(text: str, read: Callable[[str, str], Parameter]) -> tuple[Parameter, ...]:
    """The parameters of `text`, `name: type` each, as `read` makes them of name and type."""
    parts = (part.partition(":") for part in text.split(","))
    return tuple(read(words.split()[-1], " ".join(kind.split())) for words, colon, kind in parts if colon)


def _plain(text: str) -> str:
    for pattern in (_NOISE, _LINES, _STRINGS, _ATTRIBUTES):
        text = pattern.sub(" ", text)
    return text


def _c_parameter(text: str, index: int) -> Parameter:
    array = re.search(r"\[([^\]]*)\]\s*$", text)
    bare = re.sub(r"(\[[^\]]*\]\s*)+$", "", text).strip()
    words = bare.replace("*", " * ").split()
    name = f"argument {index + 1}"
    known = " ".join(word for word in words if word not in {*_QUALIFIERS, "*"})
    if words[-1] != "*" and len(words) > 1 and known not in _INTEGERS | _BYTES and words[-1] != "const":
        name = words.pop()
    depth = words.count("*") + bool(array)
    base = " ".join(word for word in words if word not in {*_QUALIFIERS, "*"})
    kind = " ".join(words) + (" *" if array else "")
    count = int(array[1]) if array and array[1].strip().isdigit() else 0
    if depth == 0:
        shape = Shape.NUMBER
    elif base in _BYTES or base.lower() in _BYTES:
        shape = Shape.READ if "const" in words else Shape.WRITTEN
    elif base in _INTEGERS and "const" not in words and not array:
        shape = Shape.LENGTH_BACK
    else:
        shape = Shape.CONTEXT
    return Parameter(name, kind, shape, count)


def _rust_parameter(name: str, kind: str) -> Parameter:
    array = re.fullmatch(r"&\s*(mut\s+)?\[\s*u8\s*(?:;\s*(\w+)\s*)?\]", kind)
    if array:
        if array[2]:
            count = int(array[2]) if array[2].isdigit() else 0
            return Parameter(name, kind, Shape.WRITTEN if array[1] else Shape.READ, count)
        return Parameter(name, kind, Shape.WRITTEN_SLICE if array[1] else Shape.READ_SLICE)
    if kind in ("*const u8", "*mut u8"):
        return Parameter(name, kind, Shape.WRITTEN if "mut" in kind else Shape.READ)
    if kind in ("usize", "u64", "u32", "u16", "u8", "i32", "i64", "isize"):
        return Parameter(name, kind, Shape.NUMBER)
    return Parameter(name, kind, Shape.CONTEXT)


def _zig_parameter(name: str, kind: str) -> Parameter:
    bare = kind.replace("noalias ", "")
    if match := re.fullmatch(r"\*\s*(const\s+)?\[\s*(\w+)\s*\]\s*u8", bare):
        count = int(match[2]) if match[2].isdigit() else 0
        return Parameter(name, bare, Shape.READ if match[1] else Shape.WRITTEN, count)
    if match := re.fullmatch(r"\[\]\s*(const\s+)?u8", bare):
        return Parameter(name, bare, Shape.READ_SLICE if match[1] else Shape.WRITTEN_SLICE)
    if match := re.fullmatch(r"\[(?:\*|\*c|c)\]\s*(const\s+)?u8", bare):
        return Parameter(name, bare, Shape.READ if match[1] else Shape.WRITTEN)
    if re.fullmatch(r"\[\s*\w+\s*\]\s*u8", bare):
        return Parameter(name, bare, Shape.READ)
    if bare in ("usize", "u64", "u32", "u16", "u8", "i32", "i64", "isize"):
        return Parameter(name, bare, Shape.NUMBER)
    return Parameter(name, bare, Shape.CONTEXT)
