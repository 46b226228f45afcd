"""A crate of Cargo's behind C: one that is written here depends on it, and becomes a static library.

Nothing of the user's crate is changed; Cargo gets what that one needs from its registry.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.trial.building import home

PRODUCT = "target/release/libwrapper.a"


def crate_of(file: Path) -> Path | None:
    """The directory of the crate whose root `file` is, where it has more than that file; None without."""
    place = file.parent.parent
    if file.name != "lib.rs" or not (place / "Cargo.toml").is_file():
        return None
    needs = re.search(
        r"^\s*(?:pub\s+)?mod\s+\w+;|\bcrate::|\bextern\s+crate\b", file.read_text("utf-8"), re.MULTILINE
    )
    return place if needs or _described(place).get("dependencies") else None


def _described(place: Path) -> dict[str, object]:
    try:
        return tomllib.loads((place / "Cargo.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{place / 'Cargo.toml'}: {error}") from None


def write_crate(crate: Path, place: Path, lib: str, feature: str = "") -> None:
    """Write one of the source `lib`, to which that of `place` is `theirs`. Raises UsageError."""
    match _described(place):
        case {"package": {"name": str(name)}}:
            pass
        case _:
            raise UsageError(f"{place / 'Cargo.toml'}: [package] has no name")
    crate.mkdir(parents=True, exist_ok=True)
    features = f"[features]\ndefault = [{json.dumps(feature)}]\n{feature} = []\n\n" if feature else ""
    (crate / "Cargo.toml").write_text(
        '[package]\nname = "wrapper"\nversion = "0.0.0"\nedition = "2021"\n\n'
        f'[lib]\npath = "lib.rs"\ncrate-type = ["staticlib"]\n\n{features}[dependencies]\n'
        f"theirs = {{ package = {json.dumps(name)}, path = {json.dumps(str(place))} }}\n\n[workspace]\n",
        encoding="utf-8",
    )
    (crate / "lib.rs").write_text(lib, encoding="utf-8")


def cargo_command(crate: Path, place: Path, rustflags: Sequence[str], product: str) -> list[str]:
    """The command that builds `crate` with that of `place`, and copies the library to `product`."""
    key = hashlib.sha256(repr((str(place), list(rustflags))).encode()).hexdigest()[:16]
    target = home() / "cargo" / key
    words = ["env", f"RUSTFLAGS={' '.join(rustflags)}", "cargo", "build", "--release", "--quiet"]
    words += [f"--target-dir={target}", f"--manifest-path={crate / 'Cargo.toml'}"]
    copying = ["cp", f"{target}/release/libwrapper.a", product]
    return ["sh", "-c", f"{shlex.join(words)} && {shlex.join(copying)}"]
