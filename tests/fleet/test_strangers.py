"""Nobody gets into a fleet without its secret: other users, other machines, holders of another secret."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fleet_processes import Fleet, wait_for

from perbyte.errors import EnvironmentLacking, UsageError

pytest.importorskip("distributed")

from distributed import Client
from distributed.comm import connect

from perbyte.fleet import worker as worker_module
from perbyte.fleet.conduct import connected
from perbyte.fleet.secret import entry, make_secret, new_secret, read_secret, security
from perbyte.fleet.spread import spread

NOBODY = 65534
STRANGER = textwrap.dedent(
    """\
    import asyncio, os, sys
    import cloudpickle, distributed
    from distributed.comm import connect
    from distributed.core import rpc
    from perbyte.fleet.secret import security

    address, secret, user = sys.argv[1:4]
    guard = security(secret or None, insecure=not secret)
    if int(user):
        os.setgroups([])
        os.setresgid(int(user), int(user), int(user))
        os.setresuid(int(user), int(user), int(user))

    async def ask():
        line = rpc(address, connection_args=guard.get_connection_args("client"), timeout=1)
        told = await line.run(function=cloudpickle.dumps(lambda: __import__("os").getpid()))
        print("ran in process", told["result"])

    try:
        asyncio.run(asyncio.wait_for(ask(), 3))
    except Exception as error:
        print("refused:", type(error).__name__, error)
    sys.stdout.flush()
    os._exit(0)
    """
)


def run_apart(coroutine: Coroutine[Any, Any, object]) -> None:
    """Run it in a thread: a browser that other tests of the process share has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result()


def stranger(address: str, secret: str = "", user: int = 0, space: str = "") -> str:
    """What came of running a function in whatever listens at `address`, as `user`, from the network `space`."""
    before = ["ip", "netns", "exec", space] if space else []
    words = [*before, sys.executable, "-c", STRANGER, address, secret, str(user)]
    return subprocess.run(words, capture_output=True, text=True, timeout=30, check=False).stdout


def listening(process: int | str = "self") -> set[str]:
    """Addresses, with ports, at which a process listens by TCP, in hexadecimal as /proc/net has them."""
    inodes = set()
    for place in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(str(place.readlink()).removeprefix("socket:[").removesuffix("]"))
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {words[1] for words in lines if words[3] == "0A" and words[9] in inodes}


@pytest.fixture
def members(tmp_path, monkeypatch):
    """A scheduler and a worker in a thread of this process: their addresses, and the secret."""
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    secret, ready, end, told = new_secret(), threading.Event(), [], {}

    async def serve() -> None:
        stop, guard = asyncio.Event(), security(secret)
        async with worker_module.FleetScheduler(
            host="127.0.0.1", port=0, protocol="tls://", security=guard
        ) as scheduler:
            here = entry(scheduler.address, secret)
            host = await worker_module._reached_from(here)
            async with worker_module.MeasuringWorker(
                scheduler.address, name="one", host=host, security=guard
            ) as worker:
                told.update(scheduler=scheduler.address, worker=worker.address, secret=secret, home=tmp_path)
                end.append((asyncio.get_running_loop(), stop))
                ready.set()
                await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(20)
    yield told
    loop, stop = end[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join(20)


def test_members_listen_by_one_port_each_where_they_reach_each_other(members):
    home = Path(members["home"])
    assert not [place for place in sys.path if "dask" in place and not Path(place).is_relative_to(home)]
    ports = {f"0100007F:{int(members[name].rpartition(':')[2]):04X}" for name in ("scheduler", "worker")}
    assert listening() == ports


@pytest.mark.parametrize("user", [0, NOBODY])
def test_nobody_runs_anything_without_the_secret(members, user):
    if user and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    for name in ("scheduler", "worker"):
        for address in (members[name], members[name].replace("tls://", "tcp://")):
            guess = new_secret() if address.startswith("tls") else ""
            assert "refused" in stranger(address, guess, user)
    assert f"ran in process {os.getpid()}" in stranger(members["worker"], members["secret"], user), (
        "who has it gets in"
    )


def test_nothing_that_a_stranger_sends_is_decoded(monkeypatch, tmp_path):
    """Dask decodes messages, which may hold pickles, in `from_frames`."""
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    decoded, secret = [], new_secret()

    async def note(frames, **_):
        decoded.append(frames)
        raise OSError("decoded")

    monkeypatch.setattr("distributed.comm.tcp.from_frames", note)

    async def knock() -> None:
        async with worker_module.FleetScheduler(
            host="127.0.0.1", port=0, protocol="tls://", security=security(secret)
        ) as scheduler:
            host, port = scheduler.address.removeprefix("tls://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(
                (24).to_bytes(8, "little") + (1).to_bytes(8, "little") + (8).to_bytes(8, "little") + bytes(8)
            )
            with contextlib.suppress(ConnectionError):
                await asyncio.wait_for(reader.read(), 5)
            writer.close()
            for text, message in ((new_secret(), "TLS certificate does not match"), (secret, "decoded")):
                assert not decoded
                arguments = security(text).get_connection_args("client")
                with pytest.raises(OSError, match=message):
                    await connect(scheduler.address, timeout=1, **arguments)
            assert decoded, "a member is heard"

    run_apart(knock())


def test_another_secret_is_said_by_client_and_worker(members):
    wrong = entry(members["scheduler"], new_secret())
    with pytest.raises(EnvironmentLacking, match="the secret of this fleet") as refused, connected(wrong):
        pass
    assert "--secret FILE" in refused.value.hint
    joining = (
        "import asyncio, sys\n"
        "from perbyte.fleet.secret import entry\n"
        "from perbyte.fleet.worker import join\n"
        "asyncio.run(join(entry(sys.argv[1], sys.stdin.read()), 'two', print))"
    )
    # a worker handles signals, so it wants the main thread of a process
    joined = subprocess.run(
        [sys.executable, "-c", joining, members["scheduler"]],
        input=new_secret(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert joined.returncode
    assert "does not have the secret" in joined.stderr
    clear = entry(members["scheduler"].replace("tls", "tcp"), insecure=True)
    with pytest.raises(EnvironmentLacking, match="no scheduler answers"), connected(clear):
        pass


def test_the_secret_is_made_once_and_read_by_its_owner_only(tmp_path):
    place, before = tmp_path / "home" / "secret.pem", os.umask(0)
    try:
        assert make_secret(place)
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o600
    text = read_secret(place)
    assert not make_secret(place)
    assert read_secret(place) == text
    assert [child.name for child in place.parent.iterdir()] == ["secret.pem"]
    place.chmod(0o640)
    with pytest.raises(UsageError, match="others can read") as refused:
        read_secret(place)
    assert "chmod 600" in refused.value.hint
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(UsageError, match="no secret of a fleet"):
        read_secret(tmp_path / "link")
    for content in ("", "nothing", text.split("-----BEGIN CERT")[0], text.replace("M", "N")):
        (tmp_path / "wrong").write_text(content)
        (tmp_path / "wrong").chmod(0o600)
        with pytest.raises(UsageError, match="no key and certificate"):
            read_secret(tmp_path / "wrong")
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(UsageError):
        read_secret(tmp_path / "pipe")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_a_secret_that_another_user_put_there_is_refused(tmp_path, monkeypatch):
    place = tmp_path / "secret.pem"
    make_secret(place)
    os.chown(place, NOBODY, NOBODY)
    with pytest.raises(UsageError, match="belongs to another user"):
        read_secret(place)


def test_tls_is_taken_unless_insecure_is_said(tmp_path):
    secret = new_secret()
    for text in ("h", "h:8786", "tcp://h:8786", "tls://h:8786", "tls://h"):
        assert entry(text, secret).address == "tls://h:8786"
        assert entry(text, secret).security.require_encryption
    assert entry("[::1]:5", secret).address == "tls://[::1]:5"
    assert entry("tcp://h", insecure=True).address == "tcp://h:8786"
    assert not entry("h", insecure=True).security.require_encryption
    for wrong in ("", "inproc://h", "ws://h:1", "a b", "h:x", "tls://", "u@h"):
        with pytest.raises(UsageError, match="no address of a scheduler"):
            entry(wrong, secret)
    with pytest.raises(UsageError, match="--insecure is without TLS"):
        entry("tls://h", insecure=True)
    with pytest.raises(UsageError, match="no secret of a fleet"):
        entry("h", tmp_path / "none")


def test_processes_of_this_machine_listen_nowhere():
    before = listening()
    with spread(2, None) as over:
        processes = set(over(eval, ["__import__('os').getpid()"] * 4))
        assert os.getpid() not in processes
        assert listening() == before
        assert [listening(process) for process in processes] == [set()] * len(processes)


class Spaces(Fleet):
    """A fleet in the network namespace `perbyte-a`."""

    def words(self, name: str, words: list[str]) -> list[str]:
        return ["ip", "netns", "exec", "perbyte-a", *super().words(name, words)]


@pytest.fixture
def spaces(tmp_path):
    """Two network namespaces with a line between them; the fleet is in one, its address the other knows."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces need root and ip")
    names = [f"perbyte-{letter}" for letter in "ab"]

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", names[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", names[1])
        for number, name in enumerate(names, 1):
            ip("-n", name, "addr", "add", f"10.78.0.{number}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
    except subprocess.CalledProcessError as error:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        pytest.skip(f"no network namespaces: {error.stderr.decode()[:200]}")
    fleet = Spaces(tmp_path)
    yield fleet
    fleet.end()
    for name in names:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.78.0.1"])
def test_another_machine_runs_nothing(spaces, host):
    """The fleet is on loopback, or on the network; the stranger is a machine of that network."""
    spaces.host, spaces.address = host, f"tls://{host}:{spaces.port}"
    scheduler = spaces.scheduler()
    assert f"scheduler at tls://{host}:" in spaces.said(scheduler)
    worker = spaces.worker("one")
    wait_for(lambda: "joined" in spaces.said(worker) or worker.poll() is not None)
    shown = subprocess.run(
        ["ip", "netns", "exec", "perbyte-a", "ss", "-ltnH"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    listen = [line.split()[3] for line in shown]
    assert len(listen) == 2
    assert {address.rpartition(":")[0] for address in listen} == {host}
    for port in (address.rpartition(":")[2] for address in listen):
        assert "refused" in stranger(f"tls://10.78.0.1:{port}", new_secret(), space="perbyte-b")
        assert "refused" in stranger(f"tcp://10.78.0.1:{port}", space="perbyte-b")
        ours = stranger(f"tls://10.78.0.1:{port}", read_secret(Path(spaces.guard[1])), space="perbyte-b")
        assert ("refused" in ours) == (host == "127.0.0.1" or port == str(spaces.port)), ours


def test_insecure_is_said(fleet):
    fleet.guard, fleet.address = ["--insecure"], fleet.address.replace("tls", "tcp")
    scheduler = fleet.scheduler()
    assert "insecure: whoever reaches 127.0.0.1:" in fleet.said(scheduler)
    assert f"scheduler at {fleet.address}" in fleet.said(scheduler)
    with Client(fleet.address, set_as_default=False) as client:
        assert client.run_on_scheduler(os.getpid) == scheduler.pid, "as Dask by itself"
