"""The scripts of docs/ci.md, as they stand there, in a repository with a few commits; its workflows are YAML."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from perbyte import __version__
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INCORRECT

pytestmark = pytest.mark.native
ROOT = Path(__file__).parent.parent.parent


def shown(language: str) -> dict[str, str]:
    """The files of this language that the page shows, by their names."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    return dict(re.findall(rf"```{language} (\S+)\n(.*?)```", page, re.DOTALL))


def git(place: Path, *words: str) -> str:
    named = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    return subprocess.run(
        ["git", *named, *words], cwd=place, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(world, tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / "ci").mkdir(parents=True)
    for name, text in shown("sh").items():
        (place / name).write_text(text)
    code = (ROOT / "tests" / "trial" / "code" / "sha256.c").read_text().replace("own_sha256", "my_sha256")
    (place / "my_hash.c").write_text(code)
    git(place, "init", "-q", "-b", "main")
    git(place, "add", ".")
    git(place, "commit", "-qm", "before")
    return place


def measure(
    world, repository: Path, *words: str, script: str = "ci/measure.sh"
) -> subprocess.CompletedProcess[str]:
    tools = repository.parent / "bin"
    tools.mkdir(exist_ok=True)
    command = tools / "perbyte"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m perbyte.cli "$@"\n')
    command.chmod(0o755)
    environment = world.environment | {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "SIZES": "1KiB",
        "BUDGET": "500ms",
    }
    return subprocess.run(
        ["sh", script, *words],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_the_script_compares_two_commits_and_writes_a_comment(world, repository):
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "commit", "-q", "--allow-empty", "-m", "after")
    done = measure(world, repository, base)
    assert done.returncode in (EXIT_FINE, EXIT_FOUND), done.stderr
    heading, rule, row = done.stdout.splitlines()
    assert heading.count("|") == rule.count("|") == row.count("|")
    assert row.startswith("| my_hash | digest | 1 KiB |")
    assert not (repository / ".git" / "worktrees").exists()


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_a_change_that_is_wrong_fails(world, repository):
    base = git(repository, "rev-parse", "HEAD")
    code = repository / "my_hash.c"
    code.write_text(code.read_text().replace("0xc67178f2", "0xc67178f3"))
    git(repository, "commit", "-qam", "after")
    assert measure(world, repository, base).returncode == EXIT_INCORRECT


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
@pytest.mark.slow
def test_a_branch_keeps_the_history_from_push_to_push(world, repository, tmp_path):
    for name, value in (("user.name", "t"), ("user.email", "t@example.org")):
        git(repository, "config", name, value)
    git(tmp_path, "init", "-q", "--bare", "origin.git")
    git(repository, "remote", "add", "origin", str(tmp_path / "origin.git"))
    for number in (1, 2):
        git(repository, "commit", "-q", "--allow-empty", "-m", f"push {number}")
        done = measure(world, repository, script="ci/history.sh")
        assert done.returncode == 0, done.stderr
    kept = git(tmp_path / "origin.git", "show", "speed:history.jsonl").splitlines()
    assert [json.loads(line)["subject"] for line in kept] == ["push 1", "push 2"]
    files = git(tmp_path / "origin.git", "ls-tree", "-r", "--name-only", "speed").splitlines()
    assert "history.svg" in files
    assert any(file.startswith("atlas/") for file in files)
    assert "my_hash.c" not in files
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.skipif(not shutil.which("sh"), reason="no sh")
def test_the_plain_recipe_installs_a_wheel_and_compares_with_the_commit(tmp_path):
    """A real wheel without its dependencies; in place of a measurement the installed command says its version."""
    pytest.importorskip("ensurepip")
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    made = subprocess.run(build, capture_output=True, text=True, check=False)
    wheels = list(tmp_path.glob("perbyte-*.whl"))
    if not wheels:
        pytest.skip(f"no wheel can be built here: {made.stderr[-200:]}")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "python3").symlink_to(sys.executable)
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "plain.sh").write_text(shown("sh")["ci/plain.sh"])
    dependencies = sysconfig.get_path("purelib")
    (tmp_path / "ci" / "measure.sh").write_text(
        f'echo "$1"\ncommand -v perbyte\nPYTHONPATH={dependencies} perbyte --version\n'
    )
    environment = os.environ | {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    command = ["sh", "ci/plain.sh", str(wheels[0]), "a-commit"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    commit, installed, version = done.stdout.splitlines()
    assert commit == "a-commit"
    assert Path(installed) == tmp_path / ".ci" / "bin" / "perbyte"
    assert version.split()[-1] == __version__


def test_the_workflows_are_yaml_and_run_the_script():
    yaml = pytest.importorskip("yaml")
    told = shown("yaml")
    assert set(told) == {".github/workflows/speed.yml", ".gitlab-ci.yml", ".forgejo/workflows/speed.yml"}
    for text in told.values():
        assert yaml.safe_load(text)
        assert "sh ci/measure.sh" in text
        assert re.search(r"pip install '\./ci/perbyte-[^']+\.whl\[atlas\]'", text)
    for name in shown("sh"):
        assert name in ("ci/measure.sh", "ci/plain.sh", "ci/history.sh")
