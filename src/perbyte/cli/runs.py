"""Commands on stored runs: show, merge, recover, sign, verify, query, and the paragraph for a paper."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from perbyte import extras, places
from perbyte.app.runs import all_runs, find_run, find_runs
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import NO_ADDITIONS, Additions, Forms, Output, StoredOption
from perbyte.cli.streams import note, notes, print_json, print_lines
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED, UsageError
from perbyte.model import Run
from perbyte.model.run import LeakRun
from perbyte.model.text import plain


class _RunOption(Options):
    run: Path | None = argument(required=False)


class _ShowOptions(_RunOption):
    stored: StoredOption = group(StoredOption)
    output: Output = group(Output)
    beside: Additions = group(Additions)
    audit: str | None = option(
        "--audit", help="Show what the audit saw of CELLS instead: a pattern, or 'marked'."
    )


@takes("show", _ShowOptions)
def show_command(options: _ShowOptions) -> int:
    """Print the table of RUN: a directory, or a name of `perbyte list runs`. Without RUN: the newest run.

    \b
      perbyte show
      perbyte show results/monday --unit MB/s
      perbyte show results/monday --rate 2GB/s
      perbyte show --json | jq '.cells[] | {address, cycles_per_byte}'
      perbyte show --audit marked
    """
    from perbyte.store import open_run
    from perbyte.store.beside import is_leak_run, read_leaks

    place, output = find_run(options.run), options.output
    if is_leak_run(place):
        if output.unit or replace(options.beside, leak=False) != NO_ADDITIONS:
            raise UsageError("a run with leak tests has no options except --json and --csv")
        print_leaks(read_leaks(place), output)
    elif options.audit:
        _print_audit(place, options.audit, output)
    else:
        print_run(open_run(place, anew=options.stored.anew), output, options.beside)
    return EXIT_FINE


def _print_audit(place: Path, cells: str, output: Output) -> None:
    from perbyte.report.conformance import explained, explanation_lines
    from perbyte.store import open_run, stored_run

    told = explained(stored_run(place), open_run(place).cells, cells)
    if output.as_json:
        print_json(told)
    else:
        print_lines(explanation_lines(told))


def print_run(run: Run, output: Output, beside: Additions = NO_ADDITIONS) -> None:
    """Print a run in the form that was asked for, with what is wanted beside its figures."""
    from perbyte.report import printed
    from perbyte.report.export import to_csv

    wanted = printed.RunExtras(
        beside.rate, beside.limits, beside.count, beside.memory, beside.leak, beside.places
    )
    if (beside.rate or beside.limits) and output.as_csv:
        raise UsageError(f"--{'rate' if beside.rate else 'limits'} is not in the CSV", hint="--json has it")
    if output.as_json:
        print_json(printed.run_json(run, wanted))
    elif output.as_csv:
        print(to_csv(run), end="")
    else:
        print(printed.render_run(run, output.unit, wanted), end="")


def print_leaks(run: LeakRun, forms: Forms) -> None:
    """Print what was found."""
    from perbyte.report.leaktext import leaks_csv, leaks_json, render_leaks

    if forms.as_json:
        print_json(leaks_json(run))
    else:
        print(leaks_csv(run.figures) if forms.as_csv else render_leaks(run), end="")


class _MergeOptions(Options):
    runs: tuple[Path, ...] = argument(nargs=-1, required=True, metavar="RUN RUN...")
    out: Path | None = option("--out", help="Run directory to create.")
    output: Output = group(Output)


@takes("merge", _MergeOptions)
def merge_command(options: _MergeOptions) -> int:
    """Merge RUNs of the same cells, machine, libraries and policy into one run with the epochs of all.

    Runs are refused if they differ in anything that affects a figure. Compare them instead.
    """
    from perbyte.store import merge

    paths = find_runs(options.runs)
    out = options.out or places.runs_home() / "+".join(path.name for path in paths)
    print_run(merge(paths, out), options.output)
    options.output.note(f"run: {out}")
    return EXIT_FINE


class _RecoverOptions(Options):
    run: Path = argument()
    out: Path | None = option("--out", help="Run directory to create.")


@takes("recover", _RecoverOptions)
def recover_command(options: _RecoverOptions) -> int:
    """Save the readable part of RUN as a new run, and compute its figures again. RUN itself is not changed.

    Exit code 1 if something was lost. Lost cells are named here, and as failures of the new run. `perbyte measure
    --resume` can complete it on the machine that measured it.

    \b
      perbyte recover results/monday --out results/monday-saved
    """
    from perbyte.store import recover

    place = find_run(options.run)
    done = recover(place, options.out or places.runs_home() / f"{place.resolve().name}-recovered")
    print_lines(f"lost: {plain(text, 300)}" for text in done.lost)
    notes(plain(text, 300) for text in done.notes)
    print(f"saved: {done.bursts:,} bursts{'' if done.lost else '; nothing that was measured is lost'}")
    note(f"run: {done.path}")
    return EXIT_FOUND if done.lost else EXIT_FINE


class _SignOptions(_RunOption):
    key: Path = option("--key", required=True, help="SSH key, such as ~/.ssh/id_ed25519.")


@takes("sign", _SignOptions)
def sign_command(options: _SignOptions) -> int:
    """Sign the manifest of RUN (default: the newest) with an SSH key. `verify` and `report` then name the signer.

    Resuming the run, or any other change, makes the signature invalid.

    \b
      perbyte sign results/monday --key ~/.ssh/id_ed25519
    """
    from perbyte.app.runs import sign_run

    print(f"signed: {sign_run(find_run(options.run), options.key)}")
    return EXIT_FINE


class _VerifyOptions(_RunOption):
    signers: Path | None = option(
        "--signers", help="Accepted signers: an allowed_signers file of ssh-keygen."
    )
    as_json: bool = flag("--json", help="Print JSON instead.")


@takes("verify", _VerifyOptions)
def verify_command(options: _VerifyOptions) -> int:
    """Compare every file of RUN (default: the newest) with its manifest, read all of it, and check its signature.

    Exit code 0: intact. 1: damaged, or a bad signature. 5: not known, because there is no manifest.

    \b
      perbyte verify results/monday
      perbyte verify results/monday --signers ~/.ssh/allowed_signers
    """
    from perbyte.report.facts import damage_json, damage_lines
    from perbyte.store import read_signature, verify

    verdict = verify(find_run(options.run))
    signature = read_signature(verdict.path, options.signers)
    unsigned = options.signers is not None and signature is None
    bad = bool(verdict.damaged) or unsigned or bool(signature and not signature.good)
    if options.as_json:
        print_json(damage_json(verdict, signature))
    else:
        print_lines(damage_lines(verdict, signature))
        notes(plain(text, 300) for text in verdict.notes)
        if verdict.damaged:
            note(f"save the readable part with: perbyte recover {verdict.path}")
    return EXIT_FOUND if bad else EXIT_FINE if verdict.manifest else EXIT_UNDECIDED


@takes("methods", _RunOption)
def methods_command(options: _RunOption) -> int:
    """Print a paragraph about RUN (default: the newest) for a methods section, with all data to repeat it.

    \b
      perbyte methods results/monday
    """
    from perbyte.report.methods import methods
    from perbyte.store import open_run

    run = open_run(place := find_run(options.run))
    if not run.cells:
        raise UsageError("this run has no figures to tell of", hint=f"why: perbyte show {place}")
    width = min(100, shutil.get_terminal_size((100, 24)).columns)
    print(textwrap.fill(methods(run), width, break_on_hyphens=False, break_long_words=False))
    return EXIT_FINE


class _QueryOptions(Options):
    sql: str = argument()
    runs: tuple[Path, ...] = argument(nargs=-1, metavar="[RUN...]")
    stored: StoredOption = group(StoredOption)
    forms: Forms = group(Forms)


@takes("query", _QueryOptions)
def query_command(options: _QueryOptions) -> int:
    """Run one SQL query over RUNs, or over all stored runs. Queries change nothing.

    The views are runs, cells, samples, behaviour and leaks. They have a row per run, per figure, per sample, per
    counted cell, and per cell and secret.

    \b
      perbyte query 'DESCRIBE cells'
      perbyte query "SELECT machine, runner, algorithm, round(min(cycles_per_byte), 3) AS best
        FROM cells JOIN runs USING (run) WHERE algorithm LIKE 'aes-%-gcm' AND size_bytes = 16384
        GROUP BY ALL ORDER BY best"
      perbyte query "SELECT epoch, median(ticks / calls) FROM samples
        WHERE address LIKE 'openssl/sha-256/%' GROUP BY epoch ORDER BY epoch" results/monday
      perbyte query "SELECT address, quality, warnings FROM cells WHERE quality <> 'good'" --csv
    """
    from perbyte.store import query

    extras.require("query", "SQL")
    runs = find_runs(options.runs) or all_runs(note)
    print_rows(*query(runs, options.sql, anew=options.stored.anew), options.forms)
    return EXIT_FINE


def print_rows(names: Sequence[str], rows: Sequence[Sequence[Any]], forms: Forms) -> None:
    """Print what a query found."""
    from perbyte.cli.terminal import print_listing
    from perbyte.report.lists import query_listing, query_records, rows_csv

    if forms.as_json:
        print_json(query_records(names, rows))
    elif forms.as_csv:
        print(rows_csv(names, rows), end="")
    elif names:
        print_listing(query_listing(names, rows))
