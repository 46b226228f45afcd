"""What `perbyte try` is asked: its options, what they exclude, and what they mean together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from perbyte.app.gate import Gate
from perbyte.app.listener import Listener
from perbyte.app.trying.check import CALL_S
from perbyte.app.trying.clock import BESIDE_S, WALL_S
from perbyte.cli.declared import argument, flag, option
from perbyte.cli.options import GENTLE, UNDECIDED, Listed, Percent, Seconds, note
from perbyte.errors import UsageError

SECTIONS = {
    "The function": ("algorithm_name", "functions", "signatures", "name", "sizes", "beside"),
    "How it is built": ("flags", "defines", "links", "packages"),
    "An algorithm of your own (--as new:NAME)": ("kind", "lengths", "answers"),
    "Before and after a change": (
        "baseline",
        "keep",
        "since",
        "history",
        "watch",
        "fail_above",
        "fail_above_instructions",
        "undecided_is",
    ),
    "Instructions, memory, leaks": ("count", "leak", "fail_on"),
    "Whole trees": ("supercop", "layout"),
    "How long": ("budget", "patience", "fresh", "gentle"),
    "Output": ("markdown", "as_json", "quiet"),
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


@dataclass(frozen=True, slots=True)
class TryOptions:
    """Which function, how it is built, what it is compared with, and what is printed."""

    files: tuple[Path, ...] = argument(
        nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
    )
    algorithm_name: str | None = option(
        "--as", metavar="ALGORITHM", help="The algorithm it computes: sha-256, or new:NAME."
    )
    functions: tuple[str, ...] = option(
        "--function", multiple=True, metavar="NAME", help="Its name; of several: key=NAME,encrypt=NAME."
    )
    signatures: tuple[str, ...] = option(
        "--signature", multiple=True, metavar="ROLES", help="Roles of its parameters: out,in,size."
    )
    flags: tuple[str, ...] = option(
        "--flags", multiple=True, help="Compiler flags; each --flags gives a row.  [-O2]"
    )
    defines: tuple[str, ...] = option(
        "--define", multiple=True, metavar="NAME[=VALUE]", help="A macro for the compiler."
    )
    links: tuple[str, ...] = option(
        "--link", multiple=True, metavar="LIBRARY", help="A library to link: crypto, libmine.a."
    )
    packages: tuple[str, ...] = option(
        "--pkg-config", multiple=True, metavar="NAME", help="A library that pkg-config knows."
    )
    kind: str = option("--kind", default="", help="What it is: hash, mac, stream-cipher, aead...")
    lengths: tuple[str, ...] = option(
        "--lengths", multiple=True, metavar="key=16,...", help="Its lengths in bytes: key, nonce, out, block."
    )
    answers: Path | None = option(
        "--answers", type=click.Path(path_type=Path), help="A file of known answers."
    )
    sizes: tuple[str, ...] | None = option(
        "--size", type=Listed(), default=None, help="Sizes: 16,1KiB.  [64,1KiB,16KiB]"
    )
    beside: str = option(
        "--beside", default="*", show_default=True, metavar="RUNNERS", help="Libraries to measure with it."
    )
    name: str = option("--name", default="", help="Name of the row.  [the file's]")
    baseline: bool = flag("--baseline", help="Compare with the kept program; keep the first one.")
    keep: bool = flag("--keep", help="Make this program the baseline.")
    since: str | None = option(
        "--since", metavar="COMMIT", help="Compare with a commit, and find the one that changed it."
    )
    history: Path | None = option(
        "--history",
        type=click.Path(path_type=Path),
        help="With --since: add to a history in a directory.",
    )
    watch: bool = flag("--watch", help="Repeat --baseline when a file changes.")
    count: bool = flag("--count", help="Count instructions and memory too.")
    leak: str | None = option(
        "--leak",
        type=click.Choice(["time", "taint"]),
        is_flag=False,
        flag_value="time",
        help="Test for timing leaks; =taint: find branches and addresses.",
    )
    fail_on: tuple[str, ...] | None = option(
        "--fail-on", type=Listed(), default=None, help="With --leak: leak (code 1), unknown (code 5)."
    )
    supercop: bool = flag("--supercop", help="FILEs are directories in SUPERCOP's layout.")
    layout: str | None = option(
        "--layout", metavar="TOML", help="FILEs are trees of this layout: a file, or pqclean..."
    )
    budget: float | None = option(
        "--budget",
        type=Seconds(),
        default=None,
        help=f"Measuring time.  [the rest of {WALL_S:g} s, or {BESIDE_S:g} s beside a neighbour]",
    )
    patience: float = option(
        "--patience",
        type=Seconds(),
        default=CALL_S,
        help=f"Longest time of one call; then it hangs.  [{CALL_S:g}s]",
    )
    fresh: bool = flag("--fresh", help="Measure the libraries again, even if stored.")
    gentle: bool = flag("--gentle", help=GENTLE)
    fail_above: float | None = option(
        "--fail-above",
        type=Percent(),
        default=None,
        help="Exit code 1 if slower by more, 5 if not known.  [any]",
    )
    fail_above_instructions: float | None = option(
        "--fail-above-instructions",
        type=Percent(),
        default=None,
        help="With --baseline: exit code 1 if instructions grow by more.",
    )
    undecided_is: str | None = option("--undecided-is", **UNDECIDED)
    markdown: bool = flag("--markdown", help="Print the result of --baseline as Markdown.")
    as_json: bool = flag("--json", help="Print JSON.")
    quiet: bool = flag("-q", "--quiet", help="No progress and no notes.")

    def __post_init__(self) -> None:
        """Raise UsageError for what excludes or needs something else."""
        kept, changed = ("baseline", "keep", "watch"), ("baseline", "keep", "watch", "since")
        tree = ("functions", "signatures", *changed, "count", "leak")
        if self.layout:
            message = "--layout says what there is; of the other options it takes --as, --size, --budget"
            self._refuse((*tree, "supercop", "flags"), message)
        elif self.supercop:
            message = "--supercop knows the functions; of the other options it takes --as, --flags, --size"
            self._refuse(tree, message)
        elif not self.algorithm_name:
            hint = "for example --as sha-256; perbyte list algorithms lists all"
            raise UsageError("missing --as ALGORITHM", hint=hint)
        elif self.leak:
            message = "--leak looks at one program alone"
            self._refuse((*changed, "count"), message, "leave --baseline and --count out")
        elif self.since:
            message = "--since takes a commit's program for the baseline"
            self._refuse(kept, message, "leave --baseline out")
        if not self.leak:
            self._refuse(("fail_on",), "--fail-on belongs to --leak")
        if not self.since:
            self._refuse(("history",), "--history belongs to --since", "--since HEAD^")
        if len(self.flags) > 1:
            self._refuse(changed, "a baseline is one program", "give --flags once")
        if not self.compares:
            message = "--fail-above-instructions belongs to --baseline"
            self._refuse(("fail_above_instructions",), message)

    def _refuse(self, names: Iterable[str], message: str, hint: str | None = None) -> None:
        if any(getattr(self, name) for name in names):
            raise UsageError(message, hint=hint)

    @property
    def compares(self) -> bool:
        """True where the program is measured beside one of before."""
        return bool(self.baseline or self.keep or self.watch or self.since)

    @property
    def bytes(self) -> tuple[int, ...] | None:
        """The sizes; None for the usual ones."""
        from perbyte.catalogue import parse_sizes

        return parse_sizes(",".join(self.sizes)) if self.sizes else None

    @property
    def gate(self) -> Gate:
        """When a comparison fails."""
        return Gate(self.fail_above, self.fail_above_instructions, self.undecided_is)

    @property
    def listener(self) -> Listener:
        """Who hears of the work."""
        return Listener(note, partial(note, quiet=self.quiet))
