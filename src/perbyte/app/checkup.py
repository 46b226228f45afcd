"""What this machine has for measuring, and what it lacks: each runner is started once and looks at its clock."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perbyte import __version__, places
from perbyte.errors import PerbyteError
from perbyte.measure import CoreWatch, choose_cores, describe_machine, recall, watch_cores
from perbyte.model import Machine
from perbyte.runners import RunnerSpec, Session, find, locate, stale
from perbyte.runners.needs import Missing, look
from perbyte.store.files import replace_atomically

_CALIBRATED = (
    *("cycle_source", "reason", "tick_hz", "tick_quantum", "probe_cycles", "fixed_ticks"),
    *("contention_probe", "contention_window", "contention_length", "contention_floor"),
    *("contention_shared", "contention_limit", "waited_ms", "selfcheck", "processor"),
)  # what is told of a calibration


@dataclasses.dataclass(frozen=True, slots=True)
class Checkup:
    """The machine, its cores watched for a second, and what each runner said of itself and of its clock.

    `checked` holds a runner with its answer, which has `error` where it gave none; `found` are the answers of those
    that can measure, the one to be trusted first; `unbuilt` are ordinary runners that are not built, each with what it
    lacks and the command that installs that (empty where nothing lacks), `opt_in` others.
    """

    machine: Machine
    checked: list[tuple[RunnerSpec, dict[str, object]]]
    found: list[dict[str, object]]
    watched: list[CoreWatch]
    unbuilt: list[tuple[RunnerSpec, tuple[str, ...], str]]
    opt_in: list[RunnerSpec]

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON types."""
        return {
            "machine": dataclasses.asdict(self.machine),
            "cores": [dataclasses.asdict(core) for core in self.watched],
            "runners": [result for _, result in self.checked],
            "not_built": [
                {"runner": spec.name, "lacks": what, "install": install}
                for spec, what, install in self.unbuilt
            ],
        }


def look_around() -> Checkup:
    """Look at this machine: a few seconds."""
    specs = [spec for spec in locate() if not spec.opt_in or spec.out().is_dir()]
    checked = [(spec, _greet(spec.name)) for spec in specs if not spec.built or spec.out().is_dir()]
    # by our own runner of known loops, where it is built, else by pair with the SDK in C
    by_trust = sorted(checked, key=lambda pair: (pair[0].name != "reference", not pair[0].compiled))
    ready = {spec.name for spec, _ in checked}
    return Checkup(
        describe_machine(),
        checked,
        [result for _, result in by_trust if "library" in result],
        _watch([spec for spec, result in by_trust if spec.compiled and "library" in result]),
        [(spec, *_lacks(spec)) for spec in specs if spec.name not in ready],
        [spec for spec in locate() if spec.opt_in and not spec.out().is_dir()],
    )


def core_report(content: Mapping[str, Any]) -> dict[str, Any]:
    """What another developer needs to model this core: what `Checkup.as_json` gave, and what the window probe reads.

    Nothing in it names the machine, its user or its files.
    """
    core = choose_cores()[0]
    runners = [
        {name: value for name, value in answer.items() if name != "object"}
        for answer in content["runners"]
        if answer.get("runner") == "reference"
    ]
    return {
        "perbyte": __version__,
        "commit": places.commit(),
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "machine": content["machine"],
        "cores": content["cores"],
        "reference": runners,
        "window": _window_readings(core),
    }


def write_core_report(place: Path, content: Mapping[str, Any]) -> None:
    """Write the report on this core to a file. Raises EnvironmentLacking where it cannot be written."""
    places.require_writable(place)
    report = json.dumps(core_report(content), indent=1) + "\n"

    def write(new: Path) -> None:
        new.write_text(report, encoding="utf-8")

    replace_atomically(place, write)


def _lacks(spec: RunnerSpec) -> tuple[tuple[str, ...], str]:
    needs = look(spec)
    return (needs.what, needs.install) if isinstance(needs, Missing) else ((), "")


def _window_readings(core: int) -> list[list[object]]:
    """What the window probe reads on `core`: filler, chain, length, ticks of a round; empty where nobody can tell."""
    try:
        spec = find("reference")
        command = [*(spec.fill(part) for part in spec.command), "print-window"]
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {core})  # the program inherits it
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        finally:
            os.sched_setaffinity(0, allowed)
    except (PerbyteError, OSError, subprocess.SubprocessError):
        return []
    rows = [line.split(",") for line in ended.stdout.splitlines()]
    return [[filler, int(chain), int(length), float(ticks)] for filler, chain, length, ticks in rows]


def _greet(name: str) -> dict[str, object]:
    """Start a runner once and let it look at its clock."""
    try:
        cores = choose_cores()
        with Session(find(name), core=cores[0]) as session:
            hello = session.hello()
            learnt = recall(cores[0])
            calibration = learnt.calibrate(session, 20.0, epoch=0, cores=cores, patience_ms=150.0)
            return {
                "runner": name,
                "library": hello.library,
                "library_version": hello.library_version,
                "algorithms": len({row.algorithm for row in hello.operations}),
                "object": hello.object,
                "cpu_features": hello.cpu_features,
                **{name: getattr(calibration, name) for name in _CALIBRATED},
                "layout_fixed": session.layout_fixed,
                "window_learnt": learnt.learnt_by,
                "outdated": stale(session.spec),
            }
    except PerbyteError as error:
        return {"runner": name, "error": str(error)}


def _watch(specs: Sequence[RunnerSpec]) -> list[CoreWatch]:
    """Watch the cores for a second, by the first runner that can."""
    for spec in specs:
        try:
            return watch_cores(spec, choose_cores())
        except PerbyteError:
            continue  # why it cannot be asked stands in its line
    return []
