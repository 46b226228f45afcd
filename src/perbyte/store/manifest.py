"""manifest.json: size and SHA-256 of each file that readers use, so that damage is found and a run can be signed.

It is written before run.json and says what run.json was before, so that a kill between the two is no damage. While a
run is measured, what is new lies in the journal, whose lines carry checksums of their own; at its end the journal is
empty. Versions that made samples files with Arrow only listed it where that lacked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from perbyte import __version__
from perbyte.store.files import (
    BESIDE,
    CELLS_FILE,
    FIGURES_FILE,
    JOURNAL_FILE,
    LOCK_FILE,
    MEBIBYTE,
    OLDER_SAMPLES_GLOB,
    RUN_FILE,
    SAMPLES_GLOB,
    check_regular,
    damaged,
    disk_error,
    other_schema,
    read_whole,
    replace_atomically,
)

MANIFEST_FILE = "manifest.json"
SIGNATURE_FILE = "manifest.json.sig"
SCHEMA = 1
_ABOUT = (MANIFEST_FILE, SIGNATURE_FILE, LOCK_FILE)
_READ = (RUN_FILE, FIGURES_FILE, CELLS_FILE, JOURNAL_FILE, *BESIDE)
_LIMIT = 16 * MEBIBYTE
_FILE_LIMIT = 16384 * MEBIBYTE
SAMPLES_NAME = re.compile(r"samples-\d{8,19}\.(npz|parquet)")
_PART = r"(?!samples-)[A-Za-z0-9_][A-Za-z0-9._+-]{0,100}"
_OTHER_NAME = re.compile(f"(?:{_PART}/)?{_PART}")  # such as report.html, charts/cost.svg


class ManifestEntry(msgspec.Struct, frozen=True):
    """What a file is: bytes of it, and their SHA-256 in hexadecimal digits."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """The files of a run by name, and of a signed one what else lies there.

    `before`: the SHA-256 of the run.json that the listed one replaces, or empty. `whole`: it lists everything that
    readers use. Those of older versions left out what lies beside the figures, and a journal that nothing could make a
    samples file of.
    """

    run_id: str
    seq: int
    complete: bool
    files: dict[str, ManifestEntry]
    before: str = ""
    whole: bool = False
    perbyte_version: str = __version__
    schema: int = SCHEMA


def is_read(name: str) -> bool:
    """True for the name of a file that readers of a run use."""
    return name in _READ or SAMPLES_NAME.fullmatch(name) is not None


def read_manifest(directory: Path) -> Manifest | None:
    """Read the manifest of a run; None for a run that has none. Raises StoreError when it cannot be what it should."""
    place = directory / MANIFEST_FILE
    if not place.exists() and not place.is_symlink():
        return None
    try:
        manifest = msgspec.json.decode(read_whole(place, _LIMIT), type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(place, error) from error
    if manifest.schema != SCHEMA:
        raise other_schema(place, manifest.schema, SCHEMA)
    for name in manifest.files:
        if not is_read(name) and (not _OTHER_NAME.fullmatch(name) or name in _ABOUT):
            raise damaged(place, f"it lists {name[:80]!r}, which is not a file of a run")
    return manifest


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Put the manifest in place in one step. Raises StoreError."""
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    replace_atomically(directory / MANIFEST_FILE, lambda temporary: temporary.write_bytes(content))


def list_files(directory: Path, names: Iterable[str], run_id: str = "") -> None:
    """List files as they are now in a run's manifest, whose signature then goes. Raises StoreError.

    Without a manifest nothing is done, unless `run_id` says of which run, that has no other files, one is to be made.
    """
    manifest = read_manifest(directory)
    if manifest is None and run_id:
        manifest = Manifest(run_id, 0, True, {}, whole=True)
    if manifest is not None:
        _rewrite(directory, manifest, names)


def complete_manifest(directory: Path, manifest: Manifest) -> None:
    """Make a manifest list what older versions left out, and all else that lies there. Raises StoreError."""
    names = (name for name in _names(directory) if is_read(name) or _OTHER_NAME.fullmatch(name))
    left_out = [name for name in names if name not in manifest.files]
    _rewrite(directory, msgspec.structs.replace(manifest, whole=True, before=""), left_out)


def _names(directory: Path) -> list[str]:
    """What lies in a run but for the manifest itself and an empty journal; the files of folders, and not deeper.

    Raises StoreError for a folder that cannot be read.
    """
    names: list[str] = []
    try:
        for place in sorted(directory.iterdir()):
            if place.is_dir() and not place.is_symlink() and not is_read(place.name):
                names += [f"{place.name}/{inner.name}" for inner in sorted(place.iterdir())]
            elif place.name not in _ABOUT and (place.name != JOURNAL_FILE or _has_content(place)):
                names.append(place.name)
    except OSError as error:
        raise damaged(directory, error) from error
    return names


def _rewrite(directory: Path, manifest: Manifest, names: Iterable[str]) -> None:
    try:
        (directory / SIGNATURE_FILE).unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(error, directory) from error
    entries = {name: entry_of_file(directory / name) for name in names}
    write_manifest(directory, msgspec.structs.replace(manifest, files=manifest.files | entries))


def _has_content(place: Path) -> bool:
    """True for anything but a file that is empty or missing."""
    return place.is_symlink() or (place.exists() and not (place.is_file() and not place.stat().st_size))


def entry_of(content: bytes) -> ManifestEntry:
    """The entry of a file of this content."""
    return ManifestEntry(len(content), hashlib.sha256(content).hexdigest())


def entry_of_file(place: Path) -> ManifestEntry:
    """The entry of a file as it is now. Raises StoreError when it is missing, a link, no file, or cannot be read."""
    size = check_regular(place, _FILE_LIMIT)
    try:
        with place.open("rb") as file:
            return ManifestEntry(size, hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as error:
        raise damaged(place, error.strerror or error) from error


def mismatch(name: str, entry: ManifestEntry, manifest: Manifest) -> str:
    """Say in what a file is not what the manifest lists; empty when it is."""
    listed = manifest.files.get(name)
    if not listed or entry == listed or (name == RUN_FILE and entry.sha256 == manifest.before):
        return ""
    how = f"{entry.bytes:,} bytes, not {listed.bytes:,}" if entry.bytes != listed.bytes else "other bytes"
    return f"it is not what was written ({how})"


def unlisted(directory: Path, manifest: Manifest, *, signed: bool = False) -> list[tuple[str, str]]:
    """Files of a run that is not being measured which its manifest should list and does not: (name, what is wrong).

    Readers would use them, so somebody added them, or a process was killed between two steps. `signed`: nothing else
    may lie there either, and what manifests of older versions left out is not covered.
    """
    uncompacted = not manifest.whole and not any(
        name == CELLS_FILE or SAMPLES_NAME.fullmatch(name) for name in manifest.files
    )
    strange = []
    for name in _names(directory):
        if name in manifest.files:
            continue
        if name == JOURNAL_FILE and (signed or not uncompacted):
            strange.append((name, "the run is complete, but its journal is not empty"))
        elif not manifest.whole and (name in BESIDE or name == JOURNAL_FILE):
            if signed:
                strange.append((name, "the signature does not cover it: older manifests listed figures only"))
        elif is_read(name) or fnmatch(name, SAMPLES_GLOB) or fnmatch(name, OLDER_SAMPLES_GLOB):
            strange.append((name, "the manifest does not list it: it was added, or its writer was killed"))
        elif signed:
            strange.append((name, "the manifest does not list it: it is no part of what was signed"))
    return strange


def check_listed(directory: Path, manifest: Manifest) -> None:
    """Raise StoreError for the first file that is not what the manifest says: before a run goes on."""
    for name in filter(is_read, manifest.files):
        if why := mismatch(name, entry_of_file(directory / name), manifest):
            raise damaged(directory / name, why)
