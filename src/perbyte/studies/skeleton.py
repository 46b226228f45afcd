"""The skeleton of a study: from printed figures and a few answers to the four files, ready to be read and measured.

Cells come from the catalogue where it knows an algorithm by the name in the figures, and stay empty where it does not.
The claims drawn are two that every table makes, who comes first and in which order; what the text says beyond its
table is for its reader to write. Nothing here measures.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import msgspec

from perbyte.catalogue import Catalogue
from perbyte.catalogue import load as load_catalogue
from perbyte.errors import UsageError
from perbyte.studies.load import read_study
from perbyte.studies.model import PublishedFigure, Study
from perbyte.studies.wording import listing

COLUMNS = tuple(field.encode_name for field in msgspec.structs.fields(PublishedFigure))
_NEEDED = ("algorithm", "operation", "value", "unit")


@dataclass(frozen=True, slots=True)
class About:
    """What a figure table does not tell: the answers of its reader.

    `clock_hz` is None where it is not published. Without a `contract` it is the usual one of most of the figures.
    """

    title: str
    author: str
    year: int
    citation: str
    question: str
    machine: str = "the authors' machine"
    clock_hz: float | None = None
    language: str = "English"
    contract: str = ""


@dataclass
class _Group:
    name: str
    label: str
    algorithm: str
    contract: str = ""  # empty: that of the study
    operations: dict[str, None] = field(default_factory=dict)
    sizes: dict[int, None] = field(default_factory=dict)


def read_figures(text: str, machine: str = "machine") -> list[dict[str, str]]:
    """Read a CSV table of figures and fill in what can be told: ids, place, machine, cells.

    Needed are the columns algorithm, operation, value and unit; the others of published.csv may be there. Raises
    UsageError when a needed column is missing or there is no figure.
    """
    rows = list(csv.DictReader(io.StringIO(text)))
    there = set(rows[0]) if rows else set()
    lacking = [name for name in _NEEDED if name not in there]
    if lacking:
        raise UsageError(
            f"the table has no column '{lacking[0]}'" if rows else "the table has no figures",
            hint=f"its first line names the columns: {', '.join(_NEEDED)}, best also size_bytes and library",
        )
    catalogue = load_catalogue()
    figures, ids = [], set()
    for number, row in enumerate(rows, 1):
        figure = {name: (row.get(name) or "").strip() for name in COLUMNS}
        figure["place"] = figure["place"] or "table"
        figure["machine"] = figure["machine"] or machine
        parts = [figure[name] for name in ("machine", "library", "algorithm", "operation", "size_bytes")]
        own = figure["id"] or _plain("-".join(filter(None, parts)))
        figure["id"] = own if own not in ids else f"{own}-{number}"
        ids.add(figure["id"])
        figure["calls"] = figure["calls"] or "1"
        figure["available"] = figure["available"] or "yes"
        if not figure["cell"] and figure["unit"] != "ratio":
            figure["cell"], unknown = _cell(catalogue, figure)
            figure["note"] = figure["note"] or unknown
        figures.append(figure)
    return figures


def _cell(catalogue: Catalogue, figure: Mapping[str, str]) -> tuple[str, str]:
    """The cell of a figure, or the reason why it has none."""
    try:
        algorithm = catalogue.find(figure["algorithm"])
    except UsageError:
        return "", "the catalogue does not know this name: fill in the cell by hand"
    if figure["operation"] not in algorithm.operations:
        return "", f"{algorithm.id} has {listing(algorithm.operations)}: fill in the cell by hand"
    return f"*/{algorithm.id}/{figure['operation']}@{figure['size_bytes'] or 0}", ""


def draw(about: About, figures: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return the four files by name. Raises UsageError when no figure has a cell."""
    groups = _groups(figures)
    if not groups:
        raise UsageError(
            "the catalogue knows none of these algorithms",
            hint="name cells in a column `cell`, such as */aes-128-ctr/encrypt@1024 (perbyte list algorithms)",
        )
    about = _with_contracts(about, figures, groups)
    return {
        "study.toml": _study(about, figures, groups),
        "published.csv": _csv(figures),
        "claims.toml": _claims(figures, groups),
        "NOTES.md": _notes(about),
    }


def write_study(folder: Path, files: Mapping[str, str]) -> Study:
    """Write what `draw` gave into a new folder and read it; nothing stays where that fails. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as place:
        made = Path(place, folder.name)
        made.mkdir()
        for name, text in files.items():
            (made / name).write_text(text, encoding="utf-8")
        read_study(made)
        made.rename(folder)
    return read_study(folder)


def _groups(figures: Iterable[dict[str, str]]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for figure in figures:
        match = re.fullmatch(r"[^/]+/([^/]+)/([^@]+)@(\d+).*", figure["cell"])
        if match and figure["available"] == "yes":
            algorithm, operation, size = match.groups()
            group = groups.setdefault(algorithm, _Group(_plain(algorithm), figure["algorithm"], algorithm))
            group.operations[operation] = None
            group.sizes[int(size)] = None
    return list(groups.values())


def _with_contracts(about: About, figures: Sequence[dict[str, str]], groups: Sequence[_Group]) -> About:
    """Choose the contract where none was given, and name another one for what cannot be measured under it."""
    catalogue = load_catalogue()
    usual_of = {
        (group.algorithm, operation): catalogue.default_contract(group.algorithm, operation)
        for group in groups
        if group.algorithm in catalogue.algorithms
        for operation in group.operations
    }
    usual = Counter(
        usual_of[asked]
        for figure in figures
        if (asked := tuple(figure["cell"].partition("@")[0].split("/")[1:])) in usual_of
    )
    if not about.contract:
        about = replace(about, contract=usual.most_common(1)[0][0] if usual else "stream/1")
    kinds = catalogue.find_contract(about.contract).kinds
    for group in groups:
        known = catalogue.algorithms.get(group.algorithm)
        if known and known.kind not in kinds:
            group.contract = usual_of[group.algorithm, next(iter(group.operations))]
    suffixes = {group.algorithm: f"+contract={group.contract}" for group in groups if group.contract}
    for figure in figures:
        named = re.fullmatch(r"[^/]+/([^/]+)/[^+]*", figure["cell"])  # no contract of its own
        if named and named[1] in suffixes:
            figure["cell"] += suffixes[named[1]]
    return about


def _study(about: About, figures: Sequence[dict[str, str]], groups: Sequence[_Group]) -> str:
    quoted = partial(json.dumps, ensure_ascii=False)
    lines = [
        f"title = {quoted(about.title)}",
        f"authors = [{quoted(about.author)}]",
        f"year = {about.year}",
        f"language = {quoted(about.language)}",
        f"citation = {quoted(about.citation)}",
        f"question = {quoted(about.question)}",
        f"contract = {quoted(about.contract)}",
        "",
        "# What was measured, and how, in your own words: what a timed call was decides the contract above.",
        "method = [",
        f'  "{len(figures)} figures are printed; the text\'s own description of its method goes here.",',
        "]",
        "",
        "[[assumptions]]",
        f'what = "One timed call is that of the contract {about.contract}."',
        'why = "This is where the reason goes: what the text says of a call, or how its figures decide."',
        "",
    ]
    for machine in dict.fromkeys(figure["machine"] for figure in figures):
        lines += ["[[machines]]", f"id = {quoted(machine)}", f"name = {quoted(about.machine)}"]
        lines += [f"clock_hz = {about.clock_hz!r}"] if about.clock_hz else []
        lines += [""]
    lines += ["[policy]", "budget_s = 60.0", "epochs = 3", "", "[quick]", "budget_s = 15.0", "epochs = 3"]
    for group in groups:
        operations, sizes = ",".join(group.operations), ",".join(map(str, sorted(group.sizes)))
        selector = f"*/{group.algorithm}/{{{operations}}}@{sizes}"
        selector += f"+contract={group.contract}" if group.contract else ""
        lines += [
            "",
            "[[cells]]",
            f"name = {quoted(group.name)}",
            f"label = {quoted(group.label)}",
            f"selectors = [{quoted(selector)}]",
            'tags = { kind = "table" }',
        ]
    return "\n".join(lines) + "\n"


def _csv(figures: Iterable[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(figures)
    return text.getvalue()


def _claims(figures: Sequence[dict[str, str]], groups: Sequence[_Group]) -> str:
    about = 'where = { kind = "table" }\nby = ["operation", "size_bytes"]\nbest_of = ["runner"]\n'
    place = json.dumps(figures[0]["place"], ensure_ascii=False)
    text = [
        "# Two claims that every table makes. Replace `says` by what the text says, in your own words,",
        "# and add the rest: docs/claims.md lists the forms. `perbyte study page` shows how each fares in print.",
        "",
        '[[claims]]\nid = "order"\nsays = "The order of the table is the order of the costs."\n'
        f"place = {place}\n"
        'reading = "The order then and now have a rank correlation of at least 0.8."\n'
        'form = "rank_agreement"\nlow = 0.8\nwhere = { kind = "table" }\nby = ["operation", "size_bytes"]\n',
    ]
    if len(groups) > 1:
        text.append(
            f'[[claims]]\nid = "first"\nsays = "{_said(groups[0].label)} is the fastest."\nplace = {place}\n'
            'words = ["the fastest"]\n'
            f'form = "rank"\ncandidates = "group"\nfirst = {json.dumps(groups[0].name)}\n{about}'
        )
    text.append(
        '[[answers]]\ntext = "In {unit}, fastest first: {order}."\n[answers.values.order]\nform = "order"\n'
        f'candidates = "group"\n{about}'
    )
    return "\n".join(text)


def _notes(about: About) -> str:
    return (
        f"# Notes on repeating: {about.title}\n\n## What cannot be repeated\n\n"
        "- The machine, the programs, what the text leaves open: one line each, with the reason.\n\n"
        "## What was decided, and why\n\n- What a call is, which library stands for which.\n\n"
        "## What the printed figures say about the claims\n\n- Those that the text's own table contradicts.\n"
    )


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


def _said(label: str) -> str:
    return label.replace("\\", "").replace('"', "'")
