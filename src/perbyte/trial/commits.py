"""The versions of a user's files that Git keeps: which commits there are, and a commit's tree laid out beside.

Nothing in the user's repository is changed: trees are taken by `git archive`.
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.trial.building import captured

_LIMIT_S = 60
SHORT = 10  # characters of a commit's name


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its whole name, and the first line of what it says."""

    name: str
    subject: str

    @property
    def short(self) -> str:
        """The name as people write it."""
        return self.name[:SHORT]


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository in which a trial's files lie. `root` is the top of its tree."""

    root: Path

    def commit(self, name: str) -> Commit:
        """The commit that `name` means. Raises UsageError for one that is not there."""
        # what begins with a hyphen would be an option
        if name.startswith("-") or not (
            digest := _said(self.root, "rev-parse", "--verify", "-q", f"{name}^{{commit}}")
        ):
            raise UsageError(f"there is no commit '{name}' in {self.root}", hint="git log --oneline")
        return Commit(digest, _said(self.root, "log", "-1", "--format=%s", digest))

    def after(self, old: Commit) -> list[Commit]:
        """The commits behind `old` up to HEAD, the oldest first, along first parents."""
        words = ("log", "--first-parent", "--reverse", "--format=%H %s", f"{old.name}..HEAD")
        lines = [line.partition(" ") for line in _said(self.root, *words).splitlines()]
        return [Commit(name, subject) for name, _, subject in lines]

    def time(self, commit: Commit) -> int:
        """When `commit` was made, in seconds since 1970."""
        return int(_said(self.root, "log", "-1", "--format=%ct", commit.name) or 0)

    def changed(self, files: Sequence[Path]) -> bool:
        """True where one of `files` is not as HEAD has it."""
        return bool(_said(self.root, "status", "--porcelain", "--", *map(str, files)))

    def lay_out(self, commit: Commit, place: Path, files: Sequence[Path]) -> tuple[Path, ...]:
        """Write the tree of `commit` into `place`; where `files` lie there. Raises UsageError for one it lacks."""
        with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
            words = _git(self.root, "archive", "--format=tar", f"--output={archive.name}", commit.name)
            if words.returncode:
                raise EnvironmentLacking(f"git archive: {words.stderr.strip()[:300]}")
            with tarfile.open(archive.name) as tree:
                tree.extractall(place, filter="data")
        paths = tuple(place / file.relative_to(self.root) for file in files)
        if lacking := [file for file in paths if not file.is_file()]:
            raise UsageError(
                f"{commit.short} has no {lacking[0].relative_to(place)}", hint="name a later commit"
            )
        return paths


def repository_of(files: Sequence[Path]) -> Repository:
    """The repository that all of `files` (absolute) lie in. Raises UsageError where there is none."""
    root = _said(files[0].parent, "rev-parse", "--show-toplevel")
    if not root or not all(file.is_relative_to(root) for file in files):
        raise UsageError(f"{files[0]} is not in a Git repository", hint="--baseline needs none")
    return Repository(Path(root))


def _said(place: Path, *words: str) -> str:
    ended = _git(place, *words)
    return "" if ended.returncode else ended.stdout.strip()


def _git(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    try:
        return captured(["git", "-C", str(place), *words], _LIMIT_S)
    except OSError:
        raise EnvironmentLacking("there is no git here", hint="apt-get install git") from None
    except subprocess.TimeoutExpired:
        raise EnvironmentLacking(f"git {words[0]} takes longer than {_LIMIT_S} s") from None
