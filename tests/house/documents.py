"""The project's own files and documents, as the tests here look at them."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w+)(?:[ \t]+(\S+))?[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the word after it (a file's name, or `run`), and its text."""

    language: str
    word: str
    text: str


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that git has; every file that looks like one of the project's own where there is no git."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [name for name in listed.stdout.split("\0") if name]
    if not names:
        kept = ("src", "tests", "docs", "runners", "catalogue", "protocol", "studies", "scripts", "bench")
        names = [str(path.relative_to(ROOT)) for place in kept for path in (ROOT / place).rglob("*.*")]
    return tuple(ROOT / name for name in names if (ROOT / name).is_file() and "__pycache__" not in name)


@cache
def read(path: str) -> str:
    """The text of a document, by its path from the top."""
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def documents() -> tuple[str, ...]:
    """All documents in Markdown, by their path from the top."""
    return tuple(sorted(str(path.relative_to(ROOT)) for path in tracked() if path.suffix == ".md"))


def blocks(path: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    return [Block(match[1], match[2] or "", match[3]) for match in _FENCE.finditer(read(path))]


def write_files(path: str, directory: Path) -> list[Path]:
    """Write out every block of a document that is named like a file (`dir/name`)."""
    written = []
    for block in blocks(path):
        if "/" in block.word:
            place = directory / block.word
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, encoding="utf-8")
            written.append(place)
    return written


def commands(path: str, word: str | None = None) -> Iterator[list[str]]:
    """The words after `$ perbyte` in the console blocks of a document; only of blocks with `word` if given."""
    for block in blocks(path):
        if block.language == "console" and word in (None, block.word):
            for line in block.text.splitlines():
                if line.startswith("$ perbyte"):
                    words = shlex.split(line.removeprefix("$ perbyte"), comments=True)
                    yield words[: words.index("|")] if "|" in words else words


def anchors(path: str) -> set[str]:
    """The anchors that GitHub makes of a document's headings."""
    text = _FENCE.sub("", read(path))
    anchors_found = set()
    for heading in _HEADING.findall(text):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchors_found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return anchors_found


def table_words(path: str, column: int = 0) -> set[str]:
    """Every `word` in backticks in the given column of the tables of a document."""
    words_found: set[str] = set()
    for line in read(path).splitlines():
        if line.startswith("|"):
            cells = line.strip("|").split("|")
            if column < len(cells):
                words_found |= set(re.findall(r"`([^`]+)`", cells[column]))
    return words_found
