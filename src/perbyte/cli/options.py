"""Types of options, and the groups of options that several commands share."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from perbyte.app import quantities
from perbyte.app.gate import Gate
from perbyte.app.listener import Listener
from perbyte.cli.conduct import listener_of
from perbyte.cli.declared import Options, flag, group, option
from perbyte.cli.streams import note, print_json, print_lines
from perbyte.errors import UsageError
from perbyte.model import Policy


class Parsed(click.ParamType[Any]):
    """A type of options: what `parse` makes of a text, which raises UsageError for what it cannot take."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value. Fails on what cannot be taken."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value.strip())
        except UsageError as error:
            self.fail(f"{error} ({error.hint})" if error.hint else str(error), param, ctx)
        except ValueError:
            example = f" ({param.help})" if isinstance(param, click.Option) else ""
            self.fail(f"'{value}' is not a {self.name}{example}", param, ctx)


Day = Annotated[datetime.date, Parsed("day", datetime.date.fromisoformat)]
Share = Annotated[float, Parsed("percent", quantities.read_share)]
Unit = Annotated[str, Parsed("unit", quantities.read_unit)]
Rate = Annotated[float, Parsed("rate", quantities.read_rate)]
Size = Annotated[int, Parsed("size", quantities.read_size)]
Html = Annotated[Path, Parsed("path", quantities.read_page)]
Cores = Annotated[tuple[int, ...], Parsed("list", quantities.read_cores)]
Time = Annotated[float, Parsed("time", quantities.read_seconds)]
Words = Annotated[tuple[str, ...], Parsed("list", quantities.read_words)]
DEFAULT = Policy()


class CellOptions(Options):
    """Which cells of those that selectors mean."""

    sizes: Words | None = option("--size", help="Sizes: 16,1KiB,10MB.")
    operations: Words | None = option("--operation", help="Operations: encrypt,seal,digest,sign...")
    contracts: Words | None = option("--contract", help="What one call is: stream, message...")


class GentleOption(Options):
    """Whether a run steps back behind other programs."""

    gentle: bool = flag("--gentle", help="Take no priority over other programs; less precise beside them.")


class PlaceOptions(GentleOption):
    """Where a run measures, and how. None: on all cores of one kind."""

    cores: Cores | None = option(
        "--cores", "--core", help="Cores to measure on: 0-3, or 1.  [all of one kind]"
    )


class PolicyOptions(PlaceOptions):
    """What the command line says of how a run measures. None: nothing."""

    precision: Share | None = option(
        "--precision", help=f"Interval half-width at which a cell is done.  [{DEFAULT.precision:.2%}]"
    )
    budget: Time | None = option("--budget", help=f"Measuring time of the run.  [{DEFAULT.budget_s:.0f}s]")
    epochs: Annotated[int, click.IntRange(1, 100)] | None = option(
        "--epochs", help=f"Minimum number of fresh processes per runner.  [{DEFAULT.epochs}]"
    )
    seed: Annotated[int, click.IntRange(0, 2**63 - 1)] | None = option(
        "--seed", help=f"Seed of data, keys, order and layouts.  [{DEFAULT.seed}]"
    )

    def policy(self, start: Policy = DEFAULT) -> Policy:
        """The policy `start` with what was said."""
        words = ("precision", "epochs", "cores", "seed")
        named = {"budget_s": self.budget} | {name: getattr(self, name) for name in words}
        policy = replace(start, **{name: value for name, value in named.items() if value is not None})
        most = max(policy.epochs, start.max_epochs)
        return replace(policy, max_epochs=most, gentle=start.gentle or self.gentle)


class JsonOption(Options):
    """Whether JSON is printed."""

    as_json: bool = flag("--json", help="Print JSON.")


class Forms(JsonOption):
    """In which form something is printed."""

    as_csv: bool = flag("--csv", help="Print CSV.")

    def __post_init__(self) -> None:
        """Raise UsageError when two forms were asked for."""
        if self.as_json and self.as_csv:
            raise UsageError("--json and --csv exclude each other")

    @property
    def table(self) -> bool:
        """True when neither JSON nor CSV was asked for."""
        return not (self.as_json or self.as_csv)


class QuietOption(Options):
    """Whether progress and notes are printed."""

    quiet: bool = flag("-q", "--quiet", help="No progress and no notes.")

    def note(self, text: str) -> None:
        """Print a note on stderr, unless nobody wants any."""
        note(text, quiet=self.quiet)

    @property
    def listener(self) -> Listener:
        """Who hears of the work."""
        return listener_of(quiet=self.quiet)


class UnitForms(Forms):
    """In which form figures are printed, and in which unit."""

    unit: Unit | None = option(
        "--unit", help=f"Unit of the table: {', '.join((*quantities.UNITS, *quantities.MORE_UNITS))}."
    )


class Output(QuietOption, UnitForms):
    """In which form a run is printed, and whether notes are."""


class StoredOption(Options):
    """How stored runs are read."""

    anew: bool = flag("--anew", help="Compute the figures again from the samples. No file is changed.")


class RateOption(Options):
    """A data rate in bytes per second that the figures are held against."""

    rate: Rate | None = option(
        "--rate", help="Show the cores for a data rate, and the cost of a record: 2GB/s."
    )


class Additions(RateOption):
    """What is printed beside the figures of a run."""

    limits: bool = flag("--limits", help="Compare each cell with the limit of the processor.")
    count: bool = flag("--count", help="Show the instructions of each cell, by kind and per cycle.")
    memory: bool = flag("--memory", help="Show stack, heap, state and code of each cell, in bytes.")
    leak: bool = flag("--leak", help="Show whether the time of each cell depends on secrets.")
    places: bool = flag("--places", help="Show how the cost of each cell depends on places in memory.")


NO_ADDITIONS = Additions(None, False, False, False, False, False)


class TimeGateOptions(Options):
    """When a comparison of times fails."""

    fail_above: Share | None = option(
        "--fail-above", help="Exit code 1 if slower by more than this, 5 if not known.  [--baseline: any]"
    )
    undecided_is: Literal["ok", "fail"] | None = option(
        "--undecided-is", help="With --fail-above: exit code 0 or 1 instead of 5."
    )

    def __post_init__(self) -> None:
        """Raise UsageError for what means nothing alone."""
        if self.undecided_is and self.fail_above is None:
            raise UsageError("--undecided-is belongs to --fail-above")

    @property
    def gate(self) -> Gate:
        """The same as a gate."""
        return Gate(self.fail_above, undecided_is=self.undecided_is)


class GateOptions(TimeGateOptions):
    """When a comparison of times and of instructions fails."""

    fail_above_instructions: Share | None = option(
        "--fail-above-instructions", help="Exit code 1 if instructions grow by more than this."
    )

    @property
    def gate(self) -> Gate:
        """The same as a gate."""
        return Gate(self.fail_above, self.fail_above_instructions, self.undecided_is)


class BaselineOptions(QuietOption):
    """What is kept of a user's programs, and in which form a comparison with it is printed."""

    baseline: bool = flag("--baseline", help="Compare with the kept program; keep the first one.")
    keep: bool = flag("--keep", help="Make this program the baseline.")
    markdown: bool = flag("--markdown", help="Print the result of --baseline as Markdown.")
    as_json: bool = flag("--json", help="Print JSON.")

    def __post_init__(self) -> None:
        """Raise UsageError when two forms were asked for."""
        if self.markdown and self.as_json:
            raise UsageError("--markdown and --json exclude each other")

    def tell(self, document: Mapping[str, Any], texts: Iterable[str], indent: int | None = 1) -> None:
        """Print the document where JSON was asked for, else the texts."""
        if self.as_json:
            print_json(document, indent)
        else:
            print_lines(texts)


class Guard(Options):
    """Who belongs to a fleet."""

    secret: Path | None = option(
        "--secret", metavar="FILE", help="The fleet's secret.  [fleet/secret.pem, beside the runs]"
    )
    insecure: bool = flag("--insecure", help="No TLS and no secret: let in anyone who reaches it.")


class SchedulerOptions(Options):
    """Which fleet is meant, and how one is let in."""

    address: str | None = option("--scheduler", metavar="ADDRESS", help="The fleet's scheduler: HOST:8786.")
    guard: Guard = group(Guard)
