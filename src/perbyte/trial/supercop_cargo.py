"""Implementations in a tree of SUPERCOP's that are Rust crates: each is linked as a static library with C's functions.

The crate that is written here has them (`sdk/try/supercop.rs`). It depends on the implementation's crate and changes
nothing of it. Cargo gets what that one needs from its registry.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from perbyte import places
from perbyte.runners.build import run_tool
from perbyte.trial.supercop_tree import Unusable

_LIMIT_S = 300
_OPERATIONS = ("hash", "stream", "scalarmult", "aead")  # those that sdk/try/supercop.rs has functions for


def build_crate(
    place: Path, operation: str, constants: Mapping[str, int], flags: Sequence[str], scratch: Path
) -> Path:
    """Build the crate in `place` as a static library below `scratch`, with C's functions of `crypto_OPERATION`.

    `constants` are the lengths of its api.h. Raises Unusable with Cargo's first error.
    """
    if operation not in _OPERATIONS:
        raise Unusable(f"made with Cargo: crypto_{operation} of Rust is not called here")
    try:
        name = tomllib.loads((place / "Cargo.toml").read_text(encoding="utf-8"))["package"]["name"]
    except (OSError, ValueError, KeyError) as error:
        raise Unusable(f"Cargo.toml: {error}") from error
    crate = scratch / "crate"
    crate.mkdir(parents=True, exist_ok=True)
    theirs = f"theirs = {{ package = {json.dumps(name)}, path = {json.dumps(str(place))} }}"
    (crate / "Cargo.toml").write_text(
        '[package]\nname = "implementation"\nversion = "0.0.0"\nedition = "2021"\n\n'
        '[lib]\npath = "lib.rs"\ncrate-type = ["staticlib"]\n\n'
        f"[features]\ndefault = [{json.dumps(operation)}]\n{operation} = []\n\n"
        f"[dependencies]\n{theirs}\n\n[workspace]\n",
        encoding="utf-8",
    )
    lengths = "".join(f"const {constant}: usize = {value};\n" for constant, value in constants.items())
    functions = places.data_dir("runners") / "sdk" / "try" / "supercop.rs"
    (crate / "lib.rs").write_text(
        f"#![allow(non_snake_case, dead_code, unexpected_cfgs)]\n{lengths}include!({json.dumps(str(functions))});\n",
        encoding="utf-8",
    )
    _run_cargo(crate, flags)
    return crate / "target" / "release" / "libimplementation.a"


def _run_cargo(crate: Path, flags: Sequence[str]) -> None:
    level = next((flag[2:] for flag in reversed(flags) if flag.startswith("-O")), "3")
    words = [f"-Copt-level={level}", *(["-Ctarget-cpu=native"] if "-march=native" in flags else [])]
    command = ["cargo", "build", "--release", "--quiet", f"--target-dir={crate / 'target'}"]
    try:
        ended = run_tool(command, crate, _LIMIT_S, os.environ | {"RUSTFLAGS": " ".join(words)})
    except FileNotFoundError:
        raise Unusable("made with Cargo, and there is none here") from None
    except subprocess.TimeoutExpired:
        raise Unusable(f"Cargo needs more than {_LIMIT_S} s") from None
    if ended.returncode:
        errors = [line for line in ended.stdout.splitlines() if line.startswith("error")]
        raise Unusable(f"Cargo: {(errors or [ended.stdout.strip() or 'no word'])[0]}")
