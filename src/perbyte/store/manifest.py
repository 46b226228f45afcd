"""manifest.json: size and SHA-256 of each file of a run that counts, so that damage is found and a run can be signed.

It is written before run.json and says what run.json was before, so that a kill between the two is no damage. Lines of
the journal carry checksums of their own; whatever was measured is under one of the two.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec

from perbyte import __version__
from perbyte.store.files import (
    CELLS_FILE,
    FIGURES_FILE,
    MEBIBYTE,
    RUN_FILE,
    check_regular,
    damaged,
    other_schema,
    read_whole,
    replace_atomically,
)

MANIFEST_FILE = "manifest.json"
SIGNATURE_FILE = "manifest.json.sig"
SCHEMA = 1
_LIMIT = 16 * MEBIBYTE
_FILE_LIMIT = 16384 * MEBIBYTE
SAMPLES_NAME = re.compile(r"samples-\d{8,19}\.(npz|parquet)")


class ManifestEntry(msgspec.Struct, frozen=True):
    """What a file is: bytes of it, and their SHA-256 in hexadecimal digits."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """The files of a run by name. `before`: the SHA-256 of the run.json that the listed one replaces, or empty."""

    run_id: str
    seq: int
    complete: bool
    files: dict[str, ManifestEntry]
    before: str = ""
    perbyte_version: str = __version__
    schema: int = SCHEMA


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
        if name not in (RUN_FILE, FIGURES_FILE, CELLS_FILE) and not SAMPLES_NAME.fullmatch(name):
            raise damaged(place, f"it lists {name[:80]!r}, which is not a file of a run")
    return manifest


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Put the manifest in place in one step. Raises StoreError."""
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    replace_atomically(directory / MANIFEST_FILE, lambda temporary: temporary.write_bytes(content))


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


def check_listed(directory: Path, manifest: Manifest) -> None:
    """Raise StoreError for the first file that is not what the manifest says: before a run goes on."""
    for name in manifest.files:
        if why := mismatch(name, entry_of_file(directory / name), manifest):
            raise damaged(directory / name, why)
