"""Every hint leads somewhere: each `perbyte ...` that the code prints as a way out is collected and typed.

What a hint leaves to its reader (RUN, NAME, a path in braces) stands for something that there is. A command that would
measure, build or wait is parsed as it would be typed; every other one is run, and may not end in a usage error.
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from fake_scripts import row

from perbyte.cli.group import commands
from perbyte.errors import EXIT_DEFECT, EXIT_USAGE

SOURCE = Path(__file__).parents[2] / "src" / "perbyte"
# what is parsed alone: it measures, builds, waits for others, or takes a file of the user's
PARSED = (
    "measure",
    "build",
    "fleet",
    "bench",
    "try",
    "advise",
    "study run",
    "selftest",
    "supercop",
    "conform",
    "sign",
    "recover",
    "import",
)
PLACEHOLDERS = {
    "SELECTOR": "alpha/sha-256@64",
    "RUN": "{run}",
    "OTHER-RUN": "{other}",
    "NAME": "alpha",
    "PLACE": "{atlas}",
    "DIR": "{run}",
    "FILE": "file.txt",
    "A": "alpha/sha-256",
    "B": "beta/sha-256",
    "NEW_RUN": "{other}",
    "SCHEDULER": "127.0.0.1",
    "ALGORITHM": "sha-256",
}
WORD = r"(?:'[^']*'|\"[^\"]*\"|\{[^}]*\}|[\w./*@+=\[\]{}-]+)"
COMMAND = re.compile(rf"\bperbyte ((?:{WORD})(?: {WORD})*)")
NAMED = re.compile(r"perbyte (?!import\b)")  # in a module that may have a hint
STOP = re.compile(
    r"(shows|tells|would|builds|makes|and|or|in|on|with|to|without|of|at|from|needs|there|for|itself|measures|where|"
    r"again|each|counts|has|names|explains|computes|marked|have|writes|watches|looks|gives|lists|page)\Z"
)


def text_of(node: ast.AST) -> str:
    """A string of the code; what an f-string puts in is `{name}`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "{" + ast.unparse(part.value) + "}"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    if isinstance(node, ast.IfExp):
        return f"{text_of(node.body)} ; {text_of(node.orelse)}"
    if isinstance(node, ast.BinOp):
        return f"{text_of(node.left)}{text_of(node.right)}"
    return ""


def said(tree: ast.Module) -> Iterator[str]:
    """The hints of a module, and all other strings of its functions but what documents them."""
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "hint":
            yield text_of(node.value)
        if isinstance(node, ast.FunctionDef):
            documents = node.body[0].value if isinstance(node.body[0], ast.Expr) else None
            for part in ast.walk(node):
                if (
                    isinstance(part, ast.Constant | ast.JoinedStr)
                    and part is not documents
                    and id(part) not in inner
                ):
                    yield text_of(part)


@cache
def hints() -> frozenset[str]:
    """The commands that the package names to its users."""
    named = set()
    known = commands.list_commands(click.Context(commands))
    for path in SOURCE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for text in said(ast.parse(source)) if NAMED.search(source) else ():
            for match in COMMAND.finditer(text):
                words = []
                for word in re.findall(WORD, match[1]):
                    if STOP.match(word):
                        break
                    words.append(word if word == "..." else word.removesuffix("."))
                    if word.endswith("."):
                        break
                if words and words[0] in known and "..." not in words:
                    named.add(" ".join(words))
    return frozenset(named)


def typed(hint: str, known: dict[str, str]) -> list[str]:
    """The words of a hint as somebody would type them."""
    words = []
    for word in re.findall(WORD, hint):
        word = PLACEHOLDERS.get(word.strip("."), word)
        name = word.strip("{}'\"")
        if word.startswith("{") and name not in known:
            word = next((value for key, value in known.items() if key in name.lower()), known["name"])
        words.append(word.format(**known) if word.startswith("{") else word.strip("'\"").rstrip(";:"))
    return [part for word in words for part in shlex.split(word)]


@pytest.fixture(scope="module")
def place(tmp_path_factory, make_world):
    """A world with a run and an atlas."""
    world = make_world(tmp_path_factory.mktemp("hints"))
    operations = [row("sha-256", "digest", "oneshot/1", per_byte=2.0)]
    world.add({"name": "alpha", "operations": operations}, {"name": "beta", "operations": operations})
    run = world.home / "runs" / "made"
    done = world.perbyte("measure", "*/sha-256@64", "--epochs", 2, "--precision", "20%", "-q", "--out", run)
    assert done.returncode == 0, done.stderr
    atlas = world.home / "atlas"
    assert world.perbyte("atlas", "add", run).returncode == 0
    other = shutil.copytree(run, run.with_name("other"))
    values = dict.fromkeys(("run", "path", "directory", "parent", "place"), str(run))
    values |= {
        "other": str(other),
        "asked": "sha-256",
        "algorithm": "sha-256",
        "parts": "sha-256",
        "question": "tls",
        "chart": "bars.svg",
    }
    return world, values | {"atlas": str(atlas), "name": "kompara-2020", "scheduler": "tcp://127.0.0.1:1"}


def parse(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    context = command.make_context("perbyte", list(words), parent=parent, resilient_parsing=False)
    if isinstance(command, click.Group):
        _, inner, left = command.resolve_command(context, [*context._protected_args, *context.args])
        assert inner is not None, words
        parse(inner, left, context)


def test_hints_are_found():
    assert len(hints()) >= 60
    assert "list algorithms" in hints()


@pytest.mark.slow
@pytest.mark.parametrize("hint", sorted(hints()))
def test_each_hint_is_a_command_that_leads_somewhere(hint, place, perbyte, monkeypatch, tmp_path):
    world, known = place
    monkeypatch.chdir(tmp_path)  # some write a page
    words = typed(hint, known)
    if words[:1] == ["selftest"] or not words:
        return
    if hint.startswith(PARSED) or words[0] in PARSED:
        try:
            parse(commands, words)
        except (click.MissingParameter, click.exceptions.NoArgsIsHelpError):
            assert len(words) <= 2, words  # the name of a command alone: its help says what it takes
        return
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    done = perbyte(*words)
    if len(words) <= 2 and re.search("Missing argument|Usage: ", done.stderr):
        return  # a name alone stands for what its help says
    assert done.returncode not in (EXIT_USAGE, EXIT_DEFECT), (words, done.stderr)
