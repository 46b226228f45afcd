"""The kernel is asked nothing between samples, and what it does to the thread shows all the same."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from pathlib import Path

import pytest

SDK = Path(__file__).parents[2] / "runners" / "sdk" / "c"
SWITCHED, FAULTED = 1, 4
RSEQ = {"x86_64": 334, "aarch64": 293}


def has_rseq() -> bool:
    """Does this kernel have the system call, and did the C library register it or leave it to us?"""
    number = RSEQ.get(platform.machine())
    libc = ctypes.CDLL(None, use_errno=True)
    # a length that is never right: EINVAL or EBUSY where there is such a call, ENOSYS where not
    return number is not None and libc.syscall(number, None, 0, 0, 0) == -1 and ctypes.get_errno() != 38


def seen(tmp_path: Path, *flags: str) -> list[list[int]]:
    program = tmp_path / "kernel_seen"
    sources = [str(Path(__file__).with_name("kernel_seen.c")), str(SDK / "kernel.c")]
    command = ["cc", "-O2", "-D_GNU_SOURCE", f"-I{SDK}", *flags, "-o", str(program), *sources]
    subprocess.run(command, check=True)
    answer = subprocess.run([program], capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in answer.stdout.splitlines()]


@pytest.mark.native
@pytest.mark.skipif(not has_rseq(), reason="this kernel has no rseq")
def test_switches_show_without_a_question_and_faults_cost_their_burst(tmp_path: Path) -> None:
    _, calm, interrupted, first_fault, second_fault, after, later = seen(tmp_path)
    assert calm == [0, 0, 0, 0]
    assert interrupted == [0, 0, SWITCHED, 0]  # a signal, as a switch does, clears the mark
    assert first_fault == [0, FAULTED, FAULTED, FAULTED]
    assert second_fault == [1, 0, FAULTED, 0]  # now each sample is asked about
    assert after == [1, 0, 0, 0]
    assert later == [0, 0, 0, 0]


@pytest.mark.native
def test_without_an_area_each_sample_is_asked_about(tmp_path: Path) -> None:
    _, calm, _, fault, again, *_ = seen(tmp_path, "-DPB_NO_RSEQ")
    assert calm == [1, 0, 0, 0]
    assert fault == again == [1, 0, FAULTED, 0]
