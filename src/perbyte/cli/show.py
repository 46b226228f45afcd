"""`perbyte show`: the table of a run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from perbyte.app.run_names import find_run
from perbyte.cli.declared import Options, argument, group, takes
from perbyte.cli.options import NO_ADDITIONS, Additions, Output, note, print_json
from perbyte.errors import UsageError
from perbyte.model import Run


class _ShowOptions(Options):
    run: Path | None = argument(required=False)
    output: Output = group(Output)
    beside: Additions = group(Additions)


@takes("show", _ShowOptions)
def command(options: _ShowOptions) -> int:
    """Print the table of RUN: a directory, or a name of `perbyte list runs`. Without RUN: the newest run.

    \b
      perbyte show
      perbyte show results/monday --unit MB/s
      perbyte show results/monday --rate 2GB/s
      perbyte show --json | jq '.cells[] | {address, cycles_per_byte}'
    """
    from perbyte.model.text import plain
    from perbyte.store import open_run, unlike_manifest
    from perbyte.store.beside import is_leak_run, read_leaks

    place, output = find_run(options.run), options.output
    if is_leak_run(place):
        from perbyte.cli.leaking import print_leaks

        if output.unit or replace(options.beside, leak=False) != NO_ADDITIONS:
            raise UsageError("a run with leak tests has no options except --json and --csv")
        print_leaks(read_leaks(place), output)
        return 0
    print_run(open_run(place), output, options.beside)
    if bad := unlike_manifest(place):
        note(f"damaged: {plain('; '.join(bad), 600)}")
        note(f"the figures are those that were stored; perbyte verify {place} looks closer")
    return 0


def print_run(run: Run, output: Output, beside: Additions = NO_ADDITIONS) -> None:
    """Print a run in the form that was asked for, with what is wanted beside its figures."""
    from perbyte.report import runtext

    wanted = runtext.RunExtras(beside.rate, beside.limits, beside.count, beside.memory, beside.leak)
    if (beside.rate or beside.limits) and output.as_csv:
        raise UsageError(f"--{'rate' if beside.rate else 'limits'} is not in the CSV", hint="--json has it")
    if output.as_json:
        print_json(runtext.run_json(run, wanted))
    elif output.as_csv:
        print(runtext.to_csv(run), end="")
    else:
        print(runtext.render_run(run, output.unit, wanted), end="")
