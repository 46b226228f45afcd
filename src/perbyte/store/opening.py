"""Says, wherever a run is opened, that its files are not those of its manifest, or not what was signed.

It is said as a warning (`DamagedRunWarning`), which every command prints and a notebook shows, so that no reader has to
ask. `verify` and `recover`, which look closer, read without it.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import msgspec

from perbyte.errors import DamagedRunWarning, EnvironmentLacking, StoreError
from perbyte.locks import held_by
from perbyte.model.text import plain
from perbyte.store.files import LEAK_FILE, LOCK_FILE, RUN_FILE
from perbyte.store.manifest import (
    SIGNATURE_FILE,
    Manifest,
    entry_of_file,
    mismatch,
    read_manifest,
    unlisted,
)
from perbyte.store.signature import read_signature

_LONGEST = 600  # letters of what is said of a run


def run_directory(path: Path) -> Path:
    """Return the directory of a run, given that or the run.json or leak.json in it."""
    return path.parent if path.name in (RUN_FILE, LEAK_FILE) else path


def is_signed(directory: Path) -> bool:
    """True where a signature lies in a run, whatever it is worth."""
    return os.path.lexists(directory / SIGNATURE_FILE)


def listing_of(directory: Path, signed: bool | None = None) -> tuple[Manifest | None, dict[str, str]]:
    """A run's manifest, and what lies in a run that is complete, or signed, without being listed, with what is wrong.

    Raises StoreError for a manifest that cannot be read.
    """
    manifest = read_manifest(directory)
    if signed is None:
        signed = is_signed(directory)
    if manifest and signed:  # an earlier run.json is not what was signed
        manifest = msgspec.structs.replace(manifest, before="")
    closed = manifest and (signed or manifest.complete)
    return manifest, dict(unlisted(directory, manifest, signed=signed)) if manifest and closed else {}


def unlike_manifest(path: Path) -> tuple[str, ...]:
    """Say for each file of a run what sets it apart from what its manifest lists; nothing is read but bytes.

    Empty where all is as it was written, and where there is no manifest to ask.
    """
    directory = run_directory(path)
    try:
        manifest, complaints = listing_of(directory)
    except StoreError as error:
        return (str(error),)
    for name in sorted(manifest.files) if manifest else ():
        try:
            why = mismatch(name, entry_of_file(directory / name), manifest) if manifest else ""
        except StoreError as error:
            why = str(error)
        complaints |= {name: why} if why else {}
    return tuple(f"{name}: {why}" for name, why in sorted(complaints.items()))


def tell_damage(path: Path) -> None:
    """Warn (DamagedRunWarning) of a run whose files are not those of its manifest, or whose signature does not fit.

    Of one that is being written nothing is said unless it was signed, since its manifest follows what it lists.
    """
    directory, signed = run_directory(path), is_signed(run_directory(path))
    if not signed and held_by(directory / LOCK_FILE):
        return
    complaints = unlike_manifest(directory)
    if not complaints and signed:
        complaints = _of_signature(directory)
    if complaints:
        told = plain("; ".join(complaints), _LONGEST)
        text = (
            f"damaged: {told}\nwhat is said is what lies there now; perbyte verify {directory} looks closer"
        )
        warnings.warn(text, DamagedRunWarning, stacklevel=3)


def _of_signature(directory: Path) -> tuple[str, ...]:
    """What is wrong with a run's signature, but for who made it; nothing where that cannot be told here."""
    try:
        signature = read_signature(directory)
    except EnvironmentLacking:
        return ()
    return () if signature is None or signature.good else (f"{SIGNATURE_FILE}: {signature}",)
