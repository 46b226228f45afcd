"""Names of algorithms as authors of benchmarks write them, and the words around them: tables for `benchmark_names`.

A name counts only where it tells all of an algorithm. Aliases that leave out a mode, rounds or parameters are known
apart, so that it can be said what is missing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from perbyte.catalogue import Catalogue
from perbyte.model import Algorithm

_UNTIMED = frozenset({"probe", "routine"})
_EVERYDAY = frozenset({"seal", "seed", "mars", "idea", "cast"})  # short names that are words of the language
_SHORTEST = 2
_OID = re.compile(r"\d+\.\d+\.")


def last_word(package: str) -> str:
    """The innermost part of a package's name, bare."""
    return bare(re.split(r"[/.]", package)[-1])


def key_numbers(algorithm: Algorithm) -> set[int]:
    """The numbers that may stand for the length of its key: its bits, and those of its id."""
    return {8 * algorithm.key_bytes, *map(int, re.findall(r"\d+", algorithm.id))}


def bare(name: str) -> str:
    """A name in small letters and digits alone."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def additions(algorithm: Algorithm) -> frozenset[str]:
    """What a name may add to an algorithm's without making another one of it, bare."""
    table = word_tables()["additions"]
    prefix = max((key for key in table if algorithm.id.startswith(key)), key=len, default="")
    return frozenset(map(bare, table.get(prefix, ())))


@cache
def names_of(catalogue: Catalogue) -> tuple[dict[str, Algorithm], dict[str, dict[int, Algorithm]]]:
    """Algorithms by the names that tell all of them; and by names without the length, with that."""
    names: dict[str, Algorithm | None] = {}
    stems: dict[str, dict[int, Algorithm]] = {}
    for algorithm in catalogue.algorithms.values():
        if algorithm.kind in _UNTIMED:
            continue
        for name in {bare(text) for text in (algorithm.id, *_usual_names(algorithm))}:
            names[name] = algorithm if names.get(name, algorithm) is algorithm else None
        for stem, length in _without_length(algorithm):
            stems.setdefault(bare(stem), {})[length] = algorithm
    for name, meant in word_tables()["conventions"].items():
        if meant in catalogue.algorithms:
            names[bare(name)] = catalogue.algorithms[meant]
    whole = {name: algorithm for name, algorithm in names.items() if algorithm}
    return whole, {stem: members for stem, members in stems.items() if stem not in whole}


@cache
def short_names(catalogue: Catalogue) -> dict[str, Algorithm]:
    """Aliases that leave something out, longer than letters that stand in other words."""
    whole, stems = names_of(catalogue)
    short = {
        bare(alias): algorithm
        for algorithm in catalogue.algorithms.values()
        if algorithm.kind not in _UNTIMED
        for alias in algorithm.aliases
        if not _OID.match(alias) and bare(alias) not in whole and len(bare(alias)) > _SHORTEST
    }
    return {name: known for name, known in short.items() if name not in stems and name not in _EVERYDAY}


def _usual_names(algorithm: Algorithm) -> Iterator[str]:
    """Aliases that leave out neither mode nor numbers, and the orders in which length and mode are written."""
    numbers = set(re.findall(r"\d+", algorithm.id))
    for alias in algorithm.aliases:
        if _OID.match(alias):
            continue
        if numbers <= set(re.findall(r"\d+", alias)) and bare(algorithm.mode) in bare(alias):
            yield alias
    if match := _in_parts(algorithm):
        family, length, mode = match
        yield from (f"{family}{mode}{length}", f"{mode}{family}{length}")


def _in_parts(algorithm: Algorithm) -> tuple[str, str, str] | None:
    # the number in XTS and SIV is that of one half's key or of both, so that only the order of the catalogue is clear
    match = re.fullmatch(r"([a-z]+)-(128|192|256)-(?!xts|siv)([a-z-]+)", algorithm.id)
    return (match[1], match[2], match[3]) if match else None


def _without_length(algorithm: Algorithm) -> Iterator[tuple[str, int]]:
    if match := _in_parts(algorithm):
        family, length, mode = match
        yield f"{family}{mode}", int(length)
        yield f"{mode}{family}", int(length)
    elif algorithm.kind in ("kem", "signature") and (last := re.fullmatch(r"([a-z-]+)-(\d+)", algorithm.id)):
        yield last[1], int(last[2])


@cache
def word_tables() -> dict[str, Any]:
    """The tables of `benchmark_words.toml`."""
    return tomllib.loads(Path(__file__).with_name("benchmark_words.toml").read_text(encoding="utf-8"))
