"""What a user's files, flags and libraries ask for, read before anything is built."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.model import Algorithm
from perbyte.trial.program import from_pkg_config, link_words
from perbyte.trial.subject import TrialRequest, managed, read_files

Flags = list[tuple[str, ...]]


def read_trial(
    files: Sequence[Path],
    algorithm: Algorithm,
    functions: Sequence[str] = (),
    signatures: Sequence[str] = (),
    name: str = "",
    *,
    flags: Sequence[str] = (),
    defines: Sequence[str] = (),
    links: Sequence[str] = (),
    packages: Sequence[str] = (),
) -> tuple[TrialRequest, Flags]:
    """The function in `files`, and the compiler's words for each of `flags` (none: -O2 of a compiler of C).

    Raises UsageError for what does not fit the language of the files.
    """
    compiling, linking = from_pkg_config(packages)
    link = (*link_words(links), *linking)
    asked = TrialRequest(read_files(files), algorithm, tuple(functions), tuple(signatures), name, link)
    foreign = managed(asked.files)
    if foreign and (link or compiling or defines):
        raise UsageError("--define, --link and --pkg-config are for compilers of C", hint="leave them out")
    more = (*(f"-D{define}" for define in defines), *compiling)
    usual: tuple[str, ...] = () if foreign else ("-O2",)
    return asked, [(*words, *more) for words in [tuple(shlex.split(text)) for text in flags] or [usual]]
