"""What is printed where: tables, JSON and CSV on stdout, progress and remarks on stderr, nothing else anywhere."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import pytest

FIELDS = [
    "address",
    "runner",
    "library",
    "library_version",
    "algorithm",
    "operation",
    "contract",
    "cpu",
    "size_bytes",
    "cycles_per_byte",
    "cycles_per_call",
    "ns_per_call",
    "megabytes_per_second",
    "interval_low",
    "interval_high",
    "interval_level",
    "samples",
    "clean_samples",
    "epochs",
    "quality",
    "cycle_source",
    "warnings",
]
TRUE = {
    ("aes-128-ecb", "encrypt"): (50.0, 0.5),
    ("aes-128-ecb", "decrypt"): (50.0, 0.75),
    ("sha-256", "digest"): (400.0, 4.0),
}


def true_cycles(cell):
    per_call, per_byte = TRUE[cell["algorithm"], cell["operation"]]
    return per_call + per_byte * cell["size_bytes"]


def test_json_has_the_promised_fields_in_the_promised_order(measured):
    content = json.loads(measured.answer.stdout)
    assert set(content) == {"schema_version", "run", "cells", "bindings"}
    assert len(content["cells"]) == 2 * (4 + 1)
    for cell in content["cells"]:
        assert list(cell)[: len(FIELDS)] == FIELDS


def test_json_says_what_the_scripts_cost(measured):
    for cell in json.loads(measured.answer.stdout)["cells"]:
        true = true_cycles(cell)
        assert cell["cycles_per_call"] == pytest.approx(true, rel=0.001)
        assert cell["cycles_per_byte"] == pytest.approx(true / cell["size_bytes"], rel=0.001)
        assert cell["ns_per_call"] == pytest.approx(true / 2.7, rel=0.001)
        assert cell["megabytes_per_second"] == pytest.approx(
            cell["size_bytes"] / (true / 2.7) * 1e3, rel=0.001
        )
        assert cell["interval_low"] <= cell["cycles_per_call"] <= cell["interval_high"]
        assert cell["interval_level"] == 0.95
        assert (cell["quality"], cell["cycle_source"], cell["cpu"]) == ("good", "probe", "full")
        assert 0 < cell["clean_samples"] <= cell["samples"]
        assert cell["epochs"] >= 3
        assert cell["warnings"] == []
        versions = {"alpha": ("Fake alpha", "1.0"), "beta": ("Other", "2.5")}
        assert (cell["library"], cell["library_version"]) == versions[cell["runner"]]


def test_json_carries_the_conditions_of_the_run(measured):
    run = json.loads(measured.answer.stdout)["run"]
    assert run["complete"] is True
    assert run["path"] == str(measured.path)
    assert run["measuring_s"] > 0
    assert run["noise_floor"]["relative"] < 0.001
    assert run["command"][:2] == ["measure", "*/aes-128-ecb@16,512"]
    assert len(run["plan"]) == 10
    assert run["machine"]["kernel"]
    assert {identity["runner"] for identity in run["identities"]} == {"alpha", "beta"}
    assert all(re.fullmatch("[0-9a-f]{64}", identity["object_sha256"]) for identity in run["identities"])
    assert run["policy"]["seed"] == 7
    assert run["catalogue_version"]


def test_show_says_what_measure_said(measured):
    assert json.loads(measured.answer.stdout) == measured.world.shown(measured.path)


def test_csv_has_the_same_cells_and_parses(measured):
    answer = measured.world.perbyte("show", measured.path, "--csv")
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    cells = json.loads(measured.answer.stdout)["cells"]
    assert [row["address"] for row in rows] == [cell["address"] for cell in cells]
    assert list(rows[0])[: len(FIELDS)] == FIELDS
    for row, cell in zip(rows, cells, strict=True):
        assert float(row["cycles_per_call"]) == cell["cycles_per_call"]
        assert int(row["samples"]) == cell["samples"]
    assert answer.stderr == ""


def test_the_table_has_every_row_column_and_figure(measured):
    answer = measured.world.perbyte("show", measured.path)
    assert answer.returncode == 0
    for word in ("aes-128-ecb", "sha-256", "alpha", "beta", "encrypt", "decrypt", "digest", "16 B", "512 B"):
        assert word in answer.stdout
    assert "cycles per byte" in answer.stdout
    assert re.search(r"3\.6[23]\d?", answer.stdout), "58 cycles for 16 bytes"
    assert "noise floor" in answer.stdout
    assert "Fake alpha 1.0" in answer.stdout
    assert "Other 2.5" in answer.stdout


@pytest.mark.parametrize(
    ("unit", "figure"),
    [("cycles/byte", "0.598"), ("cycles/call", "306"), ("ns/call", "113"), ("MB/s", "4518")],
)
def test_every_unit_shows_its_own_figures(measured, unit, figure):
    answer = measured.world.perbyte("show", measured.path, "--unit", unit)
    assert answer.returncode == 0
    shown = answer.stdout.replace(",", "")
    assert figure[:3] in shown.replace(".", "") if unit == "MB/s" else figure in shown


def test_off_a_terminal_nothing_is_coloured_or_drawn_over(measured):
    for text in (measured.answer.stdout, measured.answer.stderr):
        assert "\x1b" not in text
        assert "\r" not in text.replace("\r\n", "\n")
    assert "\x1b" not in measured.world.perbyte("show", measured.path).stdout


def on_a_terminal(world, *words, **environment):
    """What is printed on a terminal of 100 columns, by way of script(1)."""
    import pty

    try:
        head, tail = pty.openpty()
    except OSError as error:
        pytest.skip(f"there are no terminals here: {error}")  # a container without devpts
    process = subprocess.Popen(
        [sys.executable, "-m", "perbyte.cli", *map(str, words)],
        env={**world.environment, "TERM": "xterm-256color", **environment},
        stdin=subprocess.DEVNULL,
        stdout=tail,
        stderr=tail,
        close_fds=True,
    )
    import os

    os.close(tail)
    taken = b""
    while True:
        try:
            piece = os.read(head, 65536)
        except OSError:
            break
        if not piece:
            break
        taken += piece
    os.close(head)
    assert process.wait(60) == 0
    return taken.decode()


def test_no_color_is_obeyed_on_a_terminal(measured):
    coloured = on_a_terminal(measured.world, "show", measured.path)
    plain = on_a_terminal(measured.world, "show", measured.path, NO_COLOR="1")
    assert "\x1b[" in coloured
    assert "\x1b[" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_progress_on_a_terminal_is_one_line_that_is_taken_away(measured, tmp_path):
    told = on_a_terminal(measured.world, "measure", "alpha/sha-256@16", "--out", tmp_path / "run")
    assert "epoch 1" in told
    assert "cells done" in told
    line = next(part for part in told.split("\r\x1b[2K") if "cells done" in part)
    assert re.match(r"\d+ s, (about|at most) \d+ s left", line), "what a narrow terminal shows first"
    assert told.count("\r\x1b[2K") >= 2
    lines = told.replace("\r\n", "\n").split("\n")
    after = [line for line in lines if "sha-256" in line][-1]
    assert "cells done" not in after, "the progress line is gone before the table"


def test_quiet_is_silent_on_stderr(measured, tmp_path):
    answer = measured.world.perbyte(
        "measure", "alpha/sha-256@16", "--out", tmp_path / "run", "--quiet", "--epochs", 1
    )
    assert answer.returncode == 0
    assert answer.stderr == ""
    assert "sha-256" in answer.stdout


def test_remarks_name_the_run_and_progress_goes_to_stderr(measured):
    assert f"run: {measured.path}" in measured.answer.stderr
    assert "epoch 1" in measured.answer.stderr
    json.loads(measured.answer.stdout)  # and nothing of it in the data


def test_without_out_the_run_lies_in_the_home_and_show_finds_the_newest(world, script, quick):
    world.add(script("alpha"))
    for size in (16, 32):
        assert world.perbyte("measure", f"alpha/sha-256@{size}", *quick).returncode == 0
    assert len(list((world.home / "runs").iterdir())) == 2
    newest = json.loads(world.perbyte("show", "--json").stdout)
    assert [cell["size_bytes"] for cell in newest["cells"]] == [32]
    listed = json.loads(world.perbyte("list", "runs", "--json").stdout)
    assert [(run["cells"], run["complete"]) for run in listed] == [(1, True), (1, True)]


def test_a_reader_that_goes_away_is_no_error(measured):
    for words in (
        ("list", "algorithms"),
        ("list", "algorithms", "--json"),
        ("show", measured.path, "--json"),
        ("completion", "bash"),
        ("--help",),
        ("measure", "--help"),
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "perbyte.cli", *map(str, words)],
            env=measured.world.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout
        process.stdout.close()  # before a byte was read
        assert process.stderr
        told = process.stderr.read().decode()
        process.stderr.close()
        assert process.wait(60) == 0, (words, told)
        assert told == "", (words, told)


def test_head_takes_one_line(measured):
    command = f"'{sys.executable}' -m perbyte.cli list algorithms | head -1"
    answer = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=measured.world.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("algorithm")
