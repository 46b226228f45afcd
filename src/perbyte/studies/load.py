"""Loading studies: a folder of four files becomes a `Study`, or an error that says file, key and hint.

    study.toml      what was asked, on which machines, how, and which cells stand for it today
    published.csv   every published figure, digits as printed
    claims.toml     every claim of the text, in one of the forms of `perbyte.studies.claims`
    NOTES.md        what cannot be repeated, and why
    seen.csv        how its claims came out on which core, where that is kept

Nothing is measured and nothing is judged here; but everything that can be found wrong without a run is.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from perbyte import places
from perbyte.catalogue import load as load_catalogue
from perbyte.catalogue import pattern
from perbyte.datafile import Problem, closest, located, no_duplicates, one_of, read_csv, read_text, read_toml
from perbyte.errors import DataFileError, DataFileWarning, UsageError
from perbyte.studies.answers import AnswerSentence
from perbyte.studies.claims import AnyClaim, Form
from perbyte.studies.evidence import cells_of, dimensions
from perbyte.studies.model import OVER, PublishedFigure, SeenVerdict, Study, StudyFile, Value
from perbyte.studies.wording import listing
from perbyte.studies.words import check as check_words

STUDY_FILE = "study.toml"
SEEN_FILE = "seen.csv"
SEARCH_VARIABLE = "PERBYTE_STUDIES"


class _ClaimFile(Struct, forbid_unknown_fields=True):
    claims: tuple[AnyClaim, ...] = ()
    answers: tuple[AnswerSentence, ...] = ()


def studies(directory: Path | None = None) -> tuple[Study, ...]:
    """Load all studies of `directory`, in the order of their years; by default one's own and Perbyte's.

    One that breaks the rules is left out with a DataFileWarning; with `directory` it raises DataFileError.
    """
    loaded = []
    for path in _folders(directory):
        try:
            loaded.append(read_study(path))
        except DataFileError as error:
            if directory is not None:
                raise
            warnings.warn(f"study '{path.name}' is left out: {error}", DataFileWarning, stacklevel=2)
    return tuple(sorted(loaded, key=lambda study: (study.year, study.name)))


def find(name: str, directory: Path | None = None) -> Study:
    """Load the study of that name. Raises UsageError when there is none, DataFileError when it is broken."""
    folders = {path.name: path for path in _folders(directory)}
    if name not in folders:
        raise UsageError(f"there is no study '{name}'", hint=closest(name, folders))
    return read_study(folders[name])


def read_study(path: Path) -> Study:
    """Load the study in the folder `path`. Raises DataFileError with file, key and hint."""
    file = read_toml(path / STUDY_FILE, StudyFile)
    with located(f"{path.name}/{STUDY_FILE}"):
        one_of(file.contract, load_catalogue().contracts, "contract", "contract")
        file = msgspec.structs.replace(file, groups=tuple(_filled(file)))
    published = read_csv(path / "published.csv", PublishedFigure)
    machines = [machine.id for machine in file.machines]
    for line, figure in enumerate(published, 2):
        with located(f"{path.name}/published.csv: line {line}"):
            if figure.machine not in machines:
                hint = closest(figure.machine, machines)
                raise Problem(f"there is no '{figure.machine}' in study.toml", key="machine", hint=hint)
            full = [_checked(_with_contract(side.strip(), file.contract), "cell") for side in figure.sides]
            published[line - 2] = msgspec.structs.replace(figure, cell=OVER.join(full))
    judged = read_toml(path / "claims.toml", _ClaimFile)
    study = Study(
        **{name: getattr(file, name) for name in file.__struct_fields__},
        name=path.name,
        path=path,
        published=tuple(published),
        claims=judged.claims,
        answers=judged.answers,
        notes=read_text(path / "NOTES.md"),
        seen=tuple(read_csv(path / SEEN_FILE, SeenVerdict)) if (path / SEEN_FILE).exists() else (),
    )
    _check(study)
    return study


def _folders(directory: Path | None) -> list[Path]:
    """The folders of studies, one of a name: those of `PERBYTE_STUDIES` come first."""
    extra = [Path(part) for part in os.environ.get(SEARCH_VARIABLE, "").split(os.pathsep) if part]
    folders: dict[str, Path] = {}
    for place in [directory] if directory else [*extra, places.data_dir("studies")]:
        for file in sorted(place.glob(f"*/{STUDY_FILE}")):
            folders.setdefault(file.parent.name, file.parent)
    return [folders[name] for name in sorted(folders)]


def _filled(file: StudyFile) -> Iterator[object]:
    """The groups of cells with the study's contract in every selector that names none."""
    for group in file.groups:
        place = f"[[cells]] {group.name}: "
        full, quick = (
            tuple(_checked(_with_contract(selector, file.contract), place + key) for selector in chosen)
            for key, chosen in (("selectors", group.selectors), ("quick", group.chosen(quick=True)))
        )
        yield msgspec.structs.replace(group, selectors=full, quick=quick)


def _with_contract(selector: str, contract: str) -> str:
    return selector if "+contract=" in selector else f"{selector}+contract={contract}"


def _checked(selector: str, key: str) -> str:
    """Return the selector when it names cells that can be; raises Problem otherwise."""
    algorithms = load_catalogue().algorithms
    try:
        cells = cells_of(selector)
    except UsageError as error:
        raise Problem(str(error), key=key, hint=error.hint) from error
    for cell in (asked.cell for asked in cells):
        algorithm = algorithms.get(cell.algorithm)
        if not algorithm:
            continue
        if not pattern.is_pattern(cell.operation) and cell.operation not in algorithm.operations:
            hint = f"it has {listing(algorithm.operations)}"
            raise Problem(f"{algorithm.id} has no operation '{cell.operation}'", key=key, hint=hint)
        multiple = algorithm.data_multiple_bytes
        if cell.size_bytes % max(multiple, 1):
            what = f"{cell.size_bytes} bytes are no multiple of {multiple}, which {algorithm.id} needs"
            raise Problem(what, key=key, hint="choose another size")
    return selector


def _check(study: Study) -> None:
    """Check what several files say together. Raises DataFileError."""
    place = study.path.name
    with located(f"{place}/published.csv"):
        no_duplicates([figure.id for figure in study.published], "id")
    with located(f"{place}/NOTES.md"):
        if not study.notes.strip():
            raise Problem("is empty", hint="list what cannot be repeated, and why")
    with located(f"{place}/claims.toml"):
        if not study.claims:
            raise Problem("there are no [[claims]]", hint="write down at least one claim of the text")
        no_duplicates([claim.id for claim in study.claims], "[[claims]]")
    known = _known(study)
    kinds = {claim.id: claim.counted_as for claim in study.claims if not claim.reading_of}
    for claim in study.claims:
        assert isinstance(claim, Form)
        with located(f"{place}/claims.toml: [[claims]] {claim.id}"):
            if claim.reading_of and kinds.get(claim.reading_of) != claim.counted_as:
                hint = "name a claim of the same `about` that is no reading of another one"
                raise Problem(f"there is no such claim '{claim.reading_of}'", key="reading_of", hint=hint)
            _check_claim(claim, known)
            check_words(claim)
    for answer in study.answers:
        for name, rule in answer.values.items() if isinstance(answer, AnswerSentence) else ():
            with located(f"{place}/claims.toml: [[answers]] {name}"):
                _check_claim(rule, known)


def _known(study: Study) -> dict[str, set[Value] | None]:
    """The dimensions of a study's cells with their values; None where a glob leaves them open."""
    known: dict[str, set[Value] | None] = {"machines": {machine.id for machine in study.machines}}
    for group in study.groups:
        for selector in group.selectors:
            for asked in cells_of(selector):
                for name, value in dimensions(group, asked.cell).items():
                    values = known.setdefault(name, set())
                    if isinstance(value, str) and pattern.is_pattern(value):
                        known[name] = None
                    elif values is not None:
                        values.add(value)
    return known


def _check_claim(claim: Form, known: Mapping[str, set[Value] | None]) -> None:
    """Refuse a dimension that no cell has and a value that no cell takes: such a claim would be about nothing."""
    for key, dimension, values in claim.mentions():
        if dimension not in known or (dimension == "machines") != (key == "machines"):
            hint = closest(dimension, [name for name in known if name != "machines"])
            raise Problem(f"there is no dimension '{dimension}'", key=key, hint=hint)
        there = known[dimension]
        for value in values:
            if there is not None and value not in there:
                hint = closest(str(value), map(str, there))
                raise Problem(f"no cell of the study has {dimension} = {value!r}", key=key, hint=hint)
