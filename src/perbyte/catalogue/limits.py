"""What the silicon has to do for an algorithm at the least, as data: instructions per byte, by unit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from perbyte import datafile, places
from perbyte.catalogue import pattern
from perbyte.datafile import Text

if TYPE_CHECKING:
    from perbyte.catalogue.catalogue import Catalogue

Count = Annotated[int, Meta(gt=0)]


class Need(Struct, frozen=True, forbid_unknown_fields=True):
    """What is needed of the silicon; `ways` are (instructions, bytes) by the loop that measures them."""

    what: Text
    ways: Annotated[dict[str, tuple[Count, Count]], Meta(min_length=1)]


class Model(Struct, frozen=True, forbid_unknown_fields=True):
    """The needs of algorithms (a glob over ids) in operations (a glob); `model` says what is assumed."""

    algorithms: Text
    operations: Text
    model: Text
    needs: Annotated[tuple[Need, ...], Meta(min_length=1)]


class _Models(Struct, forbid_unknown_fields=True):
    models: tuple[Model, ...]


@cache
def models() -> tuple[Model, ...]:
    """All models. Raises DataFileError."""
    return read_models(places.data_dir("catalogue"))


def read_models(place: Path) -> tuple[Model, ...]:
    """Read `limits.toml` of a catalogue; none where it has no such file. Raises DataFileError."""
    path = place / "limits.toml"
    return datafile.read_toml(path, _Models).models if path.is_file() else ()


def model_of(algorithm: str, operation: str) -> Model | None:
    """The model of an operation, or None where there is none."""
    return next(
        (
            one
            for one in models()
            if pattern.matches(algorithm, one.algorithms) and pattern.matches(operation, one.operations)
        ),
        None,
    )


def check_models(found: tuple[Model, ...], catalogue: Catalogue) -> Iterator[str]:
    """Complain about models of algorithms, or by loops, that the catalogue does not have."""
    for one in found:
        if not catalogue.match(one.algorithms):
            yield f"limits.toml: the catalogue has no algorithm '{one.algorithms}'"
        for need in one.needs:
            for unit in need.ways:
                if getattr(catalogue.algorithms.get(unit), "kind", "") != "probe":
                    yield f"limits.toml: {one.algorithms}: '{unit}' is no loop of known cost"
