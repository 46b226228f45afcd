"""What makes the first figure come soon: archives of compilers' classes, one question to each program."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from perbyte.app.trying.bench import Bench
from perbyte.app.trying.clock import command_began
from perbyte.catalogue import load
from perbyte.measure import Survey
from perbyte.model import Cell, Policy
from perbyte.trial.jvm import jdk_version, quickened


def test_a_command_began_when_the_kernel_started_its_process(tmp_path: Path):
    assert 0 < time.monotonic() - command_began() < 3600
    stat = tmp_path / "stat"
    stat.write_text("1 (a ) b) S" + " 0" * 18 + f" {10**15} 0\n")
    assert abs(command_began(stat) - time.monotonic()) < 1, "a process of the future is none"
    assert abs(command_began(tmp_path / "none") - time.monotonic()) < 1


def test_a_program_is_asked_once_what_it_offers(monkeypatch: pytest.MonkeyPatch):
    asked: list[list[str]] = []

    def survey(specs, cpus):
        asked.append([spec.name for spec in specs])
        return Survey(
            {spec.name: spec for spec in specs}, {(spec.name, cpus[0]): spec.name for spec in specs}
        )

    monkeypatch.setattr("perbyte.app.trying.bench.survey", survey)
    own, library = (type("Spec", (), {"name": name})() for name in ("mine", "library"))
    bench = Bench([own], [library], load().find("sha-256"), (64,), Policy(), patience_s=1.0)
    bench._survey([own])
    surveyed = bench._survey([own, library])
    assert asked == [["mine"], ["library"]]
    assert surveyed.hellos == {("mine", "full"): "mine", ("library", "full"): "library"}


def test_a_library_is_compared_with_itself_where_time_is_short():
    bench = Bench([], [], load().find("sha-256"), (64,), Policy(), patience_s=1.0)
    cells = [Cell(name, "sha-256", "digest", 64, "oneshot/1") for name in ("mine", "library")]
    assert [twin.runner for twin in bench._twins(cells)] == ["mine"]
    bench._twins_of = ["library"]
    assert [twin.runner for twin in bench._twins(cells)] == ["library"]


@pytest.mark.native
@pytest.mark.skipif(not shutil.which("javac"), reason="no JDK")
def test_a_compiler_gets_an_archive_of_its_classes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    javac = shutil.which("javac")
    assert javac
    version = jdk_version(Path(javac).resolve().parent.parent)
    answer = subprocess.run([javac, "-version"], capture_output=True, text=True, check=True)
    assert version == (answer.stdout or answer.stderr).strip()
    command = quickened([javac], version)
    (archive,) = (word.partition("=")[2] for word in command if "SharedArchiveFile" in word)
    made = Path(archive).stat()
    assert quickened([javac], version) == command
    assert Path(archive).stat() == made
    (tmp_path / "A.java").write_text("class A { }\n")
    subprocess.run([*command, "A.java"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "A.class").is_file()
    assert quickened(["/opt/kotlin/bin/kotlinc"], version) == ["/opt/kotlin/bin/kotlinc"]
