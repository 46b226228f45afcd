"""How large src/perbyte may be: lines of each package, which may only fall, and how dense they are."""

from __future__ import annotations

import ast
from collections import Counter

from documents import ROOT

# what each package had when the budget was last lowered; a feature pays for its lines by what it makes unnecessary
LINES = {
    "": 879,
    "advise": 1019,
    "app": 5038,
    "atlas": 2035,
    "catalogue": 1746,
    "cli": 3857,
    "exchange": 3475,
    "fleet": 1233,
    "measure": 8781,
    "model": 1712,
    "protocol": 825,
    "report": 14133,
    "runners": 3416,
    "stats": 6549,
    "store": 3406,
    "studies": 4868,
    "trial": 6246,
}
# characters of a line that is not blank: none is packed to save some; 51.0 before tables of short lines became data
MEAN_LENGTH = 51.13
LONG, MOST_LONG = 40, 83  # lines from which on a function is long, and how many are


def sources():
    home = ROOT / "src" / "perbyte"
    for path in sorted(home.rglob("*.py")):
        if "_data" not in path.parts:
            parts = path.relative_to(home).parts
            yield parts[0] if parts[1:] else "", path.read_text(encoding="utf-8")


def test_no_package_grows():
    lines = Counter()
    for package, text in sources():
        lines[package] += len(text.splitlines())
    assert {name: count for name, count in lines.items() if count > LINES.get(name, 0)} == {}


def test_lines_do_not_become_denser_nor_functions_longer():
    code = [line for _, text in sources() for line in text.splitlines() if line.strip()]
    assert sum(map(len, code)) / len(code) <= MEAN_LENGTH
    long = [
        node
        for _, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > LONG
    ]
    assert len(long) <= MOST_LONG
