"""`perbyte try`: a user's own function, built, checked, measured beside the libraries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from perbyte import extras
from perbyte.app.quantities import read_choices, read_sizes
from perbyte.app.trying.clock import Clock, command_began, wait_for_change
from perbyte.app.trying.trial import BesideLibraries, InTurn, Kept, NoFigure, Trial
from perbyte.cli.declared import takes
from perbyte.cli.options import Forms, note, print_json, print_lines
from perbyte.cli.sections import SectionedCommand
from perbyte.cli.try_options import EPILOG, SECTIONS, TryOptions
from perbyte.errors import EXIT_FINE, PerbyteError

if TYPE_CHECKING:
    from perbyte.app.trying.since import Candidates, SearchStep
    from perbyte.model import CellFigure, Failure


@takes("try", TryOptions, cls=SectionedCommand, sections=SECTIONS, epilog=EPILOG)
def command(options: TryOptions) -> int:
    """Measure a function of your own: build it, check its results, and compare its cost with that of libraries.

    FILE is a source in C, C++, assembly, Rust, Zig, Go, Java, Kotlin, Python, JavaScript or TypeScript, a header, or
    an object file.
    """
    if options.layout or options.supercop:
        return _try_trees(options)
    trial = _trial(options)
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
    from perbyte.app.trying.asking import read_trial
    from perbyte.cli.conduct import conduct_plan
    from perbyte.trial.own_algorithm import algorithm_named

    clock = Clock(options.budget, began=command_began())
    described = (options.kind, options.lengths, options.answers)
    asked, flags = read_trial(
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
        asked,
        flags,
        sizes=read_sizes(options.sizes),
        beside=options.beside,
        clock=clock,
        count=options.count or options.limits.fail_above_instructions is not None,
        gentle=options.how.gentle,
        patience_s=options.patience,
        fresh=options.fresh,
        conduct=partial(conduct_plan, quiet=options.before.quiet),
        conduct_quietly=partial(conduct_plan, quiet=True),
        listener=options.before.listener,
        hear_first=None if options.before.quiet else _note_first,
    )
    if not options.before.as_json:
        trial.hear_faults = partial(_print_faults, trial)
    return trial


def _note_first(figures: Sequence[CellFigure], elapsed_s: float) -> None:
    """Say that the program is right and about what it costs, long before the figures."""
    from perbyte.report.trials import first_line

    note(first_line(figures, elapsed_s))


def _print_faults(trial: Trial, faults: Sequence[Failure]) -> None:
    """Print what is wrong with which program, each once."""
    from perbyte.report.trials import fault_line

    for fault in faults:
        print(fault_line(fault))
    wrong = any(fault.kind in ("incorrect", "disputed") for fault in faults)
    if wrong and not trial.asked.signatures:
        words = [f"--signature {step}={','.join(call.roles)}" for step, call in trial.calls.items()]
        note(f"{trial.understood}; where that is not so, say it: {' '.join(words)}")


def _tell_none(error: NoFigure, trial: Trial, options: TryOptions) -> int:
    """Print why the program has no figure. In JSON its faults are all there is."""
    from perbyte.report.facts import failure_lines

    if error.run:
        print_lines(failure_lines(error.run))
    elif options.before.as_json:
        print_json({"cells": [], "trial": {"faults": error.faults}})
    else:
        _print_faults(trial, error.faults)
    return error.code


def _tell_beside(trial: Trial, options: TryOptions, done: BesideLibraries) -> int:
    """Print the rows beside the libraries, and how far off the best of them is."""
    from perbyte.cli.ending import note_losses
    from perbyte.report.trials import beside_lines, stored_lines, trial_json

    run, stored = done.run, done.stored
    if options.before.as_json:
        roles = {step: call.roles for step, call in trial.calls.items()}
        of_rows = (run, done.names, done.bests)
        print_json(trial_json(*of_rows, roles=roles, faults=done.faults, stored=stored))
    else:
        print_lines(beside_lines(run, done.names, done.bests))
        print(trial.understood)
        print_lines(stored_lines(stored.kept(run)) if stored else ())
    note_losses(run, quiet=options.before.quiet)
    return done.code


def _try_baseline(trial: Trial, options: TryOptions) -> int:
    """Compare with the kept program; with --watch again at each change of a file."""
    code = _tell_baseline(trial, options, trial.against_baseline(keep=options.before.keep))
    while options.watch:
        note("waiting for a change; Ctrl-C ends it")
        wait_for_change(trial.asked.files)
        trial.clock = Clock(options.budget)
        try:
            code = _tell_baseline(trial, options, trial.against_baseline(keep=False))
        except NoFigure as error:
            code = _tell_none(error, trial, options)
        except PerbyteError as error:
            note(f"{error}" + (f" ({error.hint})" if error.hint else ""))
    return code


def _tell_baseline(trial: Trial, options: TryOptions, done: InTurn | Kept) -> int:
    from perbyte.report.trials import costs_text

    if isinstance(done, InTurn):
        _print_changed(trial, options, done)
        return _judge(done, options)
    costs = costs_text(done.run, done.name)
    print(f"{done.name}: kept as the baseline, {costs}; change it and run this again")
    return EXIT_FINE


def _print_changed(trial: Trial, options: TryOptions, done: InTurn) -> None:
    """Print what became of the rows, in the form that was asked for."""
    from perbyte.report import trials

    elapsed_s = trial.clock.elapsed_s
    if options.before.as_json:
        print_json(trials.changed_json(done, elapsed_s, counted=trial.count), indent=None)
    elif options.before.markdown:
        print_lines(trials.changes_markdown(done.name, done.changes, done.instructions))
    else:
        flags = (done.flags_then, " ".join(trial.flags[0])) if done.flags_then is not None else None
        since = f"{done.before}; {elapsed_s:.1f} s"
        told = (done.name, done.changes, since, done.run, done.instructions, flags)
        print_lines(trials.changes_lines(*told))


def _judge(done: InTurn, options: TryOptions) -> int:
    """The exit code of a comparison; what decides it is said."""
    from perbyte.cli.ending import note_gaps, note_losses, note_regressions

    note_losses(done.run, quiet=options.before.quiet)
    note_gaps(done.gaps)
    code, regressions, of_counts = done.judge(options.limits.gate)
    if options.limits.fail_above is not None:
        note_regressions(regressions, one_run=True, quiet=options.before.quiet)
    note(of_counts, quiet=not of_counts)
    return code


def _try_since(trial: Trial, options: TryOptions) -> int:
    """Compare with a commit, look for the one that changed it, add to the history."""
    from perbyte.app.trying.history import add_entry
    from perbyte.app.trying.since import compare_with_commit
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
    from perbyte.report.trials import search_line

    print(search_line(step), flush=True)


def _try_leak(trial: Trial, options: TryOptions) -> int:
    """Look whether the time of the function depends on secrets."""
    from perbyte.app.leaking import leak_code
    from perbyte.app.trying.secrets import find_own_leaks
    from perbyte.cli.leaking import FAILING, heard, print_leaks

    assert options.leak
    failing = read_choices("--fail-on", options.fail_on, FAILING)
    run, place = find_own_leaks(trial, options.leak, options.budget, **heard(quiet=options.before.quiet))
    print_leaks(run, Forms(options.before.as_json, False))
    note(f"run: {place}  (perbyte show {place.name})", quiet=options.before.quiet)
    return leak_code(run, failing)


def _try_trees(options: TryOptions) -> int:
    """Build, look at and measure each implementation of a tree; account for each one."""
    from perbyte.app.supercop import MEASURED
    from perbyte.app.trying.trees import layout_groups, measure_groups, supercop_groups, tree_code
    from perbyte.cli.conduct import conduct_plan
    from perbyte.report.export import to_json
    from perbyte.report.trials import tree_json, tree_lines

    places, sizes, listener = options.files, read_sizes(options.sizes), options.before.listener
    if options.layout:
        groups = layout_groups(options.layout, places, options.algorithm_name, sizes, listener)
    else:
        groups = supercop_groups(places, options.algorithm_name, options.flags, sizes, listener)
    conduct = partial(conduct_plan, quiet=options.before.quiet)
    how = (options.beside, options.budget, options.how.gentle, conduct, listener)
    codes = []
    for algorithm, run, outcomes in measure_groups(groups, sizes, *how):
        if options.before.as_json:
            document = to_json(run) if run else {}
            print_json(document | tree_json(algorithm.id, outcomes))
        else:
            print_lines(tree_lines(algorithm.id, run, outcomes, MEASURED))
        codes.append(tree_code(outcomes))
    return max(codes)
