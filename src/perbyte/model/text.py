"""Text that others wrote, made safe to show: names, versions, messages and standard error of runners, runs, listings.

`plain` makes one line of it, where it is taken in or laid out. `visible` is what standard output and error let through
in the end, so that a text which nobody thought of cannot drive a terminal either. JSON keeps texts whole, escaped.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

_LINE_ENDS = "\n\r\t\v\f\u0085\u2028\u2029"
# Controls but line feed and tab, formats (writing direction, zero width, tags), line and paragraph separators: the
# categories Cc, Cf, Zl and Zp. A carriage return before a line feed is an end of line.
_ACTIVE = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
_ACTIVE_BUT_COLOURS = re.compile(rf"(?!\x1b\[[0-9;]*m)(?:{_ACTIVE.pattern})")

# What CommonMark and its common extensions give a meaning to, and at the beginning of a line also these.
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BLOCK = re.compile(r"^(\s*(?:[0-9]{1,9}(?=[.)](?:\s|$)))?)([#+=.)-])")

_NAMED = 6  # of what the same is noted of
_LETTERS = ("+-", ">", "|", "x", "-", "-", "...", "u", "!=", "<=", ">=", "-", "|", "^6", "^9", "^2", "->")
_PLAIN = dict(zip("±►·×–—…µ≠≤≥─│⁶⁹²→“”", (*_LETTERS, '"', '"'), strict=True))
FORMULA = ("=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠")  # what a spreadsheet computes


def plain(text: object, longest: int = 200) -> str:
    """Make any string safe to print on one line.

    Control characters (ANSI escapes among them), line ends and characters that change the writing direction
    are left out or become a space; what is longer than `longest` is cut in the middle.
    """
    text = str(text)
    if len(text) <= longest and text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    kept = "".join(
        " " if character in _LINE_ENDS else character
        for character in text[: 20 * longest]
        if character in _LINE_ENDS or unicodedata.category(character) not in ("Cc", "Cs", "Cf", "Co", "Cn")
    )
    kept = " ".join(kept.split())
    if len(kept) <= longest:
        return kept
    tail = max(longest // 4, 1)
    return f"{kept[: longest - tail - 1]}…{kept[-tail:]}"


def markdown_text(text: str, *, begins_line: bool = True) -> str:
    """A line of text as Markdown shows it, letter by letter: nothing in it is markup, a link, an image or HTML.

    Markup stands behind a backslash; `&`, `<` and `>` are entities. An address stays as it is: where it becomes a link,
    that is to where it says. A list or a heading needs a line of its own: `begins_line`.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _MARKUP.sub(r"\\\g<0>", text)
    return _BLOCK.sub(r"\1\\\2", text) if begins_line else text


def json_ready(value: Any) -> Any:
    """A value as JSON has it: dataclasses become objects, numbers that are not finite null, what is unknown text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_ready(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): json_ready(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key by which `aes-128` comes before `aes-1024` and `16` before `512`."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", text)
    return tuple((0, int(part), "") if part[0] in "0123456789" else (1, 0, part) for part in parts)


def counted(count: int, noun: str = "cell", several: str = "") -> str:
    """So many of something: `1 cell`, `1,200 machines`, `12 libraries`; `several` is the plural that no s makes."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def plain_lines(text: str, most: int = 40) -> str:
    """The last `most` lines of a text, each made plain."""
    lines = text.splitlines()
    return "\n".join(plain(line, 500) for line in lines[-most:])


def alike_together(notes: Iterable[str]) -> list[str]:
    """Notes such as `openssl: MESSAGE`, with those of one message as a line that names the first six it is about."""
    whats_of: dict[str, list[str]] = {}
    for note in notes:
        what, colon, message = note.partition(": ")
        whats_of.setdefault(colon + message if colon else note, []).extend([what] * bool(colon))
    return [
        ", ".join(whats[:_NAMED]) + (f" and {len(whats) - _NAMED} more" if len(whats) > _NAMED else "") + rest
        for rest, whats in whats_of.items()
    ]


def inert(value: Any) -> Any:
    """A value as a field of CSV may have it: one plain line, and no formula to a spreadsheet, led by an apostrophe."""
    if not isinstance(value, str):
        return value
    text = plain(value, 4000)
    return f"'{text}" if text.startswith(FORMULA) else text


def csv_text(fields: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV (RFC 4180) with a heading, each value `inert`."""
    out = io.StringIO()
    writer = csv.DictWriter(out, tuple(fields), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: inert(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def visible(text: str, *, colours: bool = False) -> str:
    """Show what would drive a terminal as `\\u001b`, which is also how JSON writes it; the rest stays as it is.

    With `colours` sequences that only set colour and weight stay too.
    """
    return (_ACTIVE_BUT_COLOURS if colours else _ACTIVE).sub(_escape, text)


def plain_letters(error: UnicodeError) -> tuple[str, int]:
    """Give what an encoding cannot say in letters that it can: an error handler, as `codecs.register_error` takes it.

    Raises `error` where it is not about encoding.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = "".join(_in_plain(letter) for letter in error.object[error.start : error.end])
    return text, error.end


def _in_plain(letter: str) -> str:
    if 0xDC80 <= ord(letter) <= 0xDCFF:  # a byte of a file name or an argument that is no UTF-8
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return _PLAIN.get(letter, "?")


def wants_colour(stream: TextIO) -> bool:
    """True when `stream` is a terminal and `NO_COLOR` is unset or empty (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
