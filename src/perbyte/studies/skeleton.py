"""The skeleton of a study: from printed figures and a few answers to the four files.

Cells come from the catalogue and from the libraries' runners where they are known by the names in the figures, and
stay empty where they are not. The claims drawn are what the table itself shows, counted apart from what its text
says, which is for its reader to write.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from perbyte.catalogue import Catalogue
from perbyte.catalogue import load as load_catalogue
from perbyte.datafile import Problem, convert, located
from perbyte.errors import UsageError
from perbyte.model import Algorithm
from perbyte.model.text import counted
from perbyte.stats.quantity import Unit, unit_named
from perbyte.studies.load import read_study
from perbyte.studies.model import PublishedFigure, Study
from perbyte.studies.wording import listing

COLUMNS = tuple(field.encode_name for field in msgspec.structs.fields(PublishedFigure))
_NEEDED = ("algorithm", "operation", "value", "unit")
_CLOCK = "clock_ghz"
_USUAL = {"place": "table", "calls": "1", "available": "yes"}
_VERSION = re.compile(r"[\s,v-]+\d[\w.+-]*$")
# What tables write for the operations of a kind of algorithm.
_OPERATIONS = {
    "seal": ("encrypt", "encryption", "enc", "encrypt+auth"),
    "open": ("decrypt", "decryption", "dec"),
    "encrypt": ("encryption", "enc", "e"),
    "decrypt": ("decryption", "dec", "d"),
    "digest": ("hash", "hashing", "encrypt", "sum"),
    "mac": ("hash", "auth", "authenticate", "hmac", "digest"),
    "keygen": ("key generation", "keypair", "key-generation", "gen", "generate"),
    "encapsulate": ("encaps", "encap", "encapsulation", "enc"),
    "decapsulate": ("decaps", "decap", "decapsulation", "dec"),
    "sign": ("signing", "signature"),
    "verify": ("verification", "verifying", "vrfy"),
    "derive": ("dh", "agree", "agreement", "shared", "shared secret", "scalarmult"),
}


@dataclass(frozen=True, slots=True)
class About:
    """What a figure table does not tell: the answers of its reader.

    `machine` and `clock_hz` (None where it is not published) are those of figures whose machine the table does not
    name. Without a `contract` each algorithm is measured under its own.
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
    """An algorithm of the table; `rows` are its operations and sizes by runner."""

    name: str
    label: str
    algorithm: str
    rows: dict[str, tuple[dict[str, None], dict[int, None]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of a table as rows of published.csv, and the clocks of its machines in Hz."""

    figures: list[dict[str, str]]
    clocks: Mapping[str, float]
    machine: str | None  # one of them, where each figure names its own


def read_figures(
    text: str, machine: str = "machine", *, runners: Mapping[str, str] | None = None, place: str = "the table"
) -> Table:
    """Read a CSV table of figures and fill in what can be told: ids, places, machines, units, cells.

    Needed are the columns algorithm, operation, value and unit; those of published.csv and `clock_ghz` may be there.
    `runners` are the runners by the name of their library: a figure of another library gets no cell. Raises UsageError
    when a needed column is missing or there is no figure, DataFileError with `place` and line for a wrong one.
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
    known = {_plain(library): runner for library, runner in (runners or {}).items()}
    figures: list[dict[str, str]] = []
    ids: set[str] = set()
    clocks: dict[str, float] = {}
    for number, row in enumerate(rows, 2):
        figure = {name: (row.get(name) or "").strip() for name in COLUMNS}
        with located(f"{place}: line {number}"):
            figure["unit"] = _unit(figure["unit"])
            if figure["unit"] == Unit.KILOBYTES_PER_SECOND:
                figure["value"] = figure["value"].removesuffix("k")
            figure["machine"] = figure["machine"] or machine
            if clock := (row.get(_CLOCK) or "").strip():
                clocks[figure["machine"]] = _clock(clock)
        figure |= {name: figure[name] or usual for name, usual in _USUAL.items()}
        parts = [figure[name] for name in ("machine", "library", "algorithm", "operation", "size_bytes")]
        own = figure["id"] or _plain("-".join(filter(None, parts)))
        figure["id"] = own if own not in ids else f"{own}-{number - 1}"
        ids.add(figure["id"])
        if not figure["cell"] and figure["unit"] != Unit.RATIO:
            figure["cell"], unknown = _cell(catalogue, figure, known if runners is not None else None)
            figure["note"] = figure["note"] or unknown
        given = {name: value for name, value in figure.items() if value}
        # refused where its user wrote it
        convert(given, PublishedFigure, f"{place}: line {number}", strict=False)
        figures.append(figure)
    named = all((row.get("machine") or "").strip() for row in rows)
    return Table(figures, clocks, figures[0]["machine"] if named else None)


def _unit(text: str) -> str:
    try:
        return str(unit_named(text))
    except ValueError as error:
        raise Problem(str(error), key="unit") from None


def _clock(text: str) -> float:
    try:
        ghz = float(text)
    except ValueError:
        ghz = 0.0
    if not 0 < ghz < 1000:
        raise Problem(
            f"'{text}' is no clock in GHz", key=_CLOCK, hint="such as 3.5; empty where it is not known"
        )
    return ghz * 1e9


def _cell(
    catalogue: Catalogue, figure: Mapping[str, str], runners: Mapping[str, str] | None
) -> tuple[str, str]:
    """The cell of a figure, or the reason why it has none."""
    try:
        algorithm = catalogue.find(figure["algorithm"])
    except UsageError:
        return "", "the catalogue does not know this name: fill in the cell by hand"
    operation = _operation(algorithm, figure["operation"])
    if not operation:
        return "", f"{algorithm.id} has {listing(algorithm.operations)}: fill in the cell by hand"
    runner, library = "*", figure["library"]
    if library and runners is not None:
        runner = runners.get(_plain(library)) or runners.get(_plain(_VERSION.sub("", library)), "")
        if not runner:
            return "", f"no runner calls {library}: fill in the cell by hand"
    return f"{runner}/{algorithm.id}/{operation}@{figure['size_bytes'] or 0}", ""


def _operation(algorithm: Algorithm, written: str) -> str:
    """The operation of an algorithm that a table means; empty where it has none such."""
    asked = written.lower().replace("_", " ")
    if asked in algorithm.operations:
        return asked
    return next((own for own in algorithm.operations if asked in _OPERATIONS.get(own, ())), "")


def draw(about: About, table: Table) -> dict[str, str]:
    """Return the four files by name. Raises UsageError when no figure has a cell."""
    figures = [dict(figure) for figure in table.figures]
    if not any(figure["cell"] for figure in figures):
        notes = Counter(figure["note"] for figure in figures if figure["note"])
        why = f" ({notes.most_common(1)[0][0]})" if notes else ""
        raise UsageError(
            f"no figure has a cell of today{why}",
            hint="name cells in a column `cell`, such as */aes-128-ctr/encrypt@1024 (perbyte list algorithms), or "
            "leave the column `library` out where any library may stand for it",
        )
    about = _with_contracts(about, figures)
    groups = _groups(figures)
    return {
        "study.toml": _study(about, table.clocks, figures, groups),
        "published.csv": _csv(figures),
        "claims.toml": _claims(figures, groups),
        "NOTES.md": _notes(about),
    }


def write_study(folder: Path, files: Mapping[str, str]) -> Study:
    """Write what `draw` gave into a new folder, once it reads as a study. Raises OSError, DataFileError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as place:
        draft = Path(place) / folder.name
        draft.mkdir()
        for name, text in files.items():
            (draft / name).write_text(text, encoding="utf-8")
        read_study(draft)
        draft.rename(folder)
    return read_study(folder)


_CELL = re.compile(r"(?P<runner>[^/]+)/(?P<algorithm>[^/]+)/(?P<operation>[^@]+)@(?P<size>\d+)(?P<rest>.*)")


def _groups(figures: Iterable[dict[str, str]]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for figure in figures:
        match = _CELL.fullmatch(figure["cell"])
        if match and figure["available"] == "yes":
            algorithm = match["algorithm"]
            group = groups.setdefault(algorithm, _Group(_plain(algorithm), figure["algorithm"], algorithm))
            runner = match["runner"] + "\0" + match["rest"]
            operations, sizes = group.rows.setdefault(runner, ({}, {}))
            operations[match["operation"]] = None
            sizes[int(match["size"])] = None
    return list(groups.values())


def _with_contracts(about: About, figures: Sequence[dict[str, str]]) -> About:
    """Name another contract in the cells that cannot be measured under the study's, which is chosen if none is given.

    A mode with a contract of its own (XTS) is not measured under the one that it is an exception of.
    """
    catalogue = load_catalogue()
    usual_of: dict[str, str] = {}
    for figure in figures:
        match = _CELL.fullmatch(figure["cell"])
        if match and match["algorithm"] in catalogue.algorithms:
            usual_of[figure["id"]] = catalogue.default_contract(match["algorithm"], match["operation"])
    given = about.contract
    if not given:
        about = replace(
            about, contract=Counter(usual_of.values()).most_common(1)[0][0] if usual_of else "stream/1"
        )
    contract = catalogue.find_contract(about.contract)
    about = replace(about, contract=contract.id)
    for figure in figures:
        usual = usual_of.get(figure["id"])
        if not usual or usual == contract.id or "+contract=" in figure["cell"]:
            continue
        kind = catalogue.algorithms[_CELL.fullmatch(figure["cell"])["algorithm"]].kind  # type: ignore[index]
        if not given or kind not in contract.kinds or kind in contract.default_for:
            figure["cell"] += f"+contract={usual}"
    return about


def _study(
    about: About, clocks: Mapping[str, float], figures: Sequence[dict[str, str]], groups: Sequence[_Group]
) -> str:
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
        f'  "In print: {counted(len(figures), "figure")}; the text\'s own description of its method goes here.",',
        "]",
        "",
        "[[assumptions]]",
        f'what = "One timed call is that of the contract {about.contract}, or of the one that a cell names."',
        'why = "This is where the reason goes: what the text says of a call, or how its figures decide."',
        "",
    ]
    machines = list(dict.fromkeys(figure["machine"] for figure in figures))
    for machine in machines:
        name, clock_hz = machine, clocks.get(machine)
        if len(machines) == 1:
            name, clock_hz = about.machine, clock_hz or about.clock_hz
        lines += ["[[machines]]", f"id = {quoted(machine)}", f"name = {quoted(name)}"]
        lines += [f"clock_hz = {clock_hz!r}"] if clock_hz else []
        lines += [""]
    lines += ["[policy]", "budget_s = 60.0", "epochs = 3", "", "[quick]", "budget_s = 15.0", "epochs = 3"]
    for group in groups:
        selectors = []
        for key, (operations, sizes) in group.rows.items():
            runner, _, rest = key.partition("\0")
            of_sizes = ",".join(map(str, sorted(sizes)))
            selectors.append(f"{runner}/{group.algorithm}/{{{','.join(operations)}}}@{of_sizes}{rest}")
        lines += [
            "",
            "[[cells]]",
            f"name = {quoted(group.name)}",
            f"label = {quoted(group.label)}",
            f"selectors = [{', '.join(map(quoted, selectors))}]",
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
    runners = {key.partition("\0")[0] for group in groups for key in group.rows}
    apart = len(runners) > 1
    by = (
        '["operation", "size_bytes", "contract", "runner"]'
        if apart
        else '["operation", "size_bytes", "contract"]'
    )
    about = f'where = {{ kind = "table" }}\nby = {by}\n' + ("" if apart else 'best_of = ["runner"]\n')
    place = json.dumps(figures[0]["place"], ensure_ascii=False)
    text = [
        "# What the table shows, which its text need not claim. Put first what the text says, in your own words:",
        "# docs/claims.md lists the forms. `perbyte study page` shows how each claim fares in print.",
        "",
        '[[claims]]\nid = "order"\nsays = "The order of the table tells that of today."\n'
        f'place = {place}\nabout = "question"\n'
        'reading = "The order then and now have a rank correlation of at least 0.8."\n'
        'form = "rank_agreement"\nlow = 0.8\nwhere = { kind = "table" }\n'
        'by = ["operation", "size_bytes", "contract"]\n',
    ]
    if first := _always_first(figures, groups):
        text.append(
            f'[[claims]]\nid = "first"\nsays = "{_said(first.label)} is the fastest."\nplace = {place}\n'
            'about = "table"\nwords = ["the fastest"]\n'
            f'form = "rank"\ncandidates = "group"\nfirst = {json.dumps(first.name)}\n{about}'
        )
    text.append(
        '[[answers]]\ntext = "In {unit}, fastest first: {order}."\n[answers.values.order]\nform = "order"\n'
        f'candidates = "group"\n{about}'
    )
    return "\n".join(text)


def _always_first(figures: Iterable[dict[str, str]], groups: Sequence[_Group]) -> _Group | None:
    """The algorithm that is the fastest wherever the table compares it with another one; None without such a one.

    Making keys is no race between kinds: nobody chooses between X25519 and Ed25519 by that.
    """
    known = load_catalogue().algorithms
    compared: dict[tuple[str, ...], dict[str, float]] = {}
    for figure in figures:
        match = _CELL.fullmatch(figure["cell"])
        if match and figure["available"] == "yes":
            value = float(figure["value"])
            cost = -value if Unit(figure["unit"]).more_is_better else value
            place = (match["runner"], match["operation"], match["size"], match["rest"])
            makes_keys = match["operation"] == "keygen" and match["algorithm"] in known
            kind = known[match["algorithm"]].kind if makes_keys else ""
            where = (figure["machine"], figure["library"], *place, kind, figure["unit"])
            compared.setdefault(where, {}).setdefault(match["algorithm"], cost)
    races = [costs for costs in compared.values() if len(costs) > 1]
    winners = {min(costs, key=costs.__getitem__) for costs in races}
    tied = any(sorted(costs.values())[0] == sorted(costs.values())[1] for costs in races)
    if len(winners) != 1 or tied:
        return None
    return next(group for group in groups if group.algorithm in winners)


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
