"""Runners in other languages: what they fetch is pinned, and their SDKs fit the C SDK. What they compute is tried by
test_opt_in_runners.py, as that of all opt-in runners is."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from perbyte import places
from perbyte.protocol import material
from perbyte.runners import Session, build, find, locate
from toolchains import needs

HOME = places.data_dir("runners")
SDK = HOME / "sdk"
LANGUAGES = sorted(
    spec.name
    for spec in locate()
    if spec.opt_in and spec.language in ("rust", "go", "python", "javascript", "zig")
)


@pytest.mark.parametrize("name", LANGUAGES)
def test_what_is_fetched_is_pinned_and_no_registry_named(name: str) -> None:
    for file in (file for file in (HOME / name).rglob("*") if file.is_file()):
        assert not re.search(r"https?://|registry\+", file.read_text(encoding="utf-8")), file
    assert (HOME / name / "algorithms.txt").read_text(encoding="utf-8").split()
    if find(name).language == "rust":
        crates = re.findall(r'^name = "(.*)"$', (HOME / name / "Cargo.lock").read_text(), re.MULTILINE)
        ours = {"runner", "perbyte-runner"} & {*crates}  # they have no checksum
        assert (HOME / name / "Cargo.lock").read_text().count("checksum = ") == len(crates) - len(ours)
        in_c = "perbyte-runner" not in ours  # then the loops are those of the C SDK
        assert in_c or "probe_imul()" in (HOME / name / "src" / "lib.rs").read_text()
    if find(name).language == "go":
        assert (HOME / name / "go.sum").read_text().count("h1:") >= 2


C_LAYOUT = """\
#include "perbyte.h"
#include <stdio.h>
#define S(type) printf("%zu\\n", sizeof(type))
#define O(type, field) printf("%zu\\n", offsetof(type, field))
int main(void)
{
LINES
	return 0;
}
"""
FIELDS = {
    "pb_case": "size in out message key nonce aad key_len nonce_len aad_len in_len out_len failures inverse given"
    " turns most calls ctx error",
    "pb_variant": "calls begin loop show",
    "pb_family": "close variants",
    "pb_row": "family param key nonce multiple output",
    "pb_runner": "version cpu_features object start offers code_path tables empty refresh aligned",
}


@pytest.mark.native
@needs("rustc")
def test_the_structures_of_rust_are_those_of_c(tmp_path: Path) -> None:
    lines = []
    for kind, fields in FIELDS.items():
        lines += [f"\tS({kind});", *(f"\tO({kind}, {field});" for field in fields.split())]
    (tmp_path / "layout.c").write_text(C_LAYOUT.replace("LINES", "\n".join(lines)))
    layout = SDK / "rust" / "src" / "layout.rs"
    (tmp_path / "layout.rs").write_text(
        f'#[allow(dead_code)]\n#[path = "{layout}"]\nmod layout;\nfn main() {{\n'
        '    for one in layout::describe() { println!("{one}"); }\n}\n'
    )
    subprocess.run(["cc", f"-I{SDK / 'c'}", "-o", "c", "layout.c"], cwd=tmp_path, check=True)
    subprocess.run(["rustc", "--edition=2021", "-o", "rust", "layout.rs"], cwd=tmp_path, check=True)
    c, rust = (
        subprocess.run([tmp_path / name], capture_output=True, text=True, check=True).stdout.split()
        for name in ("c", "rust")
    )
    assert rust == c
    assert len(c) == sum(1 + len(fields.split()) for fields in FIELDS.values())


@pytest.mark.native
@needs("cc")
@pytest.mark.parametrize(("glue", "header"), [("node/addon.c", "node_api.h"), ("jvm/jvm.c", "jni.h")])
def test_the_glue_of_a_language_fits_the_sdk(glue: str, header: str) -> None:
    """By the flags of the build: a field that the SDK gained is no warning, for a warning ends the build."""
    roots = (Path("/usr/include"), Path("/usr/lib/jvm"), Path("/usr/local"))
    headers = [file.parent for root in roots for file in root.rglob(header)]
    if not headers:
        pytest.skip(f"no {header} here")
    script = (HOME / "node" / "build.sh").read_text(encoding="utf-8")
    flags = re.search(r'^flags="(.*-Werror.*)"$', script, re.MULTILINE)[1].split()
    places_of_headers = [
        f"-I{place}" for place in (headers[0], headers[0] / "linux", SDK / "c", SDK / "foreign")
    ]
    told = ['-DPB_COMPILER="x"', '-DPB_FLAGS=""', "-fsyntax-only", SDK / glue]
    subprocess.run(["cc", *flags, *places_of_headers, *told], check=True)


@pytest.mark.native
@pytest.mark.parametrize("name", ["ring", "blake3"])  # a runner in Rust, and a library that a crate carries
def test_a_cargo_without_a_toolchain_is_said_in_two_lines(name: str, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "cargo"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'error: no default is configured' >&2\nseq 13 >&2\nexit 1\n")
    fake.chmod(0o755)
    (tmp_path / "out").mkdir()
    told = [HOME / name / "build.sh", tmp_path / "out", SDK]
    path = f"{fake.parent}:{os.environ['PATH']}"
    built = subprocess.run(
        ["sh", *told], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert built.returncode == 1
    lines = built.stderr.splitlines()
    assert lines[0] == "error: no default is configured"
    assert len(lines) == 2
    assert "rustup default stable" in lines[1]


RUNNER_TOML = """\
[runner]
library = "mine"
license = "MIT"
[build]
kind = "command"
command = ["sh", "{here}/build.sh", "{out}", "{sdk}"]
[run]
command = ["{out}/mine-full"]
"""


@pytest.mark.native
@pytest.mark.slow
@needs("cargo")
def test_the_crate_of_the_readme_is_a_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (SDK / "rust" / "README.md").read_text(encoding="utf-8")
    (toml, rust) = re.findall(r"```(?:toml|rust)\n(.*?)```", text, re.DOTALL)
    home = tmp_path / "runners" / "mine"
    (home / "src").mkdir(parents=True)
    (home / "Cargo.toml").write_text(toml)
    (home / "src" / "lib.rs").write_text(rust)
    (home / "runner.toml").write_text(RUNNER_TOML)
    (home / "build.sh").write_text(
        'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)\n. "$2/rust.sh"\nprogram full\n'
    )
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    outcome = build(find("mine", [tmp_path / "runners"]))
    assert outcome.usable, outcome.output
    assert len(rust.strip().splitlines()) <= 20
    with Session(find("mine", [tmp_path / "runners"])) as session:
        handle = session.prepare("fnv", "digest", "oneshot/1", 3, seed=7)
        data = material.stream(7, "input", 3)
        state = 0xCBF29CE484222325
        for byte in data:
            state = (state ^ byte) * 0x100000001B3 % 2**64
        assert session.check_calls(handle, 1).output == state.to_bytes(8, "big").hex()
