"""The probe that looks for others on the core."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from perbyte import places

SDK = places.data_dir("runners") / "sdk" / "c"


@pytest.mark.native
@pytest.mark.skipif(platform.machine() != "x86_64", reason="x87")
def test_registers_of_the_x87_are_given_back_before_the_core_is_looked_at(tmp_path: Path) -> None:
    program = tmp_path / "x87"
    sources = [
        Path(__file__).with_name("x87.c"),
        *(
            SDK / f"{n}.c"
            for n in ("contention", "counter", "effect", "gauge", "kernel", "pmu", "window", "window_text")
        ),
    ]
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", f"-I{SDK}", "-o", program, *sources, "-lm"], check=True)
    answer = subprocess.run([program], capture_output=True, text=True, check=False)
    if answer.returncode == 77:
        pytest.skip("this processor does not tell which state is in use")
    assert answer.stdout.split() == ["1", "0"]
