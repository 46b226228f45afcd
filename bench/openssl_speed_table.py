"""The table of `openssl speed`, 30 rows of 16 to 8192 bytes, in fifteen seconds; and `openssl speed` itself beside it.

    .venv/bin/python bench/openssl_speed_table.py [--runs 4] [--seconds 1] [--budget 14s] [--neighbours 0] [--keep DIR]

The 27 rows of the study openssl-speed-2013 and three of today (Whirlpool, HMAC-SHA-256, ChaCha20) are measured several
times; between these runs `openssl speed` times a sample of the rows that it has. Printed are, for each cell of the
sample, what both say and how far their own runs are apart (max/min - 1), and the same summed up for all cells.
With --neighbours so many other programs work and rest meanwhile, as on a shared machine (bench/neighbours.py).
`openssl speed` takes 3 s per figure by default, 450 s for 150 cells; that is computed. Here it gets --seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from neighbours import neighbours, say_siblings

from perbyte.exchange import make_run, read_listings
from perbyte.runners import find

SIZES = "16,64,256,1024,8192"
CIPHERS = [
    *("rc4", "des-cbc", "des-ede3-cbc", "seed-cbc", "rc2-cbc", "blowfish-cbc", "cast5-cbc", "chacha20"),
    *(f"{cipher}-{bits}-cbc" for cipher in ("aes", "camellia") for bits in (128, 192, 256)),
]
HASHES = ["md4", "md5", "sha-1", "ripemd-160", "sha-256", "sha-512", "whirlpool"]
# Rows that packaged builds of OpenSSL lack: (runner, cell), the first runner that is built.
ELSEWHERE = {
    "md2/digest": ("openssl-next", "nettle"),
    "mdc2/digest": ("openssl-next",),
    "idea-cbc/encrypt": ("openssl-next", "libgcrypt", "cryptopp"),
    "rc5-32-12-cbc/encrypt": ("openssl-next", "cryptopp"),
}
SAMPLE = ["md5", "sha256", "rc4", "aes-128-cbc", "camellia-128-cbc", "des-ede3"]
DEFAULT_SECONDS = 3


def selectors() -> list[str]:
    words = [
        f"openssl/{{{','.join(CIPHERS)}}}/encrypt@{SIZES}",
        f"openssl/{{{','.join(HASHES)}}}/digest@{SIZES}+contract=oneshot/1",
        f"openssl/{{hmac-md5,hmac-sha-256}}/mac@{SIZES}+contract=message/1",
        f"openssl-lowlevel/{{aes-128-ige,aes-192-ige,aes-256-ige}}/encrypt@{SIZES}",
    ]
    for cell, runners in ELSEWHERE.items():
        runner = next((name for name in runners if (find(name).out() / name).is_file()), None)
        if runner is None:
            print(f"{cell}: none of {', '.join(runners)} is built; its 5 cells are missing", file=sys.stderr)
        else:
            words.append(f"{runner}/{cell}@{SIZES}")
    return words


def measure(place: Path, budget: str, extra: list[str]) -> dict[str, object]:
    command = [sys.executable, "-m", "perbyte.cli", "measure", *selectors(), "--json", "--quiet"]
    done = subprocess.run(
        [*command, "--budget", budget, "--out", str(place), *extra],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"perbyte measure ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def openssl_speed(seconds: int) -> dict[str, float]:
    """MB/s by address, as `openssl speed` gives them, read by the importer."""
    providers = ["-provider", "legacy", "-provider", "default"]
    command = ["openssl", "speed", "-mr", "-seconds", str(seconds), *providers, *SAMPLE]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (listing,) = read_listings(text, "openssl speed")
    listing.version = subprocess.run(
        ["openssl", "version"], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    return {
        cell.cell.address: cell.megabytes_per_second or 0.0 for cell in make_run(listing, name="sample").cells
    }


def spread(values: list[float]) -> float:
    return max(values) / min(values) - 1


def overlap(cells: list[dict[str, float]]) -> bool:
    """Whether one cost can lie in the intervals of all runs."""
    return max(cell["interval_low"] for cell in cells) <= min(cell["interval_high"] for cell in cells)


def p90(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=1, help="what openssl speed gets per figure")
    parser.add_argument("--budget", default="14s", help="the last round may reach beyond it")
    parser.add_argument("--neighbours", type=int, default=0, help="so many other programs run meanwhile")
    parser.add_argument("--keep", type=Path, help="keep the run directories here")
    arguments, extra = parser.parse_known_args()
    if arguments.runs < 2:
        parser.error("a spread takes two runs or more")
    ours: list[dict[str, dict[str, float]]] = []
    theirs: list[dict[str, float]] = []
    say_siblings("before")
    with tempfile.TemporaryDirectory() as temporary, neighbours(arguments.neighbours):
        place = arguments.keep or Path(temporary)
        for number in range(arguments.runs):
            started = time.monotonic()
            report = measure(place / f"run-{number}", arguments.budget, extra)
            whole = time.monotonic() - started
            cells = {cell["address"]: cell for cell in report["cells"]}
            ours.append(cells)
            good = sum(cell["quality"] in ("good", "long") for cell in cells.values())
            print(
                f"run {number + 1}: {len(cells)} cells in {report['run']['measuring_s']:.1f} s of measuring "
                f"({whole:.0f} s in all), {good} of them at the precision asked for",
                flush=True,
            )
            theirs.append(openssl_speed(arguments.seconds))
    say_siblings("after")
    show_sample(ours, theirs, arguments.seconds)
    summarise(ours, theirs, arguments.seconds)


def show_sample(
    ours: list[dict[str, dict[str, float]]], theirs: list[dict[str, float]], seconds: int
) -> None:
    print(
        f"\n{'MB/s, median of the runs, and their spread':52} {'perbyte':>20} {f'openssl speed, {seconds} s':>24}"
    )
    for address in theirs[0]:
        if not all(address in run for run in ours):
            continue
        own_speeds = [run[address]["megabytes_per_second"] for run in ours]
        cycles = [run[address]["cycles_per_call"] or 0.0 for run in ours]
        other = [run[address] for run in theirs]
        print(
            f"{address.partition('+')[0]:52} {statistics.median(own_speeds):10.1f} {100 * spread(cycles):7.2f} %"
            f" {statistics.median(other):14.1f} {100 * spread(other):7.2f} %"
        )


def summarise(ours: list[dict[str, dict[str, float]]], theirs: list[dict[str, float]], seconds: int) -> None:
    common = [
        address for address in ours[0] if all(run.get(address, {}).get("cycles_per_call") for run in ours)
    ]
    sampled = [address for address in theirs[0] if all(address in run for run in (*ours, *theirs))]
    cycles = {address: spread([run[address]["cycles_per_call"] for run in ours]) for address in common}
    speeds = {address: spread([run[address]["megabytes_per_second"] for run in ours]) for address in common}
    tool = {address: spread([run[address] for run in theirs]) for address in sampled}
    print(f"\nspread over {len(ours)} runs (max/min - 1)         cells   median      p90     worst")
    for title, values in (
        ("perbyte, cycles per byte, all", list(cycles.values())),
        ("perbyte, cycles per byte, sample", [cycles[item] for item in sampled if item in cycles]),
        ("perbyte, MB/s, sample", [speeds[item] for item in sampled if item in speeds]),
        (f"openssl speed, {seconds} s a figure, sample", list(tool.values())),
    ):
        if values:
            figures = "".join(
                f"{100 * value:9.3f}%" for value in (statistics.median(values), p90(values), max(values))
            )
            print(f"  {title:42} {len(values):5} {figures}")
    shared = [item for item in sampled if item in cycles]
    if shared:
        factor = statistics.median(tool[item] for item in shared) / statistics.median(
            cycles[item] for item in shared
        )
        print(f"the median cell of the sample is {factor:.0f} times steadier")
    told = sum(overlap([run[item] for run in ours]) for item in common)
    print(
        f"the intervals of all runs overlap in {told} of {len(common)} cells of perbyte; openssl speed gives none"
    )
    print(
        f"openssl speed takes {DEFAULT_SECONDS} s a figure when it is not told otherwise: "
        f"{DEFAULT_SECONDS * len(ours[0])} s for these {len(ours[0])} cells (computed)"
    )


if __name__ == "__main__":
    main()
