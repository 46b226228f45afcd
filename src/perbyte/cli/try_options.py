"""What `perbyte try` is asked: its options, what they exclude, and what they mean together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from perbyte.app.trying.check import CALL_S
from perbyte.app.trying.clock import BESIDE_S, WALL_S
from perbyte.cli.declared import Options, argument, flag, group, option
from perbyte.cli.options import BaselineOptions, Duration, GateOptions, GentleOption, Words
from perbyte.errors import UsageError

SECTIONS = {
    "The function": "algorithm_name functions signatures name sizes beside",
    "How it is built": "flags defines links packages",
    "An algorithm of your own (--as new:NAME)": "kind lengths answers",
    "Before and after a change": "baseline keep since history watch fail_above fail_above_instructions undecided_is",
    "Instructions, memory, leaks": "count leak fail_on",
    "Whole trees": "supercop layout",
    "How long": "budget patience fresh gentle",
    "Output": "markdown as_json quiet",
}
EPILOG = """\b
  perbyte try my_hash.c --as sha-256 --function my_sha256
  perbyte try aes.S aes.h --as aes-128-ctr --function key=aes_setup,encrypt=aes_ctr
  perbyte try my_hash.c --as sha-256 --flags -O2 --flags '-O3 -march=native'
  perbyte try my_hash.c --as sha-256 --baseline     # keep it; after a change: faster or slower?
  perbyte try my_hash.c --as sha-256 --since v1.0       # which commit made it slower?
  perbyte try cipher.c --as new:mine --kind stream-cipher --lengths key=32,nonce=12
  perbyte try --layout mine.toml my-tree           # every implementation in the description
  perbyte try my_aead.c --as aes-128-gcm --leak         # does its time depend on secrets?
  perbyte try my_aead.c --as aes-128-gcm --leak=taint   # where in the code?
"""


class TryOptions(Options):
    """Which function, how it is built, what it is compared with, and what is printed."""

    files: tuple[Path, ...] = argument(nargs=-1, required=True, metavar="FILE...")
    algorithm_name: str | None = option(
        "--as", metavar="ALGORITHM", help="The algorithm it computes: sha-256, or new:NAME."
    )
    functions: tuple[str, ...] = option(
        "--function", metavar="NAME", help="Its name; of several: key=NAME,encrypt=NAME."
    )
    signatures: tuple[str, ...] = option(
        "--signature", metavar="ROLES", help="Roles of its parameters: out,in,size."
    )
    flags: tuple[str, ...] = option("--flags", help="Compiler flags; each --flags gives a row.  [-O2]")
    defines: tuple[str, ...] = option("--define", metavar="NAME[=VALUE]", help="A macro for the compiler.")
    links: tuple[str, ...] = option("--link", metavar="LIBRARY", help="A library to link: crypto, libmine.a.")
    packages: tuple[str, ...] = option(
        "--pkg-config", metavar="NAME", help="A library that pkg-config knows."
    )
    kind: str = option("--kind", default="", help="What it is: hash, mac, stream-cipher, aead...")
    lengths: tuple[str, ...] = option(
        "--lengths", metavar="key=16,...", help="Its lengths in bytes: key, nonce, out, block."
    )
    answers: Path | None = option("--answers", help="A file of known answers.")
    sizes: Words | None = option("--size", help="Sizes: 16,1KiB.  [64,1KiB,16KiB]")
    beside: str = option(
        "--beside", default="*", show_default=True, metavar="RUNNERS", help="Libraries to measure with it."
    )
    name: str = option("--name", default="", help="Name of the row.  [the file's]")
    before: BaselineOptions = group(BaselineOptions)
    since: str | None = option(
        "--since", metavar="COMMIT", help="Compare with a commit, and find the one that changed it."
    )
    history: Path | None = option("--history", help="With --since: add to a history in a directory.")
    watch: bool = flag("--watch", help="Repeat --baseline when a file changes.")
    count: bool = flag("--count", help="Count instructions and memory too.")
    leak: Literal["time", "taint"] | None = option(
        "--leak",
        is_flag=False,
        flag_value="time",
        help="Test for timing leaks; =taint: find branches and addresses.",
    )
    fail_on: Words | None = option("--fail-on", help="With --leak: leak (code 1), unknown (code 5).")
    supercop: bool = flag("--supercop", help="FILEs are directories in SUPERCOP's layout.")
    layout: str | None = option(
        "--layout", metavar="TOML", help="FILEs are trees of this layout: a file, or pqclean..."
    )
    budget: Duration | None = option(
        "--budget", help=f"Measuring time.  [the rest of {WALL_S:g} s, or {BESIDE_S:g} s beside a neighbour]"
    )
    patience: Duration = option(
        "--patience", default=CALL_S, help=f"Longest time of one call; then it hangs.  [{CALL_S:g}s]"
    )
    fresh: bool = flag("--fresh", help="Measure the libraries again, even if stored.")
    how: GentleOption = group(GentleOption)
    limits: GateOptions = group(GateOptions)

    def __post_init__(self) -> None:
        """Raise UsageError for what excludes or needs something else."""
        kept = {"--baseline": self.before.baseline, "--keep": self.before.keep, "--watch": self.watch}
        changed = {**kept, "--since": self.since}
        tree = {**changed, "--function": self.functions, "--signature": self.signatures}
        tree |= {"--count": self.count, "--leak": self.leak}
        if self.layout:
            message = "--layout says what there is; of the other options it takes --as, --size, --budget"
            _refuse({**tree, "--supercop": self.supercop, "--flags": self.flags}, message)
        elif self.supercop:
            message = "--supercop knows the functions; of the other options it takes --as, --flags, --size"
            _refuse(tree, message)
        elif not self.algorithm_name:
            hint = "for example --as sha-256; perbyte list algorithms lists all"
            raise UsageError("missing --as ALGORITHM", hint=hint)
        elif self.leak:
            message = "--leak looks at one program alone"
            _refuse({**changed, "--count": self.count}, message, "leave --baseline and --count out")
        elif self.since:
            _refuse(kept, "--since takes a commit's program for the baseline", "leave --baseline out")
        if not self.leak:
            _refuse({"--fail-on": self.fail_on}, "--fail-on belongs to --leak")
        if not self.since:
            _refuse({"--history": self.history}, "--history belongs to --since", "--since HEAD^")
        if len(self.flags) > 1:
            _refuse(changed, "a baseline is one program", "give --flags once")
        if not self.compares:
            for name in ("fail_above", "fail_above_instructions"):
                told = f"--{name.replace('_', '-')}"
                _refuse({told: getattr(self.limits, name)}, f"{told} belongs to --baseline")

    @property
    def compares(self) -> bool:
        """True where the program is measured beside one of before."""
        return bool(self.before.baseline or self.before.keep or self.watch or self.since)


def _refuse(options: Mapping[str, object], message: str, hint: str | None = None) -> None:
    """Raise UsageError where one of `options` was given."""
    if any(options.values()):
        raise UsageError(message, hint=hint)
