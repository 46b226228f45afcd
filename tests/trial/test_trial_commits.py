"""What Git keeps of a user's files: commits in order, a tree laid out beside, and nothing touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from perbyte.app.trying.commits import add_entry, read_entries
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.trial import commits
from perbyte.trial.commits import Repository, repository_of

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="no git")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    def git(*words: str) -> None:
        named = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        made = os.environ | {"GIT_COMMITTER_DATE": f"2026-01-0{number} 00:00:00 +0000"}
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True, env=made)

    number = 1
    git("init", "-q", "-b", "main")
    for number in (1, 2, 3):
        (tmp_path / "mine.c").write_text(f"int version = {number};\n")
        if number > 1:
            (tmp_path / "mine.h").write_text("/* later */\n")
        git("add", ".")
        git("commit", "-qm", f"version {number}")
    return repository_of([tmp_path / "mine.c"])


def test_commits_come_oldest_first(repository: Repository):
    old = repository.commit("HEAD~2")
    assert old.subject == "version 1"
    assert [commit.subject for commit in repository.after(old)] == ["version 2", "version 3"]
    assert repository.after(repository.commit("HEAD")) == []


def test_a_history_is_in_the_order_of_its_commits(repository: Repository, tmp_path: Path, monkeypatch):
    """Measured in any order, and with an entry of before times were kept."""
    monkeypatch.setattr("perbyte.extras.has", lambda _: False)
    names = {version: repository.commit(f"HEAD~{3 - version}") for version in (1, 2, 3)}
    trial = SimpleNamespace(
        request=SimpleNamespace(title="mine", algorithm=SimpleNamespace(id="sha-256"), files=["mine.c"])
    )
    machine = SimpleNamespace(cpu_model="a core")
    conditions = SimpleNamespace(started_at="2026-01-09", machine=machine, run_id="a run")
    changed = SimpleNamespace(run=SimpleNamespace(conditions=conditions), name="mine", changes=())
    place = tmp_path / "history"
    place.mkdir()
    earlier = {"commit": "0123456789", "function": "mine", "rows": []}
    (place / "history.jsonl").write_text(json.dumps(earlier) + "\n")
    for version in (3, 1, 2):
        monkeypatch.setattr(Repository, "commit", lambda *_, made=names[version]: made)
        entries = add_entry(place, repository, trial, changed, names[1])
    assert [entry["commit"] for entry in entries] == ["0123456789", *(names[v].short for v in (1, 2, 3))]
    assert read_entries(place) == entries


def test_a_tree_is_laid_out_beside(repository: Repository, tmp_path: Path):
    file = repository.root / "mine.c"
    assert not repository.changed([file])
    file.write_text("int version = 4;\n")
    assert repository.changed([file])
    place = tmp_path / "laid"
    (laid_out,) = repository.lay_out(repository.commit("HEAD~1"), place, [file])
    assert laid_out.read_text() == "int version = 2;\n"
    assert (place / "mine.h").is_file()  # what it includes is there too
    assert file.read_text() == "int version = 4;\n"


def test_what_is_not_there_is_said(repository: Repository, tmp_path: Path):
    with pytest.raises(UsageError, match="there is no commit 'v9'"):
        repository.commit("v9")
    with pytest.raises(UsageError, match="there is no commit '--all'"):
        repository.commit("--all")
    with pytest.raises(UsageError, match=r"has no mine\.h"):
        repository.lay_out(repository.commit("HEAD~2"), tmp_path / "laid", [repository.root / "mine.h"])
    outside = tmp_path.parent / "outside"
    outside.mkdir(exist_ok=True)
    with pytest.raises(UsageError, match="not in a Git repository"):
        repository_of([outside / "mine.c"])


def test_a_git_that_takes_too_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def slow(command: list[str], limit_s: float) -> None:
        raise subprocess.TimeoutExpired(command, limit_s)

    monkeypatch.setattr(commits, "captured", slow)
    with pytest.raises(EnvironmentLacking, match="git rev-parse takes longer than 60 s"):
        repository_of([tmp_path / "mine.c"])
