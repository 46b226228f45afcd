"""The numbers that the code gives a name, and what docs/constants.md says of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from documents import ROOT, read

PAGE = "docs/constants.md"
C_PLACES = ("runners/sdk/c", "runners/sdk/foreign")
PYTHON_PLACES = ("src/perbyte/measure", "src/perbyte/stats", "runners/sdk/python")
JAVA_PLACES = ("runners/sdk/java/src/perbyte/sdk",)
KINDS = ("law", "statistics", "prior", "bound", "definition", "assumed", "tuned")

_NAME = re.compile(r"_?[A-Z][A-Z0-9_]*\Z")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ENUM = re.compile(r"\benum\s+\w*\s*\{([^}]*)\}")
_STATIC = re.compile(
    r"^\s*static const (?:double|unsigned|int|size_t|uint\d+_t) ([^;()]*=[^;]*);", re.MULTILINE
)
_DEFINE = re.compile(
    r"^#define (PB_\w+)[ \t]+(\(?-?(?:0[xX])?[0-9][0-9a-fA-FuUlL.]*\)?)[ \t]*$", re.MULTILINE
)
_FINAL = re.compile(r"\bstatic final (?:int|long|double) ([A-Z][A-Z0-9_]*) = ([^;]*);")
_SECTION = re.compile(r"^### `([^`]+)`\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (`[^|]*`) \| ([^|]*) \| (\w+) \| ([^|]+) \|$", re.MULTILINE)

Named = dict[str, str]  # a constant's value as the source writes it, by name; several values after each other


def in_code() -> dict[str, Named]:
    """All numeric constants by file, by its path from the top."""
    constants_by_file: dict[str, Named] = {}
    for places, ending, reader in (
        (PYTHON_PLACES, "*.py", of_python),
        (C_PLACES, "*.[ch]", of_c),
        (JAVA_PLACES, "*.java", of_java),
    ):
        for place in places:
            for path in sorted((ROOT / place).glob(ending)):
                if named := reader(path):
                    constants_by_file[str(path.relative_to(ROOT))] = named
    return constants_by_file


def of_python(path: Path) -> Named:
    """Module-level names in capitals that a number, or a tuple or table of numbers, is assigned to."""
    named: Named = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        pairs = zip(target.elts, node.value.elts, strict=True) if several else [(target, node.value)]  # type: ignore[attr-defined]
        for element, value in pairs:
            if isinstance(element, ast.Name) and _NAME.match(element.id) and _is_number(value):
                named[element.id] = plain(ast.unparse(value))
    return named


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return isinstance(node.value, int | float) and not isinstance(node.value, bool)
        case ast.UnaryOp():
            return _is_number(node.operand)
        case ast.BinOp():
            return _is_number(node.left) and _is_number(node.right)
        case ast.Tuple():
            return bool(node.elts) and all(map(_is_number, node.elts))
        case ast.Dict():
            return bool(node.values) and all(map(_is_number, node.values))
        case ast.Attribute():
            return ast.unparse(node.value) == "math"
        case ast.Call():
            return ast.unparse(node.func).startswith("math.") and all(map(_is_number, node.args))
    return False


def of_c(path: Path) -> Named:
    """What an enum gives a number, `static const` numbers and lists of them, macros that are a number."""
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    pairs = [
        *((name, value) for body in _ENUM.findall(text) for name, value in _assigned(body)),
        *((name, value) for body in _STATIC.findall(text) for name, value in _assigned(body)),
        *_DEFINE.findall(text),
    ]
    named: Named = {}
    for name, value in pairs:
        value_text = plain(value)
        known = named[name].split("; ") if name in named else []
        named[name] = "; ".join(known if value_text in known else [*known, value_text])
    return named


def _assigned(body: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r",(?![^{(]*[})])", body):
        name, equals, value = part.partition("=")
        if equals:
            yield name.strip().partition("[")[0], value


def of_java(path: Path) -> Named:
    """Static final numbers."""
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    return {
        name: plain(value)
        for name, value in _FINAL.findall(text)
        if re.search(r"\d", value) and "/0" not in value
    }


def plain(value: str) -> str:
    """A value on one line."""
    return re.sub(r"\s+", " ", value).strip()


def in_page() -> dict[str, Named]:
    """The constants that the page names, by file, with the values that it gives."""
    page: dict[str, Named] = {}
    for file, text in _SECTION.findall(read(PAGE)):
        named = page.setdefault(file, {})
        for names, values, _, _ in _ROW.findall(text):
            named.update(zip(re.findall(r"`([^`]+)`", names), re.findall(r"`([^`]+)`", values), strict=True))
    return page


def kinds_in_page() -> list[tuple[str, str]]:
    """The kind of each row, by the row's names."""
    return [(names, kind) for names, _, kind, _ in _ROW.findall(read(PAGE))]
