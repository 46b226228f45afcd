from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perbyte import places
from perbyte.errors import DataFileError, UsageError
from perbyte.runners.locate import find, locate, read_spec

GOOD = """
[runner]
library = "Lib"
license = "MIT"

[find]
pkg_config = ["lib >= 1.0"]
headers = ["lib.h"]
libraries = ["lib"]

[packages]
apt = ["lib-dev"]

[build]
kind = "c"
flags = ["-Wno-x"]

[tiers.soft]
description = "slow"
environment = { SWITCH = "{here}/off" }
arguments = ["--soft"]
"""


def write(directory: Path, name: str, text: str) -> Path:
    file = directory / name / "runner.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_a_good_file(tmp_path):
    spec = read_spec(write(tmp_path, "lib", GOOD))
    assert (spec.name, spec.library, spec.license, spec.language, spec.kind) == (
        "lib",
        "Lib",
        "MIT",
        "c",
        "c",
    )
    assert spec.pkg_config == ("lib >= 1.0",)
    assert spec.packages == {"apt": ("lib-dev",)}
    assert spec.sources == ("*.c",)
    assert list(spec.tiers) == ["full", "soft"]
    assert spec.fill(spec.tier("soft").environment["SWITCH"]) == f"{tmp_path}/lib/off"
    assert spec.fill(spec.command[0]) == str(spec.out() / "lib")
    assert spec.fill("{python}") == sys.executable
    assert spec.out(sanitize=True) != spec.out()


BROKEN = {
    "no TOML": "[runner",
    "no library": GOOD.replace('library = "Lib"', ""),
    "number for a text": GOOD.replace('"MIT"', "3"),
    "unknown key": GOOD.replace("flags =", "flgas ="),
    "unknown table": GOOD + "\n[extra]\nx = 1\n",
    "unknown tier key": GOOD + '\n[tiers.none]\nenvironmnt = { A = "b" }\n',
    "unknown kind": GOOD.replace('kind = "c"', 'kind = "rust"'),
    "unknown placeholder": GOOD.replace("{here}", "{home}"),
    "half a placeholder": GOOD.replace("{here}", "{here"),
    "text for an array": GOOD.replace('["-Wno-x"]', '"-Wno-x"'),
    "numbers in an array": GOOD.replace('["lib.h"]', "[1]"),
    "text for a table": GOOD.replace('{ SWITCH = "{here}/off" }', '"x"'),
    "table for an array": 'build = 3\n[runner]\nlibrary = "a"\nlicense = "b"',
    "python without command": GOOD.replace('kind = "c"', 'kind = "python"'),
    "command without command": GOOD.replace('kind = "c"', 'kind = "command"'),
    "command in a C build": GOOD.replace('kind = "c"', 'kind = "c"\ncommand = ["make"]'),
    "word for a flag": GOOD.replace('license = "MIT"', 'license = "MIT"\nlisted = "no"'),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_named(tmp_path, case):
    file = write(tmp_path, "lib", BROKEN[case])
    with pytest.raises(DataFileError, match=r"lib/runner\.toml"):
        read_spec(file)


def test_the_first_directory_wins_and_names_are_sorted(tmp_path, monkeypatch):
    write(tmp_path / "one", "zeta", GOOD)
    write(tmp_path / "one", "same", GOOD.replace('"Lib"', '"First"'))
    write(tmp_path / "two", "same", GOOD.replace('"Lib"', '"Second"'))
    write(tmp_path / "two", "alpha", GOOD)
    monkeypatch.setenv("PERBYTE_RUNNERS", f"{tmp_path / 'one'}:{tmp_path / 'two'}")
    specs = {spec.name: spec for spec in locate()}
    assert specs["same"].library == "First"
    assert {"zeta", "alpha"} <= set(specs)
    assert list(specs) == sorted(specs)
    assert find("same").library == "First"


def test_programs_of_one_thread_alone_run_undisturbed():
    names = ("openssl", "cryptopp", "rustcrypto", "go", "jca-sun", "node-crypto", "python-hashlib")
    assert [name for name in names if find(name).undisturbed] == ["openssl", "cryptopp", "rustcrypto"]


def test_an_unlisted_runner_is_found_by_name_only():
    assert "fake" not in {spec.name for spec in locate()}
    assert "fake" in {spec.name for spec in locate(unlisted=True)}
    assert find("fake").kind == "python"


@pytest.mark.parametrize("name", ["no-such-runner", "../runners/fake", ""])
def test_an_unknown_runner(name):
    with pytest.raises(UsageError):
        find(name)


def test_every_runner_of_the_room_can_be_read():
    names = {file.parent.name for file in places.data_dir("runners").glob("*/runner.toml")}
    assert names == {spec.name for spec in locate([places.data_dir("runners")], unlisted=True)}


def test_a_file_extends_another(tmp_path):
    (tmp_path / "common.toml").write_text(GOOD)
    own = 'extends = "../common.toml"\n[runner]\nlibrary = "Other"\n[build]\nflags = []\n'
    own += '[tiers.soft]\narguments = ["{name}"]\n'
    spec = read_spec(write(tmp_path, "lib", own))
    assert (spec.library, spec.license, spec.kind, spec.flags) == ("Other", "MIT", "c", ())
    assert spec.headers == ("lib.h",)
    assert spec.watch == ("../common.toml",)
    soft = spec.tier("soft")
    assert (soft.description, soft.arguments) == ("slow", ("{name}",))
    assert spec.fill("{name}") == "lib"


@pytest.mark.parametrize(
    ("base", "message"), [("../none.toml", "no file"), ("runner.toml", "extends this file in turn")]
)
def test_a_base_that_is_not_there_or_leads_back_is_refused(tmp_path, base, message):
    with pytest.raises(DataFileError, match=message):
        read_spec(write(tmp_path, "lib", f'extends = "{base}"\n{GOOD}'))


def test_a_broken_runner_costs_itself_only(tmp_path, monkeypatch):
    from perbyte.errors import DataFileError, DataFileWarning
    from perbyte.runners import find, locate

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "runner.toml").write_text("[runner]\nlibary = 'x'\n")
    monkeypatch.setenv("PERBYTE_RUNNERS", str(tmp_path))
    with pytest.warns(DataFileWarning, match="runner 'mine' is left out"):
        names = [spec.name for spec in locate()]
    assert "openssl" in names
    assert "mine" not in names
    with pytest.raises(DataFileError):
        find("mine")
    with pytest.raises(DataFileError):
        locate([tmp_path])
