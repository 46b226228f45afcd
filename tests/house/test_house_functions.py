"""How long a function of src/perbyte may be."""

from __future__ import annotations

import ast

from documents import ROOT

LONGEST = 60


def long_functions(sources: dict[str, str]) -> set[str]:
    return {
        f"{name}:{node.name}"
        for name, text in sources.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > LONGEST
    }


def test_no_function_outgrows_a_screen():
    source = ROOT / "src" / "perbyte"
    sources = {
        str(path.relative_to(source)): path.read_text(encoding="utf-8")
        for path in source.rglob("*.py")
        if "_data" not in path.parts
    }
    assert long_functions(sources) == set()


def test_a_long_function_would_be_seen():
    assert long_functions({"a.py": "def f():\n" + "    x = 1\n" * 60}) == {"a.py:f"}
    assert long_functions({"a.py": "def f():\n" + "    x = 1\n" * 59}) == set()
