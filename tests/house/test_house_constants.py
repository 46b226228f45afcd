"""Every number with a name in what measures and in what computes figures says in docs/constants.md what it rests on."""

from __future__ import annotations

import re

from constants import KINDS, PAGE, in_code, in_page, kinds_in_page, of_c, of_java, of_python
from documents import read


def test_the_page_names_the_constants_of_the_code_and_no_others():
    code, page = in_code(), in_page()
    names = {(file, name) for file, named in code.items() for name in named}
    named = {(file, name) for file, named in page.items() for name in named}
    assert sorted(names - named) == [], f"say in {PAGE} what they rest on"
    assert sorted(named - names) == [], f"{PAGE} names what the code does not have"


def test_the_page_gives_their_values():
    code = in_code()
    wrong = {
        f"{file}: {name}": (value, code.get(file, {}).get(name))
        for file, named in in_page().items()
        for name, value in named.items()
        if code.get(file, {}).get(name) != value
    }
    assert wrong == {}, "(in the page, in the code)"


def test_every_kind_is_explained_and_used():
    matches = re.findall(r"^\| (\w+) \| [^|`]+ \|$", read(PAGE), re.MULTILINE)
    assert tuple(matches[1:]) == KINDS
    assert {kind for _, kind in kinds_in_page()} == set(KINDS)


def test_what_is_tuned_or_assumed_is_told_at_the_end():
    end = read(PAGE).partition("\n## Still tuned on the machines at hand\n")[2]
    untold = [
        name
        for names, kind in kinds_in_page()
        if kind in ("tuned", "assumed")
        for name in re.findall(r"`([^`]+)`", names)
        if f"`{name}`" not in end
    ]
    assert untold == []


def test_a_new_constant_would_be_found(tmp_path):
    python, c, java = tmp_path / "new.py", tmp_path / "new.c", tmp_path / "New.java"
    python.write_text(
        "A, _B = 1 << 20, 0.5\nC = {'x': 2.0}\nD: tuple[int, ...] = (1, -2)\nE = 'no'\nlower = 3\n"
    )
    c.write_text(
        "enum { A = 1, /* B = 2 */ C };\nenum kind { D };\nstatic const double E = 0.25, F = 1.35;\n"
        "static const unsigned g[] = {5, 8};\n#define PB_H 3\n#define PB_H 1\nvoid f(void)\n{\n\tenum { I = 4 };\n}\n"
    )
    java.write_text("class New { private static final int A = 1 << 4; // static final int B = 2;\n }")
    assert of_python(python) == {"A": "1 << 20", "_B": "0.5", "C": "{'x': 2.0}", "D": "(1, -2)"}
    assert of_c(c) == {"A": "1", "I": "4", "E": "0.25", "F": "1.35", "g": "{5, 8}", "PB_H": "3; 1"}
    assert of_java(java) == {"A": "1 << 4"}
