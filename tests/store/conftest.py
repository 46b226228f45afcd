"""Runs of known content, written without any measuring."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from perbyte.model import (
    Behaviour,
    Burst,
    Calibration,
    Cell,
    CellFigure,
    Conditions,
    Counted,
    Doubt,
    Failure,
    Interval,
    Machine,
    NoiseFloor,
    Policy,
    Quality,
    RunnerIdentity,
    Warning,
)
from perbyte.store import RunWriter, stored_run
from perbyte.store.reader import figures_of_stored

sys.path.insert(0, str(Path(__file__).parent))


class Specimens:
    """Values in which every field differs from its default and from its neighbours."""

    def cell(self, k: int = 0, **changes: object) -> Cell:
        whole = Cell("openssl", f"aes-{128 + k}-ctr", "encrypt", 16 << (k % 5), "message/1", "full", 0)
        return replace(whole, **changes)

    def burst(
        self, k: int = 0, *, epoch: int = 1, round: int = 1, n: int = 5, cell: Cell | None = None
    ) -> Burst:
        return Burst(
            cell=cell or self.cell(k % 7),
            epoch=epoch,
            round=round,
            calls=100 + k,
            start=[2**52 + 1000 * (k * n + i) for i in range(n)],
            ticks=[26_000 + 26 * ((k * 7 + i) % 3) for i in range(n)],
            clock_before=[4264 + 26 * ((k + i) % 2) for i in range(n)],
            clock_after=[4264 + 26 * ((k + i + 1) % 2) for i in range(n)],
            contention_before=[1820] * n,
            contention_after=[1820 + 26 * (i == 3) for i in range(n)],
            flags=[2 if i == 4 else 0 for i in range(n)],
            cycles=[37_000 + i for i in range(n)] if k % 2 else [],
            waits=k,
            forked=bool(k % 3),
        )

    def calibration(self, epoch: int = 1, **changes: object) -> Calibration:
        whole = Calibration(
            runner="openssl",
            cpu="full",
            twin=0,
            epoch=epoch,
            cycle_source="probe",
            reason="no counters here",
            tick_hz=2.6e9,
            tick_quantum=26,
            probe_cycles=6012.5,
            contention_floor=2557.25,
            fixed_ticks=78.5,
            selfcheck={"imul": 3.0, "ror": 1.0},
        )
        return replace(whole, **changes)

    def identity(self, **changes: object) -> RunnerIdentity:
        whole = RunnerIdentity(
            runner="openssl",
            cpu="full",
            library="OpenSSL",
            library_version="3.0.16",
            license="Apache-2.0",
            compiler="gcc 12",
            flags="-O2",
            object_path="/usr/lib/libcrypto.so.3",
            object_sha256="ab" * 32,
            cpu_features="aes",
            sdk="c/1",
        )
        return replace(whole, **changes)

    def conditions(self, **changes: object) -> Conditions:
        whole = Conditions(
            run_id="r-1",
            perbyte_version="0.1.0",
            catalogue_version="c1",
            protocol_version=1,
            started_at="2025-01-02T03:04:05Z",
            command=("perbyte", "measure", "ü"),
            machine=Machine(cpu_model="Test CPU", cpu_flags=("aes", "sha"), cores=2),
            policy=Policy(seed=2**64 - 1),
            plan=(self.cell(0).address, self.cell(1).address),
            load_before=(0.5, 0.25, 0.125),
            input={"path": "x.bin", "sha256": "cd", "bytes": 5, "nested": {"a": [1, None, True]}},
            study="kompara-2020",
        )
        return replace(whole, **changes)

    def failure(self) -> Failure:
        return Failure(
            kind="incorrect", runner="nettle", message="wrong", address="a/b/c@1", expected="00", got="01"
        )

    @property
    def figures(self) -> tuple[CellFigure, ...]:
        """Two that no samples gave."""
        return self.figure(0), self.figure(1)

    def figure(self, k: int = 0, **changes: object) -> CellFigure:
        whole = CellFigure(
            cell=self.cell(k),
            library="OpenSSL",
            library_version="3.0.16",
            cycles_per_call=100.5 + k,
            ns_per_call=27.25 + k,
            interval=Interval(100.0, 101.0, 0.95, "samples"),
            samples=200,
            clean_samples=150,
            epochs=3,
            epoch_cycles=(100.0, 100.5, 101.0),
            epoch_ns=(27.0, 27.25, 27.5),
            calls_per_sample=300,
            quality=Quality.IMPRECISE,
            cycle_source="probe",
            warnings=(
                Warning(Doubt.IMPRECISE, "the interval is wide", (0.01, 0.0025)),
                Warning(Doubt.OTHER, "ünïcode"),
            ),
        )
        return replace(whole, **changes)

    def behaviour(self, k: int = 0, **changes: object) -> Behaviour:
        call = Counted(1234.5, {"aes": 40.0, "load": 100.0}, 0.0, 2.0, 112.0, 96, 0, 52, 11)
        setup = Counted(
            6412.0, {"aes": 10.0}, heap_calls=4.0, heap_bytes=1044.0, heap_peak=1032, heap_left=1000
        )
        whole = {
            "calls": 16,
            "call": call,
            "setup": setup,
            "repeated": 1234.5,
            "stack": 464,
            "setup_stack": 728,
        }
        return Behaviour(self.cell(k), **whole | changes)

    def floor(self) -> NoiseFloor:
        return NoiseFloor(relative=0.0012, pairs=((self.cell().address, 1.0012),))


@pytest.fixture
def specimens() -> Specimens:
    return Specimens()


@pytest.fixture
def finished(tmp_path: Path, specimens: Specimens) -> Callable[..., Path]:
    """Writes a finished run of two epochs, with what its samples give or `figures`, and returns its directory."""

    def write(name: str = "run", figures: tuple[CellFigure, ...] | None = None, **conditions: object) -> Path:
        place = tmp_path / name
        with RunWriter.create(place) as writer:
            writer.begin(specimens.conditions(**conditions))
            writer.identified(specimens.identity())
            for epoch in (1, 2):
                writer.calibrated(specimens.calibration(epoch))
                for k in range(14):
                    writer.measured(specimens.burst(k, epoch=epoch, round=1 + k // 7, n=8))
                writer.epoch_done(epoch)
            writer.failed(specimens.failure())
            if figures is None:
                figures = figures_of_stored(stored_run(place)).cells
            writer.finish(figures, specimens.floor(), 12.5, True)
        return place

    return write
