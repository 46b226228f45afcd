"""The opt-in build of a newer OpenSSL: what it is made of is pinned, and no registry's address is in it."""

from __future__ import annotations

import re
import tomllib

import pytest

from perbyte import places
from perbyte.runners import Session, find

HERE = places.data_dir("runners") / "openssl-next"


def test_every_crate_is_pinned_twice():
    wanted = tomllib.loads((HERE / "Cargo.toml").read_text(encoding="utf-8"))["dependencies"]
    versions = {name: one if isinstance(one, str) else one["version"] for name, one in wanted.items()}
    assert all(version.startswith("=") for version in versions.values())
    pinned = [line.split() for line in (HERE / "crates.txt").read_text(encoding="utf-8").splitlines()]
    assert {name: version.split("+")[0] for name, version, _ in pinned} == {
        name: version[1:] for name, version in versions.items()
    }
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for _, _, checksum in pinned)


def test_no_file_holds_the_address_of_a_registry():
    for file in HERE.iterdir():
        assert not re.search(r"https?://|crates\.io", file.read_text(encoding="utf-8")), file.name
    assert not (HERE / "Cargo.lock").exists()


def test_it_is_opt_in_and_has_the_tiers_of_its_sibling():
    ours, sibling = find("openssl-next"), find("openssl")
    assert ours.opt_in
    assert ours.tiers == sibling.tiers


@pytest.mark.native
def test_the_built_runner_offers_what_packages_leave_out():
    spec = find("openssl-next")
    if not (spec.out() / spec.name).is_file():
        pytest.skip("not built: perbyte build openssl-next")
    with Session(spec) as session:
        hello = session.hello()
    assert hello.runner == "openssl-next"
    assert hello.library == "OpenSSL"
    offered = {operation.algorithm for operation in hello.operations}
    assert {"md2", "mdc2", "rc5-32-12-cbc", "idea-cbc", "aes-128-cbc"} <= offered
