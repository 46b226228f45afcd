"""Reading claims.toml: each claim checked against the vocabulary and against the cells of its study.

A parameter of the wrong kind, a dimension nobody has, a value that no cell of the study takes: all of it is found
here, without a run, because a claim about nothing would otherwise look like a claim that cannot be measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perbyte.catalogue import pattern
from perbyte.studies.cells import expand
from perbyte.studies.claims import FORMS, Form, Kind, Parameter, Required
from perbyte.studies.evidence import Value, dimensions
from perbyte.studies.fields import Fields, closest, read_toml
from perbyte.studies.model import Claim, Study

QUANTIFIERS = ("every", "most", "some")


def read_claims(path: Path, study: Study) -> tuple[Claim, ...]:
    """Read the claims of `study`. Raises DataRoomError with file, claim, key and way out."""
    fields = Fields(read_toml(path), f"{path.parent.name}/{path.name}")
    known = _known(study)
    machines = {machine.id for machine in study.machines}
    claims: dict[str, Claim] = {}
    for entry in fields.tables("claims", name="id"):
        claim = _claim(entry, known, machines)
        if claim.id in claims:
            raise entry.wrong("the id stands there twice", key="id")
        claims[claim.id] = claim
    fields.finish()
    if not claims:
        raise fields.wrong("there are no [[claims]]", way_out="write down at least one claim of the text")
    return tuple(claims.values())


def _known(study: Study) -> dict[str, set[Value] | None]:
    """The dimensions of a study's cells with their values; None where a glob leaves them open."""
    known: dict[str, set[Value] | None] = {}
    for group in study.groups:
        for selector in group.selectors:
            for one in expand(selector):
                for name, value in dimensions(group, one.cell()).items():
                    values = known.setdefault(name, set())
                    if isinstance(value, str) and pattern.is_pattern(value):
                        known[name] = None
                    elif values is not None:
                        values.add(value)
    return known


def _claim(entry: Fields, known: Mapping[str, set[Value] | None], machines: set[str]) -> Claim:
    name = entry.text("form")
    form = FORMS.get(name)
    if form is None:
        raise entry.wrong(f"there is no form '{name}'", key="form", way_out=closest(name, FORMS))
    quantifier = entry.text("quantifier", "every")
    if quantifier not in QUANTIFIERS:
        raise entry.wrong(
            f"'{quantifier}' is no quantifier",
            key="quantifier",
            way_out=f"there are: {', '.join(QUANTIFIERS)}",
        )
    claim = Claim(
        id=entry.text("id"),
        says=entry.text("says"),
        place=entry.text("place"),
        form=name,
        parameters=_parameters(entry, form, {**known, "machines": set(machines)}),
        reading=entry.text("reading", ""),
        quantifier=quantifier,
    )
    entry.finish()
    return claim


def _parameters(entry: Fields, form: Form, known: Mapping[str, set[Value] | None]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for parameter in form.parameters:
        if not entry.has(parameter.name):
            if isinstance(parameter.default, Required):
                raise entry.wrong(
                    f"the form '{form.name}' needs it: {parameter.meaning}",
                    key=parameter.name,
                    way_out=f"add `{parameter.name} = ...`, {parameter.kind.value}",
                )
            entry.raw(parameter.name)
            found[parameter.name] = parameter.default
            continue
        found[parameter.name] = _value(entry, parameter, entry.raw(parameter.name), found, known)
    return found


def _value(
    entry: Fields,
    parameter: Parameter,
    given: Any,
    found: Mapping[str, Any],
    known: Mapping[str, set[Value] | None],
) -> Any:
    dimension = "machines" if parameter.name == "machines" else str(found.get(parameter.of, ""))
    match parameter.kind:
        case Kind.NUMBER if isinstance(given, int | float) and not isinstance(given, bool):
            return float(given)
        case Kind.FLAG if isinstance(given, bool):
            return given
        case Kind.TEXT if isinstance(given, str) and given.strip():
            if parameter.choices and given not in parameter.choices:
                raise entry.wrong(
                    f"'{given}' is not allowed",
                    key=parameter.name,
                    way_out=f"there are: {', '.join(parameter.choices)}",
                )
            return given
        case Kind.DIMENSION if isinstance(given, str):
            return _dimension(entry, parameter.name, given, known)
        case Kind.DIMENSIONS if _is_list_of(given, str):
            return tuple(_dimension(entry, parameter.name, one, known) for one in given)
        case Kind.SELECTION if isinstance(given, dict):
            return {
                _dimension(entry, parameter.name, name, known): tuple(
                    _known_value(entry, parameter.name, name, one, known)
                    for one in (values if isinstance(values, list) else [values])
                )
                for name, values in given.items()
            }
        case Kind.VALUE if _is_value(given):
            return _known_value(entry, parameter.name, dimension, given, known)
        case Kind.NAMES if _is_value(given) or _is_list_of(given, str, int):
            many = given if isinstance(given, list) else [given]
            return tuple(_known_value(entry, parameter.name, dimension, one, known) for one in many)
        case Kind.VALUES if _is_list_of(given, str, int):
            return tuple(_known_value(entry, parameter.name, dimension, one, known) for one in given)
        case Kind.RANKS if isinstance(given, list) and len(given) > 1:
            ranks = [one if isinstance(one, list) else [one] for one in given]
            return tuple(
                tuple(_known_value(entry, parameter.name, dimension, one, known) for one in rank)
                for rank in ranks
            )
    raise entry.wrong(f"must be {parameter.kind.value}, and is {given!r}", key=parameter.name)


def _dimension(entry: Fields, key: str, name: str, known: Mapping[str, set[Value] | None]) -> str:
    if name not in known or name == "machines":
        names = [one for one in known if one != "machines"]
        raise entry.wrong(f"there is no dimension '{name}'", key=key, way_out=closest(name, names))
    return name


def _known_value(
    entry: Fields, key: str, dimension: str, value: Any, known: Mapping[str, set[Value] | None]
) -> Value:
    values = known.get(dimension)
    if not _is_value(value):
        raise entry.wrong(f"{value!r} is neither a text nor a whole number", key=key)
    if values is not None and value not in values:
        raise entry.wrong(
            f"no cell of the study has {dimension} = {value!r}",
            key=key,
            way_out=closest(str(value), [str(one) for one in values]),
        )
    return value  # type: ignore[no-any-return]


def _is_value(given: Any) -> bool:
    return isinstance(given, str | int) and not isinstance(given, bool)


def _is_list_of(given: Any, *kinds: type) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(one, kinds) for one in given)
