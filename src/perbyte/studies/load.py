"""Loading studies: a folder of four files becomes a `Study`, or an error that says file, key and way out.

    study.toml      what was asked, on which machines, how, and which cells stand for it today
    published.csv   every published figure, digits as printed
    claims.toml     every claim of the text, in the closed vocabulary of `perbyte.studies.claims`
    NOTES.md        what cannot be repeated, and why

Nothing is measured and nothing is judged here; but everything that can be found wrong without a run is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.catalogue import load as load_catalogue
from perbyte.errors import DataRoomError, UsageError
from perbyte.model import Policy
from perbyte.studies.cells import expand, with_contract
from perbyte.studies.claimfile import read_claims
from perbyte.studies.evidence import CELL_DIMENSIONS, GROUP
from perbyte.studies.fields import Fields, closest, read_toml
from perbyte.studies.figurefile import read_published
from perbyte.studies.model import Assumption, CellGroup, PublishedMachine, StatisticsPlan, Study

STUDY_FILE = "study.toml"


def studies(room: Path | None = None) -> tuple[Study, ...]:
    """Load all studies of the data room (Perbyte's own by default), in the order of their years.

    Raises DataRoomError at the first one that breaks the rules.
    """
    return tuple(
        sorted((read_study(path) for path in _folders(room)), key=lambda study: (study.year, study.name))
    )


def find(name: str, room: Path | None = None) -> Study:
    """Load the study of that name. Raises UsageError when there is none, DataRoomError when it is broken."""
    folders = {path.name: path for path in _folders(room)}
    if name not in folders:
        raise UsageError(f"there is no study '{name}'", way_out=closest(name, folders))
    return read_study(folders[name])


def read_study(path: Path) -> Study:
    """Load the study in the folder `path`. Raises DataRoomError with file, key and way out."""
    place = f"{path.name}/{STUDY_FILE}"
    fields = Fields(read_toml(path / STUDY_FILE), place)
    contract = fields.text("contract")
    if contract not in load_catalogue().contracts:
        raise fields.wrong(
            f"there is no contract '{contract}'",
            key="contract",
            way_out=closest(contract, load_catalogue().contracts),
        )
    groups = _groups(fields, contract)
    machines = _machines(fields)
    study = Study(
        name=path.name,
        path=path,
        title=fields.text("title"),
        authors=fields.texts("authors"),
        year=fields.integer("year"),
        language=fields.text("language"),
        citation=fields.text("citation"),
        question=fields.text("question"),
        contract=contract,
        method=fields.texts("method"),
        assumptions=_assumptions(fields),
        machines=machines,
        groups=groups,
        published=read_published(path / "published.csv", machines, contract),
        claims=(),
        notes=_notes(path / "NOTES.md"),
        policy=_policy(fields, "policy"),
        quick_policy=_policy(fields, "quick"),
        statistics=_statistics(fields, groups),
    )
    fields.finish()
    return dataclasses.replace(study, claims=read_claims(path / "claims.toml", study))


def _folders(room: Path | None) -> list[Path]:
    place = room or places.room("studies")
    return sorted(path.parent for path in place.glob(f"*/{STUDY_FILE}"))


def _groups(fields: Fields, contract: str) -> tuple[CellGroup, ...]:
    groups: list[CellGroup] = []
    for entry in fields.tables("cells", name="name"):
        name = entry.text("name")
        if any(group.name == name for group in groups):
            raise entry.wrong(
                "the name stands there twice", key="name", way_out="give every group its own name"
            )
        selectors = tuple(with_contract(one, contract) for one in entry.texts("selectors"))
        quick = entry.texts("quick", ()) if entry.has("quick") else None
        quick_selectors = selectors if quick is None else tuple(with_contract(one, contract) for one in quick)
        _check_selectors(entry, "selectors", selectors)
        _check_selectors(entry, "quick", quick_selectors)
        groups.append(
            CellGroup(
                name=name,
                label=entry.text("label"),
                selectors=selectors,
                quick_selectors=quick_selectors,
                tags=_tags(entry),
                block_bytes=entry.integer("block_bytes", 0),
            )
        )
        entry.finish()
    if not groups:
        raise fields.wrong("there are no [[cells]]", way_out="name what is to be measured")
    return tuple(groups)


def _check_selectors(entry: Fields, key: str, selectors: tuple[str, ...]) -> None:
    catalogue = load_catalogue()
    for selector in selectors:
        try:
            patterns = expand(selector, catalogue)
        except UsageError as error:
            raise entry.wrong(str(error), key=key, way_out=error.way_out) from error
        for pattern in patterns:
            algorithm = catalogue.algorithms.get(pattern.algorithm)
            if algorithm and pattern.size_bytes % max(algorithm.data_multiple_bytes, 1):
                raise entry.wrong(
                    f"{pattern.size_bytes} bytes are no multiple of {algorithm.data_multiple_bytes}, which "
                    f"{algorithm.id} needs",
                    key=key,
                    way_out="choose another size",
                )


def _tags(entry: Fields) -> Mapping[str, str]:
    tags = entry.table("tags")
    for name, value in tags.items():
        if name in (*CELL_DIMENSIONS, GROUP):
            raise entry.wrong(
                f"'{name}' is a dimension of its own", key="tags", way_out="choose another name"
            )
        if not isinstance(value, str):
            raise entry.wrong(f"the tag '{name}' must be a text, and is {value!r}", key="tags")
    return dict(tags)


def _machines(fields: Fields) -> tuple[PublishedMachine, ...]:
    machines = []
    for entry in fields.tables("machines", name="id"):
        clock = entry.raw("clock_hz")
        if clock is not None and (
            not isinstance(clock, int | float) or isinstance(clock, bool) or clock <= 0
        ):
            raise entry.wrong(f"must be a frequency in Hz, and is {clock!r}", key="clock_hz")
        machines.append(
            PublishedMachine(
                id=entry.text("id"),
                name=entry.text("name"),
                clock_hz=None if clock is None else float(clock),
                facts=entry.texts("facts", ()),
            )
        )
        entry.finish()
    return tuple(machines)


def _assumptions(fields: Fields) -> tuple[Assumption, ...]:
    found = []
    for entry in fields.tables("assumptions", name="what"):
        found.append(Assumption(what=entry.text("what"), why=entry.text("why")))
        entry.finish()
    return tuple(found)


def _policy(fields: Fields, key: str) -> Mapping[str, Any]:
    """Overrides of `Policy`, each of the type of the field's own default."""
    known = {field.name: getattr(Policy(), field.name) for field in dataclasses.fields(Policy)}
    found: dict[str, Any] = {}
    for name, value in fields.table(key).items():
        if name not in known:
            raise fields.wrong(f"there is no '{name}' in a policy", key=key, way_out=closest(name, known))
        if isinstance(known[name], tuple):
            good = isinstance(value, list) and all(isinstance(one, int) for one in value)
        else:
            good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or (isinstance(known[name], int) and not isinstance(value, int)):
            raise fields.wrong(f"{name} must be like {known[name]!r}, and is {value!r}", key=key)
        found[name] = tuple(value) if isinstance(known[name], tuple) else type(known[name])(value)
    return found


def _statistics(fields: Fields, groups: tuple[CellGroup, ...]) -> StatisticsPlan | None:
    if not fields.has("statistics"):
        return None
    entry = Fields(fields.table("statistics"), f"{fields.place}: [statistics]")
    known = {*CELL_DIMENSIONS, GROUP, *(tag for group in groups for tag in group.tags)}
    where = entry.table("where")
    alpha = entry.raw("alpha", 0.05)
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        raise entry.wrong(f"must lie between 0 and 1, and is {alpha!r}", key="alpha")
    plan = StatisticsPlan(
        compare=entry.text("compare"),
        group_by=entry.texts("group_by"),
        where={
            name: tuple(values) if isinstance(values, list) else (values,) for name, values in where.items()
        },
        alpha=alpha,
    )
    for name in (plan.compare, *plan.group_by, *plan.where):
        if name not in known:
            raise entry.wrong(f"there is no dimension '{name}'", way_out=closest(name, known))
    entry.finish()
    return plan


def _notes(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DataRoomError(
            f"{path.name} is missing in {path.parent}", way_out="write down what cannot be repeated, and why"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataRoomError(f"{path} cannot be read: {error}") from error
    if not text.strip():
        raise DataRoomError(f"{path} is empty", way_out="write down what cannot be repeated, and why")
    return text
