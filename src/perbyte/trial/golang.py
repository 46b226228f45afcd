"""Functions of Go behind the SDK for Go: the user's files become one package with a generated `main`."""

from __future__ import annotations

import re
from pathlib import Path

from perbyte.trial.language import Managed
from perbyte.trial.roles import Call, returns_bytes


def write_go(asked: Managed, scratch: Path, sdk: Path) -> None:
    """Turn the files in `scratch/subject` into package main, with the adapter and a go.mod beside them."""
    from perbyte.trial.program import digest_of

    subject = scratch / "subject"
    for file in asked.files:
        if file.suffix == ".go":
            text = (subject / file.name).read_text(encoding="utf-8")
            text = re.sub(r"^package\s+\w+", "package main", text, count=1, flags=re.MULTILINE)
            text = re.sub(r"^func main\(\)", "func ownMain()", text, flags=re.MULTILINE)
            (subject / file.name).write_text(text, encoding="utf-8")
    key, nonce, output = asked.lengths
    asked.codes()  # raises for roles that cannot be given
    inverse = asked.calls.get("open")
    first = next(call for step, call in asked.calls.items() if step != "open")
    row = (
        f'perbyte.Function("{asked.algorithm.id}", perbyte.{_KINDS[asked.kind]}, {key}, {nonce}, {output}, '
        f'"{first.function}", {_closure(first, output)}, {_closure(inverse, output) if inverse else "nil"})'
    )
    version = digest_of(asked.files)
    library = f'perbyte.Library{{Name: "{asked.main.name}", License: "not stated", Version: "{version}"}}'
    (subject / "perbyte_main.go").write_text(
        f'// Written by `perbyte try`.\npackage main\n\nimport "perbyte"\n\nfunc main() {{\n\tperbyte.Main({library},\n'
        f"\t\t{row})\n}}\n",
        encoding="utf-8",
    )
    (subject / "go.mod").write_text(_module(asked.main.parent, sdk), encoding="utf-8")
    for parent in (asked.main.parent, *asked.main.parent.parents):
        if (parent / "go.sum").is_file():
            (subject / "go.sum").write_text((parent / "go.sum").read_text(encoding="utf-8"), encoding="utf-8")
            break


_KINDS = {"HASH": "OfHash", "MAC": "OfMAC", "STREAM": "OfStream", "AEAD": "OfAEAD"}


def _closure(call: Call, output: int) -> str:
    """A function of Go that makes one call and says whether it went well; its output goes to `out`."""
    given = {
        "in": "data",
        "key": "key",
        "nonce": "nonce",
        "aad": "aad",
        "out-length": str(output),
        "out": "out",
    }
    text = f"{call.function}({', '.join(given[role] for role in call.roles)})"
    head = "func(out, key, nonce, data, aad []byte) bool {"
    if not call.prototype or not returns_bytes(call.prototype):
        return f"{head} {text}; return true }}"
    failing = "error" in call.prototype.result
    made = f"made, err := {text}; if err != nil {{ return false }}" if failing else f"made := {text}"
    return f"{head} {made}; return copy(out, made[:]) == len(made) }}"


def _module(start: Path, sdk: Path) -> str:
    """A go.mod with what the user's own requires."""
    lines = ["module trial", "", "go 1.24", "", "require perbyte v0.0.0", f"replace perbyte => {sdk}", ""]
    for parent in (start, *start.parents):
        if (parent / "go.mod").is_file():
            text = (parent / "go.mod").read_text(encoding="utf-8")
            lines += re.findall(r"^require\s+\([^)]*\)|^require\s+[^(\n]+$", text, re.MULTILINE)
            break
    return "\n".join(lines) + "\n"
