"""The opt-in build of a newer OpenSSL: the tiers of its sibling, and more algorithms."""

from __future__ import annotations

import pytest

from perbyte.runners import Session, find


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
    assert {
        "md2",
        "mdc2",
        "rc5-32-12-cbc",
        "idea-cbc",
        "aes-128-cbc",
        "ml-kem-768",
        "slh-dsa-sha2-128f",
    } <= offered
