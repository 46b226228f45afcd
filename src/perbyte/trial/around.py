"""What a project has around a file of C or C++: the headers that it includes, and the files that define what it calls.

A repository is the directory with `.git`, or the nearest one above that is built as a whole. Headers are found by the
path that an `#include` names; of several the nearest one to the file counts, as its authors' build has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from perbyte.trial.building import nearest

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
_MAIN = re.compile(r"^[ \t]*(?:int|void)\s+main\s*\(", re.MULTILINE)
_NEWER = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<(?:span|bit|concepts|ranges|numbers|compare)>", re.MULTILINE
)
_OF_PROJECTS = (".git", "CMakeLists.txt", "meson.build", "configure.ac")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".S", ".s")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".c", ".ipp", ".macros")
_SYSTEM = (
    Path("/usr/include"),
    Path("/usr/include/x86_64-linux-gnu"),
    Path("/usr/include/aarch64-linux-gnu"),
)
_LOOKED_AT = (*_HEADERS, *_SOURCES)
_MOST = 20_000  # of those files of a project


@lru_cache(maxsize=8)
def _tree(root: Path) -> tuple[Path, ...]:
    """The headers and sources below `root`, without hidden directories."""
    files: list[Path] = []
    for place, directories, names in os.walk(root):
        directories[:] = [name for name in directories if not name.startswith(".")]
        files += [Path(place, name) for name in names if name[0] != "." and name.endswith(_LOOKED_AT)]
        if len(files) >= _MOST:
            break
    return tuple(files[:_MOST])


def _project(file: Path) -> tuple[Path, ...]:
    """The headers and sources of the project that `file` belongs to; without a project those beside it."""
    marks = [mark for name in _OF_PROJECTS if (mark := nearest(file.parent, name))]
    if not marks:
        return tuple(path for path in file.parent.iterdir() if path.suffix in _LOOKED_AT)
    return _tree(marks[0].parent)


@lru_cache(maxsize=64)
def _included(files: tuple[Path, ...]) -> tuple[dict[Path, None], dict[Path, None]]:
    """Directories of the project that the compiler must be told of, and the headers that `files` lead to."""
    places: dict[Path, None] = {}
    waiting, seen = list(files), dict.fromkeys(files)
    while waiting:
        file = waiting.pop()
        for mark, name in _INCLUDE.findall(file.read_text("utf-8", "replace")):
            header = _find(file, Path(name), places, quoted=mark == '"')
            if header and header not in seen:
                seen[header] = None
                waiting.append(header)
    return places, {header: None for header in seen if header not in files}


def _find(file: Path, name: Path, places: dict[Path, None], *, quoted: bool) -> Path | None:
    """The header that `file` includes as `name`; its directory is added to `places` where the compiler needs it."""
    known = (file.parent, *places) if quoted else tuple(places)
    for place in known:
        if (place / name).is_file():
            return (place / name).resolve()
    if not quoted and any((place / name).is_file() for place in _SYSTEM):
        return None
    length = len(name.parts)
    if fitting := [path for path in _project(file) if path.parts[-length:] == name.parts]:
        header = max(fitting, key=lambda path: (_shared(path, file), -len(path.parts)))
        places[header.parents[length - 1]] = None
        return header
    return None


def _shared(path: Path, other: Path) -> int:
    """How many directories two paths begin with in common."""
    pairs = zip(path.parts, other.parts, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), 0)


def header_places(files: Sequence[Path]) -> tuple[Path, ...]:
    """Directories of the project in which headers lie that `files`, or headers of theirs, include from elsewhere."""
    return tuple(_included(_text(files))[0])


def newer_than_usual(files: Sequence[Path]) -> bool:
    """True where `files` or headers of theirs include what C++20 brought."""
    texts = [file.read_text("utf-8", "replace") for file in (*_text(files), *headers_of(files))]
    return any(_NEWER.search(text) for text in texts)


def headers_of(files: Sequence[Path]) -> tuple[Path, ...]:
    """The headers of the project that `files` lead to."""
    return tuple(_included(_text(files))[1])


def _text(files: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(file for file in files if file.suffix in _LOOKED_AT)


def companions(files: Sequence[Path]) -> list[Path]:
    """Sources, no programs, beside `files`, beside or called like their headers: they may define what these call."""
    places, headers = _included(_text(files))
    homes, stems = {file.parent for file in files} | set(places), {header.stem for header in headers}
    sources = [path for file in files[:1] for path in _project(file) if path.suffix in _SOURCES]
    sources = [path for path in sources if path not in files and (path.parent in homes or path.stem in stems)]
    return [path for path in sources if not _MAIN.search(path.read_text("utf-8", "replace"))]
