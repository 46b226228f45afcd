"""No text of a runner, a run or a listing drives a terminal, forges a line, or becomes a formula."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
import unicodedata

import pytest
from fake_scripts import fault, row

from perbyte.model.text import plain, visible

NASTY = "v\x1b[31m\x1b]0;owned\x07\x1b[2J\r\x00\x08\x9b1m\u202eesrever\u2066\u200b\ufeff\u2028\nerror: forged\nhint: rm"
ACTIVE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def test_what_is_visible_is_every_control_and_every_format_and_nothing_else():
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        active = category in ("Cc", "Cf", "Zl", "Zp") and character not in "\n\t"
        shown = visible(character)
        if active:
            assert shown == (f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"), hex(code)
            assert not plain(character), hex(code)
        elif category[0] in "LMNPSZ" or character in "\n\t":
            assert shown == character, hex(code)
    assert visible("a\r\nb\rc") == "a\r\nb\\u000dc"


@pytest.fixture
def hostile(world, script):
    """One runner that lies in wait with every text it may send, one that refuses, one that dies with words."""
    more = {
        "library": "=cmd|' /C calc'!A0",
        "library_version": NASTY,
        "license": NASTY,
        "cpu_features": NASTY,
    }
    both = ("encrypt", "decrypt")
    rows = [row("aes-128-ecb", operation, "stream/1", per_call=50.0, calls=NASTY) for operation in both]
    world.add(
        {**script("alpha"), **more, "operations": rows},
        script("beta", faults=[fault("prepare", "refuse", nth=0, code="library", message=NASTY)]),
        script("gamma", faults=[fault("prepare", "crash", nth=0, how="SIGSEGV", stderr=NASTY)]),
    )
    spec = world.runners / "beta" / "runner.toml"
    toml = NASTY.encode("unicode_escape").decode().replace("\\x", "\\u00")
    spec.write_text(spec.read_text().replace('library = "Fake"', f'library = "Fake"\nsummary = "{toml}"'))
    return world


def clean(answer):
    """Nothing in what was printed drives a terminal, and no line is the runner's own."""
    for text in (answer.stdout, answer.stderr):
        assert not ACTIVE.search(text), ascii(ACTIVE.search(text))
        assert "\r" not in text.replace("\r\n", "\n")
        assert {"error: forged", "hint: rm"}.isdisjoint(text.splitlines())
    return answer


def test_a_hostile_runner_reaches_nobody(hostile, quick, tmp_path):
    out = tmp_path / "run"
    words = ("measure", "*/aes-128-ecb/encrypt@64", "--out", out, *[word for word in quick if word != "-q"])
    answer = clean(hostile.perbyte(*words))
    assert answer.returncode == 0, answer.stderr
    for command in (
        ("doctor",),
        ("list", "runners"),
        ("list", "operations"),
        ("list", "providers", "aes-128-ecb"),
        ("list", "runs"),
        ("show", out),
        ("methods", out),
        ("conform", "beta", "--quick"),
        ("conform", "gamma", "--quick"),
        ("query", "SELECT * FROM cells", out),
        ("verify", out),
    ):
        output = clean(hostile.perbyte(*command))
        assert output.returncode in (0, 1), output.stderr
    for command in (("show", out, "--csv"), ("export", out, "--format", "csv")):
        text = clean(hostile.perbyte(*command)).stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        assert {each_row["library"] for each_row in rows} == {"'=cmd|' /C calc'!A0"}
    rows = clean(hostile.perbyte("query", "SELECT library, '+1' AS x FROM cells", out, "--csv")).stdout
    assert rows.splitlines()[1].startswith("'=cmd")
    assert rows.splitlines()[1].endswith("'+1")
    for command in (("show", out, "--json"), ("doctor", "--json"), ("list", "operations", "--json")):
        json.loads(clean(hostile.perbyte(*command)).stdout)
    page = tmp_path / "page.html"
    assert clean(hostile.perbyte("report", out, "-o", page)).returncode == 0
    assert not ACTIVE.search(page.read_text(encoding="utf-8"))


def test_a_hostile_run_reaches_nobody(measured, perbyte, tmp_path):
    place = tmp_path / "run"
    shutil.copytree(measured.path, place)
    text = json.loads((place / "run.json").read_text())
    text["conditions"]["machine"]["cpu_model"] = NASTY
    text["conditions"]["run_id"] = "../../" + NASTY
    text["conditions"]["command"] = ["measure", NASTY]
    for identity in text["conditions"]["identities"]:
        identity |= {"library": NASTY, "library_version": NASTY, "object_path": NASTY}
    text["failures"] = [{"kind": NASTY, "runner": NASTY, "message": NASTY, "address": NASTY}]
    text["schema"] = 1
    (place / "run.json").write_text(json.dumps(text))
    for command in (
        ("show", place),
        ("show", place, "--csv"),
        ("methods", place),
        ("verify", place),
        ("query", "SELECT * FROM runs", place),
        ("compare", place, measured.path),
        ("recover", place, "--out", tmp_path / "saved"),
    ):
        clean(perbyte(*command))
    shown = clean(perbyte("show", place, "--json")).stdout
    assert json.loads(shown)["run"]["machine"]["cpu_model"] == NASTY, "JSON keeps it, escaped"


def test_a_name_that_is_a_path_makes_no_run_elsewhere(perbyte, world, tmp_path):
    listing = tmp_path / "listing.txt"
    listing.write_text(
        "The 'numbers' are in 1000s of bytes per second processed.\n"
        "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes\n"
        "md5              37333.03k   117019.52k   288364.12k   480299.35k   588431.36k\n"
    )
    for name in ("../x", "/tmp-x", "a/b", ".."):
        answer = clean(perbyte("import", "openssl-speed", listing, "--name", name))
        assert answer.returncode == 2, name
    assert perbyte("import", "openssl-speed", listing, "--name", "good").returncode == 0
    assert [path.name for path in (world.home / "runs").iterdir()] == ["good"]


def test_a_terminals_own_line_is_drawn_and_what_is_said_in_it_is_not(monkeypatch):
    import pty

    from perbyte.cli.streams import settle
    from perbyte.cli.terminal import LiveLine

    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as terminal:  # noqa: PTH123
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        settle()
        line = LiveLine()
        line.draw("\x1b[31mred\x07")
        line.close()
    import os

    expected = b"\r\x1b[2K[31mred\r\x1b[2K"
    written = b""
    while len(written) < len(expected):  # a terminal passes on what is written to it piece by piece
        written += os.read(ours, 1000)
    os.close(ours)
    assert written == expected
