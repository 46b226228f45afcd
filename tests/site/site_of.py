"""A small atlas of known content for the tests of its site: machines, libraries, versions and months."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from perbyte.atlas import add, open_atlas
from perbyte.atlas.export import gather, write_data
from perbyte.model import Doubt, Failure, Interval, Machine, Quality, Warning
from perbyte.report.site.write import write_site
from perbyte.store import RunWriter

HOSTILE = "<script>alert(1)</script> ../../x"


def figure(specimens: Any, runner: str, cycles: float, **given: Any) -> Any:
    """A figure of `cycles` per call, its interval one in a thousand."""
    cell = {"size_bytes": 1024, "algorithm": "sha-256", "operation": "digest", "contract": "oneshot/1"}
    own = {name: given.pop(name) for name in list(given) if name in (*cell, "cpu", "twin", "state")}
    width = given.pop("width", 0.001)
    whole = replace(
        specimens.figure(0),
        cell=specimens.cell(0, runner=runner, **{**cell, **own}),
        library=given.pop("library", runner.title()),
        library_version=given.pop("version", "1.0"),
        cycles_per_call=cycles,
        ns_per_call=cycles / 2,
        interval=Interval(cycles * (1 - width), cycles * (1 + width)),
        quality=Quality.GOOD,
        warnings=(),
    )
    return replace(whole, **given)


def add_run(
    url: str, home: Path, specimens: Any, machine: str, number: int, cells: list[Any], **given: Any
) -> None:
    """Put a run of `cells` into the atlas."""
    place = home / f"run-{machine}-{number}"
    failures = given.pop("failures", ())
    profile = given.pop("profile", Machine(cpu_model="Plain CPU", virtualisation="kvm", cores=4))
    with RunWriter.create(place) as writer:
        started = given.pop("started_at", f"2026-0{number}-05T10:00:00+00:00")
        writer.begin(
            specimens.conditions(run_id=f"r-{machine}-{number}", started_at=started, machine=profile, **given)
        )
        for failure in failures:
            writer.failed(failure)
        writer.finish(tuple(cells), specimens.floor(), 1.0, True)
    add(url, [place], machine=machine)


def three_machines(url: str, home: Path, specimens: Any) -> None:
    """Swift wins on two machines and slow on one; the first machine has a second month, in which swift is dearer."""
    usual = [
        figure(specimens, "swift", 1000.0, size_bytes=size, algorithm=algorithm, operation=operation)
        for algorithm, operation in (("sha-256", "digest"), ("aes-128-gcm", "seal"))
        for size in (64, 1024)
    ]
    slow = [
        replace(each_figure, cell=replace(each_figure.cell, runner="slow"), library="Slow")
        for each_figure in usual
    ]
    slower = [
        replace(each_figure, cycles_per_call=1500.0, ns_per_call=750.0, interval=Interval(1498.5, 1501.5))
        for each_figure in slow
    ]
    wrong = Failure("incorrect", "slow", "expected 00, got 01", "slow/md5/digest@64")
    add_run(url, home, specimens, "a", 1, [*usual, *slower], failures=(wrong,))
    add_run(url, home, specimens, "b", 1, [*usual, *slower])
    fast = [
        replace(each_figure, cycles_per_call=500.0, ns_per_call=250.0, interval=Interval(499.5, 500.5))
        for each_figure in slow
    ]
    add_run(url, home, specimens, "c", 2, [*usual, *fast])
    dearer = figure(specimens, "swift", 1200.0, version="2.0")
    noisy = Warning(Doubt.NOISY, "only 3 of 550 samples were clean", (3, 550))
    doubted = figure(specimens, "slow", 10.0, quality=Quality.NOISY, warnings=(noisy,))
    twin = figure(specimens, "swift", 1200.0, version="2.0", twin=1)
    add_run(url, home, specimens, "a", 3, [dearer, doubted, twin])


def made_site(url: str, directory: Path) -> int:
    """Write the site of an atlas."""
    atlas = open_atlas(url)
    return write_site(gather(atlas), directory, lambda place: write_data(atlas, place), "A site")
