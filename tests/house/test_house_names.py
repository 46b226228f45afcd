"""What a local variable of src/perbyte, tests and bench may be called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from documents import ROOT

# Each could be anything: the reader has to look up what it holds. A noun says it: `cell`, `figure`, `run`, `message`.
EMPTY = {"one", "found", "said", "mine", "who"}


def empty_names(source: str) -> Iterator[str]:
    """The lines of `source` that bind one of `EMPTY`, to a local, a parameter or a target of a comprehension.

    Fields and methods of classes stand behind a dot, so that what they belong to is said: they may be called so.
    """
    tree = ast.parse(source)
    fields = {
        id(statement.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
            name = node.name or ""
        elif isinstance(node, ast.alias):
            name = node.asname or ""
        else:
            continue
        if name in EMPTY:
            yield f"{node.lineno}: {name}"


def test_no_local_is_called_by_an_empty_name():
    empty = [
        f"{path.relative_to(ROOT)}:{line}"
        for place in ("src/perbyte", "tests", "bench")
        for path in sorted((ROOT / place).rglob("*.py"))
        if "_data" not in path.parts
        for line in empty_names(path.read_text(encoding="utf-8"))
    ]
    assert empty == []


def test_an_empty_name_would_be_seen():
    for binding in (
        "found = 1",
        "for one in []: pass",
        "[one for one in []]",
        "def f(said): pass",
        "lambda mine: 1",
        "with open('x') as who: pass",
        "x if (found := 1) else 2",
        "try: pass\nexcept OSError as found: pass",
        "match x:\n case [*one]: pass",
        "import os as mine",
    ):
        assert len(list(empty_names(binding))) == 1, binding


def test_a_field_may_be_called_so():
    assert list(empty_names("class Leak:\n    found: int\n    def said(self): return self.found")) == []
