"""Find a function in a source file, and say what its parameters are.

No compiler's front end: comments and preprocessor lines are dropped, and the first declaration or definition of the
name counts; only Python is parsed. What cannot be read this way is asked of the user (`--signature`), never guessed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.trial.exports import exported
from perbyte.trial.objects import object_call
from perbyte.trial.preprocessed import own_text, types_of
from perbyte.trial.steps import TYPES

C_SUFFIXES = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh")

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINES = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*$", re.MULTILINE | re.DOTALL)
_STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ATTRIBUTES = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|__declspec\s*\([^)]*\)")
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__restrict__", "register", "struct", "static"}
_BYTES, _INTEGERS = frozenset(TYPES["bytes"]), frozenset(TYPES["integers"])
PYTHON, SCRIPT, TYPED, GO = (".py",), (".js", ".mjs", ".cjs"), (".ts", ".mts"), (".go",)
JAVA, KOTLIN = (".java",), (".kt",)
MANAGED = {
    **dict.fromkeys(PYTHON, "python"),
    **dict.fromkeys((*SCRIPT, *TYPED), "javascript"),
    **dict.fromkeys(GO, "go"),
    **dict.fromkeys(JAVA, "java"),
    **dict.fromkeys(KOTLIN, "kotlin"),
}
RETURNED = "[u8"  # what a function that returns its output has as result
_COUNTS = re.compile(r"(out)?_?(len|length|size)|n", re.IGNORECASE)  # numbers whose type is not said
# functions of languages with a runtime: name, what is inside the parentheses, and the result where it is said
_PATTERNS = {
    "javascript": r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function|const|let|var)\s+(?P<name>\w+)\s*"
    r"(?:<[^>]*>|=\s*(?:async\s*)?(?:function\s*\w*\s*)?)?\((?P<inside>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*"
    r"(?P<result>:[^{;=]*)?(?:\{|=>)",
    "go": r"^func\s+(?P<name>\w+)\s*\((?P<inside>[^)]*)\)\s*(?P<result>\([^)]*\)|[^{\n]*)(?:\{|$)",
    "java": r"(?:^|(?<=[{};]))[ \t]*(?:(?:public|private|protected|final|static)\s+)*"
    r"(?P<result>byte\s*\[\]|void|boolean|int|long)\s+(?P<name>\w+)\s*\((?P<inside>[^)]*)\)[^{};]*\{",
    "kotlin": r"^[^\n=;]*\bfun\s+(?P<name>\w+)\s*\((?P<inside>[^)]*)\)\s*(?::\s*(?P<result>[\w.<>?]+))?\s*[={]",
}
_EXPORTED = {
    ".rs": r"\bpub\s+(?:unsafe\s+)?(?:extern\s+\"C\"\s+)?fn\s+(\w+)",
    ".zig": r"^(?:pub|export)\s+(?:inline\s+)?fn\s+(\w+)",
}
_ENTRIES = {"go": ("main", "init"), "java": ("main",), "kotlin": ("main",)}
_KEYWORDS = {"return", "else", "case", "goto", "sizeof"}
_STATEMENTS = {"if", "while", "for", "switch", "do", "typedef"}


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
    language: str = ""  # python, javascript, go, java or kotlin
    has_runtime: bool = False  # of Python, JavaScript, Go, Java or Kotlin: whatever it makes is returned
    scoped: str = ""  # of C++, where C cannot call it: the class or namespace,
    home: Path | None = None  # and the file that declares it
    written: str = ""  # the call in the language's words, by the names of its parameters


def find_prototype(name: str, files: Iterable[Path]) -> Prototype | None:
    """Return the prototype of `name` in the first of `files` that has one; None without.

    Of files of languages with a runtime the first one holds the function, or none does.
    """
    for file in files:
        if file.suffix in MANAGED:
            around = sorted(file.parent.glob("*.go")) if file.suffix in GO else []  # its package
            every = [each for part in dict.fromkeys((file, *around)) for each in functions_in(part)]
            known = next((prototype for prototype in every if prototype.name == name), None)
            made = _exported_as(name, file) if not known or not known.parameters else None
            return made or known
        read = _READERS.get(file.suffix)
        if read and (prototype := read(name, _text(file))):
            return _with_types(prototype, file)
    for file in files:
        if file.suffix in C_SUFFIXES and (prototype := c_prototype(name, own_text(file), types_of(file))):
            return prototype
    return None


def _exported_as(name: str, file: Path) -> Prototype | None:
    """What a module of JavaScript exports under that name, a value that its text does not show as a function."""
    given = exported(file).get(name) if file.suffix in SCRIPT else None
    if given is None:
        return None
    if isinstance(given, tuple):  # the members of a class
        text = object_call("javascript", f"new {name}()", given)
        return _object(name, text, "javascript") if text else None
    return _made(name, [(parameter, "") for parameter in given or ["data"]], RETURNED, "javascript")


def _with_types(prototype: Prototype, file: Path) -> Prototype:
    if file.suffix not in C_SUFFIXES or not any(map(_is_opaque, prototype.parameters)):
        return prototype
    return c_prototype(prototype.name, _text(file), types_of(file)) or prototype


def _is_opaque(parameter: Parameter) -> bool:
    words = {word for word in parameter.type.replace("*", " ").split() if word not in _QUALIFIERS}
    return parameter.shape is Shape.CONTEXT or (
        parameter.shape is Shape.NUMBER and " ".join(words) not in _INTEGERS and len(words) == 1
    )


def functions_of(files: Sequence[Path]) -> tuple[str, ...]:
    """Names of the functions that `files` define, `static` ones left out: what a message offers."""
    names = [prototype.name for file in files if file.suffix in MANAGED for prototype in functions_in(file)]
    names += [name for file in files if file.suffix in SCRIPT for name in exported(file)] if not names else []
    for file in files if not names else ():
        if file.suffix in _EXPORTED:
            names += re.findall(_EXPORTED[file.suffix], without_comments(file), re.MULTILINE)
        elif file.suffix in C_SUFFIXES:
            names += _c_functions(_text(file))
    if not names:  # they may come from included files
        names += [
            name for file in files if file.suffix in C_SUFFIXES for name in _c_functions(own_text(file))
        ]
    return tuple(dict.fromkeys(names))


def _c_functions(text: str) -> list[str]:
    """Names of the functions that C defines for other files."""
    names = []
    # the result may stand on a line of its own
    pattern = r"^([A-Za-z_][\w \t\n*]*?[\s*])(\w+)\s*\([^(){};]*\)\s*\{"
    for match in re.finditer(pattern, _plain(text), re.MULTILINE):
        words = {*match[1].split(), match[2]}
        if not words & {"static", "main", *_KEYWORDS, *_STATEMENTS}:
            names.append(match[2])
    return names


def without_comments(file: Path) -> str:
    """The text of a file of a language with C's comments, without them."""
    return _COMMENTS.sub(" ", _text(file))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def c_prototype(name: str, text: str, types: Mapping[str, str] | None = None) -> Prototype | None:
    """Read the declaration or definition of `name` out of C or C++ source. `types` are other names of simple ones."""
    pattern = rf"([A-Za-z_][\w \t\n*]*?[\s*])\b{re.escape(name)}\s*\(([^(){{}};]*)\)\s*(?:noexcept\s*)?[{{;]"
    for match in re.finditer(pattern, _plain(text)):
        words = match[1].replace("*", " * ").split()
        if not words or _KEYWORDS & set(words):
            continue
        result = " ".join(word for word in words if word not in ("extern", "static", "inline", "__inline"))
        parameters = tuple(
            c_parameter(parameter, index, types or {})
            for index, parameter in enumerate(match[2].split(","))
            if parameter.strip() not in ("", "void")
        )
        shown = ", ".join(f"{parameter.type} {parameter.name}" for parameter in parameters)
        return Prototype(name, result, parameters, f"{result} {name}({shown})", "static" in words)
    return None


def rust_prototype(name: str, text: str) -> Prototype | None:
    """Read `pub fn NAME(...)` out of Rust source. Of a type it is `TYPE::NAME`, and takes no `self`."""
    text = _COMMENTS.sub(" ", text)
    owner, _, own = name.rpartition("::")
    pattern = rf"\bfn\s+{re.escape(own)}\s*(<[^()]*?>)?\s*\(([^()]*)\)\s*(?:->\s*([^{{;]+?))?\s*(?:where[^{{]*)?[{{;]"
    for match in re.finditer(pattern, text):
        within = _rust_owner(text, match.start())
        if "self" in re.split(r"\W+", match[2].partition(",")[0]) or (owner and owner != within):
            continue
        read = partial(_rust_parameter, generic=f"{match[1] or ''} {match[0]}")
        result = " ".join((match[3] or "").split())
        held = rf"\bstruct\s+{re.escape(result)}\s*\(\s*pub[^\[;]*\[\s*u8\s*;\s*(\w+)\s*\]\s*\)"
        if result and (array := re.search(held, text)):
            result = f"[u8; {array[1]}] in {result}"
        full = f"{within}::{own}" if within else own
        return Prototype(full, result, _typed(match[2], read), " ".join(match[0].rstrip("{; \n").split()))
    return None


def _rust_owner(text: str, at: int) -> str:
    """The type in whose `impl` a place is; '' for none."""
    depth = 0
    opened: list[tuple[int, str]] = []
    for mark in re.finditer(
        r"\bimpl\b(?:\s*<[^{]*?>)?\s+(?:[\w:<>]+\s+for\s+)?(\w+)[^{;]*\{|[{}]", text[:at]
    ):
        if mark[0] == "}":
            depth -= 1
            while opened and opened[-1][0] > depth:
                opened.pop()
        else:
            depth += 1
            if mark[1]:
                opened.append((depth, mark[1]))
    return opened[-1][1] if opened else ""


def zig_prototype(name: str, text: str) -> Prototype | None:
    """Read `pub fn NAME(...)` or `export fn NAME(...)` of Zig. Results: `[u8` for bytes, `!` for errors."""
    text = _COMMENTS.sub(" ", text)
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


_READERS = {".rs": rust_prototype, ".zig": zig_prototype} | dict.fromkeys(C_SUFFIXES, c_prototype)


def _typed(text: str, read: Callable[[str, str], Parameter]) -> tuple[Parameter, ...]:
    """The parameters of `text`, `name: type` each, as `read` makes them of name and type."""
    parts = (part.partition(":") for part in text.split(","))
    return tuple(read(words.split()[-1], " ".join(kind.split())) for words, colon, kind in parts if colon)


def _plain(text: str) -> str:
    for pattern in (_COMMENTS, _LINES, _STRINGS, _ATTRIBUTES):
        text = pattern.sub(" ", text)
    return text


def c_parameter(text: str, index: int, types: Mapping[str, str]) -> Parameter:
    """Read a parameter of C; `types` are other names of simple types."""
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
    if base in types:  # what it is called stays in `words`
        depth += types[base].count("*")
        base = " ".join(word for word in types[base].split() if word not in {*_QUALIFIERS, "*"})
        kind = kind if depth else base
    count = _count(array[1].strip()) if array else 0
    if depth == 0:
        shape = Shape.NUMBER
    elif base in _BYTES or base.lower() in _BYTES:
        shape = Shape.READ if "const" in words else Shape.WRITTEN
    elif base in _INTEGERS and "const" not in words and not array:
        shape = Shape.LENGTH_BACK
    else:
        shape = Shape.CONTEXT
    return Parameter(name, kind, shape, count)


def _rust_parameter(name: str, kind: str, generic: str = "") -> Parameter:
    if re.fullmatch(r"&?\s*impl\s+AsRef<\[u8\]>", kind) or re.search(
        rf"\b{re.escape(kind)}\s*:\s*AsRef<\s*\[\s*u8\s*\]\s*>", generic
    ):
        return Parameter(name, kind, Shape.READ_SLICE)
    if array := re.fullmatch(r"&\s*(mut\s+)?\[\s*u8\s*;\s*(\w+)\s*\]", kind):
        return Parameter(name, kind, Shape.WRITTEN if array[1] else Shape.READ, _count(array[2]))
    if piece := re.fullmatch(r"&\s*(mut\s+)?\[\s*u8\s*\]", kind):
        return Parameter(name, kind, Shape.WRITTEN_SLICE if piece[1] else Shape.READ_SLICE)
    if kind in ("*const u8", "*mut u8"):
        return Parameter(name, kind, Shape.WRITTEN if "mut" in kind else Shape.READ)
    return Parameter(name, kind, Shape.NUMBER if kind in TYPES["of-rust"] else Shape.CONTEXT)


def _zig_parameter(name: str, kind: str) -> Parameter:
    bare = kind.replace("noalias ", "")
    if match := re.fullmatch(r"\*\s*(const\s+)?\[\s*(\w+)\s*\]\s*u8", bare):
        return Parameter(name, bare, Shape.READ if match[1] else Shape.WRITTEN, _count(match[2]))
    if match := re.fullmatch(r"\[\]\s*(const\s+)?u8", bare):
        return Parameter(name, bare, Shape.READ_SLICE if match[1] else Shape.WRITTEN_SLICE)
    if match := re.fullmatch(r"\[(?:\*|\*c|c)\]\s*(const\s+)?u8", bare):
        return Parameter(name, bare, Shape.READ if match[1] else Shape.WRITTEN)
    if re.fullmatch(r"\[\s*\w+\s*\]\s*u8", bare):
        return Parameter(name, bare, Shape.READ)
    return Parameter(name, bare, Shape.NUMBER if bare in TYPES["of-rust"] else Shape.CONTEXT)


def _count(text: str) -> int:
    """Elements of an array; 0 where a name stands for them."""
    return int(text) if text.isdigit() else 0


def functions_in(file: Path) -> list[Prototype]:
    """The functions that `file` defines, in its order. Raises UsageError where Python cannot parse it."""
    language = MANAGED[file.suffix]
    if language == "python":
        return _of_python(file)
    prototypes = []
    for match in re.finditer(_PATTERNS[language], without_comments(file), re.MULTILINE):
        if match["name"] not in _ENTRIES.get(language, ()):
            # what has a value by default is not given, whatever calls make the value
            inside = (
                re.sub(r"\([^()]*\)", "", match["inside"]) if language == "javascript" else match["inside"]
            )
            parts = [part.strip() for part in inside.split(",")]
            needed = [part for part in parts if part and "=" not in part.replace("=>", "")]
            result = _result(language, (match["result"] or "").strip())
            prototypes.append(_made(match["name"], _PARAMETERS[language](needed), result, language))
    return prototypes + (_of_java(file) if language == "java" else [])


def _of_python(file: Path) -> list[Prototype]:
    try:
        body = ast.parse(_text(file), file.name).body
    except SyntaxError as error:
        raise UsageError(f"{file.name}, line {error.lineno}: {error.msg}") from None
    except ValueError as error:
        raise UsageError(f"{file.name}: {error}") from None
    prototypes: dict[str, Prototype] = {}
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            given = statement.args.posonlyargs + statement.args.args
            needed = given[: len(given) - len(statement.args.defaults)]
            parameters = [
                (each.arg, ast.unparse(each.annotation) if each.annotation else "") for each in needed
            ]
            # of several definitions the last is called; those before it may be overloads for type checkers
            prototypes[statement.name] = _made(statement.name, parameters, RETURNED, "python")
        elif isinstance(statement, ast.ClassDef):
            members = {part.name: part.args for part in statement.body if isinstance(part, ast.FunctionDef)}
            begin = members.get("__init__")
            taken = len(begin.args) - len(begin.defaults) - 1 if begin else 0
            maker = f"{statement.name}({'key' if taken == 1 else ''})"
            if taken <= 1 and (text := object_call("python", maker, members)):
                prototypes[statement.name] = _object(statement.name, text, "python")
    return list(prototypes.values())


def _object(name: str, text: str, language: str) -> Prototype:
    """What a class does to data, as a function of them, and of a key where it is made of one."""
    parameters = [("data", ""), *([("key", "")] if "(key)" in text else [])]
    return replace(_made(name, parameters, RETURNED, language), written=text)


def _of_java(file: Path) -> list[Prototype]:
    """The class that a file of Java is called after, where its objects are fed and asked."""
    text, name = without_comments(file), file.stem
    methods = re.findall(r"\bpublic\s+(?:final\s+)?[\w.<>\[\]]+\s+(\w+)\s*\(", text)
    made = re.search(rf"\bstatic\s+{name}\s+(\w+)\s*\(\s*\)", text)
    maker = f"{name}.{made[1]}()" if made else f"new {name}()"
    call = object_call("java", maker, methods)
    return [_object(name, call, "java")] if call else []


_OUTPUTS = ("out", "dst", "output", "dest", "result", "digest", "hash", "md")


def _made(name: str, parameters: Sequence[tuple[str, str]], result: str, language: str) -> Prototype:
    made = []
    for parameter, kind in parameters:
        shape = Shape.READ_SLICE
        if kind in TYPES["of-runtimes"] or (not kind and _COUNTS.fullmatch(parameter)):
            shape = Shape.NUMBER
        elif not result.startswith(RETURNED) and parameter.lower() in _OUTPUTS:
            shape = Shape.WRITTEN_SLICE
        made.append(Parameter(parameter, kind, shape))
    shown = f"{name}({', '.join(parameter for parameter, _ in parameters)})"
    returns = result.startswith(RETURNED)
    return Prototype(name, result, tuple(made), shown, language=language, has_runtime=returns)


def _result(language: str, text: str) -> str:
    if language == "go":
        returned = f"{RETURNED}, error" if "error" in text else RETURNED
        return returned if "byte" in text or "uint8" in text else text.strip("() ")
    nothing = {"java": ("void", "boolean", "int", "long"), "kotlin": ("Unit", "Boolean")}
    return "" if text in nothing.get(language, ()) else RETURNED


def _names_first(parts: Sequence[str]) -> list[tuple[str, str]]:
    """`name: type` of JavaScript and Kotlin; a type may be missing."""
    pairs = (part.partition(":") for part in parts)
    return [(name.strip().rstrip("?"), kind.strip()) for name, _, kind in pairs]


def _names_last(parts: Sequence[str]) -> list[tuple[str, str]]:
    words = [part.replace("final ", "").split() for part in parts]
    return [(each[-1], " ".join(each[:-1])) for each in words]


def _names_together(parts: Sequence[str]) -> list[tuple[str, str]]:
    """`name type` of Go, where names before the last may stand without their type."""
    parameters: list[tuple[str, str]] = []
    kind = ""
    for part in reversed(parts):
        name, *own = part.split(None, 1)
        kind = own[0] if own else kind
        parameters.insert(0, (name, kind))
    return parameters


_PARAMETERS = {
    "javascript": _names_first,
    "kotlin": _names_first,
    "java": _names_last,
    "go": _names_together,
}
