"""An atlas in a real object store: S3's protocol on the loopback, by moto's server where there is one.

It brings sixty packages, so it is not in the lock file: `pip install 'moto[server]>=5.2'` anywhere, and name its
program in PERBYTE_MOTO_SERVER. One that merely lies in the path may be too old for Arrow.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from perbyte.atlas import add, open_atlas, pack, pull, query
from perbyte.atlas.reading import verify
from perbyte.errors import StoreError
from perbyte.store import open_run

SERVER = os.environ.get("PERBYTE_MOTO_SERVER", "")


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    if not SERVER:
        pytest.skip(
            "no S3-compatible server here: the tests of atlases used a directory and a store in memory"
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([SERVER, "-H", "127.0.0.1", "-p", str(port)], stdout=-3, stderr=-3)
    endpoint = f"http://127.0.0.1:{port}"
    for name, value in {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "PERBYTE_HOME": str(tmp_path / "home"),
    }.items():
        monkeypatch.setenv(name, value)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{endpoint}/speeds", method="PUT"))
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield "s3://speeds/perbyte"
    finally:
        server.kill()
        server.wait()


def test_runs_go_to_an_object_store_and_come_back(bucket, finished, tmp_path):
    paths = [finished(f"run-{k}", run_id=f"r-{k}") for k in range(3)]
    for path in paths:
        add(bucket, [path])
    sql = "SELECT run, count(*), sum(ticks) FROM samples GROUP BY run ORDER BY run"
    atlas = open_atlas(bucket)
    before = query(atlas, sql)
    assert len(before[1]) == 3
    assert verify(atlas) == []
    pack(bucket)
    atlas = open_atlas(bucket)
    assert query(atlas, sql) == before
    made = pull(atlas, list(atlas.runs), tmp_path / "pulled")
    assert [open_run(each_path).cells for each_path in sorted(made)] == [
        open_run(each_path).cells for each_path in paths
    ]
    with pytest.raises(StoreError):
        open_atlas("s3://nobody/perbyte")
