"""What became of each implementation of a tree, so that a run of hours can be resumed, and SUPERCOP's own lines of it.

The journal is a line of JSON for each program, appended when its primitive is done. The data file has the form of
SUPERCOP's database. The values of a `cycles` line are those of fresh processes, the middle one first.
"""

from __future__ import annotations

import json
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from perbyte.model import CellFigure
from perbyte.protocol.material import AAD_BYTES
from perbyte.trial.supercop import WORDS

MEASURED = "measured"
_WITHOUT_LENGTH = {"encapsulate", "decapsulate", "derive"}
_ABI = {"x86_64": "amd64", "aarch64": "aarch64"}


@dataclass(frozen=True, slots=True)
class VariantOutcome:
    """What became of one implementation under one compiler: `word` is `measured`, or why there is no figure.

    `asked` is the compiler that was asked for, where it was compiled with other flags; '' else.
    """

    operation: str
    primitive: str
    implementation: str
    compiler: str
    word: str
    detail: str = ""
    checksums: str = ""
    figures: Mapping[str, Sequence[float]] = field(default_factory=dict)
    asked: str = ""

    @property
    def path(self) -> str:
        """Where it lies in its tree."""
        return f"crypto_{self.operation}/{self.primitive}/{self.implementation}"

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from others."""
        return self.operation, self.primitive, self.implementation, self.asked or self.compiler


class Journal:
    """The outcomes of a tree, in `state.jsonl` of a directory of its own, and SUPERCOP's lines in `data`."""

    def __init__(self, place: Path) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self.place = place
        self.outcomes: dict[tuple[str, str, str, str], VariantOutcome] = {}
        if (place / "state.jsonl").is_file():
            for line in (place / "state.jsonl").read_text(encoding="utf-8").splitlines():
                try:
                    outcome = VariantOutcome(**json.loads(line))
                except (ValueError, TypeError):
                    continue  # the last line of a run that was killed
                self.outcomes[outcome.key] = outcome

    def add(self, outcomes: Iterable[VariantOutcome], lines: Iterable[str]) -> None:
        """Append what is known of a primitive."""
        fresh = list(outcomes)
        with (self.place / "data").open("a", encoding="utf-8") as data:
            data.writelines(f"{line}\n" for line in lines)
        with (self.place / "state.jsonl").open("a", encoding="utf-8") as state:
            state.writelines(f"{json.dumps(asdict(outcome))}\n" for outcome in fresh)
        self.outcomes |= {outcome.key: outcome for outcome in fresh}

    def counts(self) -> dict[str, int]:
        """How many outcomes there are of each word."""
        words = [outcome.word for outcome in self.outcomes.values()]
        return {word: words.count(word) for word in dict.fromkeys([MEASURED, *sorted(words)])}


def prefix(version: str, date: str, operation: str, primitive: str) -> str:
    """How each line of SUPERCOP's database begins."""
    machine = platform.machine()
    node = platform.node().split(".")[0].lower()
    host = "".join(filter(str.isalnum, node)) or "host"
    return f"{version} {host} {_ABI.get(machine, machine)} {date} crypto_{operation} {primitive}/timingleaks"


def data_lines(
    start: str, outcome: VariantOutcome, figures: Sequence[CellFigure], compiler_version: str
) -> list[str]:
    """The lines of one implementation that was measured; none where no clock counted core cycles."""
    counted = [figure for figure in figures if figure.cycles_per_call and figure.epoch_cycles]
    if not counted:
        return []
    rates = [(figure.cycles_per_call or 0.0) / figure.ns_per_call for figure in counted]
    hertz = statistics.median(rates) * 1e9
    texts = [
        f"implementation {outcome.path} -",
        f"cpucycles_persecond {hertz:.0f}",
        "cpucycles_implementation perbyte",
        f"compiler {outcome.compiler} {compiler_version.replace(' ', '_')}",
    ]
    for figure in counted:
        cell = figure.cell
        length = f"{cell.size_bytes + (1_000_000 * AAD_BYTES if cell.operation in ('seal', 'open') else 0)}"
        where = "-" if cell.operation in _WITHOUT_LENGTH else length
        middle = round(figure.cycles_per_call or 0.0)
        values = "".join(f"{round(each) - middle:+d}" for each in figure.epoch_cycles)
        texts.append(f"{WORDS['cycles'].get(cell.operation, 'cycles')} {where} {middle} {values}")
    return [f"{start} {line}" for line in texts]


def failure_line(start: str, outcome: VariantOutcome) -> str:
    """What SUPERCOP prints of an implementation that gives no figure."""
    word = "fromcompiler" if outcome.word in ("does not compile", "cannot be built") else "tryfails"
    return f"{start} {word} {outcome.path} {outcome.compiler} {outcome.word}: {outcome.detail}".replace(
        "\n", " "
    )


def try_line(start: str, outcome: VariantOutcome) -> str:
    """That an implementation gives the checksums of its primitive, in SUPERCOP's words."""
    cycles, ns, *_ = max(outcome.figures.values(), key=lambda values: values[0], default=(0.0, 1.0))
    word = "ok" if outcome.checksums and "-" not in outcome.checksums else "unknown"
    told = f"{cycles:.0f} 0 {1e9 * cycles / ns:.0f}"
    return f"{start} try {outcome.checksums or '-/-'} {word} {told} {outcome.path} {outcome.compiler}"
