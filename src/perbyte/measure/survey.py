"""What the runners of this machine really offer: each is started once per CPU tier and asked.

The answer comes from the runner's own dispatch table, so a plan made from it holds no cell that does not
exist. A runner that is absent or broken is a note, never the end of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from perbyte.errors import PerbyteError
from perbyte.model import Failure, Row
from perbyte.protocol.messages import HelloAnswer, Operation
from perbyte.runners import stale
from perbyte.runners.locate import RunnerSpec
from perbyte.runners.session import Session


@dataclass(frozen=True, slots=True)
class Survey:
    """`hellos` maps (runner, CPU tier) to its hello; `failures` tells of those that did not answer."""

    specs: Mapping[str, RunnerSpec]
    hellos: Mapping[tuple[str, str], HelloAnswer]
    failures: tuple[Failure, ...] = ()

    def operations(self, runner: str, cpu: str) -> list[Operation]:
        """The operations of one runner in one tier; empty when it did not answer."""
        hello = self.hellos.get((runner, cpu))
        return list(hello.operations) if hello else []

    def operation(self, row: Row) -> Operation | None:
        """What a hello says about one row, or None."""
        for offered in self.operations(row.runner, row.cpu):
            if (offered.algorithm, offered.operation, offered.contract) == row[2:]:
                return offered
        return None


@dataclass(slots=True)
class _Found:
    hellos: dict[tuple[str, str], HelloAnswer] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


def survey(specs: Iterable[RunnerSpec], cpus: Sequence[str]) -> Survey:
    """Ask every runner in every tier of `cpus` that it has. Takes tens of milliseconds each, in parallel."""
    specs = list(specs)
    outdated = [spec for spec in specs if stale(spec)]
    wanted = [(spec, cpu) for spec in specs if spec not in outdated for cpu in cpus if cpu in spec.tiers]
    found = _Found(failures=[_outdated(spec) for spec in outdated])
    with ThreadPoolExecutor(max_workers=4) as pool:
        for (spec, cpu), answer in zip(wanted, pool.map(_ask, wanted), strict=True):
            if isinstance(answer, HelloAnswer):
                found.hellos[spec.name, cpu] = answer
            else:
                found.failures.append(answer)
    return Survey({spec.name: spec for spec in specs}, found.hellos, tuple(found.failures))


def _outdated(spec: RunnerSpec) -> Failure:
    message = f"it was built from other sources than those that are here (run: perbyte build {spec.name})"
    return Failure(kind="absent", runner=spec.name, message=message)


def _ask(wanted: tuple[RunnerSpec, str]) -> HelloAnswer | Failure:
    spec, cpu = wanted
    try:
        with Session(spec, cpu=cpu) as session:
            return session.hello()
    except PerbyteError as error:
        text = f"{error} ({error.hint})" if error.hint else str(error)
        return Failure(kind="absent", runner=spec.name, message=f"tier {cpu}: {text}")
