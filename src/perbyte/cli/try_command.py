"""`perbyte try`: a user's own function, built, checked, measured beside the libraries."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path

import click

from perbyte.app.trying.check import CALL_S
from perbyte.app.trying.clock import BESIDE_S, WALL_S, Clock
from perbyte.cli.options import Listed, Percent, Seconds, gentle_option, note, undecided_option
from perbyte.cli.sections import SectionedCommand
from perbyte.cli.try_trial import Trial
from perbyte.errors import PerbyteError, UsageError

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


@click.command("try", cls=SectionedCommand, sections=SECTIONS, epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--as", "algorithm_name", metavar="ALGORITHM", help="The algorithm it computes: sha-256, or new:NAME."
)
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="NAME",
    help="Its name; of several: key=NAME,encrypt=NAME.",
)
@click.option(
    "--signature", "signatures", multiple=True, metavar="ROLES", help="Roles of its parameters: out,in,size."
)
@click.option("--flags", "flags", multiple=True, help="Compiler flags; each --flags gives a row.  [-O2]")
@click.option("--define", "defines", multiple=True, metavar="NAME[=VALUE]", help="A macro for the compiler.")
@click.option(
    "--link", "links", multiple=True, metavar="LIBRARY", help="A library to link: crypto, libmine.a."
)
@click.option(
    "--pkg-config", "packages", multiple=True, metavar="NAME", help="A library that pkg-config knows."
)
@click.option("--kind", default="", help="What it is: hash, mac, stream-cipher, aead...")
@click.option(
    "--lengths",
    multiple=True,
    metavar="key=16,...",
    help="Its lengths in bytes: key, nonce, out, block.",
)
@click.option("--answers", type=click.Path(path_type=Path), help="A file of known answers.")
@click.option("--size", "sizes", type=Listed(), default=None, help="Sizes: 16,1KiB.  [64,1KiB,16KiB]")
@click.option(
    "--beside", default="*", show_default=True, metavar="RUNNERS", help="Libraries to measure with it."
)
@click.option("--name", default="", help="Name of the row.  [the file's]")
@click.option("--baseline", is_flag=True, help="Compare with the kept program; keep the first one.")
@click.option("--keep", is_flag=True, help="Make this program the baseline.")
@click.option("--since", metavar="COMMIT", help="Compare with a commit, and find the one that changed it.")
@click.option(
    "--history", type=click.Path(path_type=Path), help="With --since: add to a history in a directory."
)
@click.option("--watch", is_flag=True, help="Repeat --baseline when a file changes.")
@click.option("--count", is_flag=True, help="Count instructions and memory too.")
@click.option(
    "--leak",
    type=click.Choice(["time", "taint"]),
    is_flag=False,
    flag_value="time",
    help="Test for timing leaks; =taint: find branches and addresses.",
)
@click.option("--fail-on", type=Listed(), default=None, help="With --leak: leak (code 1), unknown (code 5).")
@click.option("--supercop", is_flag=True, help="FILEs are directories in SUPERCOP's layout.")
@click.option("--layout", metavar="TOML", help="FILEs are trees of this layout: a file, or pqclean...")
@click.option(
    "--budget",
    type=Seconds(),
    default=None,
    help=f"Measuring time.  [the rest of {WALL_S:g} s, or {BESIDE_S:g} s beside a neighbour]",
)
@click.option(
    "--patience",
    type=Seconds(),
    default=CALL_S,
    help=f"Longest time of one call; then it hangs.  [{CALL_S:g}s]",
)
@click.option("--fresh", is_flag=True, help="Measure the libraries again, even if stored.")
@gentle_option
@click.option(
    "--fail-above",
    type=Percent(),
    default=None,
    help="Exit code 1 if slower by more, 5 if not known.  [any]",
)
@click.option(
    "--fail-above-instructions",
    type=Percent(),
    default=None,
    help="With --baseline: exit code 1 if instructions grow by more.",
)
@undecided_option
@click.option("--markdown", is_flag=True, help="Print the result of --baseline as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def command(
    files: tuple[Path, ...],
    algorithm_name: str | None,
    functions: tuple[str, ...],
    signatures: tuple[str, ...],
    flags: tuple[str, ...],
    defines: tuple[str, ...],
    links: tuple[str, ...],
    packages: tuple[str, ...],
    kind: str,
    lengths: tuple[str, ...],
    answers: Path | None,
    sizes: tuple[str, ...] | None,
    beside: str,
    name: str,
    baseline: bool,
    keep: bool,
    watch: bool,
    since: str | None,
    history: Path | None,
    count: bool,
    leak: str | None,
    fail_on: tuple[str, ...] | None,
    supercop: bool,
    layout: str | None,
    budget: float | None,
    patience: float,
    fresh: bool,
    gentle: bool,
    fail_above: float | None,
    fail_above_instructions: float | None,
    undecided_is: str | None,
    markdown: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure a function of your own: build it, check its results, and compare its cost with that of libraries.

    FILE is a source in C, C++, assembly, Rust, Zig, Go, Java, Kotlin, Python, JavaScript or TypeScript, a header, or
    an object file.
    """
    from perbyte.catalogue import parse_sizes
    from perbyte.trial.own_algorithm import NEW, find_new
    from perbyte.trial.program import from_pkg_config, link_words
    from perbyte.trial.subject import TrialRequest, find_algorithm, managed, read_files

    clock = Clock(budget)
    asked_sizes = parse_sizes(",".join(sizes)) if sizes else None
    if layout:
        from perbyte.cli.try_layout import try_layout

        if (
            functions
            or signatures
            or baseline
            or keep
            or watch
            or since
            or count
            or leak
            or supercop
            or flags
        ):
            raise UsageError(
                "--layout says what there is; of the other options it takes --as, --size, --budget"
            )
        how = {"gentle": gentle, "as_json": as_json, "quiet": quiet}
        return try_layout(layout, files, algorithm_name, asked_sizes, beside, budget, **how)
    if supercop:
        from perbyte.cli.try_supercop import try_directories

        if functions or signatures or baseline or keep or watch or since or count or leak:
            raise UsageError(
                "--supercop knows the functions; of the other options it takes --as, --flags, --size"
            )
        return try_directories(
            files,
            algorithm_name,
            flags,
            asked_sizes,
            beside,
            budget,
            gentle=gentle,
            as_json=as_json,
            quiet=quiet,
        )
    if not algorithm_name:
        raise UsageError(
            "missing --as ALGORITHM", hint="for example --as sha-256; perbyte list algorithms lists all"
        )
    if algorithm_name.startswith(NEW):
        algorithm = find_new(algorithm_name, kind, lengths, answers)
    elif kind or lengths or answers:
        raise UsageError(
            "--kind, --lengths and --answers describe a new algorithm", hint="--as new:my-cipher"
        )
    else:
        algorithm = find_algorithm(algorithm_name)
    compiling, linking = from_pkg_config(packages)
    link = (*link_words(links), *linking)
    asked = TrialRequest(read_files(files), algorithm, functions, signatures, name, link)
    plain = () if managed(asked.files) else ("-O2",)
    if managed(asked.files) and (link or compiling or defines):
        raise UsageError("--define, --link and --pkg-config are for compilers of C", hint="leave them out")
    more = (*(f"-D{define}" for define in defines), *compiling)
    each = [(*words, *more) for words in [tuple(shlex.split(flag)) for flag in flags] or [plain]]
    if (baseline or keep or watch or since) and len(each) > 1:
        raise UsageError("a baseline is one program", hint="give --flags once")
    trial = Trial(
        asked,
        each,
        sizes=asked_sizes,
        beside=beside,
        clock=clock,
        count=count or fail_above_instructions is not None,
        as_json=as_json,
        quiet=quiet,
        fail_above=fail_above,
        fail_above_instructions=fail_above_instructions,
        undecided_is=undecided_is,
        markdown=markdown,
        gentle=gentle,
        patience_s=patience,
        fresh=fresh,
    )
    if leak:
        from perbyte.cli.try_leak import try_leak

        if baseline or keep or watch or since or count:
            raise UsageError("--leak looks at one program alone", hint="leave --baseline and --count out")
        return try_leak(trial, leak, fail_on, budget)
    if fail_on:
        raise UsageError("--fail-on belongs to --leak")
    if since:
        from perbyte.cli.try_since import Since, try_since

        if baseline or keep or watch:
            raise UsageError("--since takes a commit's program for the baseline", hint="leave --baseline out")
        return try_since(trial, Since(since, history))
    if history:
        raise UsageError("--history belongs to --since", hint="--since HEAD^")
    if not (baseline or keep or watch):
        if fail_above_instructions is not None:
            raise UsageError("--fail-above-instructions belongs to --baseline")
        return trial.beside_libraries()
    code = trial.against_baseline(keep=keep)
    while watch:
        _wait_for_change(asked.files)
        trial.clock = Clock(budget)
        try:
            code = trial.against_baseline(keep=False)
        except PerbyteError as error:
            note(f"{error}" + (f" ({error.hint})" if error.hint else ""))
    return code


def _wait_for_change(files: Sequence[Path]) -> None:
    """Return when a file's content is another one. An editor may replace a file, so it may be gone for a moment."""

    def look() -> list[bytes]:
        return [file.read_bytes() if file.is_file() else b"" for file in files]

    note("waiting for a change; Ctrl-C ends it")
    seen = look()
    while True:
        time.sleep(0.3)
        if (now := look()) != seen and all(now):
            return
