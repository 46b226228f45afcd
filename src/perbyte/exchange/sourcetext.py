"""A file somebody says is a listing, as lines of text: read whole, but only when it can be one.

Files come from mails, wikis and other systems, so byte order marks, carriage returns and colour codes are taken off.
What cannot be text, is empty or far too large for a listing is refused in words before anything is parsed.
"""

from __future__ import annotations

import codecs
import re
import sys
from pathlib import Path

from perbyte.errors import UsageError

LIMIT_BYTES = 10_000_000
STANDARD_INPUT = "-"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_WAY_OUT = "make a listing: openssl speed > listing.txt"


def read_text(path: Path) -> str:
    """Return the text of `path` (`-`: standard input). Raises UsageError when there is none to be had."""
    name = "standard input" if str(path) == STANDARD_INPUT else str(path)
    try:
        if str(path) == STANDARD_INPUT:
            content = sys.stdin.buffer.read(LIMIT_BYTES + 1)
        elif not path.exists():
            raise UsageError(f"there is no file {name}", hint="check the path")
        elif not path.is_file():
            raise UsageError(f"{name} is no file", hint="give the file that the tool's output is in")
        else:
            with path.open("rb") as file:
                content = file.read(LIMIT_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {name}: {error}", hint="check path and permissions") from None
    return decode(content, name)


def decode(content: bytes, name: str) -> str:
    """Return `content` as text. Raises UsageError when it is empty, too large or binary."""
    if len(content) > LIMIT_BYTES:
        raise UsageError(
            f"{name} has more than {LIMIT_BYTES // 10**6} MB; a listing has a few thousand bytes",
            hint=_WAY_OUT,
        )
    coding = next((coding for mark, coding in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(coding, errors="strict" if coding == "utf-16" else "replace")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or text.count("\ufffd") > len(text) // 20:
        raise UsageError(f"{name} is a binary file, not a listing", hint=_WAY_OUT)
    text = _COLOUR.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UsageError(f"{name} is empty", hint=_WAY_OUT)
    return text
