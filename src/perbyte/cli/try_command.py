"""`perbyte try`: a user's own function, built, checked, measured beside the libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from perbyte import extras
from perbyte.app.quantities import read_choices, read_sizes
from perbyte.app.trying.clock import BESIDE_S, CALL_S, WALL_S, Clock, command_began, wait_for_change
from perbyte.app.verdicts import gravest
from perbyte.cli.declared import Options, SectionedCommand, argument, flag, group, option, takes
from perbyte.cli.options import BaselineOptions, Forms, GateOptions, GentleOption, Time, Words
from perbyte.cli.streams import note, note_once, notes, print_json, print_lines
from perbyte.errors import EXIT_FINE, PerbyteError, UsageError
from perbyte.model import CellFigure, Failure

if TYPE_CHECKING:
    from perbyte.app.trying.commits import Candidates, SearchStep
    from perbyte.app.trying.trial import BesideLibraries, InTurn, Kept, NoFigure, Trial

SECTIONS = {
    "The function": "algorithm_name functions signatures name sizes beside",
    "How it is built": "flags defines links packages",
    "An algorithm of your own (--as new:NAME)": "kind lengths answers",
    "Before and after a change": "baseline keep since history watch fail_above fail_above_instructions undecided_is",
    "Instructions, memory, leaks, places": "count leak fail_on places offsets",
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
    places: bool = flag("--places", help="Show how its cost depends on places in memory.")
    offsets: bool = flag("--offsets", help="Say what data cost that do not begin at a cache line.")
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
    budget: Time | None = option(
        "--budget", help=f"Measuring time.  [the rest of {WALL_S:g} s, or {BESIDE_S:g} s beside a neighbour]"
    )
    patience: Time = option(
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
        tree |= {
            "--count": self.count,
            "--leak": self.leak,
            "--places": self.places,
            "--offsets": self.offsets,
        }
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
            beside = {"--count": self.count, "--places": self.places}
            _refuse({**changed, **beside}, message)
        elif self.since:
            _refuse(kept, "--since takes a commit's program for the baseline")
        if self.places:
            _refuse(changed, "--places looks at one program")
        if self.offsets:
            _refuse({**changed, "--leak": self.leak}, "--offsets looks at a program beside libraries")
        if not self.leak:
            _refuse({"--fail-on": self.fail_on}, "--fail-on belongs to --leak")
        if not self.since:
            _refuse({"--history": self.history}, "--history belongs to --since", "--since HEAD^")
        if self.before.baseline and self.files[1:] and not self.files[-1].is_file():
            hint = (
                "it compares with the program that was kept here: give the source alone; --keep keeps it anew"
            )
            raise UsageError(f"--baseline takes no file, and {self.files[-1]} is none", hint=hint)
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
    given = [name for name, value in options.items() if value]
    if given:
        hint = hint or f"leave {' and '.join(given)} out"
        raise UsageError(message, hint=hint)


@takes("try", TryOptions, cls=SectionedCommand, sections=SECTIONS, epilog=EPILOG)
def try_command(options: TryOptions) -> int:
    """Measure a function of your own: build it, check its results, and compare its cost with that of libraries.

    FILE is a source in C, C++, assembly, Rust, Zig, Go, Java, Kotlin, Python, JavaScript or TypeScript, a header, or
    an object file.
    """
    from perbyte.app.conducting import held_said_soon
    from perbyte.app.trying.trial import NoFigure
    from perbyte.catalogue.pattern import expand_braces, is_pattern
    from perbyte.model import Policy
    from perbyte.runners import find

    for name in expand_braces(options.beside):
        if name != "none" and not is_pattern(name):
            find(name)  # a name of nobody is told before anything is built
    trial = None if options.layout or options.supercop else _trial(options)
    with held_said_soon(Policy(), note_once):
        if trial is None:
            return _try_trees(options)
        try:
            if options.leak:
                return _try_leak(trial, options)
            if options.since:
                return _try_since(trial, options)
            if options.compares:
                return _try_baseline(trial, options)
            return _tell_beside(trial, options, trial.beside_libraries())
        except NoFigure as error:
            return _tell_none(error, trial, options)


def _trial(options: TryOptions) -> Trial:
    """What is asked of the user's files, not built yet. Raises UsageError for what does not fit their language."""
    from perbyte.app.trying.trial import Trial
    from perbyte.trial.own_algorithm import algorithm_named
    from perbyte.trial.subject import read_request

    clock = Clock(options.budget, began=command_began())
    described = (options.kind, options.lengths, options.answers)
    request = read_request(
        options.files,
        algorithm_named(options.algorithm_name or "", *described),
        options.functions,
        options.signatures,
        options.name,
        flags=options.flags,
        defines=options.defines,
        links=options.links,
        packages=options.packages,
    )
    trial = Trial(
        request,
        sizes=read_sizes(options.sizes),
        beside=options.beside,
        clock=clock,
        count=options.count or options.limits.fail_above_instructions is not None,
        places=options.places,
        offsets=options.offsets,
        gentle=options.how.gentle,
        patience_s=options.patience,
        fresh=options.fresh,
        listener=options.before.listener,
        hear_first=None if options.before.quiet else _note_first,
    )
    if not options.before.as_json:
        trial.hear_faults = partial(_print_faults, trial)
    return trial


def _note_first(figures: Sequence[CellFigure], elapsed_s: float) -> None:
    from perbyte.report import trials

    note(trials.first_line(figures, elapsed_s))


def _print_faults(trial: Trial, faults: Sequence[Failure]) -> None:
    from perbyte.report import trials

    for fault in faults:
        print(trials.fault_line(fault))
    wrong = any(fault.kind in ("incorrect", "disputed") for fault in faults)
    if wrong and not trial.request.signatures:
        words = [f"--signature {step}={','.join(call.roles)}" for step, call in trial.calls.items()]
        note(f"{trial.understood}; if this is wrong, give {' '.join(words)}")


def _tell_none(error: NoFigure, trial: Trial, options: TryOptions) -> int:

    from perbyte.report.facts import failure_lines

    if error.run:
        print_lines(failure_lines(error.run))
    elif options.before.as_json:
        print_json({"cells": [], "trial": {"faults": error.faults}})
    else:
        _print_faults(trial, error.faults)
    return error.code


def _tell_beside(trial: Trial, options: TryOptions, done: BesideLibraries) -> int:

    from perbyte.app.trying.offsets import offset_lines
    from perbyte.cli.conduct import note_losses
    from perbyte.report import trials

    run, stored = done.run, done.stored
    if options.before.as_json:
        roles = {step: call.roles for step, call in trial.calls.items()}
        of_rows = (run, done.names, done.bests)
        print_json(trials.trial_json(*of_rows, roles=roles, faults=done.faults, stored=stored))
    else:
        print_lines(trials.beside_lines(run, done.names, done.bests))
        print(trial.understood)
        print_lines(trials.stored_lines(stored.kept(run)) if stored else ())
        print_lines(offset_lines(done.offsets))
    note_losses(run, quiet=options.before.quiet)
    return done.code


def _try_baseline(trial: Trial, options: TryOptions) -> int:
    from perbyte.app.trying.trial import NoFigure

    code = _tell_baseline(trial, options, trial.against_baseline(keep=options.before.keep))
    while options.watch:
        note("waiting for a change; Ctrl-C ends it")
        wait_for_change(trial.request.files)
        trial.clock = Clock(options.budget)
        try:
            code = _tell_baseline(trial, options, trial.against_baseline(keep=False))
        except NoFigure as error:
            code = _tell_none(error, trial, options)
        except PerbyteError as error:
            note(f"{error}" + (f" ({error.hint})" if error.hint else ""))
    return code


def _tell_baseline(trial: Trial, options: TryOptions, done: InTurn | Kept) -> int:
    from perbyte.app.trying.trial import InTurn
    from perbyte.report import trials

    if isinstance(done, InTurn):
        _print_changed(trial, options, done)
        return _judge(done, options)
    costs = trials.costs_text(done.run, done.name)
    print(f"{done.name}: kept as the baseline, {costs}; change it and run this again")
    return EXIT_FINE


def _print_changed(trial: Trial, options: TryOptions, done: InTurn) -> None:
    from perbyte.report import trials

    elapsed_s = trial.clock.elapsed_s
    if options.before.as_json:
        print_json(trials.changed_json(done, elapsed_s, counted=trial.count), indent=None)
    elif options.before.markdown:
        print_lines(trials.changes_markdown(done.name, done.changes, done.instructions))
    else:
        flags = (done.flags_then, " ".join(trial.request.flags[0])) if done.flags_then is not None else None
        since = f"{done.before}; {elapsed_s:.1f} s"
        told = (done.name, done.changes, since, done.run, done.instructions, flags)
        print_lines(trials.changes_lines(*told))


def _judge(done: InTurn, options: TryOptions) -> int:
    from perbyte.cli.conduct import note_losses
    from perbyte.report.gate import gap_lines, regression_lines

    note_losses(done.run, quiet=options.before.quiet)
    notes(gap_lines(done.gaps))
    code, regressions, of_counts = done.judge(options.limits.gate)
    if options.limits.fail_above is not None:
        notes(regression_lines(regressions, one_run=True), quiet=options.before.quiet)
    note(of_counts, quiet=not of_counts)
    return code


def _try_since(trial: Trial, options: TryOptions) -> int:
    from perbyte.app.trying.commits import add_entry, compare_with_commit
    from perbyte.report.commits import write_history

    assert options.since
    codes: list[int] = []

    def hear(changed: InTurn) -> None:
        codes.append(_tell_baseline(trial, options, changed))

    hear_step = None if options.before.as_json or options.before.markdown else _print_step
    changed, repository, old = compare_with_commit(trial, options.since, hear, hear_step)
    if options.history:
        entries = add_entry(options.history, repository, trial, changed, old)
        if not extras.has("atlas"):
            how = extras.install_command("atlas")
            options.before.note(f"the run was not added to {options.history / 'atlas'}: {how}")
        options.before.note(f"history: {write_history(options.history, entries)}")
    return codes[0]


def _print_step(step: SearchStep | Candidates) -> None:
    from perbyte.report import trials

    print(trials.search_line(step), flush=True)


def _try_leak(trial: Trial, options: TryOptions) -> int:
    from perbyte.app.leaking import leak_code
    from perbyte.app.trying.trial import find_own_leaks
    from perbyte.cli.leak import FAILING
    from perbyte.cli.runs import print_leaks

    assert options.leak
    failing = read_choices("--fail-on", options.fail_on, FAILING)
    run, place = find_own_leaks(trial, options.leak, options.budget)
    print_leaks(run, Forms(options.before.as_json, False))
    note(f"run: {place}  (perbyte show {place.name})", quiet=options.before.quiet)
    return leak_code(run, failing)


def _try_trees(options: TryOptions) -> int:
    from perbyte.app.supercop import MEASURED
    from perbyte.app.trying.trees import layout_groups, measure_groups, supercop_groups, tree_code
    from perbyte.report import trials
    from perbyte.report.export import to_json

    places, sizes, listener = options.files, read_sizes(options.sizes), options.before.listener
    if options.layout:
        groups = layout_groups(options.layout, places, options.algorithm_name, sizes, listener)
    else:
        groups = supercop_groups(places, options.algorithm_name, options.flags, sizes, listener)
    how = (options.beside, options.budget, options.how.gentle, listener)
    codes = []
    for algorithm, run, outcomes in measure_groups(groups, sizes, *how):
        if options.before.as_json:
            document = to_json(run) if run else {}
            print_json(document | trials.tree_json(algorithm.id, outcomes))
        else:
            print_lines(trials.tree_lines(algorithm.id, run, outcomes, MEASURED))
        codes.append(tree_code(outcomes))
    return gravest(codes)
