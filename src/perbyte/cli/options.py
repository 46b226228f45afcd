"""Option types and groups that several commands share."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from typing import Any

import click

from perbyte.cli.declared import flag, option
from perbyte.errors import UsageError
from perbyte.model import Policy

UNITS = (
    "cycles/byte",
    "cycles/call",
    "ns/call",
    "MB/s",
    "GB/s",
    "calls/s",
)  # those of `stats.quantity`, which a test compares
_SHORT_UNITS = {"cpb": "cycles/byte", "c/b": "cycles/byte", "cycles": "cycles/call", "ns": "ns/call"}
LONGEST_S = 7 * 86400.0  # of a run; nobody means more
_TIME_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


class Percent(click.ParamType[float]):
    """`0.25%` or `0.0025`: a share, given as a fraction."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the fraction. Fails on anything that is not a positive number, with or without %."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            number = float(text.rstrip("% ")) / (100 if text.endswith("%") else 1)
        except ValueError:
            number = -1.0
        if not 0 < number < 1:
            meant = f"{text}% or" if 1 <= number < 100 and "%" not in text else "0.25% or"
            self.fail(
                f"invalid percentage {value!r}: above 0% and below 100% (e.g. {meant} 0.0025)", param, ctx
            )
        return number


class UnitName(click.ParamType[str]):
    """The name of a unit, in any case, or one of its short forms."""

    name = "unit"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as `UNITS` has it."""
        asked = str(value).strip().lower()
        unit = _SHORT_UNITS.get(asked) or {unit.lower(): unit for unit in UNITS}.get(asked)
        if not unit:
            self.fail(f"no unit '{value}'; there are {', '.join(UNITS)}", param, ctx)
        return unit


class DataRate(click.ParamType[float]):
    """`2GB/s`, `500 MB/s`, `10Gbit/s`: bytes a second."""

    name = "rate"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return bytes a second. Fails on anything else."""
        if isinstance(value, float):
            return value
        asked = str(value).strip()
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)(i?)(B|[bB][iI][tT])(?:/s|ps)?", asked)
        if not match or float(match[1]) <= 0:
            either = re.fullmatch(r"(\d+(?:\.\d+)?\s*[kKmMgGtT]?)b(?:/s|ps)?", asked)
            meant = (
                f": {either[1]}B/s or {either[1]}bit/s?" if either else " (e.g. 2GB/s, 500MB/s or 10Gbit/s)"
            )
            self.fail(f"invalid rate {value!r}{meant}", param, ctx)
        steps = " KMGT".index(match[2].upper() or " ")
        return float(match[1]) * float((1024 if match[3] else 1000) ** steps) / (1 if match[4] == "B" else 8)


class DataSize(click.ParamType[int]):
    """`64MiB`, `1TB`, `4096`: bytes, by the one grammar of sizes (`catalogue.parse_bytes`)."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes. Fails on anything else, and on nothing."""
        from perbyte.catalogue import parse_bytes

        if isinstance(value, int):
            return value
        try:
            size = parse_bytes(str(value))
        except UsageError as error:
            self.fail(f"{error} ({error.hint})", param, ctx)
        if not size:
            self.fail(f"'{value}' is no data (e.g. 64MiB, 1TB or 4096)", param, ctx)
        return size


class Cores(click.ParamType[tuple[int, ...]]):
    """A list of cores as Linux writes it: `0-3,8`; gives a tuple, in the order written."""

    name = "list"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the numbers of the cores."""
        if isinstance(value, tuple):
            return value
        cores: list[int] = []
        for part in str(value).split(","):
            low, dash, high = part.strip().partition("-")
            if not low.isdecimal() or (dash and not high.isdecimal()):
                self.fail(f"'{value}' is not a list of cores such as 1 or 0-3,8", param, ctx)
            cores += range(int(low), min(int(high or low), 1 << 16) + 1)
        return tuple(dict.fromkeys(cores))


class Seconds(click.ParamType[float]):
    """`60s`, `2min`, `500ms`; a bare number means seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds. Fails on anything else."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|)", str(value).strip())
        if not match or float(match[1]) <= 0:
            self.fail(f"invalid duration {value!r}: a time above zero (e.g. 60s, 2min or 500ms)", param, ctx)
        seconds = float(match[1]) * _TIME_UNITS[match[2] or "s"]
        if seconds > LONGEST_S:
            self.fail(f"invalid duration {value!r}: a week (168h) at the most", param, ctx)
        return seconds


class Listed(click.ParamType[tuple[str, ...]]):
    """Comma-separated words."""

    name = "list"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the words."""
        if isinstance(value, tuple):
            return value
        words = tuple(part.strip() for part in str(value).split(",") if part.strip())
        if not words:
            self.fail("an empty list", param, ctx)
        return words


UNDECIDED: dict[str, Any] = {
    "type": click.Choice(("ok", "fail")),
    "default": None,
    "help": "With --fail-above: exit code 0 or 1 instead of 5.",
}
undecided_option = click.option("--undecided-is", **UNDECIDED)
GENTLE = "Take no priority over other programs; less precise beside them."
PROFILE = "Show where the run spent its time."
RATE = "Show the cores for a data rate, and the cost of a record: 2GB/s."
DEFAULT = Policy()
gentle_option = click.option("--gentle", is_flag=True, help=GENTLE)


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """What the command line says of how a run measures. None: nothing."""

    precision: float | None = option(
        "--precision",
        type=Percent(),
        default=None,
        help=f"Interval half-width at which a cell is done.  [{DEFAULT.precision:.2%}]",
    )
    budget: float | None = option(
        "--budget",
        type=Seconds(),
        default=None,
        help=f"Measuring time of the run.  [{DEFAULT.budget_s:.0f}s]",
    )
    epochs: int | None = option(
        "--epochs",
        type=click.IntRange(1, 100),
        default=None,
        help=f"Minimum number of fresh processes per runner.  [{DEFAULT.epochs}]",
    )
    cores: tuple[int, ...] | None = option(
        "--cores",
        "--core",
        type=Cores(),
        default=None,
        help="Cores to measure on: 0-3, or 1.  [all of one kind]",
    )
    seed: int | None = option(
        "--seed",
        type=click.IntRange(0, 2**63 - 1),
        default=None,
        help=f"Seed of data, keys, order and layouts.  [{DEFAULT.seed}]",
    )
    gentle: bool = flag("--gentle", help=GENTLE)

    def policy(self, start: Policy = DEFAULT) -> Policy:
        """The policy `start` with what was said."""
        epochs = start.epochs if self.epochs is None else self.epochs
        return replace(
            start,
            precision=start.precision if self.precision is None else self.precision,
            budget_s=start.budget_s if self.budget is None else self.budget,
            epochs=epochs,
            max_epochs=max(epochs, start.max_epochs),
            cores=start.cores if self.cores is None else self.cores,
            seed=start.seed if self.seed is None else self.seed,
            gentle=start.gentle or self.gentle,
        )


@dataclass(frozen=True, slots=True)
class Output:
    """In which form a run is printed, and whether notes are."""

    as_json: bool = flag("--json", help="Print JSON instead of the table.")
    as_csv: bool = flag("--csv", help="Print CSV instead of the table.")
    unit: str | None = option(
        "--unit", type=UnitName(), default=None, help=f"Unit of the table: {', '.join(UNITS)}."
    )
    quiet: bool = flag("-q", "--quiet", help="No progress and no notes.")

    def __post_init__(self) -> None:
        """Raise UsageError when two forms were asked for."""
        require_one_form(as_json=self.as_json, as_csv=self.as_csv)

    @property
    def table(self) -> bool:
        """True when neither JSON nor CSV was asked for."""
        return not (self.as_json or self.as_csv)


@dataclass(frozen=True, slots=True)
class Additions:
    """What is printed beside the figures of a run; `rate` in bytes a second."""

    rate: float | None = option("--rate", type=DataRate(), default=None, help=RATE)
    limits: bool = flag("--limits", help="Compare each cell with the limit of the processor.")
    count: bool = flag("--count", help="Show the instructions of each cell, by kind and per cycle.")
    memory: bool = flag("--memory", help="Show stack, heap, state and code of each cell, in bytes.")
    leak: bool = flag("--leak", help="Show whether the time of each cell depends on secrets.")


NO_ADDITIONS = Additions(None, False, False, False, False)


def require_one_form(*, as_json: bool, as_csv: bool) -> None:
    """Raise UsageError when two forms were asked for."""
    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")


def note(text: str, *, quiet: bool = False) -> None:
    """Print a note on stderr."""
    if not quiet:
        print(text, file=sys.stderr)
