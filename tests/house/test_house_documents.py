"""What the documents say is what the code has: commands, fields, packages, numbers, links."""

from __future__ import annotations

import dataclasses
import re
import runpy

import click
import pytest
from documents import ROOT, anchors, blocks, commands, documents, read, table_words, tracked
from msgspec import structs

from perbyte import __version__, errors
from perbyte.catalogue import parse_selector
from perbyte.cli.group import COMMANDS
from perbyte.cli.group import commands as command_line
from perbyte.model import Conditions, Failure, Policy, Quality
from perbyte.report.export import CELL_FIELDS
from perbyte.report.marks import Mark
from perbyte.studies.claims import FORMS, Form
from perbyte.studies.claims.form import Comparing

LINK = re.compile(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)|!\[[^]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
GUIDES = [
    path
    for path in documents()
    if path == "README.md" or path == "CONTRIBUTING.md" or path.startswith("docs/")
]


@pytest.mark.parametrize("path", documents())
def test_links_lead_somewhere(path):
    text = re.sub(r"^```.*?^```[ \t]*$|`[^`\n]*`", "", read(path), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for match in LINK.finditer(text):
        target, _, anchor = next(filter(None, match.groups())).partition("#")
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        place = (ROOT / path).parent / target if target else ROOT / path
        if not place.exists():
            broken.append(target)
        elif (
            anchor and place.suffix == ".md" and anchor not in anchors(str(place.resolve().relative_to(ROOT)))
        ):
            broken.append(f"{target}#{anchor}")
    assert broken == []


@pytest.mark.parametrize(
    "path", [document for document in documents() if not document.startswith("docs/studies/")]
)
def test_prose_keeps_to_a_hundred_columns(path):
    """Tables, fenced code, headings and links may be longer; the pages of studies are generated."""
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.MULTILINE | re.DOTALL)
    long = [
        line for line in text.splitlines() if len(line) > 100 and not re.match(r"\s*[|#<]|\s*!?\[| {4}", line)
    ]
    assert long == []


@pytest.mark.parametrize("path", documents())
def test_no_document_keeps_both_sides_of_a_merge(path):
    assert not re.search(r"^(<{7}|>{7}|={7}$)", read(path), flags=re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name):
    assert f"perbyte {name}" in read("docs/cli.md")
    assert name in {words[0] for words in commands("docs/cli.md") if words}


@pytest.mark.parametrize("path", GUIDES)
def test_every_command_that_is_shown_is_one(path):
    """Each `$ perbyte ...` of the documents, its selectors too, is parsed as it would be typed; nothing is run here."""
    for words in commands(path):
        if "--help" in words or "-h" in words:
            words = [word for word in words if word not in ("--help", "-h")]
            assert words[0] in COMMANDS, words
            continue
        parse(command_line, words)


def parse(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    # with its parent, as commands remember the help option of whoever first asks for it
    context = command.make_context("perbyte", list(words), parent=parent, resilient_parsing=False)
    for text in context.params.get("selectors") or ():
        if "$" not in text:
            parse_selector(text)
    if isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        _, inner, left = command.resolve_command(context, rest)
        assert inner is not None, words
        parse(inner, left, context)


def test_exit_codes_are_documented():
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", read("docs/cli.md"), re.MULTILINE)}
    assert documented == {value for name, value in vars(errors).items() if name.startswith("EXIT_")}


def test_json_fields_are_documented():
    documented = table_words("docs/cli.md")
    assert set(CELL_FIELDS) - documented == set()
    fields = {field.name for field in dataclasses.fields(Conditions)} - {"run_id"}
    assert fields - documented == set()
    assert {field.name for field in dataclasses.fields(Failure)} <= table_words("docs/cli.md", 1)


def test_the_policy_is_documented_with_its_defaults():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([-\d., ]+) \|", read("docs/measurement.md"), re.MULTILINE))
    policy = Policy()
    assert set(rows) == {field.name for field in dataclasses.fields(policy)} - {
        "cores",
        "audit",
        "forks",
        "gentle",
    }
    for name, printed in rows.items():
        value = getattr(policy, name)
        given = tuple(float(part) for part in printed.split(","))
        assert given == (value if isinstance(value, tuple) else (value,)), name


def test_qualities_and_marks_are_documented():
    assert {str(quality) for quality in Quality} <= table_words("docs/measurement.md")
    for mark in Mark:
        assert f"`{mark}`" in read("docs/cli.md"), mark


def test_the_forms_of_claims_are_documented():
    rows = re.findall(r"^\| `(\w+)`( \*)? \| [^|]+ \| ([^|]*)\|$", read("docs/claims.md"), re.MULTILINE)
    documented = {name: (bool(star), keys) for name, star, keys in rows if name in FORMS}
    assert set(documented) == set(FORMS)
    explained = table_words("docs/claims.md")
    shared = {field.encode_name for field in structs.fields(Comparing)}
    for name, form in FORMS.items():
        fields = structs.fields(form)
        compares, keys = documented[name]
        assert compares == issubclass(form, Comparing), name
        common = shared if compares else {field.encode_name for field in structs.fields(Form)}
        own = [field for field in fields if field.encode_name not in common]
        assert set(re.findall(r"`(\w+)`", keys)) == {field.encode_name for field in own}, name
        required = {field.encode_name for field in own if field.required}
        assert set(re.findall(r"\*\*`(\w+)`\*\*", keys)) == required, name
        assert {field.encode_name for field in fields} <= explained, name


def test_the_changelog_knows_this_version():
    assert re.search(rf"^## {re.escape(__version__)}\b", read("CHANGELOG.md"), re.MULTILINE)


def test_every_decision_is_listed_and_has_its_three_parts():
    pages = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    assert len(pages) >= 10
    numbers = [int(page.name[:4]) for page in pages]
    assert len(numbers) == len(set(numbers)), "two decisions have one number"
    for page in pages:
        assert f"({page.name})" in read("docs/adr/README.md")
        text = page.read_text(encoding="utf-8")
        assert all(f"**{part}" in text for part in ("Context", "Choice", "Price")), page.name
        assert len(text.split()) <= 1000, f"{page.name} is longer than a page"


def test_every_package_is_in_the_architecture():
    text = read("ARCHITECTURE.md")
    home = ROOT / "src" / "perbyte"
    packages = {path.relative_to(home).parts[0] for path in tracked() if path.is_relative_to(home)}
    for package in {name.removesuffix(".py") for name in packages} - {"__init__", "py.typed"}:
        assert f"`{package}`" in text, f"src/perbyte/{package}"
    for directory in ("protocol", "catalogue", "runners", "studies", "bench"):
        assert f"`{directory}/`" in text
        assert f"{directory}/" in read("README.md"), f"{directory} is one hop from the README"
    assert len(text.split()) <= 2600


def test_the_layers_of_the_architecture_are_those_that_are_enforced():
    import tomllib

    contracts = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    enforced = [re.findall(r"perbyte\.(\w+)", layer) for layer in layers]
    shown = next(block for block in blocks("ARCHITECTURE.md") if block.text.startswith("cli\n"))
    assert [re.findall(r"\w+", line) for line in shown.text.splitlines()] == enforced


def test_what_the_readme_shows_was_printed_by_the_program():
    """Blocks between `shown` marks are copies of files that scripts/docs.sh wrote."""
    pattern = r"<!-- shown: (\S+) -->\n```\w*\n(.*?)```\n<!-- /shown -->"
    shown = [
        match
        for path in ("README.md", "docs/trust.md", "docs/cli.md")
        for match in re.findall(pattern, read(path), re.DOTALL)
    ]
    assert len(shown) >= 5
    for name, text in shown:
        assert (ROOT / name).read_text(encoding="utf-8") == text, (
            f"{name} is not what is shown: sh scripts/docs.sh --fill"
        )


@pytest.mark.parametrize("path", GUIDES)
def test_every_make_target_that_is_shown_is_one(path):
    targets = set(re.findall(r"^(\w+):", read("Makefile"), re.MULTILINE))
    shown = {
        name for block in blocks(path) for name in re.findall(r"^\$ make (\w+)", block.text, re.MULTILINE)
    }
    assert shown <= targets


def test_the_readme_is_one_screen_and_leads_to_the_main_commands():
    text = read("README.md")
    shown = re.sub(r"<details.*?</details>\n\n", "", text, flags=re.DOTALL)  # folded until a reader asks
    assert len(shown.splitlines()) <= 80
    for name in ("measure", "compare", "report", "study"):
        assert re.search(rf"perbyte {name}`.*\]\(docs/", text), name


def test_the_readme_has_a_row_for_each_study():
    from perbyte.studies import studies

    rows = re.findall(r"^\| (\d{4}) \|", read("README.md"), re.MULTILINE)
    assert rows == sorted(rows)
    assert len(rows) == len(studies())


def test_numbers_of_published_figures_in_the_readme_are_those_of_the_studies():
    from perbyte.studies import studies

    count = int(re.search(r"([\d,]+) published figures", read("README.md"))[1].replace(",", ""))
    assert count == sum(len(study.published) for study in studies())


@pytest.mark.parametrize("what", ["selector", "burst", "refusal", "claim", "warning"])
def test_the_ways_through_the_code_name_each_file_once(what):
    text = read("ARCHITECTURE.md")
    way = text.partition(f"**A {what}.** ")[2].partition("\n\n")[0]
    named = re.findall(r"`([a-z_/]+\.py)`", way)
    assert len(named) >= 6
    assert len(named) == len(set(named))
    assert [name for name in named if not (ROOT / "src/perbyte" / name).is_file()] == []


def test_every_page_of_docs_has_a_place_on_the_site():
    parts = runpy.run_path(str(ROOT / "docs" / "site" / "conf.py"))["PARTS"]
    placed = {page for part in parts.values() for page in part.values()}
    assert {f"docs/{path.stem}" for path in (ROOT / "docs").glob("*.md")} - placed == set()
    assert {page for page in placed if not (ROOT / f"{page}.md").is_file()} == set()
