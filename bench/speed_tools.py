"""Libraries' own speed tools beside Perbyte: the same calls, in the same minutes, in nanoseconds a call.

    .venv/bin/python bench/speed_tools.py [--tool NAME=PATH]... [--seconds 0.5] [--rounds 2] [--budget 12s]

`openssl` is there wherever the library is. The others are programs of the libraries' sources that no package has, so
they are named: `aws-lc` (bssl speed), `boringssl` (the benchmark program that took its place), `botan` (botan speed),
`wolfssl` (wolfcrypt/benchmark/benchmark), `liboqs` (speed_kem), `libgcrypt` (tests/bench-slope), `cryptopp` (cryptest).
Linked against the library that the runner was built with, a tool measures the same machine code. Each round runs all
tools and then Perbyte, once; printed is what each said in each round, in nanoseconds a call, and the quotient of the
smallest of both. A tool prints the mean over everything that happens in its time, Perbyte the median of samples that
nothing disturbed: on a shared machine the quotient is above 1.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Cells = dict[str, float]  # cell: ns a call
AEAD = "aes-256-gcm/seal@16384"


@dataclass(frozen=True)
class Tool:
    """How a tool is asked: commands with {tool} and {seconds}, and what reads their output."""

    commands: tuple[str, ...]
    read: Callable[[str], Iterator[tuple[str, float]]]


def of_openssl(text: str) -> Iterator[tuple[str, float]]:
    """`openssl speed -mr`: bytes or operations a second."""
    if match := re.search(r"^\+F:\d+:AES-256-GCM:([\d.]+)", text, re.M):
        yield AEAD, 16384 / float(match[1]) * 1e9
    if match := re.search(r"^\+F:\d+:sha256:([\d.]+)", text, re.M):
        yield "sha-256/digest@16384", 16384 / float(match[1]) * 1e9
    if match := re.search(
        r"^\+F6:\d+:253:[^:]*:([\d.]+)", text, re.M
    ):  # EdDSA: signatures a second, then verifications
        yield "ed25519/sign@32", 1e9 / float(match[1])
    if match := re.search(r"^\+F5:\d+:253:([\d.]+)", text, re.M):
        yield "x25519/derive@32", 1e9 / float(match[1])


def of_bssl(text: str) -> Iterator[tuple[str, float]]:
    """AWS-LC's `bssl speed -json`."""
    names = {
        r"^AEAD-AES-256-GCM seal$": AEAD,
        r"^Ed25519 signing$": "ed25519/sign@32",
        r"^Curve25519 arbitrary point multiplication$": "x25519/derive@32",
        r"^ML-KEM-768 decaps$": "ml-kem-768/decapsulate",
    }
    for document in json.loads(text[text.index("[") :]):
        for pattern, cell in names.items():
            if re.search(pattern, document["description"]) and document.get("bytesPerCall", 16384) == 16384:
                yield cell, 1e3 * document["microseconds"] / document["numCalls"]


def of_google_benchmark(text: str) -> Iterator[tuple[str, float]]:
    """BoringSSL's benchmarks, `--benchmark_format=json`: CPU time an iteration."""
    names = {
        r"/seal_aes_256_gcm/InputSize:16384$": AEAD,
        r"Curve25519ArbitraryPointMultiply/threads:1$": "x25519/derive@32",
        r"Ed25519Sign/threads:1$": "ed25519/sign@32",
    }
    scale = {"ns": 1.0, "us": 1e3, "ms": 1e6}
    for benchmark in json.loads(text[text.index("{") :])["benchmarks"]:
        for pattern, cell in names.items():
            if re.search(pattern, benchmark["name"], re.I):
                yield cell, benchmark["cpu_time"] * scale[benchmark["time_unit"]]


def of_botan(text: str) -> Iterator[tuple[str, float]]:
    """`botan speed --format=json`: events of a bulk operation are bytes, of the others calls."""
    names = {
        "X25519": "x25519/derive@32",
        "Ed25519": "ed25519/sign@32",
        "ML-KEM-768": "ml-kem-768/decapsulate",
    }
    wanted = {"X25519": "key agreements", "Ed25519": "sign", "ML-KEM-768": "decrypt|decaps"}
    for document in json.loads(text[text.index("[") : text.rindex("]") + 1]):
        algorithm, operation = document.get("algo", ""), document.get("op", "")
        if (
            algorithm.startswith("AES-256/GCM")
            and operation == "encrypt"
            and document.get("buf_size") == 16384
        ):
            yield AEAD, document["nanos"] / (document["bps"] * document["nanos"] / 1e9 / 16384)
        for start, cell in names.items():
            if algorithm.startswith(start) and re.search(wanted[start], operation) and document.get("events"):
                yield cell, document["nanos"] / document["events"]


def of_wolfcrypt(text: str) -> Iterator[tuple[str, float]]:
    """`benchmark`: MiB/s, or operations a second."""
    bulk = {r"AES-256-GCM-enc ": AEAD, r"SHA-256 ": "sha-256/digest@16384"}
    calls = {r"CURVE  25519  agree": "x25519/derive@32", r"ED     25519   sign": "ed25519/sign@32"}
    for pattern, cell in bulk.items():
        if match := re.search(rf"^{pattern}.*?([\d.]+) MiB/s", text, re.M):
            yield cell, 16384 / (float(match[1]) * 2**20) * 1e9
    for pattern, cell in calls.items():
        spaced = r"\s+".join(pattern.split())
        if match := re.search(rf"^{spaced}.*?([\d.]+) ops/sec", text, re.M):
            yield cell, 1e9 / float(match[1])
    if match := re.search(r"^ML-KEM 768\s+\d+\s+decap.*?([\d.]+) ops/sec", text, re.M):
        yield "ml-kem-768/decapsulate", 1e9 / float(match[1])


def of_bench_slope(text: str) -> Iterator[tuple[str, float]]:
    """libgcrypt's `bench-slope`: nanoseconds a byte, the slope between buffers of 32 to 64 KiB; or a call."""
    if match := re.search(r"GCM enc \|\s+([\d.]+) ns/B", text):
        yield AEAD, 16384 * float(match[1])
    if match := re.search(r"^ SHA256 +\|\s+([\d.]+) ns/B", text, re.M):
        yield "sha-256/digest@16384", 16384 * float(match[1])
    for curve, algorithm in (("Ed25519", "ed25519"), ("NIST-P256", "ecdsa-p256")):
        if match := re.search(rf"^ {curve} .*?sign \|\s+(\d+).*?verify \|\s+(\d+)", text, re.M | re.S):
            yield f"{algorithm}/sign@32", float(match[1])
            yield f"{algorithm}/verify@32", float(match[2])


def of_cryptest(text: str) -> Iterator[tuple[str, float]]:
    """Crypto++'s `cryptest b2`, a table in HTML: MiB/s of a stream in pieces of 2 KiB."""
    plain = re.sub(r"<[^>]*>", " ", text)
    for mode in ("CTR", "CBC"):
        if match := re.search(rf"AES/{mode} \(256-bit key\)\s+\S+\s+(\d+)", plain):
            yield f"aes-256-{mode.lower()}/encrypt@2048", 2048 / (float(match[1]) * 2**20) * 1e9
    if match := re.search(r"ChaChaTLS \(256-bit key\)\s+\S+\s+(\d+)", plain):
        yield "chacha20/encrypt@2048", 2048 / (float(match[1]) * 2**20) * 1e9


def of_liboqs(text: str) -> Iterator[tuple[str, float]]:
    """`speed_kem`: mean time of an operation in microseconds, the fourth column."""
    for operation, cell in (("keygen", "keygen"), ("encaps", "encapsulate"), ("decaps", "decapsulate")):
        if match := re.search(rf"^{operation}\s*\|\s*\d+\s*\|\s*[\d.]+\s*\|\s*([\d.]+)", text, re.M):
            yield f"ml-kem-768/{cell}", 1e3 * float(match[1])


BULK = "{tool} speed -mr -seconds {whole} -bytes 16384"
TOOLS = {
    "openssl": Tool(
        (
            f"{BULK} -evp aes-256-gcm",
            f"{BULK} -evp sha256",
            "{tool} speed -mr -seconds {whole} ed25519",
            "{tool} speed -mr -seconds {whole} ecdhx25519",
        ),
        of_openssl,
    ),
    "aws-lc": Tool(
        tuple(
            "{tool} -json -timeout_ms {ms} -chunks 16384 -filter " + name
            for name in ("AEAD-AES-256-GCM", "Ed25519", "Curve25519", "ML-KEM-768")
        ),
        of_bssl,
    ),
    "boringssl": Tool(
        (
            "{tool} --benchmark_format=json --benchmark_min_time={seconds}s"
            " --benchmark_filter=(seal_aes_256_gcm/InputSize:16384$|Curve25519Arb.*:1$|Ed25519Sign/.*:1$)",
        ),
        of_google_benchmark,
    ),
    "botan": Tool(
        ("{tool} speed --format=json --msec={ms} --buf-size=16384 AES-256/GCM X25519 Ed25519 ML-KEM",),
        of_botan,
    ),
    "wolfssl": Tool(("{tool} 16384 -aes-gcm -sha256 -x25519 -ed25519 -ml-kem",), of_wolfcrypt),
    "libgcrypt": Tool(
        tuple(f"{{tool}} {what}" for what in ("cipher AES256", "hash SHA256", "ecc Ed25519 NIST-P256")),
        of_bench_slope,
    ),
    "cryptopp": Tool(("{tool} b2 {tenth} 1",), of_cryptest),
    "liboqs": Tool(("{tool} -d {whole} ML-KEM-768",), of_liboqs),
}


def ask(tool: Tool, path: str, seconds: float) -> Cells:
    """What a tool says, cell by cell."""
    table: Cells = {}
    for command in tool.commands:
        whole = max(1, round(seconds))
        words = command.split()
        filled = [
            word.replace("{tool}", path)
            .replace("{seconds}", f"{seconds:g}")
            .replace("{whole}", str(whole))
            .replace("{tenth}", f"{seconds / 10:g}")
            .replace("{ms}", str(round(1000 * seconds)))
            for word in words
        ]
        done = subprocess.run(filled, capture_output=True, text=True, check=False)
        try:
            table.update(tool.read(done.stdout))
        except ValueError:
            print(f"{' '.join(filled)}: what it printed cannot be read", file=sys.stderr)
    return table


def measured(cells: dict[str, set[str]], budget: str) -> dict[str, Cells]:
    """Perbyte's medians for cells by runner, ns a call."""
    selectors = [f"{runner}/{cell}" for runner, names in cells.items() for cell in sorted(names)]
    command = [sys.executable, "-m", "perbyte.cli", "measure", "--json", "-q", "--budget", budget, *selectors]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    groups: dict[str, Cells] = defaultdict(dict)
    for each_cell in json.loads(done.stdout)["cells"]:
        size = (
            f"@{each_cell['size_bytes']}"
            if each_cell["size_bytes"] and "ml-kem" not in each_cell["algorithm"]
            else ""
        )
        groups[each_cell["runner"]][f"{each_cell['algorithm']}/{each_cell['operation']}{size}"] = each_cell[
            "ns_per_call"
        ]
    return groups


def main() -> int:
    """Run, and print a line per cell: the tool's figures, Perbyte's, and the smallest quotient."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each figure of a tool")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--budget", default="12s", help="of each run of Perbyte")
    asked = parser.parse_args()
    paths = dict(item.split("=", 1) for item in asked.tool)
    if strangers := set(paths) - set(TOOLS):
        parser.error(f"{', '.join(strangers)}: known are {', '.join(TOOLS)}")
    if openssl := shutil.which("openssl"):
        paths.setdefault("openssl", openssl)
    theirs: dict[tuple[str, str], list[float]] = defaultdict(list)
    ours: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(asked.rounds):
        cells: dict[str, set[str]] = {}
        for name, path in paths.items():
            other_speed = ask(TOOLS[name], path, asked.seconds)
            cells[name] = set(other_speed)
            for cell, ns in other_speed.items():
                theirs[name, cell].append(ns)
        for runner, result in measured(cells, asked.budget).items():
            for cell, ns in result.items():
                ours[runner, cell].append(ns)
    print(f"{'library':10} {'cell':26} {'its tool, ns a call':>24} {'Perbyte':>20} {'quotient':>8}")
    for (name, cell), other_speed in theirs.items():
        own_speed = ours.get((name, cell))
        tool = ", ".join(f"{ns:,.0f}" for ns in other_speed)
        if own_speed:
            own = ", ".join(f"{ns:,.0f}" for ns in own_speed)
            print(f"{name:10} {cell:26} {tool:>24} {own:>20} {min(other_speed) / min(own_speed):8.3f}")
        else:
            print(f"{name:10} {cell:26} {tool:>24} {'not measured':>20}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
