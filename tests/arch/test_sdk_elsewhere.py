"""The C SDK's parts on processors of other byte order and instruction set: material, digests, probes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perbyte import places
from perbyte.protocol import material
from perbyte.runners import machinecode
from perbyte.runners.target import machine_of

sys.path.insert(0, str(Path(__file__).parent))

from processors import TARGETS, compiler, emulator, machine, require

pytestmark = [pytest.mark.native, pytest.mark.apart]

SDK = places.data_dir("runners") / "sdk" / "c"
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{SDK}")
SEEDS = (0, 11, 2**63 + 7, 2**64 - 1)
LENGTHS = (0, 1, 7, 8, 9, 63, 1000)

PROGRAM = r"""
#include "json.h"
#include "material.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static uint8_t bytes[1001];
	for (int i = 1; i + 1 < argc; i += 2) {
		uint64_t seed = strtoull(argv[i], NULL, 10);
		size_t length = strtoull(argv[i + 1], NULL, 10);
		pb_stream(seed, "key/3", bytes, length);
		printf("%016" PRIx64 " ", pb_digest(bytes, length));
		for (size_t k = 0; k < length; k++)
			printf("%02x", bytes[k]);
		printf("\n");
	}
	char line[] = "{\"verb\":\"x\",\"id\":-3,\"seed\":18446744073709551615,\"limit_ms\":0.25,\"handle\":4}";
	pb_request q;
	if (pb_json_parse(line, &q) != 0)
		return 1;
	printf("%" PRIu64 " ", pb_get_unsigned(&q, "seed", 0));
	printf("%" PRId64 " ", pb_get_integer(&q, "id", 0));
	printf("%.2f ", pb_get_number(&q, "limit_ms", 0));
	printf("%" PRId64 "\n", pb_get_integer(&q, "handle", -1));
	return 0;
}
"""


def compiled(target: str, place: Path, program: str) -> Path:
    require(target)
    source, made = place / "program.c", place / "program"
    source.write_text(program, encoding="utf-8")
    parts = [SDK / "material.c", SDK / "json.c"]
    subprocess.run([compiler(target), *FLAGS, "-o", made, source, *parts, "-lm"], check=True)
    return made


@pytest.mark.parametrize("target", TARGETS)
def test_material_and_digests_are_the_same_bytes(target: str, tmp_path: Path) -> None:
    """Against the orchestrator's own, which knows no byte order."""
    made = compiled(target, tmp_path, PROGRAM)
    asked = [(seed, length) for seed in SEEDS for length in LENGTHS]
    words = [str(number) for pair in asked for number in pair]
    ended = subprocess.run([*emulator(target), made, *words], capture_output=True, text=True, check=True)
    *lines, numbers = ended.stdout.splitlines()
    for (seed, length), line in zip(asked, lines, strict=True):
        data = material.stream(seed, "key/3", length)
        assert line == f"{material.digest(data)} {data.hex()}"
    assert numbers == "18446744073709551615 -3 0.25 4"


@pytest.mark.parametrize(
    ("target", "chain", "add", "rotate"),
    [
        ("aarch64-linux-gnu", ("eor", "sub", "eon"), "add", "ror"),
        ("riscv64-linux-gnu", ("xor", "sub", "xor"), "add", "srl"),
    ],
)
def test_each_block_is_a_hundred_links_and_nothing_else(
    target: str, chain: tuple[str, ...], add: str, rotate: str, tmp_path: Path
) -> None:
    """As the compiler left it: each link waits for the one before, in one register."""
    require(target)
    objdump = f"{target}-objdump"
    if not shutil.which(objdump):
        pytest.skip(f"there is no {objdump}")
    made = tmp_path / "gauge.so"
    linked = ["-shared", "-fPIC", "-o", made, *sorted(SDK.glob("*.c")), "-lm"]
    subprocess.run([compiler(target), *FLAGS, *linked], check=True)
    for function, links in (("clock_probe", chain), ("add_probe", (add,)), ("rotate_probe", (rotate,))):
        output = subprocess.run(
            [objdump, "--disassemble=" + function, "--no-show-raw-insn", made],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        matches = re.findall(r":\s+([a-z]+)\s+(\w+),(\w+),(\w+)", output.replace(", ", ","))
        steps = [
            (name, to, a, b)
            for name, to, a, b in matches
            if name in links and b[0].isalpha() and to in (a, b)
        ]
        block = steps[: 100 * len(links)]  # the ticks are subtracted after it
        assert [step[0] for step in block] == list(links) * 100
        assert len({step[1] for step in block}) == 1, "one register"


@pytest.mark.parametrize("target", TARGETS)
def test_all_of_the_sdk_is_compiled_without_a_warning(target: str, tmp_path: Path) -> None:
    require(target)
    for source in sorted(SDK.glob("*.c")):
        subprocess.run([compiler(target), *FLAGS, "-c", "-o", tmp_path / "one.o", source], check=True)
        assert machine_of(tmp_path / "one.o") == machine(target)


# The instructions by which a library's object is said to have AES, carry-less multiplication and SHA.
INSTRUCTIONS = {
    "aarch64": (
        "-march=armv8-a+crypto",
        {
            "aes": "aese v0.16b, v1.16b",
            "clmul": "pmull v0.1q, v1.1d, v2.1d",
            "sha": "sha256h q0, q1, v2.4s",
        },
    ),
    "riscv64": (
        "-march=rv64gc_zkne_zknh_zbc",
        {"aes": "aes64esm a0, a1, a2", "clmul": "clmulh a0, a1, a2", "sha": "sha256sum0 a0, a1"},
    ),
    "s390x": ("-march=z14", {"aes": "km %r2, %r4", "clmul": "vgfmg %v0, %v1, %v2", "sha": "kimd %r2, %r4"}),
}
PLAIN = {"aarch64": "add x0, x1, x2", "riscv64": "add a0, a1, a2", "s390x": "agr %r2, %r4"}


@pytest.mark.parametrize("target", TARGETS)
def test_the_instructions_that_an_object_may_lack_are_recognised(target: str, tmp_path: Path) -> None:
    """As each disassembler writes them."""
    require(target)
    option, known = INSTRUCTIONS[machine(target)]
    pattern = machinecode._INSTRUCTIONS[machine(target)]
    for feature, text in [*known.items(), (None, PLAIN[machine(target)])]:
        source, made = tmp_path / "one.s", tmp_path / "one.o"
        source.write_text(f"f:\n\t{text}\n", encoding="utf-8")
        subprocess.run([compiler(target), option, "-c", "-o", made, source], check=True)
        output = subprocess.run(
            [f"{target}-objdump", "--disassemble", "--no-show-raw-insn", made],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        lastgroups = {match.lastgroup for match in map(pattern.search, output.splitlines()) if match}
        assert lastgroups == ({feature} if feature else set()), output
