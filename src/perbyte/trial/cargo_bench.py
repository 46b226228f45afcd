"""Benchmark files of Rust that were written for criterion: cargo builds them with Perbyte's crate in its place.

The project's own files stay as they are: the crate is patched in on cargo's command line, the products go to a
directory of Perbyte's, and Cargo.lock is put back.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.errors import UsageError
from perbyte.trial.benchmark_file import BuiltBenchmarks, told_by
from perbyte.trial.building import home, sdk_of_all, tool

CRATE, PATCHED = "perbyte-criterion", "criterion"
_said = partial(told_by, "cargo", 1800)
_MACRO = re.compile(r"\bcriterion_main\s*!")


def build_cargo(directory: Path, flags: Sequence[str] = ()) -> list[BuiltBenchmarks]:
    """Build all benchmark files of the package in `directory` that end in `criterion_main!`.

    `flags` are cargo's, such as `--features`. Raises UsageError where there are none, DoesNotBuild with cargo's words,
    EnvironmentLacking without cargo.
    """
    cargo = tool("cargo", "rustup, or apt-get install cargo")
    told = json.loads(_said([cargo, "metadata", "--no-deps", "--format-version", "1"], directory))
    packages = [package for package in told["packages"] if Path(package["manifest_path"]).parent == directory]
    packages = packages or told["packages"]
    wanted = {
        target["name"]: package
        for package in packages
        for target in package["targets"]
        if "bench" in target["kind"] and _MACRO.search(_text(Path(target["src_path"])))
    }
    if not wanted:
        raise UsageError(
            f"{directory}: no benchmark file of it has criterion_main!",
            hint="[[bench]] in Cargo.toml, with harness = false; #[bench] of nightly Rust cannot be measured",
        )
    root = Path(told["workspace_root"])
    target = home() / "cargo" / hashlib.sha256(str(root).encode()).hexdigest()[:16]
    with _lock_kept(root):
        patches = _patches(cargo, root, packages)
        names = [word for name in wanted for word in ("--bench", name)]
        command = [cargo, "bench", "--no-run", "--message-format=json-render-diagnostics", *names, *flags]
        command += ["--target-dir", str(target), *(word for patch in patches for word in ("--config", patch))]
        compiled = {"PERBYTE_SDK_ARCHIVE": str(sdk_of_all()[1].resolve())}
        artifacts = _said(command, directory, compiled).splitlines()
    binaries = [
        _built(artifact)
        for artifact in (json.loads(line) for line in artifacts if line.startswith("{"))
        if artifact.get("reason") == "compiler-artifact"
        and artifact.get("executable")
        and artifact["target"]["name"] in wanted
    ]
    if not binaries:
        raise UsageError(f"{directory}: cargo built no benchmark")
    return binaries


def _built(artifact: dict[str, Any]) -> BuiltBenchmarks:
    directory = Path(artifact["manifest_path"]).parent
    name = artifact["target"]["name"]
    return BuiltBenchmarks(name, Path(artifact["executable"]), directory, "c", str(directory))


def line_for_cargo() -> str:
    """The line of Cargo.toml that puts Perbyte's crate in the place of criterion."""
    own = places.data_dir("runners") / "sdk" / "criterion"
    return f'{PATCHED} = {{ package = "{CRATE}", path = {json.dumps(str(own))} }}'


def already_built(program: Path) -> BuiltBenchmarks:
    """What `cargo bench` has built with Perbyte's crate, started in the package's directory."""
    name = re.sub(r"-[0-9a-f]{16}$", "", program.name)
    return BuiltBenchmarks(name, program, Path.cwd(), "c", str(Path.cwd()))


def _patches(cargo: str, root: Path, packages: Sequence[dict[str, Any]]) -> list[str]:
    asked = {dependency["name"] for package in packages for dependency in package["dependencies"]}
    if PATCHED not in asked:
        if CRATE in asked:
            return []
        raise UsageError(f"{root} does not depend on {PATCHED}", hint="[dev-dependencies] criterion = ...")
    lock = root / "Cargo.lock"
    if not lock.is_file():
        _said([cargo, "generate-lockfile"], root)
    versions = re.findall(rf'^name = "{PATCHED}"\nversion = "([^"]+)"$', _text(lock), re.MULTILINE)
    own = places.data_dir("runners") / "sdk" / "criterion"
    patches = []
    for number, version in enumerate(versions):
        place = _as_version(own, version)
        key = f"patch.crates-io.{PATCHED}{number or ''}"
        patches += [f"{key}.path={json.dumps(str(place))}", f'{key}.package="{PATCHED}"']
    return patches


def _as_version(own: Path, version: str) -> Path:
    """The crate under criterion's name and a version of it; its sources are those of the SDK."""
    place = home() / "criterion" / version
    place.mkdir(parents=True, exist_ok=True)
    text = _text(own / "Cargo.toml")
    text = text.replace(f'name = "{CRATE}"', f'name = "{PATCHED}"')
    text = re.sub(r'^version = ".*"$', f'version = "{version}"', text, count=1, flags=re.MULTILINE)
    text = text.replace('path = "../rust"', f"path = {json.dumps(str(own.parent / 'rust'))}")
    text += "\n[workspace]\n"
    if not (place / "Cargo.toml").is_file() or _text(place / "Cargo.toml") != text:
        (place / "Cargo.toml").write_text(text, encoding="utf-8")
    for name in ("src", "build.rs", "coroutine.c"):
        link = place / name
        if link.is_symlink() and link.resolve() != (own / name).resolve():
            link.unlink()
        if not link.is_symlink():
            link.symlink_to(own / name)
    return place


@contextlib.contextmanager
def _lock_kept(root: Path) -> Iterator[None]:
    """Put Cargo.lock back as it was, or away where there was none."""
    lock = root / "Cargo.lock"
    before = lock.read_bytes() if lock.is_file() else None
    try:
        yield
    finally:
        if before is None:
            lock.unlink(missing_ok=True)
        elif lock.read_bytes() != before:
            lock.write_bytes(before)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
