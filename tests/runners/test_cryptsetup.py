"""The kernel's own benchmark: its lines, and what is said where there are none."""

from __future__ import annotations

import stat

from perbyte.runners import cryptsetup

PRINTED = """\
# Tests are approximate using memory only (no storage IO).
# Algorithm |       Key |      Encryption |      Decryption
    aes-xts        512b      1612.9 MiB/s      1614.7 MiB/s
serpent-cbc        128b        52.0 MiB/s               N/A
"""


def test_lines_with_both_figures_are_read():
    assert cryptsetup.read_benchmark(PRINTED) == [("aes-xts", "512", "1612.9", "1614.7")]
    assert cryptsetup.read_benchmark("") == []


def program(tmp_path, monkeypatch, text: str) -> None:
    path = tmp_path / "cryptsetup"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def test_what_it_prints_is_said(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, f"cat <<'END'\n{PRINTED}END")
    lines = cryptsetup.kernel_lines()
    assert "aes-xts, keys of 512 bits: 1,613 MiB/s to encrypt, 1,615 MiB/s to decrypt." in lines


def test_a_kernel_that_does_not_answer_and_a_program_that_is_not_there_are_said(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "exit 1")
    assert "the kernel does not support it" in cryptsetup.kernel_lines()[0]
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "cryptsetup is not installed" in cryptsetup.kernel_lines()[0]
