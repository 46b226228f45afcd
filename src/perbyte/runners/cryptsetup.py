"""The kernel's own code for disks, as `cryptsetup benchmark` measures it, where it is there and the kernel answers."""

from __future__ import annotations

import re
import shutil
import subprocess

CIPHERS = (
    ("aes-xts-plain64", 256),
    ("aes-xts-plain64", 512),
    ("serpent-xts-plain64", 512),
    ("twofish-xts-plain64", 512),
    ("xchacha20,aes-adiantum-plain64", 256),
)
LONGEST_S = 6.0
_LINE = re.compile(r"^\s*(\S+)\s+(\d+)b\s+([\d.]+) MiB/s\s+([\d.]+) MiB/s\s*$", re.MULTILINE)


def kernel_lines() -> tuple[str, ...]:
    """Sentences on what the kernel's code does, or one that says why there are none."""
    program = shutil.which("cryptsetup")
    if not program:
        return (
            "cryptsetup is not installed: the figures are of user space, and the kernel's code (dm-crypt) can differ.",
        )
    lines: list[str] = []
    for cipher, bits in CIPHERS:
        try:
            answer = subprocess.run(
                [program, "benchmark", "--cipher", cipher, "--key-size", str(bits)],
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        lines += [
            f"{name}, keys of {size} bits: {float(up):,.0f} MiB/s to encrypt, {float(down):,.0f} MiB/s to decrypt."
            for name, size, up, down in read_benchmark(answer.stdout)
        ]
    if not lines:
        return (
            "cryptsetup is installed, but the kernel does not support it: these figures are of user space.",
        )
    return ("Measured by cryptsetup benchmark, without an interval:", *lines)


def read_benchmark(text: str) -> list[tuple[str, str, str, str]]:
    """Name, key bits and the MiB/s of both directions from each line of `cryptsetup benchmark` that has figures."""
    return _LINE.findall(text)
