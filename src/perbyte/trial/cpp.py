"""Functions of C++ that C cannot call: members of classes, and those that take or return vectors, arrays and strings.

A wrapper is compiled with the user's file in it, and gives each function that is called a name of C. Bytes are copied
into a vector or a string where a function takes one; that belongs to the call, is timed, and is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perbyte import places
from perbyte.trial.around import headers_of
from perbyte.trial.prototype import RETURNED, Parameter, Prototype, Shape, c_parameter, without_comments
from perbyte.trial.written import NAME, last_apart

CXX = (".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx")
SUFFIXES = (*CXX, ".h")
CONSTRUCTOR = "new"
"""The result of a constructor, as that of a step that begins."""
_BYTE = r"(?:std::)?(?:uint8_t|[Bb]yte|u?int8_t|char)|unsigned\s+char|u8|uchar"
_CONTAINER = re.compile(
    rf"^(?:std::)?(?:(?P<kind>vector|span|basic_string_view|array)\s*<\s*(?P<const>const\s+)?(?P<byte>{_BYTE})\s*"
    r"(?:,\s*(?P<count>[\w:]+)\s*)?(?:,[^<>]*)?>|(?P<string>string_view|string))$"
)
_SCOPE = re.compile(
    r"^(?:inline\s+)?namespace\b\s*(?P<space>[\w:]*)|^(?:template\s*<(?P<of>.*?)>\s*)?(?P<sort>class|struct)\s+"
    r"(?:alignas\s*\([^)]*\)\s*|[A-Z][A-Z0-9_]*\s+)*(?P<name>\w+)\s*(?:final\s*)?(?::[^:].*)?$",
    re.DOTALL,
)
_ACCESS = re.compile(r"^\s*(public|private|protected)\s*:(?!:)\s*")
_HEAD = re.compile(
    r"^(?P<before>.*?)(?P<name>~?[A-Za-z_]\w*)\s*\((?P<inside>.*)\)\s*(?:const\b|noexcept\b|override\b|final\b|&|\s)*"
    r"(?:->\s*(?P<trailing>[\w:<>,\s*&]+?))?\s*(?::[^:].*|=\s*(?:default|delete|0)\s*)?$",
    re.DOTALL,
)
_WORDS = {"static", "inline", "virtual", "explicit", "constexpr", "friend", "extern", "noexcept", "typename"}
_NO_FUNCTION = {
    "if",
    "for",
    "while",
    "switch",
    "return",
    "operator",
    "sizeof",
    "static_assert",
    "using",
    "typedef",
}


@dataclass(frozen=True, slots=True)
class Scoped:
    """A function as it is declared: `path` are its namespaces and class, `owner` the class, '' for none."""

    path: tuple[str, ...]
    owner: str
    name: str
    result: str
    inside: str
    static: bool
    public: bool
    of_template: bool

    @property
    def qualified(self) -> str:
        """Its name with all that stands before it."""
        return "::".join((*self.path, self.name))


def functions_of_cpp(file: Path) -> list[Scoped]:
    """The functions that `file` declares or defines, in its order, each as often as it is overloaded."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*$", " ", without_comments(file), flags=re.MULTILINE | re.DOTALL)
    return list(_functions(text, 0, len(text), (), "", public=True, of_template=False))


def _functions(
    text: str, at: int, end: int, path: tuple[str, ...], owner: str, *, public: bool, of_template: bool
) -> Iterator[Scoped]:
    """Those between `at` and `end`: statements of one scope, each up to its semicolon or its braces."""
    while at < end:
        stop = _statement_end(text, at, end)
        head = text[at:stop].strip()
        while match := _ACCESS.match(head):
            public, head = match[1] == "public", head[match.end() :].strip()
        opens = stop < end and text[stop] == "{"
        close = _closing(text, stop, end) if opens else stop
        scope = _SCOPE.match(head) if opens else None
        if opens and re.match(r'^extern\s+"C(?:\+\+)?"$', head):
            yield from _functions(text, stop + 1, close, path, owner, public=True, of_template=of_template)
        elif scope and scope["space"] is not None and not scope["sort"]:
            inner = (*path, *filter(None, scope["space"].split("::")))
            yield from _functions(text, stop + 1, close, inner, "", public=True, of_template=of_template)
        elif scope and scope["name"]:
            name = scope["name"]
            yield from _functions(
                text,
                stop + 1,
                close,
                (*path, name),
                name,
                public=scope["sort"] == "struct",
                of_template=of_template or scope["of"] is not None,
            )
        elif made := _function(head, path, owner, public=public, of_template=of_template):
            yield made
        at = close + 1


def _function(
    head: str, path: tuple[str, ...], owner: str, *, public: bool, of_template: bool
) -> Scoped | None:
    template = re.match(r"^template\s*<", head)
    if template:
        head, of_template = head[_angle_end(head, template.end() - 1) + 1 :].strip(), True
    match = _HEAD.match(head)
    if not match or "=" in match["before"] or match["name"].startswith("~"):
        return None
    before = re.sub(r"\[\[.*?\]\]|__attribute__\s*\(\(.*?\)\)", " ", match["before"])
    words = before.split()
    if match["name"] in _NO_FUNCTION or set(words) & _NO_FUNCTION:
        return None
    if before.rstrip().endswith("::"):
        return None  # defined outside of its class, which declares it
    result = match["trailing"] or " ".join(word for word in words if word not in _WORDS)
    if not result and match["name"] != owner:
        return None
    return Scoped(path, owner, match["name"], result, match["inside"], "static" in words, public, of_template)


def _statement_end(text: str, at: int, end: int) -> int:
    """Where a statement ends: at its semicolon, or where its braces open."""
    depth = 0
    while at < end:
        mark = text[at]
        if mark in "\"'":
            at = _quoted_end(text, at, end)
        elif mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
        elif depth <= 0 and mark in ";{}":
            return at
        at += 1
    return end


def _closing(text: str, at: int, end: int) -> int:
    depth = 0
    while at < end:
        mark = text[at]
        if mark in "\"'" and not (mark == "'" and text[at - 1 : at].isalnum()):
            at = _quoted_end(text, at, end)
        elif mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if not depth:
                return at
        at += 1
    return end


def _quoted_end(text: str, at: int, end: int) -> int:
    mark, at = text[at], at + 1
    while at < end and text[at] not in (mark, "\n"):
        at += 2 if text[at] == "\\" else 1
    return at


def _angle_end(text: str, at: int) -> int:
    depth = 0
    for place in range(at, len(text)):
        depth += {"<": 1, ">": -1}.get(text[place], 0)
        if not depth:
            return place
    return len(text) - 1


def is_cpp(file: Path) -> bool:
    """True for a file of C++, also where a header has the suffix of C."""
    if file.suffix != ".h":
        return file.suffix in CXX
    return bool(
        re.search(r"^\s*(?:class|namespace|template)\b", file.read_text("utf-8", "replace"), re.MULTILINE)
    )


def with_headers(files: Sequence[Path]) -> list[Path]:
    """The files of C++, and headers of their project that they lead to: classes are declared there."""
    own = [file for file in files if is_cpp(file)]
    return [*own, *(header for header in headers_of(own) if is_cpp(header) and header not in own)]


def classes_of(files: Sequence[Path]) -> list[str]:
    """Names of the classes that have public members."""
    functions = [function for file in with_headers(files) for function in functions_of_cpp(file)]
    return list(dict.fromkeys("::".join(each.path) for each in functions if each.owner and each.public))


def cpp_prototypes(name: str, files: Sequence[Path]) -> list[Prototype]:
    """The functions called `name` that need a wrapper, overloads apart; the name of a class means its constructor."""
    made: list[Prototype] = []
    if not any(map(is_cpp, files)):
        return made
    for file in with_headers(files):
        functions = functions_of_cpp(file)
        for function in functions:
            if not function.public or not _named(function, name):
                continue
            if prototype := _prototype(function, file):
                made.append(prototype)
        if not any(prototype.result == CONSTRUCTOR for prototype in made):
            made += [_constructor(each, file) for each in _classes(functions) if _is(each.path, name)]
    return made


def _named(function: Scoped, name: str) -> bool:
    return function.name != function.owner and _is((*function.path, function.name), name)


def _is(path: Sequence[str], name: str) -> bool:
    wanted = name.split("::")
    return list(path[-len(wanted) :]) == wanted


def _classes(functions: Iterable[Scoped]) -> list[Scoped]:
    return list({function.path: function for function in functions if function.owner}.values())


def methods_of(name: str, files: Sequence[Path]) -> list[str]:
    """Names of the public members of the class `name`, as they are called from outside; none where it is no class."""
    names: dict[str, None] = {}
    for file in with_headers(files):
        for function in functions_of_cpp(file):
            if (
                function.owner
                and function.public
                and function.name != function.owner
                and _is(function.path, name)
            ):
                names["::".join((*function.path, function.name))] = None
    return list(names)


def _constructor(member: Scoped, file: Path) -> Prototype:
    scope = "::".join(member.path)
    context = Parameter("this", scope, Shape.CONTEXT)
    return Prototype(scope, CONSTRUCTOR, (context,), f"{scope}()", scoped=scope, home=file)


def _prototype(function: Scoped, file: Path) -> Prototype | None:
    parts = _split(function.inside)
    needed = [part for part in parts if "=" not in part and part.strip() not in ("", "void")]
    parameters = [_parameter(part, index) for index, part in enumerate(needed)]
    member = bool(function.owner) and not function.static
    result = re.sub(
        r"^.*?(?=(?:const )?(?:std::)?(?:vector|array|basic_)\b)", "", " ".join(function.result.split())
    )
    contained = _CONTAINER.match(_bare(result))
    plain = all(_CONTAINER.match(_bare_type(part)) is None for part in needed)
    if not function.owner and not function.path and plain and not contained:
        return None  # C can call it
    scope = "::".join(function.path)
    if member:
        parameters.insert(0, Parameter("this", scope, Shape.CONTEXT))
    shown = f"{result} {function.qualified}({', '.join(' '.join(part.split()) for part in needed)})"
    # bytes that are returned: the wrapper writes them out
    told = RETURNED if contained else result
    return Prototype(
        function.qualified, told, tuple(parameters), shown, scoped=scope or function.name, home=file
    )


def _split(text: str) -> list[str]:
    parts, depth, last = [], 0, 0
    for at, mark in enumerate(text):
        depth += {"<": 1, "(": 1, "{": 1, "[": 1, ">": -1, ")": -1, "}": -1, "]": -1}.get(mark, 0)
        if mark == "," and not depth:
            parts.append(text[last:at])
            last = at + 1
    return [*parts, text[last:]]


def _bare(kind: str) -> str:
    return re.sub(
        r"\s+", " ", re.sub(r"\bconst\b(?=\s+(?:std::)?\w+\s*(?:<|&|$|\s*&))|&+", " ", kind)
    ).strip()


def _bare_type(part: str) -> str:
    """The type of a parameter without its name, its reference and what is constant outside."""
    text = re.sub(r"\s+", " ", part.strip())
    match = re.match(r"^(?:const )?((?:std::)?\w+ ?(?:<.*>)?)(?: const)? ?(?:&&?)? ?(?:\w+)?$", text)
    return match[1].strip() if match else text


def _parameter(part: str, index: int) -> Parameter:
    kind = _bare_type(part)
    if match := _CONTAINER.match(kind):
        name = (re.search(r"[&>\s](\w+)\s*$", part.strip()) or [f"argument {index + 1}"] * 2)[1]
        read = "const" in part or "&" not in part or bool(match["const"])
        if match["count"] and match["kind"] == "array":
            return Parameter(name, kind, Shape.READ if read else Shape.WRITTEN)
        return Parameter(name, kind, Shape.READ_SLICE if read else Shape.WRITTEN_SLICE)
    return replace(c_parameter(re.sub(r"\bstd::", "", part).strip(), index, {}), type=_c_type(part))


def _c_type(part: str) -> str:
    text = re.sub(r"\bstd::", "", part).strip()
    text = re.sub(r"\[[^\]]*\]\s*$", "*", re.sub(r"(\w+)\s*(\[[^\]]*\])\s*$", r"\2", text))
    return re.sub(r"(?<=[\s*])\w+$", "", text).strip() if "*" in text or " " in text else text


def copies(prototype: Prototype | None) -> bool:
    """True where a call copies its data into a container first."""
    return (
        prototype is not None
        and prototype.home is not None
        and any(
            re.search(r"\b(?:vector|string)\b", parameter.type)
            for parameter in prototype.parameters
            if parameter.is_slice
        )
    )


def cpp_wrapper(calls: Iterable[tuple[str, Prototype]], headers: Sequence[str] = ()) -> str:
    """The C++ of a file that gives each of `calls`, a symbol and what it stands for, a name of C."""
    calls = list(calls)
    made = {prototype.scoped for _, prototype in calls if prototype.result == CONSTRUCTOR}
    homes = list(dict.fromkeys(prototype.home for _, prototype in calls if prototype.home))
    parts = [
        "// Written by `perbyte try`.",
        f'#include "{places.data_dir("runners") / "sdk" / "try" / "trial.hpp"}"',
        *(f'#include "{header}"' for header in headers),
        *(f'#include "{home}"' for home in homes),
    ]
    return "\n".join(
        [*parts, 'extern "C" {', *(_export(symbol, prototype, made) for symbol, prototype in calls), "}\n"]
    )


def _export(symbol: str, prototype: Prototype, made: Collection[str]) -> str:
    if prototype.written:
        return _export_written(symbol, prototype)
    held = f"(*(pb_held<{prototype.scoped}> *)a0)"
    if prototype.result == CONSTRUCTOR:
        return f"void {symbol}(void *a0) {{ {held}.make(); }}"
    taken, given = [], []
    member = bool(prototype.parameters) and prototype.parameters[0].name == "this"
    for index, parameter in enumerate(prototype.parameters):
        names, text = (["void *a0"], "") if member and not index else _argument(parameter, index)
        taken += names
        given += [text] if text else []
    name = f"{held}.it.{prototype.name.rpartition('::')[2]}" if member else prototype.name
    call = f"{name}({', '.join(given)})"
    result, body = "void", f"{call};"
    first = f"if (!{held}.made) {held}.make(); " if member and prototype.scoped not in made else ""
    if prototype.result.startswith(RETURNED):
        taken.append("void *out")
        body = f"auto made = {call}; memcpy(out, made.data(), made.size());"
    elif prototype.result not in ("", "void"):
        simple = prototype.result in ("int", "bool", "long", "size_t") or re.fullmatch(
            r"(?:std::)?u?int\d+_t|unsigned(?: int| long)?", prototype.result
        )
        result, body = ("int", f"return (int){call};") if simple else ("void", f"(void){call};")
    return f"{result} {symbol}({', '.join(taken) or 'void'}) {{ {first}{body} }}"


def _export_written(symbol: str, prototype: Prototype) -> str:
    taken, held, into = [], [], "nullptr"
    for index, parameter in enumerate(prototype.parameters):
        if parameter.shape is Shape.NUMBER:
            taken.append(f"size_t {parameter.name}")
        elif parameter.shape is Shape.READ_SLICE:
            taken += [f"const void *a{index}", f"size_t n{index}"]
            held.append(f"const pb_bytes {parameter.name}{{(const uint8_t *)a{index}, n{index}}};")
        else:
            taken += [f"void *a{index}", f"size_t n{index}"]
            held.append(f"uint8_t *{parameter.name} = (uint8_t *)a{index}; (void){parameter.name};")
            into = parameter.name
    before, last = last_apart(prototype.written)
    writes = "out" in NAME.findall(prototype.written) and last != "out"  # that alone is one of the call's own
    put = f"pb_put([&] {{ {before}return {last}; }}, {into}, {str(writes).lower()})"
    return f"int {symbol}({', '.join(taken)}) {{ {' '.join(held)} return {put}; }}"


def _argument(parameter: Parameter, index: int) -> tuple[list[str], str]:
    pointer, length = f"a{index}", f"n{index}"
    match = _CONTAINER.match(parameter.type)
    if parameter.is_slice and match:
        constant = "" if parameter.shape is Shape.WRITTEN_SLICE else "const "
        names = [f"{constant}void *{pointer}", f"size_t {length}"]
        byte = "char" if match["string"] else match["byte"]
        begin = f"({constant}{byte} *){pointer}"
        if match["kind"] == "vector":
            return names, f"{parameter.type}({begin}, {begin} + {length})"
        return names, f"{parameter.type}({begin}, {length})"
    if match:
        constant = "const " if parameter.shape is Shape.READ else ""
        return [f"{constant}void *{pointer}"], f"*({constant}{parameter.type} *){pointer}"
    if parameter.shape is Shape.NUMBER:
        return [f"size_t {pointer}"], f"({parameter.type or 'size_t'}){pointer}"
    constant = "const " if parameter.shape is Shape.READ else ""
    return [f"{constant}void *{pointer}"], f"({parameter.type}){pointer}"
