"""A fleet that `--hosts` starts by SSH: a real server of SSH on the loopback, where one is installed."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from fleet_processes import LIMIT_S, free_port, wait_for

from perbyte.errors import UsageError
from perbyte.store import open_run

pytest.importorskip("distributed")

from perbyte.fleet.spread import _reached

PLAN = ("measure", "{alpha,beta}/sha-256@64", "--epochs", "2", "--precision", "20%")


@pytest.fixture
def reached(fleet, tmp_path, monkeypatch):
    """The port of a server that lets this user in, and whose commands have a home of their own."""
    server = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    client = shutil.which("ssh")
    if not server or not client or not shutil.which("ssh-keygen"):
        pytest.skip("no server of SSH is installed")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    home, port = tmp_path / "user", free_port()
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    (tmp_path / "bin").mkdir()
    given = "".join(
        f" -o {name}={home / '.ssh' / file}"
        for name, file in (("IdentityFile", "id_ed25519"), ("UserKnownHostsFile", "known_hosts"))
    )
    (tmp_path / "bin" / "ssh").write_text(f'#!/bin/sh\nexec {client} -F none{given} "$@"\n', encoding="utf-8")
    (tmp_path / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    for key in (tmp_path / "host-key", home / ".ssh" / "id_ed25519"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    known = " ".join((tmp_path / "host-key.pub").read_text(encoding="utf-8").split()[:2])
    (home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {known}\n", encoding="utf-8")
    over_there = fleet.environment("distant")
    names = ("PERBYTE_HOME", "PERBYTE_TEST_LOCKS", "PERBYTE_RUNNERS", "PERBYTE_AUDIT")
    lines = [
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {tmp_path / 'host-key'}",
        f"AuthorizedKeysFile {home / '.ssh' / 'id_ed25519.pub'}",
        "PermitRootLogin yes",
        "StrictModes no",
        "UsePAM no",
        "PidFile none",
        "SetEnv " + " ".join(f"{name}={over_there[name]}" for name in names),
    ]
    (tmp_path / "sshd_config").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (tmp_path / "sshd.txt").open("w", encoding="utf-8") as file:
        process = subprocess.Popen([server, "-D", "-e", "-f", tmp_path / "sshd_config"], stderr=file)
    wait_for(
        lambda: process.poll() is not None or "listening" in (tmp_path / "sshd.txt").read_text("utf-8"), 30
    )
    if process.poll() is not None:
        pytest.skip(f"the server of SSH does not start: {(tmp_path / 'sshd.txt').read_text('utf-8')[:300]}")
    yield port
    process.kill()
    process.wait()


def run(fleet, hosts: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    hosts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return subprocess.run(
        fleet.words("asker", ["perbyte.cli", "fleet", *PLAN, "--hosts", str(hosts)]),
        env=fleet.environment("asker"),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_a_fleet_begins_and_ends_with_the_command(fleet, reached, tmp_path):
    done = run(fleet, tmp_path / "hosts", "# one machine", f"{getpass.getuser()}@127.0.0.1:{reached}  # this")
    assert done.returncode == 0, done.stderr
    (back,) = (tmp_path / "asker" / "fleet-runs").glob("*/*/run.json")
    assert len(open_run(back.parent).cells) == 2
    assert list((tmp_path / "distant" / "fleet").glob("*/*/run/run.json")), "it was measured over there"
    assert "distributed" not in done.stderr
    wait_for(lambda: not _left_behind(tmp_path / "distant"), 60)


def test_a_machine_that_cannot_be_reached_is_said(fleet, reached, tmp_path):
    done = run(fleet, tmp_path / "hosts", f"127.0.0.1:{free_port()}")
    assert done.returncode == 3
    assert "error: no fleet could be started by SSH" in done.stderr
    assert "hint: this must work for each: ssh ssh://127.0.0.1:" in done.stderr
    (tmp_path / "user" / ".ssh" / "known_hosts").unlink()
    done = run(fleet, tmp_path / "hosts", f"127.0.0.1:{reached}")
    assert "Host key verification failed" in done.stderr
    assert run(fleet, tmp_path / "hosts", "# nobody").returncode == 2


def _left_behind(home: Path) -> list[str]:
    """Processes of a fleet whose home is there."""
    results = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if b"--secret" in (place / "cmdline").read_bytes():
                results += [place.name] * (str(home).encode() in (place / "environ").read_bytes())
        except OSError:
            continue
    return results


def test_hosts_are_written_as_for_ssh():
    assert _reached("example") == ("example", {})
    assert _reached("me@10.0.0.1:2222") == ("10.0.0.1", {"username": "me", "port": 2222})
    assert _reached("me@[fe80::1]:22") == ("fe80::1", {"username": "me", "port": 22})
    for wrong in ("a b", "a:b", "", "@host", "host:", "-oProxyCommand=x"):
        with pytest.raises(UsageError, match="is not a host"):
            _reached(wrong)
