"""Signatures of a run's manifest, by a key of the user's own and OpenSSH's ssh-keygen (`manifest.json.sig`).

The manifest lists every file of the run, so what is signed is the run. Perbyte computes no signature itself.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from perbyte.errors import EnvironmentLacking, StoreError, UsageError
from perbyte.store.files import MEBIBYTE, check_regular, disk_error, read_whole
from perbyte.store.manifest import MANIFEST_FILE, SIGNATURE_FILE

NAMESPACE = "perbyte-run"
"""What the signature is for: ssh-keygen refuses one that the same key made for anything else."""

_PATIENCE_S = 60
_KEY = re.compile(r"with (\S+) key (\S+)")


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature that was looked at. `signer` is empty where no list of known signers was given."""

    good: bool
    key: str = ""
    signer: str = ""

    def __str__(self) -> str:
        if not self.good:
            return (
                "a signature that does not fit: the run is not what was signed, or not by whom it should be"
            )
        by = f"by {self.signer}, " if self.signer else "by "
        return f"{by}{self.key}" + ("" if self.signer else " (whose key that is, --signers tells)")


def sign(directory: Path, key: Path) -> Signature:
    """Sign the manifest of a run that is whole, with a private key, or a public one whose private half an agent has.

    Raises UsageError when the key does not sign, EnvironmentLacking without ssh-keygen, StoreError without a manifest.
    """
    check_regular(directory / MANIFEST_FILE, MEBIBYTE * 16)
    target = directory / SIGNATURE_FILE
    try:
        target.unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(error, directory) from error
    words = ["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(directory / MANIFEST_FILE)]
    done = _ssh_keygen(words, ask=True)
    if done.returncode or not target.is_file():
        raise UsageError(
            f"the key {key} does not sign: {_said(done)}",
            hint="name an SSH key, for example ~/.ssh/id_ed25519; ssh-keygen -t ed25519 makes one",
        )
    signature = read_signature(directory)
    assert signature is not None
    return signature


def read_signature(directory: Path, signers: Path | None = None) -> Signature | None:
    """Look at the signature of a run's manifest; None where there is none.

    `signers` is a list of keys and whose they are (`allowed_signers` of ssh-keygen(1)): a signature of anybody else is
    then no good one. That the files are those of the manifest is for `verify` to say. Raises EnvironmentLacking without
    ssh-keygen, UsageError for a list that cannot be read.
    """
    place = directory / SIGNATURE_FILE
    if not place.exists() and not place.is_symlink():
        return None
    try:
        check_regular(place, MEBIBYTE)
        manifest = read_whole(directory / MANIFEST_FILE, 16 * MEBIBYTE)
    except StoreError:
        return Signature(False)
    given = ["-n", NAMESPACE, "-s", str(place)]
    if signers is None:
        done = _ssh_keygen(["-Y", "check-novalidate", *given], manifest)
        return _found(done)
    if not signers.is_file():
        raise UsageError(
            f"there is no list of signers at {signers}", hint="see ALLOWED SIGNERS in ssh-keygen(1)"
        )
    known = _ssh_keygen(["-Y", "find-principals", "-s", str(place), "-f", str(signers)])
    signer = known.stdout.decode("utf-8", "replace").split("\n")[0].strip()
    if known.returncode or not signer:
        return Signature(False)
    return _found(_ssh_keygen(["-Y", "verify", "-f", str(signers), "-I", signer, *given], manifest), signer)


def _found(done: subprocess.CompletedProcess[bytes], signer: str = "") -> Signature:
    key = _KEY.search(done.stdout.decode("utf-8", "replace"))
    return Signature(True, f"{key[1]} {key[2]}", signer) if done.returncode == 0 and key else Signature(False)


def _ssh_keygen(
    words: list[str], stdin: bytes = b"", *, ask: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen; with `ask` it may ask the user for a passphrase."""
    more = {} if ask else {"input": stdin}
    try:
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            ["ssh-keygen", *words],
            capture_output=True,
            check=False,
            timeout=None if ask else _PATIENCE_S,
            **more,
        )
    except FileNotFoundError as error:
        raise EnvironmentLacking(
            "signatures need ssh-keygen, which is not installed",
            hint="install OpenSSH's client (openssh-client)",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise EnvironmentLacking(
            "ssh-keygen gives no answer", hint="try it by hand: ssh-keygen -Y"
        ) from error


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    text = (done.stderr or done.stdout).decode("utf-8", "replace")
    return " ".join(text.split())[:300] or f"ssh-keygen ended with {done.returncode}"
