"""The SDK is compiled once for all languages, and each gets the file that says what it was built with."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from perbyte import places
from perbyte.runners.build import TOLD
from perbyte.trial import building


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were compiled, in a home of its own; what compilers write is empty."""
    files: list[str] = []

    def run(commands: Sequence[Sequence[str]], directory: Path) -> list[str]:
        for command in commands:
            if "-c" in command:
                files.append(Path(command[command.index("-c") + 1]).name)
            (directory / (command[command.index("-o") + 1] if "-o" in command else command[2])).touch()
        return []

    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    monkeypatch.setattr(building, "all_words", run)
    return files


def test_a_second_language_compiles_what_is_its_own(compiled: list[str]) -> None:
    first = building.sdk_library("Python 3.11")
    assert len(compiled) == len(set(compiled)) > 20
    assert {TOLD, "foreign.c"} <= set(compiled)
    compiled.clear()
    second = building.sdk_library("go 1.24", name="libperbyte.a")
    assert compiled == [TOLD]
    compiled.clear()
    assert building.sdk_library("Python 3.11") == first != second
    assert building.sdk_library("Python 3.12") != first
    assert compiled == [TOLD]


def test_flags_of_a_language_are_for_its_own_files(compiled: list[str], tmp_path: Path) -> None:
    own = tmp_path / "loops.c"
    own.write_text("")
    first = building.sdk_library("node 20", (own,), ("-I/node",))
    compiled.clear()
    assert building.sdk_library("node 20", (own,), ("-I/other",)) != first
    assert sorted(compiled) == sorted([TOLD, "loops.c"])
    compiled.clear()
    own.write_text("int changed;")
    assert building.sdk_library("node 20", (own,), ("-I/node",)) != first
    assert sorted(compiled) == sorted([TOLD, "loops.c"])


def test_a_change_of_the_sdk_is_one_of_every_language(
    compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "runners"
    for part in ("c", "foreign"):
        shutil.copytree(places.data_dir("runners") / "sdk" / part, copy / "sdk" / part)
    monkeypatch.setattr(places, "data_dir", lambda _: copy)
    first = building.sdk_library("Python 3.11")
    with (copy / "sdk" / "c" / "heap.c").open("a") as file:
        file.write("int changed;")
    compiled.clear()
    assert building.sdk_library("Python 3.11") != first
    assert {"heap.c", TOLD} <= set(compiled)
