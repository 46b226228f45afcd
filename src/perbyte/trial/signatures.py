"""Find a function in Python, JavaScript, TypeScript, Go, Java or Kotlin source, and say what its parameters are.

Byte strings of these languages bring their length along and outputs are returned, so most of what a parameter may be in
C does not arise: what matters are names. Python is parsed; of the others, the first definition of the name counts.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.trial.prototype import Parameter, Prototype, Shape

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
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NUMBERS = {"int", "long", "number", "uint", "uint64", "uint32", "int64", "int32", "size_t"}
_COUNTS = re.compile(r"(out)?_?(len|length|size)|n", re.IGNORECASE)  # numbers whose type is not said
_SCRIPT = re.compile(
    r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s+(\w+)\s*(?:<[^>]*>)?\(([^)]*)\)\s*(?::[^{]*)?\{"
    r"|^[ \t]*(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\s*\w*\s*)?\(([^)]*)\)",
    re.MULTILINE,
)
_GO = re.compile(r"^func\s+(\w+)\s*\(([^)]*)\)\s*(\([^)]*\)|[^{\n]*)\{", re.MULTILINE)
_JAVA = re.compile(
    r"(?:^|(?<=[{};]))[ \t]*((?:public\s+|private\s+|protected\s+|final\s+|static\s+)*)"
    r"(byte\s*\[\]|void|boolean)\s+(\w+)\s*\(([^)]*)\)[^{};]*\{",
    re.MULTILINE,
)

_KOTLIN = re.compile(
    r"^[^\n=;]*\bfun\s+(\w+)\s*\(([^)]*)\)\s*(?::\s*([\w.<>?]+))?\s*[={]",
    re.MULTILINE,
)


def without_comments(file: Path) -> str:
    """The text of a file of a language with C's comments, without them."""
    return _COMMENTS.sub(" ", file.read_text(encoding="utf-8", errors="replace"))


def functions_in(file: Path) -> list[Prototype]:
    """The functions that `file` defines, in its order. Raises UsageError where Python cannot parse it."""
    text = file.read_text(encoding="utf-8", errors="replace")
    language = MANAGED[file.suffix]
    if language == "python":
        return _of_python(file, text)
    text = _COMMENTS.sub(" ", text)
    if language == "javascript":
        prototypes = []
        for match in _SCRIPT.finditer(text):
            name, inside = (match[1], match[2]) if match[1] else (match[3], match[4])
            prototypes.append(_made(name, [_script_parameter(part) for part in _parts(inside)], RETURNED))
        return prototypes
    if language == "go":
        return [_go_function(match) for match in _GO.finditer(text) if match[1] not in ("main", "init")]
    if language == "kotlin":
        return [_kotlin_function(match) for match in _KOTLIN.finditer(text) if match[1] != "main"]
    return [_java_method(match) for match in _JAVA.finditer(text) if match[3] != "main"]


def _of_python(file: Path, text: str) -> list[Prototype]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{file.name}: {error}") from None
    prototypes = []
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            given = statement.args.posonlyargs + statement.args.args
            needed = given[: len(given) - len(statement.args.defaults)]
            parameters = [
                (each.arg, ast.unparse(each.annotation) if each.annotation else "") for each in needed
            ]
            prototypes.append(_made(statement.name, parameters, RETURNED))
    return prototypes


def _made(name: str, parameters: list[tuple[str, str]], result: str) -> Prototype:
    made = tuple(
        Parameter(
            each,
            kind,
            Shape.NUMBER
            if kind in _NUMBERS or (not kind and _COUNTS.fullmatch(each))
            else Shape.READ_SLICE
            if result.startswith(RETURNED) or each not in ("out", "dst", "output", "dest")
            else Shape.WRITTEN_SLICE,
        )
        for each, kind in parameters
    )
    shown = f"{name}({', '.join(each for each, _ in parameters)})"
    return Prototype(name, result, made, shown, has_runtime=result.startswith(RETURNED))


def _parts(inside: str) -> list[str]:
    return [part.strip() for part in inside.split(",") if part.strip() and "=" not in part.replace("=>", "")]


def _script_parameter(text: str) -> tuple[str, str]:
    name, _, kind = text.partition(":")
    return name.strip().rstrip("?"), kind.strip()


def _go_function(match: re.Match[str]) -> Prototype:
    parameters: list[tuple[str, str]] = []
    pending: list[str] = []
    for part in _parts(match[2]):
        words = part.split(None, 1)
        pending.append(words[0])
        if len(words) == 2:
            parameters += [(name, words[1]) for name in pending]
            pending = []
    result = match[3].strip()
    returned = f"{RETURNED}, error" if "error" in result else RETURNED
    return _made(match[1], parameters, returned if "byte" in result or "uint8" in result else result)


def _java_method(match: re.Match[str]) -> Prototype:
    parameters = []
    for part in _parts(match[4]):
        words = part.replace("final ", "").split()
        parameters.append((words[-1], " ".join(words[:-1])))
    return _made(match[3], parameters, RETURNED if "byte" in match[2] else "")


def _kotlin_function(match: re.Match[str]) -> Prototype:
    parameters = [_script_parameter(part) for part in _parts(match[2])]
    told = [(name, kind.lower() if kind in ("Int", "Long") else kind) for name, kind in parameters]
    return _made(match[1], told, "" if match[3] in ("Unit", "Boolean") else RETURNED)
