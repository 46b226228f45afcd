"""Catalogue, runners, studies and documents speak of the same things."""

from __future__ import annotations

import re
import tomllib

import pytest
from documents import ROOT, read

from perbyte import places
from perbyte.catalogue import load, parse_selector
from perbyte.errors import EnvironmentLacking
from perbyte.runners import RunnerSpec, Session, locate
from perbyte.runners.build import stale
from perbyte.studies import studies

RUNNERS = locate([places.data_dir("runners")], unlisted=True)
BUILT = [spec for spec in RUNNERS if spec.built and spec.out().is_dir() and not stale(spec)]


@pytest.mark.parametrize("spec", RUNNERS, ids=lambda spec: spec.name)
def test_every_runner_is_described(spec: RunnerSpec):
    shared = [*places.data_dir("runners").glob("*/README.md"), ROOT / "docs" / "jca.md"]
    assert (spec.here / "README.md").is_file() or any(
        place.is_file() and f"`{spec.name}`" in place.read_text(encoding="utf-8") for place in shared
    )
    assert f"`{spec.name}`" in read("ARCHITECTURE.md"), "named among the runners"
    assert spec.summary
    assert spec.license


def test_every_directory_of_the_runners_is_a_runner_or_serves_some():
    directories = {
        path.name
        for path in places.data_dir("runners").iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    named = "\n".join(
        file.read_text(encoding="utf-8") for file in places.data_dir("runners").glob("*/runner.toml")
    )
    serving = {name for name in directories if f"/{name}/" in named}
    assert directories - {spec.name for spec in RUNNERS} - serving - {"sdk"} == set()


def test_something_is_built():
    if not BUILT:
        pytest.skip("no runner is built: perbyte build")
    assert all(spec.kind in ("c", "c++", "command") for spec in BUILT)


@pytest.mark.native
@pytest.mark.parametrize("spec", BUILT, ids=lambda spec: spec.name)
def test_a_runner_speaks_of_what_the_catalogue_has(spec: RunnerSpec):
    catalogue = load()
    try:
        with Session(spec) as session:
            hello = session.hello()
    except EnvironmentLacking as lacking:
        pytest.skip(str(lacking))
    assert hello.runner == spec.name
    for row in hello.operations:
        algorithm = catalogue.algorithms.get(row.algorithm)
        assert algorithm, f"{row.algorithm} is not in the catalogue"
        assert row.operation in algorithm.operations, row
        contract = catalogue.contracts.get(row.contract)
        assert contract, f"{row.contract} is no contract"
        assert algorithm.kind in contract.kinds, row
        assert row.calls.strip(), f"{row} does not say what a call is"


def test_every_contract_is_explained():
    text = read("docs/adr/0009-contracts-never-mix.md")
    assert {name for name in load().contracts if f"`{name}`" not in text} == set()


def test_every_study_asks_for_runners_that_exist():
    names = {spec.name for spec in RUNNERS}
    for study in studies():
        for text in study.selectors():
            runner = parse_selector(text).runner
            asked = set(runner.strip("{}").split(","))
            assert "*" in runner or asked <= names, f"{study.name}: {text}"
        assert f"`{study.name}`" in read("docs/repeat-a-study.md")


def test_the_packages_that_setup_installs_are_those_that_runners_name():
    """Opt-in runners are left to their user; all others find their packages installed by `make`."""
    packages = set(
        re.findall(r"[\w.+-]+", re.search(r'^packages="([^"]*)"', read("scripts/setup.sh"), re.MULTILINE)[1])
    )
    for spec in RUNNERS:
        if not spec.opt_in:
            assert set(spec.packages.get("apt", ())) <= packages, spec.name


def test_every_data_room_travels_in_the_wheel():
    build = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["wheel"][
        "force-include"
    ]
    assert {f"perbyte/_data/{name}" for name in ("protocol", "catalogue", "runners", "studies")} <= set(
        build.values()
    )
