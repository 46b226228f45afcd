"""Plant one fault after the other into right cryptography, and see which the checks before the timing find.

    .venv/bin/python bench/mutants.py [--only GLOB] [--seed N]

The runner in bench/mutants is AEADs, signatures, exchanges, a KEM, hashes, a MAC and a counter mode on OpenSSL; the
environment names the fault. Each goes through the checks that a run and `perbyte try` make before anything is timed,
alone in its run. Libraries that are built here are asked for the output at the sizes that are timed, and for nothing
else. The first line of each algorithm has no fault and must pass. Prints a table; the exit code is 1 where a fault is
not found or the right one is accused. The list is of this bench: the checks know none of it.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from perbyte.catalogue import load
from perbyte.measure import choose_cores, survey
from perbyte.measure.referees import Referees, own_runners
from perbyte.measure.sessions import Sessions
from perbyte.measure.validation import Validation
from perbyte.model import Cell, Failure, Policy
from perbyte.runners import build, find

HERE = Path(__file__).resolve().parent
COMPARISON = (
    *("last-4", "last-byte", "first-byte", "byte-skipped", "one-bit", "half-of-each-byte", "high-bit"),
    *(
        "every-second",
        "first-12",
        "first-half",
        "xor",
        "sum",
        "word-xor",
        "any-equal",
        "product",
        "sorted",
        "strcmp",
    ),
    *(
        "case-folded",
        "nearly",
        "parity",
        "as-many-ones",
        "low-bytes-of-words",
        "every-second-word",
        "greater",
    ),
    *("first-4-alone", "middle-skipped", "last-half-alone"),
)
UNCHECKED = (
    *("no-aad", "empty", "short", "long", "aad-alone", "never", "blocks", "odd-aad", "long-aad", "zero-tag"),
    *("ones-tag", "every-third", "same-tag", "refuses", "one-block", "two-blocks", "15-bytes", "17-bytes"),
    *("256-bytes", "aad-blocks", "aad-beyond-255", "first-32", "after-64"),
)
COVERED = (
    *("aad-16", "aad-64", "aad-whole-blocks", "aad-first-byte", "aad-ignored", "aad-padded", "aad-byte-20"),
    *("nonce-byte", "data-whole-blocks", "data-64", "data-4096", "data-byte-77", "data-first-byte"),
    *("aad-1024", "aad-reversed", "aad-last-byte", "data-last-byte", "data-first-block", "data-high-bits"),
)
LONG = ("beyond-2000", "beyond-70000", "last-bit-beyond-70000", "at-131072")
FAULTS = {
    "aes-128-gcm": (*COMPARISON, *UNCHECKED, *COVERED, *LONG),
    "chacha20-poly1305": (
        *LONG,
        *("last-4", "half-of-each-byte", "xor", "no-aad", "empty", "aad-16", "every-third"),
    ),
    "ed25519": (
        *(
            "s-plus-l",
            "s-top-bits",
            "s-top-bit",
            "empty",
            "long",
            "zero-signature",
            "zero-s",
            "zero-r",
            "r-alone",
        ),
        *("s-alone", "last-4", "byte-skipped", "one-bit", "half-of-each-byte", "xor", "every-second"),
        *("message-64", "message-last-byte", "message-first-byte", "message-512", "message-blocks"),
        *("message-high-bits", "message-text", "r-sign", "cached-by-signature", "case-folded", "greater"),
        *("nearly", "middle-skipped", "low-bytes-of-words"),
    ),
    "ecdsa-p256": (
        *("both-zero", "r-zero", "s-zero", "r-order", "s-order", "r-is-s", "both-one", "s-plus-n"),
        "message-first-byte",
        *("message-high-bits", "digest-last-byte", "digest-16", "message-text", "r-beyond", "s-beyond"),
        *("small-s", "one-r"),
    ),
    "ecdsa-p521": ("both-zero", "s-plus-n", "r-plus-n"),
    "rsa-2048": (
        *("no-padding", "any-padding", "short-padding", "block-type", "beyond-modulus", "trivial", "last-4"),
        *("first-byte-of-block", "separator", "digest-alone-and-type", "padding-8-bytes"),
        *("half-of-the-digest", "nearly", "greater", "negative"),
    ),
    "ml-kem-768": (
        *(
            "last-32",
            "first-32-alone",
            "u-alone",
            "v-alone",
            "32-in-the-middle",
            "no-comparison",
            "every-third",
        ),
        *(
            "rejects-by-constant",
            "rejects-by-z",
            "rejects-at-random",
            "rejects-without-z",
            "rejects-by-beginning",
        ),
        *("refuses", "xor", "last-byte", "first-byte", "half-of-each-byte", "every-second"),
        *(
            "first-1024-alone",
            "last-8",
            "first-polynomial",
            "second-half-alone",
            "as-text",
            "after-9",
            "greater",
        ),
        *("rejects-by-secret", "rejects-in-half", "rejects-by-hash-of-z", "rejects-by-other-order", "nearly"),
    ),
    "x25519": (
        *(
            "peer-last-byte",
            "peer-low-bit",
            "peer-byte",
            "key-byte",
            "key-low-bits",
            "top-bit",
            "not-reduced",
        ),
        *("low-order", "low-order-key", "leading-zero", "peer-high-half", "peer-bit", "key-last-byte"),
    ),
    "ecdh-p256": (
        *("y-ignored", "off-curve", "infinity", "zero-point", "y-sign-alone", "longer-than-a-point"),
        "generator-instead",
    ),
    "poly1305": (
        "not-clamped",
        "bit-behind-padding",
        "no-bit-at-the-end",
        "last-block-skipped",
        "not-reduced",
        *LONG,
    ),
    "aes-128-cmac": ("no-carry", "one-key", "no-padding", *LONG),
    "sha-256": (
        *("padding-55", "padding-56", "padding-63", "padding-64", "empty"),
        *("odd-beyond-200", "beyond-1024", "at-4095", "at-512"),
        *LONG,
    ),
    "sha-512": ("padding-111", "padding-112", *LONG),
    "sha3-256": ("rate-135", "odd-beyond-200", "beyond-1024", "at-4095", *LONG),
    "hmac-sha-256": ("padding-56", "padding-63", "odd-beyond-200", "beyond-1024", "at-4095", *LONG),
    "aes-128-ctr": ("carry-8", "carry-16", "carry-32", "carry-64", *LONG),
}
SIZES = {"aes-128-gcm": (64, 16384, 131072), "chacha20-poly1305": (64, 1024, 131072)}
LONG_SIZES = (32, 131072)


def faults() -> Iterator[tuple[str, str]]:
    """Algorithm and fault; '' is none."""
    for algorithm, planted in FAULTS.items():
        yield from ((algorithm, fault) for fault in ("", *planted))


def examine(algorithm: str, fault: str, seed: int) -> tuple[list[Failure], float]:
    """What the checks say of the runner with a fault, and the seconds that they take."""
    spec = replace(find("mutants", [HERE]), environment={"MUTANT": fault, "MUTANT_OF": algorithm})
    surveyed = survey([spec], ["full"])
    rows = surveyed.hellos["mutants", "full"].operations
    policy = Policy(cores=choose_cores(), seed=seed, gentle=True)
    sizes = SIZES.get(algorithm, LONG_SIZES if LONG[0] in FAULTS[algorithm] else (32,))
    began = time.monotonic()
    with Sessions(surveyed, policy) as sessions, Referees(policy, own_runners) as referees:
        cells = [
            Cell("mutants", row.algorithm, row.operation, size, row.contract)
            for row in rows
            for size in sizes
        ]
        sessions.start(cells[0].process)
        failures = Validation(load(), sessions, referees=referees).examine(cells).failures
    return failures, time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="*", help="a glob over ALGORITHM/FAULT")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    outcome = build(find("mutants", [HERE]))
    if not outcome.usable:
        sys.exit(f"bench/mutants does not build: {outcome.output}{outcome.install}")
    count = lost = accused = 0
    for algorithm, fault in faults():
        if not fnmatch.fnmatch(f"{algorithm}/{fault}", asked.only):
            continue
        failures, took_s = examine(algorithm, fault, asked.seed)
        count += bool(fault)
        lost += bool(fault) and not failures
        accused += not fault and bool(failures)
        verdict = failures[0].message if failures else "NOT FOUND" if fault else "right"
        print(f"{algorithm:18} {fault or '(none)':20} {took_s:5.2f} s  {verdict}", flush=True)
    print(
        f"{count} faults: {count - lost} found before anything is timed, {lost} not; {accused} right ones accused"
    )
    return 1 if lost or accused else 0


if __name__ == "__main__":
    sys.exit(main())
