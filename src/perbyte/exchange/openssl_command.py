"""Command lines of `openssl speed` in a text: what was typed is believed, what a sentence mentions is not.

A command stands at the beginning of its line, behind a prompt or alone, with variables and programs that start others
before it. Its options end where the first word is none.
"""

from __future__ import annotations

import re
import shlex
from itertools import pairwise

_STARTERS = r"(?:sudo|time|nice|taskset|numactl|env|chrt|doas|perf)"
_VARIABLES = r"(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|\S*)\s+)*"
_PROMPT = r"(?:(?:\S{1,80}[ \t]){0,3}?\S{0,80}[$#%>][ \t]*|\+ )"
_COMMAND = re.compile(
    rf"^\s*(?P<prompt>{_PROMPT})?(?P<variables>{_VARIABLES})"
    rf"(?:{_STARTERS}(?:\s+(?!\S*openssl)\S+)*\s+)*{_VARIABLES}(?:\S*[/\\])?openssl(?:\.exe)?\s+speed\b(?P<rest>.*)$"
)
_HIDING = re.compile(r"\bOPENSSL_\w+cap\s*=\s*[\"']?(?=[^\s\"'])")
_SETTING = re.compile(r"^\s*(?:\S*[$#%>]\s*)?(?:export|set|setenv|env)\s+OPENSSL_\w+cap\b")
_OPTION = re.compile(r"-{1,2}[a-z][a-z0-9_-]*")
_ARGUMENT = re.compile(r"(?:[A-Za-z]+[-/]?)*[0-9][A-Za-z0-9/_-]*|\$\(.*|\$[A-Za-z_]\w*|`.*")
_NAMES = re.compile(
    r"rsa|e?c?dsa|ecdh|eddsa|ffdh|hmac|des|blowfish|cast|idea|seed|camellia|whirlpool|ghash|rand|aes|cbc|sm",
    re.IGNORECASE,
)
_VALUED = frozenset(
    {
        "-evp",
        "-hmac",
        "-cmac",
        "-multi",
        "-bytes",
        "-seconds",
        "-primes",
        "-async_jobs",
        "-engine",
        "-misalign",
    }
)


def command_in(line: str) -> list[str]:
    """The words of a command `openssl speed` that stands in `line`, from `openssl` on; [] where none was typed."""
    match = _COMMAND.match(line)
    if not match:
        return []
    rest = match["rest"].strip()
    try:
        words = shlex.split(re.sub(r"\$\([^)]*\)", "$count", rest))
    except ValueError:
        words = rest.split()
    taken: list[str] = []
    for word in words:
        valued = bool(taken) and taken[-1] in _VALUED
        if not (valued or _OPTION.fullmatch(word) or _ARGUMENT.fullmatch(word) or _NAMES.fullmatch(word)):
            break
        taken.append(word.rstrip(",;"))
        if word[-1:] in ",;":
            break
    if "-multi" in taken and not match["prompt"] and len(words) > len(taken):
        return []  # a sentence that begins with the command
    return ["openssl", "speed", *taken]


def ways_of(words: list[str]) -> set[str]:
    """The options of a command that change what a row of the same name means."""
    ways = {word for word in words if word in ("-decrypt", "-elapsed", "-aead", "-mb")}
    return ways | {f"{word} {value}" for word, value in pairwise(words) if word in ("-multi", "-primes")}


def hides_instructions(line: str) -> str:
    """Return "command" where the variable that hides instructions is set, "prose" where it is mentioned, else ''."""
    if line.lstrip().startswith("CPUINFO:") or not _HIDING.search(line):
        return ""
    match = _COMMAND.match(line)
    if (match and "OPENSSL_" in line[: line.index("openssl")]) or _SETTING.match(line):
        return "command"
    return "prose"
