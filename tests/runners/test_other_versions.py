"""Runners of other versions: made of the lines of `versions.txt`, found like any other, built by the same script."""

from __future__ import annotations

from pathlib import Path

import pytest

from perbyte import places
from perbyte.app.building import runners_meant
from perbyte.app.lists import rows_of
from perbyte.catalogue import parse_selector
from perbyte.errors import DataFileError, UsageError
from perbyte.measure.plan import may_mean
from perbyte.runners import BuildState, build, find, locate, unfold
from perbyte.runners.versions import PINNED, pinned, pinned_by, versions_home

TOML = """
[runner]
library = "Toy"
license = "Apache-2.0"
opt_in = true

[build]
kind = "command"
command = ["sh", "{here}/build.sh", "{out}"]
watch = ["build.sh", "crates.txt"]

[run]
command = ["{executable}"]
"""
SCRIPT = """#!/bin/sh
{ echo "${PERBYTE_NAME:-toy}"; cat "${PERBYTE_CRATES:-$(dirname "$0")/crates.txt}"; } >"$1/made"
"""
LINES = [
    f"toy-sys 3.0.8+1.0.8 {'0' * 64}",
    f"toy-sys 3.0.12+1.0.12 {'1' * 64}",
    f"toy-sys 4.0.0+1.1 {'2' * 64}",
]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "runners" / "toy"
    here.mkdir(parents=True)
    (here / "runner.toml").write_text(TOML)
    (here / "build.sh").write_text(SCRIPT)
    (here / "build.sh").chmod(0o755)
    (here / "crates.txt").write_text(f"toy-sys 5.0.0+2.0 {'3' * 64}\n")
    (here / PINNED).write_text("\n".join(LINES) + "\n")
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PERBYTE_RUNNERS", str(here.parent))
    return here


def test_each_version_is_a_runner_of_its_own_built_by_the_same_script(toy: Path) -> None:
    assert unfold(locate(), "toy", ("1.0.8", "1.1")) == ["toy-1.0.8", "toy-1.1"]
    spec = find("toy-1.0.8")
    assert (spec.build_of, spec.opt_in, spec.library) == ("toy", True, "Toy")
    outcome = build(spec)
    assert outcome.state is BuildState.BUILT, outcome.output
    assert (spec.out() / "made").read_text() == f"toy-1.0.8\n{LINES[0]}\n"
    assert build(spec).state is BuildState.UP_TO_DATE
    (toy / "build.sh").write_text(SCRIPT + "# changed\n")
    assert build(spec).state is BuildState.BUILT, "the script is watched where it lies"


def test_a_runner_whose_sources_changed_is_listed_as_outdated(toy: Path) -> None:
    def state() -> str:
        (row,) = rows_of("runners", "toy")
        return str(row["state"])

    assert state() == "opt-in"
    build(find("toy"))
    assert state() == "ready"
    (toy / "build.sh").write_text(SCRIPT + "# changed\n")
    assert state() == "outdated"
    build(find("toy"))
    assert state() == "ready"


def test_a_version_means_its_patch_levels_and_a_star_means_all(toy: Path) -> None:
    assert unfold(locate(), "toy", ("1.0",)) == ["toy-1.0.8", "toy-1.0.12"]
    assert unfold(locate(), "toy", ("3.0.12",)) == ["toy-1.0.12"], "the crate's version is known too"
    assert unfold(locate(), "toy", ("*", "1.1")) == ["toy", "toy-1.0.8", "toy-1.0.12", "toy-1.1"]
    assert unfold(locate(), "toy", ("2", "1.1")) == ["toy", "toy-1.1"], "its own version is one of them"
    assert {"toy", "toy-1.0.8", "toy-1.0.12", "toy-1.1"} <= {spec.name for spec in locate()}


def test_a_line_says_the_librarys_version_where_the_crate_does_not(toy: Path) -> None:
    (toy / PINNED).write_text(f"toy-sys 0.1.16 {'4' * 64} 5.6.6\n")
    assert unfold(locate(), "toy", ("5.6",)) == ["toy-5.6.6"] == unfold(locate(), "toy", ("0.1.16",))
    (toy / PINNED).write_text(f"toy-sys 0.1.16 {'4' * 64} five\n")
    with pytest.raises(DataFileError, match="line 1"):
        pinned(toy)


def test_a_version_counts_as_one_of_the_runner_that_pins_it(toy: Path) -> None:
    (toy / "runner.toml").write_text(TOML.replace("opt_in", 'build_of = "tool"\nopt_in'))
    assert unfold(locate(), "toy", ("1.1",)) == ["toy-1.1"]
    version, ordinary = find("toy-1.1"), find("toy")
    assert (pinned_by(version), pinned_by(ordinary)) == ("toy", "")
    for asked in ("toy@1.1/sha-256", "tool@1.1/sha-256"):
        assert may_mean(parse_selector(asked), version)
    assert not may_mean(parse_selector("toy/sha-256"), version)


def test_what_is_not_there_is_said_with_what_is(toy: Path) -> None:
    with pytest.raises(UsageError, match="has no version 9") as refused:
        unfold(locate(), "toy", ("9",))
    assert "1.0.8, 1.0.12, 1.1, 2.0" in refused.value.hint
    (toy / PINNED).unlink()
    with pytest.raises(UsageError, match="no other versions"):
        unfold(locate(), "toy", ("*",))
    assert not versions_home().exists()


def test_a_line_that_is_no_pin_is_an_error(toy: Path) -> None:
    (toy / PINNED).write_text("toy-sys 3.0.8\n")
    with pytest.raises(DataFileError, match="line 1"):
        pinned(toy)


def test_a_selector_of_versions_makes_those_that_can_be_had(toy: Path) -> None:
    asked = [parse_selector("toy@{1.1,9}/sha-256@64"), parse_selector("toy/sha-256@64")]
    assert runners_meant(asked) == ["toy", "toy-1.1"], (
        "9 is left to the survey, which says that nobody has it"
    )
    assert runners_meant([parse_selector("toy@*/sha-256")]) == ["toy", "toy-1.0.8", "toy-1.0.12", "toy-1.1"]


def test_all_versions_of_a_library_are_those_of_each_build_of_it(toy: Path) -> None:
    package = toy.parent / "tool"
    package.mkdir()
    (package / "runner.toml").write_text(TOML)
    (toy / "runner.toml").write_text(TOML.replace("opt_in", 'build_of = "tool"\nopt_in'))
    pins = ["toy-1.0.8", "toy-1.0.12", "toy-1.1"]
    for _ in range(
        2
    ):  # what was made the first time is found the second time, and is no version's own runner
        assert unfold(locate(), "tool", ("*",)) == ["tool", "toy", *pins]
    assert runners_meant([parse_selector("tool@*/sha-256")]) == ["tool", "toy", *pins]


def test_all_pins_of_ours_are_whole_and_none_is_the_current_one() -> None:
    files = sorted(places.data_dir("runners").glob(f"*/{PINNED}"))
    assert files
    for file in files:
        lines = pinned(file.parent)
        current = (file.parent / "crates.txt").read_text(encoding="utf-8").split()[1]
        assert len({line.version for line in lines}) == len(lines)
        assert current not in {line.version for line in lines}, file
