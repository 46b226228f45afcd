"""Several builds of one library side by side: one command, one picture."""

from __future__ import annotations

import pytest

from perbyte.catalogue import parse_selector
from perbyte.errors import UsageError
from perbyte.store import open_run


def test_versions_of_one_library_are_measured_side_by_side_and_drawn(world, script, quick, tmp_path):
    for name, version in (
        ("alpha", "3.0.22"),
        ("alpha-next", "3.6.1"),
        ("alpha-4", "4.0.0"),
        ("beta", "3.0.1"),
    ):
        (here,) = world.add(script(name, library="Fake", library_version=version))
        if name.startswith("alpha-"):
            toml = here / "runner.toml"
            toml.write_text(toml.read_text().replace("[runner]\n", '[runner]\nbuild_of = "alpha"\n'))
    run, chart, page = tmp_path / "run", tmp_path / "versions.svg", tmp_path / "page.html"
    done = world.perbyte(
        "measure", "alpha@{3.0,4.0,5}/aes-128-ecb/encrypt@64", *quick, "--out", run, "--report", page
    )
    assert done.returncode == 0, done.stderr
    library_versions = {cell.cell.runner: cell.library_version for cell in open_run(run).cells}
    assert library_versions == {"alpha": "3.0.22", "alpha-4": "4.0.0"}
    assert any("has version 5" in failure.message for failure in open_run(run).failures)
    assert "2 versions of Fake" in page.read_text(encoding="utf-8")
    drawn = world.perbyte("report", run, "--chart", chart)
    assert drawn.returncode == 0, drawn.stderr
    assert "4.0.0" in chart.read_text(encoding="utf-8")


def test_a_version_stands_behind_the_runner_only():
    asked = parse_selector("openssl@{3.0,3.6,4.0}/aes-*-gcm/seal@16,1KiB+cpu=soft")
    assert (asked.runner, asked.versions, asked.sizes) == ("openssl", ("3.0", "3.6", "4.0"), (16, 1024))
    assert (asked.algorithm, asked.operation, asked.cpus) == ("aes-*-gcm", "seal", ("soft",))
    assert parse_selector("openssl/sha-256@16,64").versions == ()
    for wrong in ("openssl@/sha-256", "openssl@{3.0,}/sha-256", "openssl@3.0 /sha-256"):
        with pytest.raises(UsageError, match="names no versions"):
            parse_selector(wrong)
