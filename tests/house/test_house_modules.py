"""How the modules of src/perbyte hang together: no circle, and no `__init__` that names what does not exist."""

from __future__ import annotations

import ast
import importlib
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from documents import ROOT

SOURCE = ROOT / "src"


def modules() -> dict[str, Path]:
    paths = {}
    for path in sorted((SOURCE / "perbyte").rglob("*.py")):
        if "_data" not in path.parts:
            paths[".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")] = path
    return paths


def imported(path: Path, known: set[str]) -> set[str]:
    """The modules that a file imports anywhere, those for the type checker too: readers follow them as well."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                names.add(whole if whole in known else node.module)
        elif isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
    return names & known


def circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle_between_modules():
    known = modules()
    assert circle({name: imported(path, set(known)) - {name} for name, path in known.items()}) == []


def test_a_circle_would_be_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})


def test_the_modules_that_a_package_names_exist():
    known = modules()
    lost = []
    for name, path in known.items():
        if path.name == "__init__.py":
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            listed = re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE)
            named = [word for line in listed for word in re.findall(r"`([a-z_]+)`", line)]
            lost += [f"{name}: {word}" for word in named if f"{name}.{word}" not in known]
    assert lost == []


def test_benches_import_what_exists():
    """A bench is run seldom: nothing else would tell that a module or a name that it uses was moved."""
    known = modules()
    lost = []
    for path in sorted((ROOT / "bench").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("perbyte")):
                continue
            module = importlib.import_module(node.module) if node.module in known else None
            for name in node.names:
                if module is None or not (
                    hasattr(module, name.name) or f"{node.module}.{name.name}" in known
                ):
                    lost.append(f"{path.name}: {node.module}.{name.name}")
    assert lost == []


def class_places(paths: dict[str, Path]) -> dict[str, list[str]]:
    """Modules by the names of the classes they define, inner classes too."""
    places: dict[str, list[str]] = {}
    for module, path in paths.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)
    return places


def test_no_two_classes_share_a_name():
    shared = {name: places for name, places in class_places(modules()).items() if len(places) > 1}
    assert shared == {}


def test_a_shared_name_would_be_seen(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("class Same:\n    pass\n", encoding="utf-8")
    assert class_places({name: tmp_path / name for name in ("a", "b")}) == {"Same": ["a", "b"]}
