"""The script of docs/ci.md, as it stands there, in a repository with two commits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INCORRECT

pytestmark = pytest.mark.native
ROOT = Path(__file__).parent.parent.parent


def git(place: Path, *words: str) -> str:
    named = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    return subprocess.run(
        ["git", *named, *words], cwd=place, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(world, tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / "ci").mkdir(parents=True)
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    script = re.search(r"```sh ci/measure.sh\n(.*?)```", page, re.DOTALL)
    assert script
    (place / "ci" / "measure.sh").write_text(script[1])
    code = (ROOT / "tests" / "trial" / "code" / "sha256.c").read_text().replace("own_sha256", "my_sha256")
    (place / "my_hash.c").write_text(code)
    git(place, "init", "-q", "-b", "main")
    git(place, "add", ".")
    git(place, "commit", "-qm", "before")
    return place


def measure(world, repository: Path, base: str) -> subprocess.CompletedProcess[str]:
    tools = repository.parent / "bin"
    tools.mkdir()
    command = tools / "perbyte"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m perbyte.cli "$@"\n')
    command.chmod(0o755)
    environment = world.environment | {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "SIZES": "1KiB",
        "BUDGET": "1s",
    }
    return subprocess.run(
        ["sh", "ci/measure.sh", base],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
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
    assert "kept as the baseline" in done.stderr


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_a_change_that_is_wrong_fails(world, repository):
    base = git(repository, "rev-parse", "HEAD")
    code = repository / "my_hash.c"
    code.write_text(code.read_text().replace("0xc67178f2", "0xc67178f3"))
    git(repository, "commit", "-qam", "after")
    assert measure(world, repository, base).returncode == EXIT_INCORRECT
