"""What the silicon has to do for an algorithm at the least, as data: instructions per byte or call, by unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from perbyte import datafile, places
from perbyte.catalogue import pattern
from perbyte.datafile import Text
from perbyte.model import Algorithm

Count = Annotated[int, Meta(gt=0)]


class Need(Struct, frozen=True, forbid_unknown_fields=True):
    """What is needed of the silicon; `ways` are (instructions, bytes or calls) by the loop that measures them."""

    what: Text
    ways: Annotated[dict[str, tuple[Count, Count]], Meta(min_length=1)]


class Model(Struct, frozen=True, forbid_unknown_fields=True):
    """The needs of algorithms (a glob over ids) in operations (a glob); `model` says what is assumed.

    `per`: needs grow with the bytes of a message, or are those of a call.
    """

    algorithms: Text
    operations: Text
    model: Text
    needs: Annotated[tuple[Need, ...], Meta(min_length=1)]
    per: Literal["byte", "call"] = "byte"


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
            model
            for model in models()
            if pattern.matches(algorithm, model.algorithms) and pattern.matches(operation, model.operations)
        ),
        None,
    )


def check_models(models: tuple[Model, ...], algorithms: Mapping[str, Algorithm]) -> Iterator[str]:
    """Complain about models of algorithms, or by loops, that the catalogue does not have."""
    for model in models:
        if not any(pattern.matches(name, model.algorithms) for name in algorithms):
            yield f"limits.toml: the catalogue has no algorithm '{model.algorithms}'"
        for need in model.needs:
            for unit in need.ways:
                if getattr(algorithms.get(unit), "kind", "") != "probe":
                    yield f"limits.toml: {model.algorithms}: '{unit}' is not a loop of known cost"
