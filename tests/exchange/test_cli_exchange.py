"""`perbyte import`, `export` and `compare` of many runs, as typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perbyte.cli import main
from perbyte.store import open_run

LISTINGS = Path(__file__).parent / "listings"


@pytest.fixture
def perbyte(monkeypatch, tmp_path, capsys):
    """A function that runs a command line: (exit code, stdout, stderr)."""
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "120")

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["perbyte", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out, told.err

    return run


def test_a_file_of_three_listings_becomes_three_runs(perbyte, tmp_path):
    code, out, err = perbyte("import", "openssl-speed", LISTINGS / "three-machines.txt")
    assert code == 0
    assert err == ""
    places = [Path(line.split("  ")[0]) for line in out.splitlines()]
    assert places == [tmp_path / "home" / "runs" / f"three-machines-{n}" for n in (1, 2, 3)]
    assert "139 cells, 10 not available; OpenSSL, Intel(R) Pentium(R) 4 CPU 3.00GHz" in out
    run = open_run(places[2])
    assert run.conditions.origin == "imported"
    assert run.complete
    assert len(run.cells) == 114
    assert not run.cells[0].interval.known
    code, out, _ = perbyte("show", places[2], "--unit", "MB/s")
    assert code == 0
    assert "247.1" in out  # md5 at 8192 bytes
    assert "►" not in out  # nothing without an interval is called the fastest
    assert "absent" in out


def test_json_of_an_imported_run_is_valid(perbyte):
    perbyte(
        "import", "openssl-speed", LISTINGS / "openssl-1.1.1g.txt", "--out", "unused", "--name", "arm", "-q"
    )
    code, out, _ = perbyte("show", "unused", "--json")
    assert code == 0
    cell = json.loads(out)["cells"][0]
    assert cell["interval_high"] is None
    assert cell["megabytes_per_second"] == pytest.approx(106.86563)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def test_a_report_of_an_imported_run_can_be_written(perbyte, tmp_path):
    perbyte("import", "openssl-speed", LISTINGS / "openssl-3.0.22.txt", "--out", "run", "-q")
    code, _, err = perbyte("report", "run", "-o", "report.html")
    assert code == 0, err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "blowfish-cbc" in page
    assert "Infinity" not in page
    assert "NaN" not in page.split("<script", 1)[1].split("vega", 1)[0]


def test_remarks_go_to_stderr_and_into_the_run(perbyte):
    code, out, err = perbyte("import", "openssl-speed", LISTINGS / "openssl-3.6.3.txt", "--out", "run")
    assert code == 0
    assert len(out.splitlines()) == 1
    assert "line 14: rsa 2048 bits, encrypt" in err
    assert any("encrypt" in remark for remark in open_run(Path("run")).conditions.input["remarks"])


def test_a_truncated_listing_is_refused_and_with_partial_marked(perbyte, tmp_path):
    text = (LISTINGS / "three-machines.txt").read_text(encoding="utf-8")
    (tmp_path / "cut.txt").write_text(text[:2500], encoding="utf-8")
    code, out, err = perbyte("import", "openssl-speed", "cut.txt")
    assert code == 2
    assert out == ""
    assert "cut.txt, line 37" in err
    assert "--partial" in err
    assert not (tmp_path / "home").exists()
    code, out, err = perbyte("import", "openssl-speed", "cut.txt", "--partial")
    assert code == 0
    assert "INCOMPLETE" in out
    assert "line 37" in err
    assert not open_run(tmp_path / "home" / "runs" / "cut").complete


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"hello\n", "is not a listing"), (b"", "is empty"), (b"\0\1\2", "binary"), (None, "there is no file")],
)
def test_bad_files_are_named(perbyte, tmp_path, content, what):
    if content is not None:
        (tmp_path / "bad.txt").write_bytes(content)
    code, out, err = perbyte("import", "openssl-speed", "bad.txt")
    assert (code, out) == (2, "")
    assert what in err
    assert "bad.txt" in err


def test_one_bad_file_among_good_ones_leaves_nothing_behind(perbyte, tmp_path):
    (tmp_path / "bad.txt").write_text("hello\n", encoding="utf-8")
    code, _, _ = perbyte("import", "openssl-speed", LISTINGS / "openssl-1.1.1g.txt", "bad.txt")
    assert code == 2
    assert not (tmp_path / "home").exists()


def test_a_listing_of_strangers_is_refused(perbyte, tmp_path):
    (tmp_path / "x.txt").write_text("type  16 bytes\nghash   12.00k\n", encoding="utf-8")
    code, _, err = perbyte("import", "openssl-speed", "x.txt")
    assert code == 2
    assert "ghash" in err


def test_names_are_not_taken_twice_unless_asked(perbyte, tmp_path):
    listing = LISTINGS / "openssl-1.1.1g.txt"
    assert perbyte("import", "openssl-speed", listing, "--name", "arm")[0] == 0
    code, _, err = perbyte("import", "openssl-speed", listing, "--name", "arm")
    assert code == 2
    assert "--replace" in err
    assert perbyte("import", "openssl-speed", listing, "--name", "arm", "--replace")[0] == 0
    assert len(open_run(tmp_path / "home" / "runs" / "arm").cells) == 6


def test_the_version_and_the_machine_may_be_told(perbyte, tmp_path):
    (tmp_path / "gcm.txt").write_text("type  16 bytes\naes-128-gcm   863579.61k\n", encoding="utf-8")
    (tmp_path / "dmesg").write_text("CPU: Some CPU (2000.00-MHz K8-class CPU)\n", encoding="utf-8")
    assert perbyte("import", "openssl-speed", "gcm.txt")[0] == 2
    more = ("--library-version", "3.3.1", "--machine", "dmesg", "--out", "run")
    assert perbyte("import", "openssl-speed", "gcm.txt", *more)[0] == 0
    run = open_run(Path("run"))
    assert run.cells[0].cell.contract == "stream/1"
    assert run.cells[0].library_version == "3.3.1"
    assert run.conditions.machine.cpu_model == "Some CPU"


def test_files_of_one_machine_can_be_joined(perbyte):
    code, out, _ = perbyte(
        "import",
        "openssl-speed",
        LISTINGS / "openssl-3.6.3.txt",
        LISTINGS / "openssl-3.6.3.txt",
        "--join",
        "-q",
    )
    assert code == 0
    assert len(out.splitlines()) == 1


def test_export_and_import_are_inverse(perbyte, tmp_path):
    perbyte("import", "openssl-speed", LISTINGS / "openssl-3.0.22.txt", "--out", "run", "-q")
    code, out, err = perbyte("export", "run", "--format", "openssl-speed")
    assert (code, err) == (0, "")
    (tmp_path / "table.txt").write_text(out, encoding="utf-8")
    assert perbyte("import", "openssl-speed", "table.txt", "--out", "again", "-q")[0] == 0
    first, second = open_run(Path("run")), open_run(Path("again"))
    assert {c.cell: c.ns_per_call for c in second.cells} == pytest.approx(
        {c.cell: c.ns_per_call for c in first.cells}, rel=1e-3
    )
    code, out, _ = perbyte("export", "run", "--format", "csv", "-o", "run.csv")
    assert (code, out) == (0, "")
    assert (tmp_path / "run.csv").read_text(encoding="utf-8").count("\n") == 41
    code, out, _ = perbyte("export", "run")
    assert len(json.loads(out)["cells"]) == 40
    code, _, err = perbyte("export", "run", "-o", "run.csv/place.json")
    assert code == 3
    assert "cannot be written" in err


def test_machines_stand_side_by_side(perbyte, tmp_path):
    perbyte("import", "openssl-speed", LISTINGS / "three-machines.txt", "-q")
    perbyte("import", "openssl-speed", LISTINGS / "openssl-3.0.22.txt", "--name", "now", "-q")
    runs = [tmp_path / "home" / "runs" / name for name in ("now", "three-machines-1", "three-machines-3")]
    code, out, _ = perbyte("compare", *runs)
    assert code == 0
    assert ["now", "three-machines-1", "three-machines-3"] in [line.split() for line in out.splitlines()]
    assert "sha-256, openssl | openssl-lowlevel" in out
    line = next(
        line for line in out.splitlines() if line.strip().startswith("digest 8 KiB") and "754.3" in line
    )
    assert "369.3   ×2.04?" in line  # md5 then and now
    assert "absent" in out  # MDC2 on the Atom
    assert "?: no interval is known" in out
    code, out, _ = perbyte("compare", *runs, "--json")
    content = json.loads(out)
    assert content["sides"] == ["now", "three-machines-1", "three-machines-3"]
    (md5,) = [r for r in content["rows"] if (r["algorithm"], r["size_bytes"]) == ("md5", 8192)]
    assert md5["figures"][1]["ratio"] == pytest.approx(754321.38 / 369262.31)
    assert (md5["figures"][1]["tie"], md5["figures"][1]["answer"]) == (False, "undecided")
    assert md5["figures"][0]["ratio"] is None


def test_two_runs_side_by_side_on_request(perbyte, tmp_path):
    perbyte("import", "openssl-speed", LISTINGS / "openssl-0.9.8zh.txt", "--name", "old", "-q")
    perbyte("import", "openssl-speed", LISTINGS / "openssl-3.0.22.txt", "--name", "new", "-q")
    old, new = (tmp_path / "home" / "runs" / name for name in ("old", "new"))
    code, _, err = perbyte("compare", old, new)
    assert code == 2
    assert "--side-by-side" in err
    code, out, _ = perbyte("compare", old, new, "--side-by-side", "--unit", "ns/call")
    assert code == 0
    assert "nanoseconds per call" in out
    code, _, err = perbyte("compare", old, new, "openssl/*")
    assert code == 2
    assert "is not a run" in err
    assert perbyte("compare", old)[0] == 2
    assert perbyte("compare", old, old, "--unit", "MB/s")[0] == 2, "a run beside itself"
    assert perbyte("compare", old, new, "--json", "--csv")[0] == 2


def test_what_a_listing_says_cannot_steer_the_terminal(perbyte, tmp_path):
    text = "OpenSSL 3.0\x1b]0;owned\x07 1 Jan\ntype  16 bytes\ngh\x07\x9b31mash   12.00k\nmd5   12.00k\n"
    (tmp_path / "x.txt").write_text(text, encoding="utf-8")
    code, out, err = perbyte("import", "openssl-speed", "x.txt")
    assert code == 0
    for letter in "\x1b\x07\x9b":
        assert letter not in out + err
