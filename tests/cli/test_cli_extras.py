"""The core without its extras: it measures and shows, and says which extra is needed before any work."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from perbyte import extras

HEAVY = (
    "altair",
    "jinja2",
    "vl_convert",
    "duckdb",
    "pyarrow",
    "scipy",
    "fsspec",
    "distributed",
    "cryptography",
)


@pytest.fixture
def core(world, tmp_path):
    """The command where nothing but the core is installed."""
    place = tmp_path / "without"
    place.mkdir()
    hidden = f"import sys\nfor name in {HEAVY}:\n    sys.modules[name] = None\n"
    (place / "sitecustomize.py").write_text(hidden)

    def run(*words, **environment):
        return world.perbyte(*words, environment={"PYTHONPATH": str(place)} | environment)

    return run


@pytest.fixture
def made(world, core, script, quick):
    world.add(script("alpha"), script("beta", library="Other"))
    path = world.home / "results"
    done = core("measure", "*/sha-256@64", "*/aes-128-ecb@64", "--out", path, *quick)
    assert done.returncode == 0, done.stderr
    return path


def test_the_core_measures_shows_compares_and_exports(world, core, made):
    for words in (
        ("show", made),
        ("show", made, "--json"),
        ("compare", "alpha/*", "beta/*", "--run", made),
        ("methods", made),
        ("verify", made),
        ("list", "runs"),
        ("export", made, "--format", "csv"),
        ("doctor",),
    ):
        done = core(*words)
        assert done.returncode in (0, 5), (words, done.stderr)
        assert "Traceback" not in done.stderr


def test_figures_without_arrow_are_those_with_it(world, core, made):
    assert list(made.glob("samples-*.npz"))
    assert not (made / "journal.jsonl").read_bytes()
    without, with_ = core("show", made, "--json"), world.perbyte("show", made, "--json")
    assert json.loads(without.stdout) == json.loads(with_.stdout)
    saved = world.home / "saved"
    assert world.perbyte("recover", made, "--out", saved).returncode == 0
    assert (saved / "figures.json").is_file()
    cells = [json.loads(answer.stdout)["cells"] for answer in (world.perbyte("show", saved, "--json"), with_)]
    assert cells[0] == cells[1]
    asked = world.perbyte("query", "SELECT count(*) AS n FROM samples", made, "--json")
    assert json.loads(asked.stdout)[0]["n"] > 0, asked.stderr


def test_a_run_without_arrow_is_gone_on_with(world, core, made, quick):
    before = json.loads(core("show", made, "--json").stdout)["cells"]
    done = core("measure", "--resume", made, "-q")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(core("show", made, "--json").stdout)["cells"]) == len(before)
    assert world.perbyte("measure", "--resume", made, "-q").returncode == 0
    assert core("show", made).returncode == 0
    assert core("verify", made).returncode == 0
    (made / "figures.json").unlink()
    sorted(made.glob("samples-*.npz"))[0].rename(made / "samples-00000001.parquet")  # as of an older version
    told = core("show", made, "--anew")
    assert told.returncode == 3
    assert "needs the extra 'query' (duckdb, pyarrow)" in told.stderr


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("report", ("report",)),
        ("report", ("report", "--chart", "bars.svg")),
        ("report", ("advise", "hash", "--report", "advice.html")),
        ("report", ("study", "run", "kompara-2020", "--report", "study.html")),
        ("query", ("query", "SELECT 1")),
        ("atlas", ("atlas", "list")),
        ("atlas", ("atlas", "add")),
        ("fleet", ("fleet", "status", "--scheduler", "tcp://127.0.0.1:1")),
    ],
)
def test_what_needs_an_extra_names_it_first_with_the_command(core, extra, words):
    done = core(*words)
    assert done.returncode == 3
    assert f"needs the extra '{extra}'" in done.stderr
    assert "'perbyte[" not in done.stderr, "an index could hold that name for somebody else"
    assert re.search(
        rf"run: (make -C /\S+ setup|\S+ -m pip install -e '?/[^']+\[{extra}\]'?)$", done.stderr, re.M
    )
    assert "Traceback" not in done.stderr


def test_a_run_is_signed_without_arrow(core, made, tmp_path):
    done = core("sign", made, "--key", tmp_path / "key")
    assert done.returncode == 2
    assert "does not sign" in done.stderr, "there is no such key, and nothing else is wrong"


@pytest.mark.parametrize(
    ("left", "command"),
    [
        ("pipx_metadata.json", "pipx install --force '/srv/perbyte[report]'"),
        ("uv-receipt.toml", "uv tool install '/srv/perbyte[report]'"),
    ],
)
def test_the_command_is_that_of_the_tool_that_installed_it(monkeypatch, tmp_path, left, command):
    """Each of these tools leaves a file of its own in the environment that it makes."""
    (tmp_path / left).touch()
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setattr(extras, "_origin", lambda: ("/srv/perbyte", True))
    assert extras.install_command("report") == command
    (tmp_path / left).unlink()
    assert extras.install_command("report").endswith("-m pip install -e '/srv/perbyte[report]'")
    monkeypatch.setattr("sys.prefix", "/srv/perbyte/.venv")
    assert extras.install_command("report") == "make -C /srv/perbyte setup"
    monkeypatch.setattr(extras, "_origin", lambda: ("", False))
    assert extras.install_command("report").endswith("'CHECKOUT-OR-WHEEL[report]'"), (
        "never a name of an index"
    )


def test_an_installation_from_a_file_is_added_to_from_there(monkeypatch):
    monkeypatch.setattr(extras, "_origin", lambda: ("file:///srv/perbyte-1-py3-none-any.whl", False))
    assert "'perbyte[query] @ file:///srv/perbyte-1-py3-none-any.whl'" in extras.install_command("query")


def test_the_extras_are_those_of_the_package(pytestconfig):
    project = tomllib.loads((pytestconfig.rootpath / "pyproject.toml").read_text())["project"]
    assert {*extras.EXTRAS} <= {*project["optional-dependencies"]}

    def modules(name):
        modules_found = set()
        for requirement in project["optional-dependencies"][name]:
            if requirement.startswith("perbyte["):
                modules_found |= modules(requirement[8:-1])
            else:
                modules_found.add(requirement.partition(">")[0].removesuffix("-python").replace("-", "_"))
        return modules_found

    for name, wanted in extras.EXTRAS.items():
        assert modules(name) == {*wanted}
    core = {dependency.partition(">")[0] for dependency in project["dependencies"]}
    assert core == {"click", "msgspec", "numpy", "rich"}
