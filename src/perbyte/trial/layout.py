"""Trees of implementations by a description in TOML: where each lies, what is compiled, which functions it has.

A description knows nothing of Perbyte's code, and this module of no tree: those that come with Perbyte lie in
`catalogue/layouts`, a user writes his own (docs/layouts.md). What cannot be built is an outcome with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from perbyte import places
from perbyte.catalogue import load
from perbyte.datafile import Problem, Text, one_of, read_toml
from perbyte.errors import UsageError
from perbyte.trial.program import COMPILED, HEADERS, LINKED, Source, Unusable, link_words
from perbyte.trial.prototype import find_prototype
from perbyte.trial.steps import STEPS
from perbyte.trial.subject import TrialRequest, make_source, read_calls

_MARK = re.compile(r"\{(\w+)(?::(\w+))?\}")
_FORMS = {
    "NAME": lambda text: re.sub(r"[^A-Za-z0-9]", "", text).upper(),
    "name": lambda text: re.sub(r"[^A-Za-z0-9]", "", text).lower(),
    "snake": lambda text: re.sub(r"[^A-Za-z0-9]+", "_", text).lower(),
}


class Part(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"as_": "as", "except_": "except"}
):
    """A table `[[part]]`: implementations of one form. Texts may have marks: docs/layouts.md lists them."""

    as_: Text
    functions: dict[str, Text]
    directories: Text = "."
    except_: tuple[Text, ...] = ()
    values: tuple[Text, ...] = ("",)
    name: Text = "{1}"
    sources: tuple[Text, ...] = ("*.c", "*.S", "*.s")
    without: tuple[Text, ...] = ()
    headers: tuple[Text, ...] = ("*.h",)
    include: tuple[Text, ...] = ()
    define: tuple[Text, ...] = ()
    flags: tuple[Text, ...] = ()
    link: tuple[Text, ...] = ()
    signature: dict[str, Text] = {}

    def __post_init__(self) -> None:
        """Check the names of steps."""
        for key, table in (("functions", self.functions), ("signature", self.signature)):
            for step in table:
                one_of(step, STEPS, "step", key)
        if not self.functions:
            raise Problem("there is no function", key="functions", hint='functions = { digest = "my_hash" }')
        for step in self.signature:
            one_of(step, self.functions, "function", "signature")


class TreeLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file: what the tree is, and its parts."""

    about: Text
    part: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One implementation of a tree: its row's name, where it lies, and what marks stand for there."""

    name: str
    place: Path
    part: Part
    marks: Mapping[str, str]

    @property
    def algorithm(self) -> str:
        """The catalogue's id that the description gives it."""
        return filled(self.part.as_, self.marks)


def find_layout(name: str) -> TreeLayout:
    """The description in a file, or one of Perbyte's. Raises UsageError where there is neither, else DataFileError."""
    file = Path(name)
    home = places.data_dir("catalogue") / "layouts"
    if not file.is_file():
        file = home / f"{name}.toml"
    if not file.is_file():
        there = ", ".join(sorted(path.stem for path in home.glob("*.toml")))
        raise UsageError(f"there is no layout '{name}'", hint=f"a file in TOML (docs/layouts.md), or {there}")
    return read_toml(file, TreeLayout)


def members(layout: TreeLayout, root: Path) -> list[Member]:
    """The implementations of the tree `root`. Raises UsageError where there is none, or two have one name."""
    root = root.resolve()
    listed: list[Member] = []
    for part in layout.part:
        for place in sorted(root.glob(part.directories)) if part.directories != "." else [root]:
            inside = place.relative_to(root).as_posix()
            if not place.is_dir() or any(place.relative_to(root).match(pattern) for pattern in part.except_):
                continue
            marks = {"root": str(root), "here": str(place)} | _wild(part.directories, inside)
            for value in part.values:
                every = marks | ({"value": value} if value else {})
                listed.append(Member(_row(filled(part.name, every)), place, part, every))
    names = [member.name for member in listed]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"two implementations are called {twice[0]}", hint='name = "{1}-{2}" distinguishes them'
        )
    if not listed:
        wanted = ", ".join(part.directories for part in layout.part)
        raise UsageError(f"{root}: no directory fits the layout", hint=f"directories: {wanted}")
    return listed


def filled(text: str, marks: Mapping[str, str]) -> str:
    """`text` with its marks replaced. Raises UsageError for one that is not there."""

    def fill(match: re.Match[str]) -> str:
        name, form = match[1], match[2]
        if name not in marks or (form and form not in _FORMS):
            there = ", ".join(marks)
            raise UsageError(
                f"{match[0]} in '{text}' stands for nothing",
                hint=f"there are: {there}; forms: {', '.join(_FORMS)}",
            )
        return _FORMS[form](marks[name]) if form else marks[name]

    return _MARK.sub(fill, text)


def make_member(member: Member) -> Source:
    """The source of the runner of `member`. Raises Unusable or UsageError with the reason."""
    part, marks = member.part, member.marks
    without = {file for text in part.without for file in _files(text, member)}
    files = [file for text in part.sources for file in _files(text, member) if file not in without]
    if not files:
        raise Unusable(
            f"none of its sources is there: {', '.join(filled(text, marks) for text in part.sources)}"
        )
    headers = [file for text in part.headers for file in _files(text, member)]
    named = {step: filled(text, marks) for step, text in part.functions.items()}
    signatures = [f"{step}={text}" for step, text in part.signature.items()]
    told = tuple(f"{step}={function}" for step, function in named.items())
    for step, function in named.items():
        if step not in part.signature and not find_prototype(function, (*headers, *files)):
            raise Unusable(f"there is no function {function} ({step}) in its headers")
    algorithm = load().find(member.algorithm)
    link = link_words([filled(text, marks) for text in part.link])
    # headers are asked before sources: they have prototypes without the macros that sources may use
    read = TrialRequest((*headers, *files), algorithm, told, tuple(signatures), member.name, link)
    calls = read_calls(read)
    own = replace(read, files=tuple(file for file in files if file.suffix in (*COMPILED, *LINKED)))
    flags = tuple(filled(text, marks) for text in part.flags) or ("-O2",)
    source = make_source(own, calls, flags, member.name)
    include = tuple(Path(filled(text, marks)) for text in part.include)
    around = tuple(member.place / place for place in include)  # an absolute path stays as it is
    defines = tuple(f"-D{filled(text, marks)}" for text in part.define)
    return replace(source, include=(member.place, *around), defines=defines)


def _wild(pattern: str, inside: str) -> dict[str, str]:
    """What each wildcard of `pattern` stands for in the path `inside`, by its number from 1."""
    told = re.escape(pattern).replace(r"\*", "([^/]*)").replace(r"\?", "([^/])")
    match = re.fullmatch(told, inside)
    return {str(number): text for number, text in enumerate(match.groups(), start=1)} if match else {}


def _files(text: str, member: Member) -> Iterator[Path]:
    """The files that a glob means, from the member's directory or, where it begins with {root}, from that."""
    path = Path(filled(text, member.marks))
    base = Path(path.anchor) if path.is_absolute() else member.place
    relative = path.relative_to(base) if path.is_absolute() else path
    for file in sorted(base.glob(relative.as_posix())):
        if file.suffix in (*COMPILED, *LINKED, *HEADERS):
            yield file


def _row(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-") or "mine"
