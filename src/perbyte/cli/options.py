"""Option types and groups that several commands share."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from perbyte.model import Policy

F = TypeVar("F", bound=Callable[..., Any])

UNITS = (
    "cycles/byte",
    "cycles/call",
    "ns/call",
    "MB/s",
    "GB/s",
    "calls/s",
)  # those of `stats.quantity`, which a test compares
_SHORT_UNITS = {"cpb": "cycles/byte", "c/b": "cycles/byte", "cycles": "cycles/call", "ns": "ns/call"}
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
            self.fail(
                f"invalid percentage {value!r}: above 0% and below 100% (e.g. 0.25% or 0.0025)", param, ctx
            )
        return number


class UnitName(click.ParamType[str]):
    """The name of a unit, in any case, or one of its short forms."""

    name = "unit"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as `UNITS` has it."""
        asked = str(value).strip().lower()
        found = _SHORT_UNITS.get(asked) or {unit.lower(): unit for unit in UNITS}.get(asked)
        if not found:
            self.fail(f"no unit '{value}'; there are {', '.join(UNITS)}", param, ctx)
        return found


class DataRate(click.ParamType[float]):
    """`2GB/s`, `500 MB/s`, `10Gbit/s`: bytes a second."""

    name = "rate"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return bytes a second. Fails on anything else."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)(i?)(B|bit)(?:/s|ps)?", str(value).strip())
        if not found or float(found[1]) <= 0:
            self.fail(f"invalid rate {value!r} (e.g. 2GB/s, 500MB/s or 10Gbit/s)", param, ctx)
        steps = " kMGT".index(found[2] or " ")
        return (
            float(found[1]) * float((1024 if found[3] else 1000) ** steps) / (8 if found[4] == "bit" else 1)
        )


class DataSize(click.ParamType[int]):
    """`64MiB`, `1TB`, `4096`: bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes. Fails on anything else."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKMGTP]?)(i?)B?", str(value).strip())
        if not found or float(found[1]) <= 0:
            self.fail(f"invalid size {value!r} (e.g. 64MiB, 1TB or 4096)", param, ctx)
        return int(float(found[1]) * (1024 if found[3] else 1000) ** " KMGTP".index(found[2].upper() or " "))


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
    """`60s`, `2min`, `500ms`, `90`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds. Fails on anything else."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|)", str(value).strip())
        if not found or float(found[1]) <= 0:
            self.fail(f"invalid duration {value!r}: a time above zero (e.g. 60s, 2min or 500ms)", param, ctx)
        return float(found[1]) * _TIME_UNITS[found[2] or "s"]


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


gentle_option = click.option(
    "--gentle", is_flag=True, help="Without priority over other programs: less precise beside them."
)


def policy_options(function: F) -> F:
    """Add the options from which `read_policy` makes a Policy."""
    default = Policy()
    for option in reversed(
        [
            click.option(
                "--precision",
                type=Percent(),
                default=None,
                help=f"Half-width at which a cell is done.  [{default.precision:.2%}]",
            ),
            click.option(
                "--budget",
                type=Seconds(),
                default=None,
                help=f"Measuring time of the run.  [{default.budget_s:.0f}s]",
            ),
            click.option(
                "--epochs",
                type=click.IntRange(1, 100),
                default=None,
                help=f"Fresh processes per runner at the least.  [{default.epochs}]",
            ),
            click.option(
                "--cores",
                "--core",
                "cores",
                type=Cores(),
                default=None,
                help="Cores to measure on, as 0-3 or 1.  [all of one kind]",
            ),
            click.option(
                "--seed",
                type=click.IntRange(0, 2**63 - 1),
                default=None,
                help=f"Seed of data, keys, order and layouts.  [{default.seed}]",
            ),
            gentle_option,
        ]
    ):
        function = option(function)
    return function


def profile_option(function: F) -> F:
    """Add --profile."""
    return click.option("--profile", is_flag=True, help="Say where the time of the run went.")(function)


def rate_option(function: F) -> F:
    """Add --rate."""
    said = "How many cores such a rate takes, and what a record costs: 2GB/s."
    return click.option("--rate", type=DataRate(), default=None, help=said)(function)


def limits_option(function: F) -> F:
    """Add --limits."""
    said = "What the silicon allows beside each cell, and which limit binds."
    return click.option("--limits", is_flag=True, help=said)(function)


def output_options(function: F) -> F:
    """Add --json, --csv, --unit and --quiet."""
    for option in reversed(
        [
            click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table."),
            click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of the table."),
            click.option(
                "--unit",
                type=UnitName(),
                default=None,
                help=f"Unit of the table: {', '.join(UNITS)}.",
            ),
            click.option("-q", "--quiet", is_flag=True, help="No progress and no notes."),
        ]
    ):
        function = option(function)
    return function


def note(text: str, *, quiet: bool = False) -> None:
    """Print a note on stderr."""
    if not quiet:
        print(text, file=sys.stderr)
