"""`verify`, `recover` and `sign` as a user types them."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

needs_keys = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")


@pytest.fixture
def run(measured, tmp_path):
    place = tmp_path / "run"
    shutil.copytree(measured.path, place)
    return place


@pytest.fixture
def key(tmp_path):
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return tmp_path / "key"


def test_a_whole_run_a_damaged_one_and_one_without_a_manifest(perbyte, run):
    answer = perbyte("verify", run)
    assert answer.returncode == 0
    assert "whole: " in answer.stdout
    assert "signed: no" in answer.stdout
    content = bytearray((run / "figures.json").read_bytes())
    content[len(content) // 3] ^= 1
    (run / "figures.json").write_bytes(bytes(content))
    answer = perbyte("verify", run)
    assert answer.returncode == 1
    assert "damaged: 1 of " in answer.stdout
    assert f"perbyte recover {run}" in answer.stderr
    document = json.loads(perbyte("verify", run, "--json").stdout)
    assert [file["name"] for file in document["files"] if file["state"] == "damaged"] == ["figures.json"]
    (run / "manifest.json").unlink()
    (run / "figures.json").unlink()
    assert perbyte("verify", run).returncode == 1, "run.json promises figures"


def test_a_run_of_an_older_version_cannot_be_told(perbyte, run):
    (run / "manifest.json").unlink()
    answer = perbyte("verify", run)
    assert answer.returncode == 5
    assert "without a manifest" in answer.stderr


def test_show_says_that_a_samples_file_is_damaged(perbyte, run):
    whole = perbyte("show", run)
    assert "damaged" not in whole.stderr
    samples = sorted(run.glob("samples-*"))[0]
    content = bytearray(samples.read_bytes())
    content[len(content) // 2] ^= 1
    samples.write_bytes(bytes(content))
    answer = perbyte("show", run)
    assert answer.returncode == 3, "figures of other samples are not believed, and of these there are none"
    assert f"{samples.name} is damaged" in answer.stderr
    assert f"perbyte recover {run}" in answer.stderr
    samples.unlink()
    answer = perbyte("show", run)
    assert f"damaged: {samples.name}" in answer.stderr
    assert f"perbyte verify {run}" in answer.stderr


def test_figures_by_older_rules_say_so_and_anew_computes_them(perbyte, run):
    stored = json.loads(perbyte("show", run, "--json").stdout)["cells"]
    assert stored == json.loads(perbyte("show", run, "--json", "--anew").stdout)["cells"]
    for name in ("figures.json", "run.json"):
        content = json.loads((run / name).read_text())
        (run / name).write_text(json.dumps(content | {"rules": 0}))
    older = json.loads(perbyte("show", run, "--json").stdout)["cells"]
    assert all("--anew computes it again" in cell["warnings"][-1] for cell in older)
    assert json.loads(perbyte("show", run, "--json", "--anew").stdout)["cells"] == stored
    assert "--anew" not in perbyte("compare", "alpha/*", "beta/*", "--run", run, "--anew").stdout
    sql = "SELECT count(*) AS n FROM cells WHERE list_contains(warning_kinds, 'older-rules')"
    counts = [
        json.loads(perbyte("query", sql, run, "--json", *anew).stdout)[0]["n"] for anew in ((), ("--anew",))
    ]
    assert counts == [len(stored), 0]


def test_what_is_lost_is_said_and_the_rest_is_a_run(perbyte, measured, run, tmp_path):
    whole = perbyte("show", run, "--json").stdout
    lost = sorted(run.glob("samples-*"))[0]
    lost.write_bytes(b"")
    answer = perbyte("recover", run, "--out", tmp_path / "saved")
    assert answer.returncode == 1
    assert f"lost: {lost.name}" in answer.stdout
    assert perbyte("verify", tmp_path / "saved").returncode == 0
    shown = json.loads(perbyte("show", tmp_path / "saved", "--json").stdout)
    assert len(shown["cells"]) == len(json.loads(whole)["cells"])
    assert [failure["kind"] for failure in shown["run"]["failures"]] == ["damaged"]
    again = perbyte("recover", run, "--out", tmp_path / "saved")
    assert again.returncode == 3
    assert "already holds a run" in again.stderr


def test_nothing_to_recover(perbyte, run):
    (run / "run.json").write_bytes(b"{")
    for file in run.glob("samples-*"):
        file.unlink()
    answer = perbyte("recover", run)
    assert answer.returncode == 3
    assert "nothing can be saved" in answer.stderr
    assert perbyte("recover", run.parent / "none").returncode == 2


@needs_keys
def test_a_signature_ends_with_any_change(perbyte, run, key, tmp_path):
    answer = perbyte("sign", run, "--key", key)
    assert answer.returncode == 0, answer.stderr
    assert "ED25519 SHA256:" in answer.stdout
    assert "signed: by ED25519 SHA256:" in perbyte("verify", run).stdout
    signers = tmp_path / "signers"
    signers.write_text(f"ann@example.org {key.with_suffix('.pub').read_text()}")
    known = perbyte("verify", run, "--signers", signers)
    assert (known.returncode, "by ann@example.org, ED25519" in known.stdout) == (0, True)
    page = tmp_path / "page.html"
    assert perbyte("report", run, "-o", page).returncode == 0
    assert "signed by ED25519 SHA256:" in page.read_text(encoding="utf-8")
    signers.write_text("")
    assert perbyte("verify", run, "--signers", signers).returncode == 1
    assert perbyte("verify", run, "--signers", tmp_path / "none").returncode == 2
    manifest = (run / "manifest.json").read_text()
    (run / "manifest.json").write_text(manifest.replace('"complete": true', '"complete":  true'))
    changed = perbyte("verify", run)
    assert (changed.returncode, "does not fit" in changed.stdout) == (1, True)
    (run / "manifest.json").write_text(manifest)
    (run / "manifest.json.sig").write_text("x")
    assert perbyte("verify", run).returncode == 1
    (run / "manifest.json.sig").unlink()
    assert perbyte("verify", run, "--signers", signers).returncode == 1, "no signature is none of theirs"


@needs_keys
def test_a_key_that_signs_nothing_and_a_run_that_is_not_whole(perbyte, run, key, tmp_path):
    answer = perbyte("sign", run, "--key", tmp_path / "none")
    assert (answer.returncode, "ssh-keygen -t" in answer.stderr) == (2, True)
    (run / "figures.json").unlink()
    assert perbyte("sign", run, "--key", key).returncode == 3
